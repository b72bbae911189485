//! Command buffers (`cl_khr_command_buffer`): launches that a driver records once and enqueues by one call.
//!
//! The functions are an extension's, so they are asked for by name and platform. Those used here have had the same
//! parameters in every version of it, from 0.9.0 to 1.0.0. What has changed is when a buffer may be enqueued again: up to
//! 0.9.7 not before its last run has ended, unless it was made for simultaneous use, which not every device offers; from
//! 0.9.8 on whenever its runs come one after the other.

use std::ffi::{CStr, c_void};
use std::{mem, ptr};

use cl3::ext::{
    CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR, CL_COMMAND_BUFFER_FLAGS_KHR,
    CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR,
    CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR,
    CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR, cl_command_buffer_khr,
    clCommandNDRangeKernelKHR_t, clCreateCommandBufferKHR_t, clEnqueueCommandBufferKHR_t,
    clFinalizeCommandBufferKHR_t, clReleaseCommandBufferKHR_t,
};
use opencl3::types::{cl_event, cl_int};

use super::{DeviceId, EventHandle, Kernel, QueueHandle, check, fault, make};
use crate::Result;

const EXTENSION: &str = "cl_khr_command_buffer";
/// The first version in which runs of one buffer may be enqueued one after the other.
const PIPELINED: u32 = version(0, 9, 8);

/// A version as OpenCL packs it.
const fn version(major: u32, minor: u32, patch: u32) -> u32 {
    major << 22 | minor << 12 | patch
}

/// What a driver has of the extension, for the queues of one device.
#[derive(Clone, Copy, Debug)]
pub struct CommandBufferSupport {
    functions: Functions,
    /// Whether a buffer has to be made for simultaneous use to be enqueued while it runs.
    needs_flag: bool,
}

#[derive(Clone, Copy, Debug)]
struct Functions {
    create: clCreateCommandBufferKHR_t,
    finalize: clFinalizeCommandBufferKHR_t,
    release: clReleaseCommandBufferKHR_t,
    ndrange: clCommandNDRangeKernelKHR_t,
    enqueue: clEnqueueCommandBufferKHR_t,
}

impl CommandBufferSupport {
    /// The extension as it serves an in-order queue of this device; else why it does not, in words that follow "the
    /// device".
    pub fn of(device: DeviceId, queue: &QueueHandle) -> Result<Self, String> {
        let extensions = device.text(opencl3::device::CL_DEVICE_EXTENSIONS);
        if !extensions.split_whitespace().any(|name| name == EXTENSION) {
            return Err(format!("does not have {EXTENSION}"));
        }
        let capabilities = device.number(CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR).unwrap_or(0);
        let needs_flag = device.extension_version(EXTENSION).unwrap_or(0) < PIPELINED;
        if needs_flag && capabilities & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR == 0 {
            return Err("cannot enqueue a command buffer again before it has ended".to_owned());
        }
        let properties = queue.properties().unwrap_or(0);
        let required = device.number(CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR);
        // Of versions before 0.9.6 nothing tells.
        let supported = device.number(CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR);
        let lacks = required.unwrap_or(0) & !properties;
        let exceeds = properties & !supported.unwrap_or(u64::MAX);
        if lacks | exceeds != 0 {
            return Err(format!(
                "runs no command buffers in a queue of the properties {properties:#x}: it lacks {lacks:#x} and must not \
                 have {exceeds:#x}"
            ));
        }
        match Functions::of(device) {
            Some(functions) => Ok(CommandBufferSupport { functions, needs_flag }),
            None => Err(format!("lists {EXTENSION}, and its driver does not have the functions")),
        }
    }
}

impl Functions {
    /// Those of the device's platform, if there are all.
    fn of(device: DeviceId) -> Option<Self> {
        let platform = device.platform().ok()?.as_raw();
        let library = cl3::load_library().as_ref().ok()?;
        let find = |name: &CStr| -> Option<*mut c_void> {
            let found =
                library.clGetExtensionFunctionAddressForPlatform(platform, name.as_ptr())?;
            (!found.is_null()).then_some(found)
        };
        let create = find(c"clCreateCommandBufferKHR")?;
        let finalize = find(c"clFinalizeCommandBufferKHR")?;
        let release = find(c"clReleaseCommandBufferKHR")?;
        let ndrange = find(c"clCommandNDRangeKernelKHR")?;
        let enqueue = find(c"clEnqueueCommandBufferKHR")?;
        // SAFETY: the platform gives these functions by their names, and the extension declares them so.
        unsafe {
            Some(Functions {
                create: mem::transmute::<*mut c_void, clCreateCommandBufferKHR_t>(create),
                finalize: mem::transmute::<*mut c_void, clFinalizeCommandBufferKHR_t>(finalize),
                release: mem::transmute::<*mut c_void, clReleaseCommandBufferKHR_t>(release),
                ndrange: mem::transmute::<*mut c_void, clCommandNDRangeKernelKHR_t>(ndrange),
                enqueue: mem::transmute::<*mut c_void, clEnqueueCommandBufferKHR_t>(enqueue),
            })
        }
    }
}

/// What the binding answers for a function that is not there.
const NOT_AVAILABLE: cl_int = opencl3::error_codes::DLOPEN_FUNCTION_NOT_AVAILABLE;

