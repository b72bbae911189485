//! Arrays of the application's buffers: each is looked at, and refused where it does not fit.
//!
//! Offsets are elements. A vector's or scalar's length that nobody set (0) is not held against it, as programs for
//! clSPARSE need not set it; what its buffer holds always is.

use sparrow::host::Accumulator;
use sparrow::{DenseShape, DeviceArray, Layout};

use crate::control::{Control, State};
use crate::csrmv::FreePlans;
use crate::initialize::{COLUMN_MAJOR, ROW_MAJOR};
use crate::meta::MetaPlans;
use crate::status::{Result, Status};
use crate::types::{cl_mem, cldenseMatrix, cldenseVector, clsparseCsrMatrix, clsparseScalar};
use crate::vectors::KnownVectors;

/// f32 or f64.
pub(crate) trait Real: Accumulator {
    /// The plans of this type that a control keeps.
    fn free_plans(state: &mut State) -> &mut FreePlans<Self>;

    /// The kernels on vectors of this type that a control keeps.
    fn vectors(state: &mut State) -> &mut KnownVectors<Self>;

    /// The plans of this type that a meta keeps.
    fn meta_plans(meta: &crate::meta::Meta) -> &std::sync::Mutex<MetaPlans<Self>>;
}

impl Real for f32 {
    fn free_plans(state: &mut State) -> &mut FreePlans<Self> {
        &mut state.f32
    }

    fn vectors(state: &mut State) -> &mut KnownVectors<Self> {
        &mut state.vectors_f32
    }

    fn meta_plans(meta: &crate::meta::Meta) -> &std::sync::Mutex<MetaPlans<Self>> {
        &meta.f32
    }
}

impl Real for f64 {
    fn free_plans(state: &mut State) -> &mut FreePlans<Self> {
        &mut state.f64
    }

    fn vectors(state: &mut State) -> &mut KnownVectors<Self> {
        &mut state.vectors_f64
    }

    fn meta_plans(meta: &crate::meta::Meta) -> &std::sync::Mutex<MetaPlans<Self>> {
        &meta.f64
    }
}

/// `len` elements of a buffer from element `offset` on.
pub(crate) fn array<T: bytemuck::Pod>(
    control: &Control,
    buffer: cl_mem,
    offset: u32,
    len: usize,
) -> Result<DeviceArray<T>> {
    if buffer.is_null() {
        // OpenCL has no buffers without bytes, so an application has none for what has no elements.
        let nothing = (len == 0).then(|| DeviceArray::allocate(control.context(), 0));
        return Ok(nothing.ok_or(Status::InvalidMemObj)??);
    }
    // SAFETY: the buffer is valid, as types.rs says, and the array ends with the call: plans and metas keep none.
    let array = unsafe { DeviceArray::borrow_raw(buffer, offset as usize * size_of::<T>(), len)? };
    // Not every driver refuses it.
    control.context().check_array("a buffer", &array).map_err(|_| Status::InvalidContext)?;
    Ok(array)
}

/// One number.
pub(crate) fn scalar<T: Real>(
    control: &Control,
    scalar: &clsparseScalar,
) -> Result<DeviceArray<T>> {
    array(control, scalar.value, scalar.off_value, 1)
}

/// The first `len` elements of a vector.
pub(crate) fn vector<T: Real>(
    control: &Control,
    vector: &cldenseVector,
    len: usize,
) -> Result<DeviceArray<T>> {
    if vector.num_values != 0 && (vector.num_values as usize) < len {
        return Err(Status::InvalidSize);
    }
    array(control, vector.values, vector.off_values, len)
}

/// A matrix in compressed rows.
pub(crate) struct CsrArrays<T> {
    pub(crate) offsets: DeviceArray<u32>,
    pub(crate) columns: DeviceArray<u32>,
    pub(crate) values: DeviceArray<T>,
}

impl<T: Real> CsrArrays<T> {
    /// The three arrays of `matrix`.
    pub(crate) fn of(control: &Control, matrix: &clsparseCsrMatrix) -> Result<Self> {
        let (rows, nnz) = (matrix.num_rows as usize, matrix.num_nonzeros as usize);
        Ok(CsrArrays {
            offsets: array(control, matrix.row_pointer, matrix.off_row_pointer, rows + 1)?,
            columns: array(control, matrix.col_indices, matrix.off_col_indices, nnz)?,
            values: array(control, matrix.values, matrix.off_values, nnz)?,
        })
    }
}

/// A dense matrix, and how it lies.
pub(crate) fn dense<T: Real>(
    control: &Control,
    matrix: &cldenseMatrix,
) -> Result<(DenseShape, DeviceArray<T>)> {
    let layout = match matrix.major {
        ROW_MAJOR => Layout::RowMajor,
        COLUMN_MAJOR => Layout::ColumnMajor,
        _ => return Err(Status::InvalidValue),
    };
    let (rows, cols) = (matrix.num_rows as usize, matrix.num_cols as usize);
    let shape = DenseShape::new(rows, cols, layout, matrix.lead_dim as usize)?;
    let elements = array(control, matrix.values, matrix.off_values, shape.span())?;
    Ok((shape, elements))
}
