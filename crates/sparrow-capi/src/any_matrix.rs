//! A matrix whose types are known at run time only: a trait, implemented once for all of them.

use std::any::Any;
use std::ffi::c_void;
use std::fmt::Debug;

use sparrow::{
    Context, CsrView, DenseShape, DeviceArray, Matrix, Offset, OffsetType, Plan, PlanOptions,
    Queue, Solver, SolverOptions, TransposedMatrix, Value, ValueType,
};

use crate::any_plan::{AnyPlan, VectorPlan};
use crate::any_solver::AnySolver;
use crate::buffer::array;
use crate::failure::{Failure, Result};
use crate::pointer::slice;
use crate::sparrow_buffer;
use crate::types::ForTypes;

/// A matrix of some type.
pub(crate) trait AnyMatrix: Any + Debug + Send + Sync {
    /// Its sizes and types.
    fn facts(&self) -> MatrixFacts;

    /// Reads the pattern back and checks it.
    fn check_blocking(&self, queue: &Queue) -> Result<()>;

    /// The same pattern with the values of another buffer.
    ///
    /// # Safety
    /// The buffer is NULL or valid.
    unsafe fn with_values(&self, values: sparrow_buffer) -> Result<Box<dyn AnyMatrix>>;

    /// The application has changed the values in its own buffer.
    fn values_changed(&mut self);

    /// Overwrites the values.
    ///
    /// # Safety
    /// NULL, or one value a nonzero.
    unsafe fn write_values_blocking(&mut self, queue: &Queue, values: *const c_void) -> Result<()>;

    /// The transposed matrix, in arrays of its own.
    fn transposed_blocking(&self, queue: &Queue) -> Result<Box<dyn AnyMatrix>>;

    /// Copies parts of it, and returns when they are there.
    ///
    /// # Safety
    /// The buffers are NULL or valid.
    unsafe fn copy_blocking(&self, queue: &Queue, parts: &Parts) -> Result<()>;

    /// Writes all its elements, and returns when they are there.
    ///
    /// # Safety
    /// The buffer is NULL or valid.
    unsafe fn write_dense_blocking(
        &self,
        queue: &Queue,
        shape: DenseShape,
        dense: sparrow_buffer,
    ) -> Result<()>;

    /// A plan for products with a vector.
    fn plan_blocking(&self, queue: &Queue, options: &PlanOptions) -> Result<Box<dyn AnyPlan>>;

    /// A solver.
    fn solver_blocking(&self, queue: &Queue, options: &SolverOptions)
    -> Result<Box<dyn AnySolver>>;
}

/// Where parts of a matrix are copied to; those without memory are left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) offsets: sparrow_buffer,
    pub(crate) row_indices: sparrow_buffer,
    pub(crate) columns: sparrow_buffer,
    pub(crate) values: sparrow_buffer,
}

/// A part that was asked for.
///
/// # Safety
/// The buffer is NULL or valid.
unsafe fn part<T: bytemuck::Pod>(
    context: &Context,
    buffer: sparrow_buffer,
    len: usize,
    name: &str,
) -> Result<Option<DeviceArray<T>>> {
    if buffer.memory.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    Ok(Some(unsafe { array(context, buffer, len, name)? }))
}

/// Sizes and types of a matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatrixFacts {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) nnz: usize,
    pub(crate) longest_row: u64,
    pub(crate) size_bytes: usize,
    pub(crate) value_type: ValueType,
    pub(crate) offset_type: OffsetType,
}

impl<V: Value, O: Offset> AnyMatrix for Matrix<V, O> {
    fn facts(&self) -> MatrixFacts {
        MatrixFacts {
            rows: self.rows(),
            cols: self.cols(),
            nnz: self.nnz(),
            longest_row: self.shape().longest_row,
            size_bytes: self.size_bytes(),
            value_type: V::TYPE,
            offset_type: O::TYPE,
        }
    }

    fn check_blocking(&self, queue: &Queue) -> Result<()> {
        Ok(Matrix::check_blocking(self, queue)?)
    }

    unsafe fn with_values(&self, values: sparrow_buffer) -> Result<Box<dyn AnyMatrix>> {
        // SAFETY: the caller's promise.
        let values = unsafe { array::<V>(self.context(), values, self.nnz(), "values")? };
        Ok(Box::new(Matrix::with_values(self, values)?))
    }

    fn values_changed(&mut self) {
        Matrix::values_changed(self);
    }

    unsafe fn write_values_blocking(&mut self, queue: &Queue, values: *const c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        let values = unsafe { slice::<V>(values.cast(), self.nnz(), "values")? };
        Ok(Matrix::write_values_blocking(self, queue, values)?)
    }

    fn transposed_blocking(&self, queue: &Queue) -> Result<Box<dyn AnyMatrix>> {
        Ok(Box::new(TransposedMatrix::new_blocking(queue, self, None)?.into_matrix()))
    }

