//! Compressed rows from a dense matrix (`cl/format/dense_to_csr.cl`).

use std::sync::Arc;

use cl_kernels::Scalar;
use cl_kernels::dense_to_csr::{CountArguments, DenseToCsrKernel, SOURCE, WriteArguments};
use csr_core::{DenseShape, Offset, Value, ValueType};

use super::{Apart, check_span, check_target, group_size, plain_key};
use crate::launch::Steps;
use crate::raw::Memory;
use crate::sort::count_of;
use crate::spmv::check_value_type;
use crate::spmv::workspace::for_a_kernel_to_write;
use crate::{DeviceArray, Error, Event, Matrix, Program, Queue, Result, Scan};

/// Elements of a row that an item looks at.
const CELL: usize = 8;

/// What of a dense matrix is stored in compressed rows: counted, and then written into arrays that are as long.
///
/// It keeps an offset for every 8 elements of a row on the device.
#[derive(Debug)]
pub struct DenseToCsr<V: Value, O> {
    shape: DenseShape,
    tolerance: V::Accum,
    /// Elements kept before each cell, and in all.
    places: DeviceArray<O>,
    nnz: usize,
    program: Arc<Program>,
    group_size: usize,
}

impl<V: Value, O: Offset> DenseToCsr<V, O> {
    /// Counts the elements of `dense`, which lies as `shape` says, whose size is above `tolerance`, and NaN. Reads 8
    /// bytes back.
    ///
    /// # Errors
    /// A tolerance that is negative or NaN, an array shorter than the shape spans or of another context, sizes above
    /// 2^32 - 1, more elements than the offset type counts, a device without the value type's arithmetic, or the
    /// driver's own failure.
    pub fn new_blocking(
        queue: &Queue,
        shape: DenseShape,
        dense: &DeviceArray<V>,
        tolerance: V::Accum,
    ) -> Result<Self> {
        let context = queue.context();
        let number = tolerance.to_f64();
        if number.is_nan() || number < 0.0 {
            let text = format!(
                "a tolerance of {number}: sizes are compared with it, and are not negative"
            );
            return Err(Error::Mismatch(text));
        }
        check_span(context, shape, dense)?;
        check_value_type(context, V::TYPE)?;
        count_of("the number of rows", shape.rows())?;
        count_of("the number of columns", shape.cols())?;
        let cells = shape.rows().saturating_mul(shape.cols().div_ceil(CELL));
        let counts = for_a_kernel_to_write::<u32>(queue, cells)?;
        let places = for_a_kernel_to_write::<O>(queue, cells.saturating_add(1))?;
        let group_size = group_size(context);
        let parameters = DenseToCsrKernel { group_size, cell: CELL as u32 };
        let program = context.program(&plain_key(SOURCE, V::TYPE, O::TYPE, &parameters))?;
        let group_size = group_size as usize;
        let mut found = DenseToCsr { shape, tolerance, places, nnz: 0, program, group_size };
        let mut steps = Steps::new(queue, &found.program, group_size);
        let Apart { row_step, column_step } = Apart::of(shape);
        let arguments = CountArguments {
            rows: shape.rows() as u32,
            cols: shape.cols() as u32,
            row_cells: found.row_cells(),
            row_step,
            column_step,
            tolerance: found.scalar(),
            dense: dense.argument(),
            counts: counts.argument(),
        };
        let groups = steps.groups(cells);
        // SAFETY: `dense` is as long as its shape spans, and there is a count for each cell.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            steps.run(&arguments, groups)?
        };
        let mut scan = Scan::<O>::new_blocking(queue)?;
        scan.enqueue(queue, &counts, &found.places)?;
        found.nnz = scan.total_blocking(queue)? as usize;
        Ok(found)
    }

    /// Elements that are stored.
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// Bytes that it keeps on the device.
    pub fn size_bytes(&self) -> usize {
        self.places.size_bytes()
    }

    /// Writes row offsets (rows + 1), columns and values (nnz each) from `dense`, which must be as it was counted: where
    /// it is not, the values are nobody's, but the pattern is one. Enqueued, not waited for.
    ///
    /// # Errors
    /// Arrays of another length or context, or the driver's own failure.
    pub fn write(
        &self,
        queue: &Queue,
        dense: &DeviceArray<V>,
        offsets: &mut DeviceArray<O>,
        columns: &mut DeviceArray<u32>,
        values: &mut DeviceArray<V>,
    ) -> Result<Event> {
        let context = queue.context();
        context.check_array("what was counted", &self.places)?;
        check_span(context, self.shape, dense)?;
        check_target(context, "the array of row offsets", offsets, self.shape.rows() + 1)?;
        check_target(context, "the array of columns", columns, self.nnz)?;
        check_target(context, "the array of values", values, self.nnz)?;
        let mut steps = Steps::new(queue, &self.program, self.group_size);
        let Apart { row_step, column_step } = Apart::of(self.shape);
        let arguments = WriteArguments {
            rows: self.shape.rows() as u32,
            cols: self.shape.cols() as u32,
            row_cells: self.row_cells(),
            row_step,
            column_step,
            tolerance: self.scalar(),
            dense: dense.argument(),
            places: self.places.argument(),
            offsets: offsets.argument(),
            columns: columns.argument(),
            values: values.argument(),
        };
        let groups = steps.groups(self.places.len().max(self.shape.rows() + 1));
        // SAFETY: `dense` is as long as its shape spans, and places end at nnz.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        unsafe {
            steps.run(&arguments, groups)
        }
    }

    /// The matrix, in arrays of its own, as [`DenseToCsr::write`] writes them. Reads 12 bytes back for the choice of an
    /// algorithm.
    ///
    /// # Errors
    /// As there; or an array above the device's largest allocation.
    pub fn matrix_blocking(&self, queue: &Queue, dense: &DeviceArray<V>) -> Result<Matrix<V, O>> {
        let mut offsets = for_a_kernel_to_write(queue, self.shape.rows() + 1)?;
        let mut columns = for_a_kernel_to_write(queue, self.nnz)?;
        let mut values = for_a_kernel_to_write(queue, self.nnz)?;
        self.write(queue, dense, &mut offsets, &mut columns, &mut values)?;
        // SAFETY: what is written is a pattern of these sizes.
        #[expect(unsafe_code, reason = "the arrays are this module's own")]
        unsafe {
            Matrix::from_arrays_blocking(queue, self.shape.cols(), offsets, columns, values)
        }
    }

    fn row_cells(&self) -> u32 {
        self.shape.cols().div_ceil(CELL) as u32
    }

    fn scalar(&self) -> Scalar<&'static Memory> {
        let number = self.tolerance.to_f64();
        match V::TYPE.accumulator() {
            ValueType::F64 => Scalar::F64(number),
            _ => Scalar::F32(number as f32),
        }
    }
}
