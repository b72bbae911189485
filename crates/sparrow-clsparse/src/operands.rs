//! Arrays of the application's buffers: each is looked at, and refused where it does not fit.
//!
//! Offsets are elements. A vector's or scalar's length that was not set (0) is not held against it, as programs for
//! clSPARSE need not set it; what its buffer holds always is.

use sparrow::{
    AnyArray, ColumnType, DenseShape, DeviceArray, ElementType, Layout, OffsetType, Overlap,
    ValueType, overlap,
};

use crate::control::Control;
use crate::initialize::{COLUMN_MAJOR, ROW_MAJOR};
use crate::status::{Result, Status};
use crate::structures::Naming;
use crate::types::{cl_mem, cldenseMatrix, cldenseVector, clsparseCsrMatrix, clsparseScalar};

/// `len` elements of a buffer from element `offset` on, or at an address.
pub(crate) fn array(
    control: &Control,
    element: impl Into<ElementType>,
    (buffer, offset): (cl_mem, u32),
    len: usize,
) -> Result<AnyArray> {
    let element = element.into();
    if buffer.is_null() {
        // OpenCL has no buffers without bytes, so an application has none for what has no elements.
        let nothing = (len == 0).then(|| AnyArray::allocate(control.context(), element, 0));
        return Ok(nothing.ok_or(Status::InvalidMemObj)??);
    }
    if control.naming() == Naming::Shared {
        let is_fine_grained = control.context().device().traits().svm.fine_grain_system;
        // SAFETY: the memory is valid, as types.rs says.
        let array = unsafe { AnyArray::from_svm(buffer, element, len, is_fine_grained) };
        // Null was told above, so that it is an address that no element can have.
        return array.map_err(|_| Status::InvalidValue);
    }
    let byte_offset = offset as usize * element.size_bytes();
    // SAFETY: the buffer is valid, as types.rs says, and the array ends with the call: plans and metas keep none.
    let array = unsafe { AnyArray::borrow_raw(buffer, element, byte_offset, len)? };
    // Not every driver refuses it.
    control.context().check_array("a buffer", &array).map_err(|_| Status::InvalidContext)?;
    Ok(array)
}

/// The same with a type that the compiler knows.
pub(crate) fn typed_array<T: bytemuck::Pod>(
    control: &Control,
    part: (cl_mem, u32),
    len: usize,
) -> Result<DeviceArray<T>> {
    Ok(array(control, ElementType::of::<T>(), part, len)?.into_typed()?)
}

/// One number.
pub(crate) fn scalar(
    control: &Control,
    value_type: ValueType,
    scalar: &clsparseScalar,
) -> Result<AnyArray> {
    array(control, value_type, (scalar.value, scalar.off_value), 1)
}

/// The first `len` elements of a vector.
pub(crate) fn vector(
    control: &Control,
    value_type: ValueType,
    vector: &cldenseVector,
    len: usize,
) -> Result<AnyArray> {
    if vector.num_values != 0 && (vector.num_values as usize) < len {
        return Err(Status::InvalidSize);
    }
    array(control, value_type, (vector.values, vector.off_values), len)
}

/// An operand as it is before `written` is: a copy of it, enqueued here, where both share memory.
pub(crate) fn apart(control: &Control, operand: AnyArray, written: &AnyArray) -> Result<AnyArray> {
    if overlap(&operand, written) == Overlap::Nothing {
        return Ok(operand);
    }
    let mut aside = AnyArray::allocate(control.context(), operand.element(), operand.len())?;
    if let Some(copied) = aside.copy_from(&control.queue, &operand)? {
        // What is enqueued next comes after it, unless the queue is out of order.
        control.queue.settle_blocking(&copied)?;
    }
    Ok(aside)
}

/// A matrix in compressed rows.
pub(crate) struct CsrArrays {
    pub(crate) offsets: AnyArray,
    pub(crate) columns: AnyArray,
    pub(crate) values: AnyArray,
}

impl CsrArrays {
    /// The three arrays of `matrix`, which stores values of this type.
    pub(crate) fn of(
        control: &Control,
        value_type: ValueType,
        matrix: &clsparseCsrMatrix,
    ) -> Result<Self> {
        let offsets = (matrix.row_pointer, matrix.off_row_pointer);
        let columns = (matrix.col_indices, matrix.off_col_indices);
        let values = (matrix.values, matrix.off_values);
        let (rows, nnz) = (matrix.num_rows as usize, matrix.num_nonzeros as usize);
        Ok(CsrArrays {
            offsets: array(control, OffsetType::U32, offsets, rows + 1)?,
            columns: array(control, ColumnType::U32, columns, nnz)?,
            values: array(control, value_type, values, nnz)?,
        })
    }
}

/// A dense matrix, and how it lies.
pub(crate) fn dense(
    control: &Control,
    value_type: ValueType,
    matrix: &cldenseMatrix,
) -> Result<(DenseShape, AnyArray)> {
    let layout = match matrix.major {
        ROW_MAJOR => Layout::RowMajor,
        COLUMN_MAJOR => Layout::ColumnMajor,
        _ => return Err(Status::InvalidValue),
    };
    let (rows, cols) = (matrix.num_rows as usize, matrix.num_cols as usize);
    let shape = DenseShape::new(rows, cols, layout, matrix.lead_dim as usize)?;
    let part = (matrix.values, matrix.off_values);
    let elements = array(control, value_type, part, shape.span())?;
    Ok((shape, elements))
}
