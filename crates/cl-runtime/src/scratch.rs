//! Arrays that kernels work in: zeros, memory that a kernel writes first, and small ones in the context's arena.

use crate::{AnyArray, DeviceArray, ElementType, Queue, Result};

/// `words` zeros on the device.
pub(crate) fn zeroed_blocking(queue: &Queue, words: usize) -> Result<DeviceArray<u32>> {
    zeros_blocking(queue, words)
}

/// `len` zeros on the device. A fill there is far faster than a copy from here.
pub(crate) fn zeros_blocking<T: bytemuck::Pod>(
    queue: &Queue,
    len: usize,
) -> Result<DeviceArray<T>> {
    any_zeros_blocking(queue, ElementType::of::<T>(), len)?.into_typed()
}

/// As [`zeros_blocking`], of elements whose type is known at run time.
pub(crate) fn any_zeros_blocking(
    queue: &Queue,
    element: impl Into<ElementType>,
    len: usize,
) -> Result<AnyArray> {
    let element = element.into();
    if queue.context().device().traits().is_written_by_host() {
        return AnyArray::upload_blocking(queue, element, &vec![0; len * element.size_bytes()]);
    }
    let mut zeros = AnyArray::allocate(queue.context(), element, len)?;
    if let Some(filled) = zeros.fill_bytes(queue, &vec![0; element.size_bytes()])? {
        filled.wait()?;
    }
    Ok(zeros)
}

/// Memory that a kernel writes. Oclgrind forgets that one did where memory was used before, but not what was there.
pub(crate) fn for_a_kernel_to_write<T: bytemuck::Pod>(
    queue: &Queue,
    len: usize,
) -> Result<DeviceArray<T>> {
    any_for_a_kernel_to_write(queue, ElementType::of::<T>(), len)?.into_typed()
}

/// As [`for_a_kernel_to_write`], of elements whose type is known at run time.
pub(crate) fn any_for_a_kernel_to_write(
    queue: &Queue,
    element: impl Into<ElementType>,
    len: usize,
) -> Result<AnyArray> {
    let element = element.into();
    if queue.context().device().traits().is_oclgrind() {
        return AnyArray::upload_blocking(queue, element, &vec![0; len * element.size_bytes()]);
    }
    AnyArray::allocate(queue.context(), element, len)
}

/// As [`for_a_kernel_to_write`], with other small arrays in one arena if it is one.
pub(crate) fn small_for_a_kernel_to_write<T: bytemuck::Pod>(
    queue: &Queue,
    len: usize,
) -> Result<DeviceArray<T>> {
    if queue.context().device().traits().is_oclgrind() {
        return for_a_kernel_to_write(queue, len);
    }
    queue.context().allocate_small(len)
}

/// A copy of `data` on the device, with other small arrays in one arena if it is one. What the host writes into a part
/// of a buffer, Oclgrind takes for undefined.
pub(crate) fn upload_small_blocking<T: bytemuck::Pod>(
    queue: &Queue,
    data: &[T],
) -> Result<DeviceArray<T>> {
    if queue.context().device().traits().is_oclgrind() {
        return DeviceArray::upload_blocking(queue, data);
    }
    let mut array = queue.context().allocate_small(data.len())?;
    array.write_blocking(queue, data)?;
    Ok(array)
}
