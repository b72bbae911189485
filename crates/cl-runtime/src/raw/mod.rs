//! Thin owners of OpenCL handles: the only module where OpenCL functions are called.
//!
//! `opencl3` is the binding. Its own owners panic when a release fails and assert on kernel arguments,
//! so these call the plain functions it re-exports instead; each returns a status by name. An owner
//! retains what it is given, releases what it holds, and is `Send + Sync`: OpenCL objects may be used
//! from any thread, except that a kernel's arguments and its launch belong together, so launching takes
//! `&mut Kernel`. What may fail for want of memory or a compiler goes through the seam in `fault`.
#![expect(unsafe_code, reason = "OpenCL is a C interface; every call states why it is sound")]

mod buffer;
mod buffer_info;
mod command_buffer;
mod copied;
mod device;
pub mod fault;
mod float_traps;
mod kernel;
mod map;
mod origin;
mod owner;
mod program;
mod queue;
mod staging;
mod svm;

pub use buffer::{Memory, MemoryFlags};
pub use command_buffer::{CommandBuffer, CommandBufferSupport};
pub use copied::copied_bytes;
pub(crate) use copied::note_copied;
pub use device::{DeviceId, PlatformId, device_ids, platform_ids};
pub use float_traps::FloatTrapsHeld;
pub use kernel::Kernel;
pub use map::Mapping;
pub use origin::Origin;
pub use owner::{ContextHandle, EventHandle, MemHandle, QueueHandle};
pub use program::BuiltProgram;
pub use svm::SvmAllocation;

use crate::{Error, Result};

/// Names the call that failed, with OpenCL's name of the status.
fn check<T>(call: &'static str, result: Result<T, i32>) -> Result<T> {
    result.map_err(|code| Error::call(call, code))
}

/// Makes a call that allocates, enqueues or waits, through the seam; named as by [`check`].
fn make<T>(call: &'static str, function: impl FnOnce() -> Result<T, i32>) -> Result<T> {
    check(call, fault::attempt(call, function))
}
