//! The host's own arrays as operands: where they lie on devices that share the host's memory, else by way of arrays on the
//! device.

use std::ffi::c_void;

use opencl3::memory::{CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR};
use sparrow::host::for_value_type;
use sparrow::{AnyArray, Context, DeviceType, ElementType, Queue};

use crate::errors::{Failure, Result};

/// Who writes an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nobody.
    Read,
    /// The device.
    Write,
}

/// Whether the device computes on arrays of the host where they lie: it is the host's own processor.
pub(crate) fn is_shared(context: &Context) -> bool {
    let traits = context.device().traits();
    traits.device_type == DeviceType::Cpu && traits.has_host_memory
}

/// `len` elements of the host's memory as an array of the context.
///
/// # Safety
/// They are there, are of that type, and stay there until the array and all commands with it have ended; nobody else
/// writes them meanwhile, or reads them if the device writes.
///
/// # Errors
/// The driver's own.
pub(crate) unsafe fn lend(
    context: &Context,
    address: *mut c_void,
    element: ElementType,
    len: usize,
    access: Access,
) -> Result<AnyArray> {
    let bytes = len * element.size_bytes();
    if bytes == 0 {
        return Ok(AnyArray::allocate(context, element, 0)?);
    }
    let access = match access {
        Access::Read => CL_MEM_READ_ONLY,
        Access::Write => CL_MEM_READ_WRITE,
    };
    let flags = access | CL_MEM_USE_HOST_PTR;
    // SAFETY: the memory is the caller's promise; the reference that is made here is released here, and the array has
    // one of its own.
    unsafe {
        let memory = opencl3::memory::create_buffer(context.as_raw(), flags, bytes, address)
            .map_err(|code| Failure::Call("clCreateBuffer", code))?;
        let array = AnyArray::from_raw(memory, element, 0, len);
        let released = opencl3::memory::release_mem_object(memory);
        released.map_err(|code| Failure::Call("clReleaseMemObject", code))?;
        Ok(array?)
    }
}

/// Waits for what is in the queue, and has the host see what the device has written to an array that was lent.
///
/// # Safety
/// No other command writes the array.
///
/// # Errors
/// The driver's own, or a command that failed.
pub(crate) unsafe fn see_blocking(queue: &Queue, array: &AnyArray) -> Result<()> {
    if array.is_empty() {
        return Ok(());
    }
    let value_type = array.value_type("the result")?;
    for_value_type!(value_type, V => {
        // SAFETY: the caller's promise.
        let view = unsafe { array.typed::<V>()?.view_blocking(queue)? };
        Ok(view.unmap_blocking()?)
    })
}
