//! The host's own arrays as operands: where they lie on devices that share the host's memory, else by way of arrays on the
//! device.

use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

use opencl3::command_queue::{enqueue_map_buffer, enqueue_unmap_mem_object};
use opencl3::memory::{CL_MAP_READ, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR};
use opencl3::types::CL_BLOCKING;
use pyo3::prelude::*;
use sparrow::host::for_value_type;
use sparrow::{AnyArray, Context, DeviceArray, DeviceType, ElementType, Event, HostAccess, Queue};

use crate::errors::{Failure, Result};
use crate::host_array::HostArray;

/// An operand in the host's memory, and how many elements there are from its first to its last.
pub(crate) struct Span<'a> {
    pub(crate) array: &'a HostArray,
    pub(crate) element: ElementType,
    pub(crate) len: usize,
}

/// Whether every device is taken for one with memory of its own.
static STAGES_ALL: AtomicBool = AtomicBool::new(false);

/// Has every device taken for one with memory of its own, or no longer: for tests, where there is none.
#[pyfunction]
pub(crate) fn _stage_all(stages: bool) {
    STAGES_ALL.store(stages, Ordering::Relaxed);
}

/// Whether the device computes on arrays of the host where they lie: it is the host's own processor.
pub(crate) fn is_shared(context: &Context) -> bool {
    let traits = context.device().traits();
    let is_own = traits.device_type == DeviceType::Cpu && traits.has_host_memory;
    is_own && !STAGES_ALL.load(Ordering::Relaxed)
}

/// Runs `launch` on arrays of the context that stand for `x` and `y`, and returns when `y` is in the host's memory.
/// Arrays of a device with its own memory are left in `staged` for the next product.
///
/// # Safety
/// Both operands stay where they are until this returns, nobody writes them meanwhile, and nobody reads `y`, which is a
/// [`HostArray::result`]. On a device that does not share the host's memory their elements lie side by side.
///
/// # Errors
/// Those of `launch`, or the driver's own.
pub(crate) unsafe fn through(
    queue: &Queue,
    staged: &mut Option<(AnyArray, AnyArray)>,
    x: &Span<'_>,
    y: &Span<'_>,
    reads_y: bool,
    launch: impl FnOnce(&AnyArray, &mut AnyArray) -> Result<Option<Event>>,
) -> Result<()> {
    let context = queue.context();
    if is_shared(context) {
        // SAFETY: the caller's promise, and all commands have ended when this returns.
        let (x, mut y) = unsafe { (lend(queue, x, false)?, lend(queue, y, true)?) };
        if let Some(event) = launch(&x, &mut y)? {
            event.wait()?;
        }
        // SAFETY: the array is this call's own.
        return unsafe { see_blocking(queue, &y) };
    }
    let is_like = |array: &AnyArray, span: &Span<'_>| {
        array.element() == span.element && array.len() == span.len
    };
    let (mut on_x, mut on_y) = match staged.take() {
        Some((of_x, of_y)) if is_like(&of_x, x) && is_like(&of_y, y) => (of_x, of_y),
        _ => {
            let make = |span: &Span<'_>| AnyArray::allocate(context, span.element, span.len);
            (make(x)?, make(y)?)
        }
    };
    // SAFETY: the caller's promise.
    on_x.write_bytes_blocking(queue, unsafe { x.array.bytes() })?;
    if reads_y {
        // SAFETY: the caller's promise.
        on_y.write_bytes_blocking(queue, unsafe { y.array.bytes() })?;
    }
    if let Some(event) = launch(&on_x, &mut on_y)? {
        event.wait()?;
    }
    // SAFETY: the caller's promise.
    on_y.read_bytes_blocking(queue, unsafe { y.array.bytes_mut() })?;
    *staged = Some((on_x, on_y));
    Ok(())
}

/// Elements of the host's memory as an array of the context; a copy of those that are read and lie at no multiple of
/// their size, as no device takes them.
///
/// # Safety
/// They stay there until the array and all commands with it have ended; nobody else writes them meanwhile, or reads them
/// if the device writes.
unsafe fn lend(queue: &Queue, span: &Span<'_>, writes: bool) -> Result<AnyArray> {
    let context = queue.context();
    let is_aligned = span.array.address().addr().is_multiple_of(span.element.size_bytes());
    if !is_aligned && !writes {
        // SAFETY: the caller's promise.
        let bytes = unsafe { span.array.bytes() };
        return Ok(AnyArray::upload_blocking(queue, span.element, bytes)?);
    }
    let bytes = span.len * span.element.size_bytes();
    if bytes == 0 {
        return Ok(AnyArray::allocate(context, span.element, 0)?);
    }
    if context.device().traits().host_access() == HostAccess::FineGrainedSystem {
        let value_type = span.array.value_type()?;
        // SAFETY: all of the process is the device's too; the rest is the caller's promise.
        return for_value_type!(value_type, V => unsafe {
            Ok(DeviceArray::<V>::from_svm(span.array.address().cast(), span.len, true)?.into_any())
        });
    }
    let access = if writes { CL_MEM_READ_WRITE } else { CL_MEM_READ_ONLY };
    let (flags, address) = (access | CL_MEM_USE_HOST_PTR, span.array.address());
    // SAFETY: the memory is the caller's promise; the reference that is made here is released here, and the array has
    // one of its own.
    unsafe {
        let memory = opencl3::memory::create_buffer(context.as_raw(), flags, bytes, address)
            .map_err(|code| Failure::Call("clCreateBuffer", code))?;
        let array = AnyArray::from_raw(memory, span.element, 0, span.len);
        let released = opencl3::memory::release_mem_object(memory);
        released.map_err(|code| Failure::Call("clReleaseMemObject", code))?;
        Ok(array?)
    }
}

/// Waits for what is in the queue, and has the host see what the device has written to an array that was lent: a map,
/// which copies nothing there.
///
/// # Safety
/// No other command writes the array.
unsafe fn see_blocking(queue: &Queue, array: &AnyArray) -> Result<()> {
    // Of memory that is all shared there is no buffer, and nothing to map.
    let Some(memory) = array.memory().0.as_raw().filter(|_| !array.is_empty()) else {
        return Ok(queue.finish_blocking()?);
    };
    let (queue, bytes, mut place) = (queue.as_raw(), array.size_bytes(), null_mut());
    // SAFETY: the buffer is the array's and so long; no event is waited for. What is unmapped was mapped for reading, so
    // that nothing is written when the driver comes to it.
    unsafe {
        let mapped = enqueue_map_buffer(
            queue,
            memory,
            CL_BLOCKING,
            CL_MAP_READ,
            0,
            bytes,
            &mut place,
            0,
            null(),
        );
        release(mapped.map_err(|code| Failure::Call("clEnqueueMapBuffer", code))?)?;
        let unmapped = enqueue_unmap_mem_object(queue, memory, place, 0, null());
        release(unmapped.map_err(|code| Failure::Call("clEnqueueUnmapMemObject", code))?)
    }
}

/// Gives up the one reference to an event.
///
/// # Safety
/// There is one, and it is the caller's.
unsafe fn release(event: opencl3::types::cl_event) -> Result<()> {
    // SAFETY: the caller's promise.
    let released = unsafe { opencl3::event::release_event(event) };
    released.map_err(|code| Failure::Call("clReleaseEvent", code))
}
