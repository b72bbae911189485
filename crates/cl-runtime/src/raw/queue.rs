//! What is put into a queue besides kernels: copies, fills, markers; and waiting.

use std::ffi::c_void;
use std::ptr;

use opencl3::command_queue as cl;
use opencl3::types::{cl_event, cl_ulong};

use super::staging::Permits;
use super::{
    ContextHandle, DeviceId, EventHandle, Memory, QueueHandle, SvmAllocation, check, make,
    note_copied,
};
use crate::{Error, Result};

const BLOCKING: u32 = 1;
/// A call that returns before its command has run.
const LATER: u32 = 0;

impl QueueHandle {
    /// A new in-order queue; with `profiling`, its events carry times.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn create(context: &ContextHandle, device: DeviceId, profiling: bool) -> Result<Self> {
        let properties = if profiling { cl::CL_QUEUE_PROFILING_ENABLE } else { 0 };
        // SAFETY: context and device are valid and belong together.
        let handle = make("clCreateCommandQueue", || unsafe {
            cl::create_command_queue(context.as_raw(), device.as_raw(), properties)
        })?;
        // SAFETY: the handle is new, and its one reference becomes the owner's.
        Ok(unsafe { QueueHandle::from_created(handle) })
    }

    /// The context and the device of the queue.
    ///
    /// # Errors
    /// The driver does not answer.
    pub fn context_and_device(&self) -> Result<(ContextHandle, DeviceId)> {
        let context = self.pointer(cl::CL_QUEUE_CONTEXT)?;
        let device = self.pointer(cl::CL_QUEUE_DEVICE)?;
        // SAFETY: the driver just named both as this queue's own.
        unsafe { Ok((ContextHandle::retain(context)?, DeviceId::from_raw(device))) }
    }

    /// Whether commands run in the order they were enqueued.
    pub fn is_in_order(&self) -> bool {
        self.properties().is_some_and(|bits| bits & cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE == 0)
    }

    /// Its properties, as bits, where the driver tells them.
    pub(super) fn properties(&self) -> Option<u64> {
        let data = cl::get_command_queue_data(self.as_raw(), cl::CL_QUEUE_PROPERTIES);
        data.ok().and_then(|bytes| bytes.try_into().ok()).map(u64::from_ne_bytes)
    }

    fn pointer(&self, parameter: u32) -> Result<*mut c_void> {
        let data = cl::get_command_queue_data(self.as_raw(), parameter);
        let bytes = check("clGetCommandQueueInfo", data)?;
        let address = bytes.try_into().map(usize::from_ne_bytes);
        Ok(ptr::with_exposed_provenance_mut(address.unwrap_or(0)))
    }

    /// Copies `data` to `memory` from byte `offset` on, and waits until whatever is enqueued next, in any queue, finds it
    /// there. What the host must not write gets it by way of a buffer of our own.
    ///
    /// # Errors
    /// The driver's own failure, or data that would run past the end.
    pub fn write_blocking(&self, memory: &Memory, offset: usize, data: &[u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        match memory {
            Memory::Buffer(handle) if !Permits::of(handle)?.writes => {
                let staging = self.staging_buffer(data.len())?;
                self.write_blocking(&staging, 0, data)?;
                self.copy_blocking((&staging, 0), (memory, offset), data.len())
            }
            Memory::Buffer(handle) => {
                // SAFETY: `data` lives through the call, which blocks; the driver checks the range.
                let written = make("clEnqueueWriteBuffer", || unsafe {
                    cl::enqueue_write_buffer(
                        self.as_raw(),
                        handle.as_raw(),
                        BLOCKING,
                        offset,
                        data.len(),
                        data.as_ptr().cast(),
                        0,
                        ptr::null(),
                    )
                })?;
                note_copied(data.len());
                // SAFETY: the event is new, and its one reference becomes the owner's.
                let written = unsafe { EventHandle::from_created(written) };
                // The call has taken `data`, but nothing says when `memory` has it: Intel's runtime is late with small
                // ones, which a queue out of order and another queue notice.
                written.wait()
            }
            Memory::Svm(allocation) => {
                let target = svm_address(allocation, offset, data.len())?;
                // SAFETY: the range was checked, and `data` lives through the call, which blocks.
                unsafe { self.svm_copy(target, data.as_ptr().cast(), data.len()) }
            }
        }
    }

    /// Copies bytes of `memory` from `offset` on into `data` and waits; of what the host must not read, by way of a
    /// buffer of our own.
    ///
    /// # Errors
    /// The driver's own failure, or a range that runs past the end.
    pub fn read_blocking(&self, memory: &Memory, offset: usize, data: &mut [u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        match memory {
            Memory::Buffer(handle) if !Permits::of(handle)?.reads => {
                let staging = self.staged_blocking(memory, offset, data.len())?;
                self.read_blocking(&staging, 0, data)
            }
            Memory::Buffer(handle) => {
                // SAFETY: `data` lives through the call, which blocks; the driver checks the range.
                let read = make("clEnqueueReadBuffer", || unsafe {
                    cl::enqueue_read_buffer(
                        self.as_raw(),
                        handle.as_raw(),
                        BLOCKING,
                        offset,
                        data.len(),
                        data.as_mut_ptr().cast(),
                        0,
                        ptr::null(),
                    )
                })?;
                note_copied(data.len());
                release_after(read)
            }
            Memory::Svm(allocation) => {
                let source = svm_address(allocation, offset, data.len())?;
                // SAFETY: the range was checked, and `data` lives through the call, which blocks.
                unsafe { self.svm_copy(data.as_mut_ptr().cast(), source, data.len()) }
            }
        }
    }

    /// Repeats `pattern` over `bytes` of a buffer from `offset` on; all multiples of its length.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn fill(
        &self,
        memory: &Memory,
        pattern: &[u8],
        offset: usize,
        bytes: usize,
    ) -> Result<Option<EventHandle>> {
        if bytes == 0 {
            return Ok(None);
        }
        let filled = match memory {
            // SAFETY: the pattern is copied by the call; the driver checks the range.
            Memory::Buffer(handle) => make("clEnqueueFillBuffer", || unsafe {
                cl::enqueue_fill_buffer(
                    self.as_raw(),
                    handle.as_raw(),
                    pattern.as_ptr().cast(),
                    pattern.len(),
                    offset,
                    bytes,
                    0,
                    ptr::null(),
                )
            })?,
            Memory::Svm(allocation) => {
                let target = svm_address(allocation, offset, bytes)?;
                // SAFETY: the range was checked; the pattern is copied by the call.
                make("clEnqueueSVMMemFill", || unsafe {
                    cl::enqueue_svm_mem_fill(
                        self.as_raw(),
                        target,
                        pattern.as_ptr().cast(),
                        pattern.len(),
                        bytes,
                        0,
                        ptr::null(),
                    )
                })?
            }
        };
        // SAFETY: the event is new, and its one reference becomes the owner's.
        let event = unsafe { EventHandle::from_created(filled) };
        if let Memory::Svm(allocation) = memory {
            allocation.note_use(&event);
        }
        Ok(Some(event))
    }

    /// Copies `bytes` on the device, between buffers and shared virtual memory; where one is a buffer and the other shared
    /// virtual memory that is not fine-grained, by way of the host, and waits.
    ///
    /// # Errors
    /// The driver's own failure, or a range of shared virtual memory that runs past the end.
    pub fn copy(
        &self,
        source: (&Memory, usize),
        target: (&Memory, usize),
        bytes: usize,
    ) -> Result<Option<EventHandle>> {
        if bytes == 0 {
            return Ok(None);
        }
        let (queue, none) = (self.as_raw(), ptr::null());
        let event = match (source, target) {
            ((Memory::Buffer(from), from_offset), (Memory::Buffer(to), to_offset)) => {
                let (from, to) = (from.as_raw(), to.as_raw());
                // SAFETY: both handles are valid; the driver checks the ranges.
                make("clEnqueueCopyBuffer", || unsafe {
                    cl::enqueue_copy_buffer(queue, from, to, from_offset, to_offset, bytes, 0, none)
                })?
            }
            ((Memory::Svm(from), from_offset), (Memory::Svm(to), to_offset)) => {
                let from = svm_address(from, from_offset, bytes)?;
                let to = svm_address(to, to_offset, bytes)?;
                // SAFETY: both ranges were checked.
                make("clEnqueueSVMMemcpy", || unsafe {
                    cl::enqueue_svm_mem_cpy(queue, LATER, to, from, bytes, 0, none)
                })?
            }
            ((Memory::Svm(allocation), _), (Memory::Buffer(_), _))
            | ((Memory::Buffer(_), _), (Memory::Svm(allocation), _))
                if !allocation.is_fine_grained() =>
            {
                return self.copy_mapped_blocking(source, target, bytes).map(Some);
            }
            (from @ (Memory::Svm(_), _), to @ (Memory::Buffer(handle), _))
                if !Permits::of(handle)?.writes =>
            {
                let staging = self.staging_buffer(bytes)?;
                self.copy(from, (&staging, 0), bytes)?.map_or(Ok(()), |copied| copied.wait())?;
                return self.copy((&staging, 0), to, bytes);
            }
            ((Memory::Buffer(handle), from_offset), to @ (Memory::Svm(_), _))
                if !Permits::of(handle)?.reads =>
            {
                let staging = self.staged_blocking(source.0, from_offset, bytes)?;
                return self.copy((&staging, 0), to, bytes);
            }
            ((Memory::Svm(from), from_offset), (Memory::Buffer(to), to_offset)) => {
                let (from, to) = (svm_address(from, from_offset, bytes)?, to.as_raw());
                // SAFETY: the range was checked and is the host's too, being fine-grained; the handle is valid, and the driver
                // checks its range.
                make("clEnqueueWriteBuffer", || unsafe {
                    cl::enqueue_write_buffer(queue, to, LATER, to_offset, bytes, from, 0, none)
                })?
            }
            ((Memory::Buffer(from), from_offset), (Memory::Svm(to), to_offset)) => {
                let (from, to) = (from.as_raw(), svm_address(to, to_offset, bytes)?);
                // SAFETY: as above.
                make("clEnqueueReadBuffer", || unsafe {
                    cl::enqueue_read_buffer(queue, from, LATER, from_offset, bytes, to, 0, none)
                })?
            }
        };
        note_copied(bytes);
        // SAFETY: the event is new, and its one reference becomes the owner's.
        let event = unsafe { EventHandle::from_created(event) };
        for memory in [source.0, target.0] {
            if let Memory::Svm(allocation) = memory {
                allocation.note_use(&event);
            }
        }
        Ok(Some(event))
    }

    /// Copies between a buffer and coarse-grained shared virtual memory, and waits. OpenCL copies between a buffer and
    /// memory of the host's, and such memory is the host's while it is mapped.
    fn copy_mapped_blocking(
        &self,
        (source, source_offset): (&Memory, usize),
        (target, target_offset): (&Memory, usize),
        bytes: usize,
    ) -> Result<EventHandle> {
        let is_from = matches!(source, Memory::Svm(_));
        let (shared, offset) =
            if is_from { (source, source_offset) } else { (target, target_offset) };
        // SAFETY: a command that touches the range meanwhile races with the copy itself, which `copy` leaves to its caller.
        let mut mapping = unsafe { self.map_blocking(shared, offset, bytes, !is_from)? };
        if is_from {
            self.write_blocking(target, target_offset, mapping.bytes())?;
        } else {
            self.read_blocking(source, source_offset, mapping.bytes_mut())?;
        }
        mapping.unmap_blocking()?;
        self.marker(&[])
    }

    /// An event that completes when everything in `wait`, or with none everything before it, has.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn marker(&self, wait: &[cl_event]) -> Result<EventHandle> {
        let list = if wait.is_empty() { ptr::null() } else { wait.as_ptr() };
        // SAFETY: the wait list lives through the call.
        let event = make("clEnqueueMarkerWithWaitList", || unsafe {
            cl::enqueue_marker_with_wait_list(self.as_raw(), wait.len() as u32, list)
        })?;
        // SAFETY: the event is new, and its one reference becomes the owner's.
        Ok(unsafe { EventHandle::from_created(event) })
    }

    /// Hands everything enqueued to the device.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn flush(&self) -> Result<()> {
        make("clFlush", || cl::flush(self.as_raw()))
    }

    /// Waits until everything enqueued is done.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn finish(&self) -> Result<()> {
        make("clFinish", || cl::finish(self.as_raw()))
    }

    /// # Safety
    /// Both ranges are valid for `bytes`, one of them shared virtual memory of this context.
    unsafe fn svm_copy(&self, to: *mut c_void, from: *const c_void, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        let copied = make("clEnqueueSVMMemcpy", || unsafe {
            cl::enqueue_svm_mem_cpy(self.as_raw(), BLOCKING, to, from, bytes, 0, ptr::null())
        })?;
        note_copied(bytes);
        // As a write to a buffer.
        // SAFETY: the event is new, and its one reference becomes the owner's.
        unsafe { EventHandle::from_created(copied) }.wait()
    }
}

