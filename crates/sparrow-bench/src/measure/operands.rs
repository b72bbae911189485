//! Operands of what is measured: the figures of a matrix, and vectors to the device and back.

use csr_core::{AnyCsrView, AnyVector, ValueType};
use sparrow::{AnyArray, HostAccess, Queue};

use super::{MeasureError, Shape};

/// The figures a product of `matrix` is judged by.
pub(super) fn shape_of<'a>(matrix: impl Into<AnyCsrView<'a>>) -> Shape {
    let matrix = matrix.into();
    Shape {
        rows: matrix.pattern().rows(),
        cols: matrix.pattern().cols(),
        nnz: matrix.pattern().nnz(),
        value_type: matrix.value_type(),
        offset_type: matrix.offset_type(),
    }
}

/// A vector on the device.
pub(super) fn uploaded(queue: &Queue, data: &AnyVector) -> Result<AnyArray, MeasureError> {
    Ok(AnyArray::upload_blocking(queue, data.value_type(), data.bytes())?)
}

/// An array that the CPU reaches where it lies, if the device has such memory.
pub(super) fn shared_array(queue: &Queue, data: &AnyVector) -> Result<AnyArray, MeasureError> {
    let access = queue.context().device().traits().host_access();
    if matches!(access, HostAccess::Copies | HostAccess::MappedBuffers) {
        return uploaded(queue, data);
    }
    let mut array = AnyArray::allocate_svm(queue.context(), data.value_type(), data.len())?;
    array.write_bytes_blocking(queue, data.bytes())?;
    Ok(array)
}

/// A vector of the device's, of the type that sums of `value_type` are made in.
pub(crate) fn read_blocking(
    queue: &Queue,
    array: &AnyArray,
    value_type: ValueType,
) -> Result<AnyVector, MeasureError> {
    let mut vector = AnyVector::filled(value_type, 0.0, array.len());
    array.read_bytes_blocking(queue, vector.bytes_mut())?;
    Ok(vector)
}