fn as_result(status: cl_int) -> Result<(), cl_int> {
    if status == 0 { Ok(()) } else { Err(status) }
}

/// Launches that the driver has recorded for one in-order queue, each after the one before.
#[derive(Debug)]
pub struct CommandBuffer {
    handle: cl_command_buffer_khr,
    functions: Functions,
    /// What it was made for, and where it is enqueued.
    queue: QueueHandle,
    has_run: bool,
}

// SAFETY: a command buffer may be used from any thread; recording and enqueueing take `&mut self`.
unsafe impl Send for CommandBuffer {}
// SAFETY: there are no `&self` methods.
unsafe impl Sync for CommandBuffer {}

impl CommandBuffer {
    /// An empty one, for a queue of the device that `support` was asked of.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn create(queue: &QueueHandle, support: &CommandBufferSupport) -> Result<Self> {
        let for_simultaneous =
            [CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0];
        let properties = if support.needs_flag { for_simultaneous.as_ptr() } else { ptr::null() };
        let raw = queue.as_raw();
        let handle = make("clCreateCommandBufferKHR", || {
            let create = support.functions.create.ok_or(NOT_AVAILABLE)?;
            let mut status = 0;
            // SAFETY: the queue is valid; queue, properties and status live through the call.
            let handle = unsafe { create(1, &raw const raw, properties, &raw mut status) };
            as_result(status)?;
            Ok(handle)
        })?;
        let (functions, queue) = (support.functions, queue.clone());
        Ok(CommandBuffer { handle, functions, queue, has_run: false })
    }

    /// Records a launch after those there are. The kernel keeps its arguments until the buffer is dropped: PoCL 3.1 reads
    /// them whenever the buffer is enqueued.
    ///
    /// # Safety
    /// All arguments are set. They, the kernel, and memory as long as the kernel will read and write outlive the buffer.
    ///
    /// # Errors
    /// The driver's own failure.
    pub unsafe fn record(
        &mut self,
        kernel: &Kernel,
        groups: usize,
        group_size: usize,
    ) -> Result<()> {
        let global = groups * group_size;
        make("clCommandNDRangeKernelKHR", || {
            let ndrange = self.functions.ndrange.ok_or(NOT_AVAILABLE)?;
            // SAFETY: the buffer and the kernel are valid, and sizes live through the call; the rest is the caller's promise.
            as_result(unsafe {
                ndrange(
                    self.handle,
                    ptr::null_mut(),
                    ptr::null(),
                    kernel.as_raw(),
                    1,
                    ptr::null(),
                    &raw const global,
                    &raw const group_size,
                    0,
                    ptr::null(),
                    ptr::null_mut(),
                    ptr::null_mut(),
                )
            })
        })
    }

    /// Ends recording.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn finalize(&mut self) -> Result<()> {
        make("clFinalizeCommandBufferKHR", || {
            let finalize = self.functions.finalize.ok_or(NOT_AVAILABLE)?;
            // SAFETY: the buffer is valid.
            as_result(unsafe { finalize(self.handle) })
        })
    }

    /// Enqueues all launches after what is in the queue.
    ///
    /// # Safety
    /// The buffer is finalized.
    ///
    /// # Errors
    /// The driver's own failure.
    pub unsafe fn enqueue(&mut self) -> Result<EventHandle> {
        let mut event: cl_event = ptr::null_mut();
        self.enqueue_to(&raw mut event)?;
        // SAFETY: the event is new, and its one reference becomes the owner's.
        Ok(unsafe { EventHandle::from_created(event) })
    }

    /// As [`CommandBuffer::enqueue`], without an event.
    ///
    /// # Safety
    /// As there.
    ///
    /// # Errors
    /// The driver's own failure.
    pub unsafe fn enqueue_without_event(&mut self) -> Result<()> {
        self.enqueue_to(ptr::null_mut())?;
        // The seam counts an event for every such call, and here is none.
        fault::released(fault::Object::Event, Ok(()));
        Ok(())
    }

    fn enqueue_to(&mut self, event: *mut cl_event) -> Result<()> {
        self.has_run = true;
        make("clEnqueueCommandBufferKHR", || {
            let enqueue = self.functions.enqueue.ok_or(NOT_AVAILABLE)?;
            // SAFETY: the buffer is valid; the event's slot lives through the call.
            as_result(unsafe { enqueue(0, ptr::null_mut(), self.handle, 0, ptr::null(), event) })
        })
    }
}

impl Drop for CommandBuffer {
    /// Waits until its runs have ended: what they use is not kept alive by a driver. Not through the seam: a failure would
    /// not be reported here.
    fn drop(&mut self) {
        if self.has_run {
            let _ = opencl3::command_queue::finish(self.queue.as_raw());
        }
        if let Some(release) = self.functions.release {
            // SAFETY: this owner holds the buffer's one reference.
            let released = as_result(unsafe { release(self.handle) });
            let _ = check("clReleaseCommandBufferKHR", released);
            fault::released(fault::Object::CommandBuffer, released);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PIPELINED, version};

    #[test]
    fn versions_compare_as_they_are_packed() {
        assert!(version(0, 9, 0) < PIPELINED && version(0, 9, 7) < PIPELINED);
        assert!(version(0, 9, 8) >= PIPELINED && version(1, 0, 0) >= PIPELINED);
    }
}