fn release_after(event: cl_event) -> Result<()> {
    // SAFETY: the event is new; dropping the owner releases its one reference.
    drop(unsafe { EventHandle::from_created(event) });
    Ok(())
}

fn svm_address(allocation: &SvmAllocation, offset: usize, bytes: usize) -> Result<*mut c_void> {
    let end = offset.checked_add(bytes);
    if end.is_none_or(|end| end > allocation.size_bytes()) {
        return Err(Error::call("clEnqueueSVMMemcpy", -30)); // CL_INVALID_VALUE
    }
    // SAFETY: offset + bytes is within the allocation.
    Ok(unsafe { allocation.as_raw().byte_add(offset) })
}

impl EventHandle {
    /// Waits for the event.
    ///
    /// # Errors
    /// The command it stands for failed.
    pub fn wait(&self) -> Result<()> {
        make("clWaitForEvents", || opencl3::event::wait_for_events(&[self.as_raw()]))
    }

    /// Whether the command it stands for has ended, well or not.
    pub fn is_complete(&self) -> bool {
        self.status().is_some_and(|status| status <= 0) // CL_COMPLETE is 0, failures are negative
    }

    /// The status of a command that has ended in error.
    pub fn failure(&self) -> Option<i32> {
        self.status().filter(|&status| status < 0)
    }

    fn status(&self) -> Option<i32> {
        let parameter = opencl3::event::CL_EVENT_COMMAND_EXECUTION_STATUS;
        let data = opencl3::event::get_event_data(self.as_raw(), parameter);
        data.ok().and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes)
    }

    /// Nanoseconds from start to end on the device, where the queue has profiling on.
    ///
    /// # Errors
    /// No profiling, or the command has not finished.
    pub fn nanoseconds(&self) -> Result<u64> {
        let read = |parameter| -> Result<cl_ulong> {
            let data = opencl3::event::get_event_profiling_data(self.as_raw(), parameter);
            let bytes = check("clGetEventProfilingInfo", data)?;
            Ok(bytes.try_into().map(u64::from_ne_bytes).unwrap_or(0))
        };
        let start = read(opencl3::event::CL_PROFILING_COMMAND_START)?;
        let end = read(opencl3::event::CL_PROFILING_COMMAND_END)?;
        Ok(end.saturating_sub(start))
    }
}