    unsafe fn copy_blocking(&self, queue: &Queue, parts: &Parts) -> Result<()> {
        let (context, nnz) = (queue.context(), self.nnz());
        // SAFETY: the caller's promise.
        let (offsets, row_indices, columns, values) = unsafe {
            (
                part::<O>(context, parts.offsets, self.rows() + 1, "parts->offsets")?,
                part::<u32>(context, parts.row_indices, nnz, "parts->row_indices")?,
                part::<u32>(context, parts.columns, nnz, "parts->columns")?,
                part::<V>(context, parts.values, nnz, "parts->values")?,
            )
        };
        // All of them fit.
        let mut copied = Vec::new();
        if let Some(mut offsets) = offsets {
            copied.extend(offsets.copy_from(queue, self.offsets())?);
        }
        if let Some(mut row_indices) = row_indices {
            copied.push(self.write_row_indices(queue, &mut row_indices)?);
        }
        if let Some(mut columns) = columns {
            copied.extend(columns.copy_from(queue, self.columns())?);
        }
        if let Some(mut values) = values {
            copied.extend(values.copy_from(queue, self.values())?);
        }
        for event in copied {
            event.wait()?;
        }
        Ok(())
    }

    unsafe fn write_dense_blocking(
        &self,
        queue: &Queue,
        shape: DenseShape,
        dense: sparrow_buffer,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let mut dense = unsafe { array::<V>(queue.context(), dense, shape.span(), "dense")? };
        Ok(self.write_dense(queue, shape, &mut dense)?.wait()?)
    }

    fn plan_blocking(&self, queue: &Queue, options: &PlanOptions) -> Result<Box<dyn AnyPlan>> {
        let plan = Plan::new_blocking(queue, self, options)?;
        Ok(Box::new(VectorPlan::new(plan, options.op)))
    }

    fn solver_blocking(
        &self,
        queue: &Queue,
        options: &SolverOptions,
    ) -> Result<Box<dyn AnySolver>> {
        Ok(Box::new(Solver::new_blocking(queue, self, options)?))
    }
}

/// A matrix as one of these types, which its plan was made for.
pub(crate) fn typed<V: Value, O: Offset>(matrix: &dyn AnyMatrix) -> Result<&Matrix<V, O>> {
    let any: &dyn Any = matrix;
    any.downcast_ref().ok_or_else(|| {
        let MatrixFacts { value_type, offset_type, .. } = matrix.facts();
        Failure::mismatch(format!(
            "the matrix stores {value_type} with offsets of {offset_type}, and the plan was made for {} with \
             offsets of {}",
            V::TYPE,
            O::TYPE
        ))
    })
}

/// Sizes of a matrix that is about to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) offsets: usize,
    pub(crate) cols: usize,
    pub(crate) nnz: usize,
}

impl Sizes {
    fn check<O: Offset>(self) -> Result<()> {
        if self.nnz as u64 > O::MAX_NNZ {
            let (nnz, limit) = (self.nnz, O::MAX_NNZ);
            let text = format!("nnz is {nnz}, above the limit of {limit} of {} offsets", O::TYPE);
            return Err(Failure::argument(text));
        }
        Ok(())
    }
}

/// Makes a matrix over buffers of the application's, whose content is trusted.
pub(crate) struct OverBuffers<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) sizes: Sizes,
    pub(crate) offsets: sparrow_buffer,
    pub(crate) columns: sparrow_buffer,
    pub(crate) values: sparrow_buffer,
}

impl ForTypes for OverBuffers<'_> {
    type Output = Result<Box<dyn AnyMatrix>>;

    fn run<V: Value, O: Offset>(self) -> Self::Output {
        let OverBuffers { queue, sizes, offsets, columns, values } = self;
        sizes.check::<O>()?;
        let context = queue.context();
        // SAFETY: the buffers are valid, as whoever called promised, and so is the pattern.
        let matrix = unsafe {
            let offsets = array::<O>(context, offsets, sizes.offsets, "buffers->offsets")?;
            let columns = array::<u32>(context, columns, sizes.nnz, "buffers->columns")?;
            let values = array::<V>(context, values, sizes.nnz, "buffers->values")?;
            Matrix::from_arrays_blocking(queue, sizes.cols, offsets, columns, values)?
        };
        Ok(Box::new(matrix))
    }
}

/// Uploads a matrix from the host's memory, and checks it.
pub(crate) struct FromHost<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) sizes: Sizes,
    pub(crate) offsets: *const c_void,
    pub(crate) columns: *const u32,
    pub(crate) values: *const c_void,
}

impl ForTypes for FromHost<'_> {
    type Output = Result<Box<dyn AnyMatrix>>;

    fn run<V: Value, O: Offset>(self) -> Self::Output {
        let FromHost { queue, sizes, offsets, columns, values } = self;
        sizes.check::<O>()?;
        // SAFETY: the arrays are as long as their sizes say, as whoever called promised.
        let (offsets, columns, values) = unsafe {
            (
                slice::<O>(offsets.cast(), sizes.offsets, "arrays->offsets")?,
                slice(columns, sizes.nnz, "arrays->columns")?,
                slice::<V>(values.cast(), sizes.nnz, "arrays->values")?,
            )
        };
        let view = CsrView::new(sizes.cols, offsets, columns, values)?;
        Ok(Box::new(Matrix::upload_blocking(queue, view)?))
    }
}
