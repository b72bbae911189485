//! Whether a buffer of pyopencl's is still one: after `release()` pyopencl goes on to give its handle, and a loader that is
//! asked about such a handle reads a freed object and jumps to wherever that points.
//!
//! By cl_khr_icd every object begins with the address of its driver's table of functions. Of buffers of one context that
//! is one address, which is looked at in two that live, and mostly no longer what a freed object begins with. Where it
//! still is, since an allocator that merges free memory writes elsewhere, the driver's own functions are reached, and
//! mostly find an object without references. It is no proof: the memory may hold another buffer by now, which then is
//! multiplied, and a command that is just ending may hold the last reference.

use opencl3::memory::{CL_MEM_REFERENCE_COUNT, get_mem_object_info};
use opencl3::types::{cl_mem, cl_uint};
use sparrow::{AnyArray, Context, ElementType};

use crate::errors::{Failure, Result};

/// What the buffers of a context begin with; `None` where two of them begin with different words, or with 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning(Option<usize>);

impl Beginning {
    /// Looks at two buffers that are made for it.
    ///
    /// # Errors
    /// The driver's own.
    pub(crate) fn of(context: &Context) -> Result<Self> {
        let make = || AnyArray::allocate(context, ElementType::U32, 1);
        let (one, other) = (make()?, make()?);
        // SAFETY: both live.
        let word = |array: &AnyArray| array.memory().0.as_raw().map(|raw| unsafe { begins(raw) });
        let (one, other) = (word(&one), word(&other));
        Ok(Beginning(one.filter(|word| one == other && *word != 0)))
    }

    /// Refuses a handle whose object begins with something else; `what` names the array.
    ///
    /// # Safety
    /// The handle was one of a buffer once.
    ///
    /// # Errors
    /// The buffer was released.
    pub(crate) unsafe fn check(self, memory: cl_mem, what: &str) -> Result<()> {
        let Some(word) = self.0 else { return Ok(()) };
        // SAFETY: drivers make their objects in memory that stays the process's when it is freed; nothing but this one
        // word is read, and it is used for nothing but the comparison.
        let begins_as_buffers = unsafe { begins(memory) } == word;
        // SAFETY: its first word leads to the driver that made it.
        match begins_as_buffers && unsafe { references(memory) } > 0 {
            true => Ok(()),
            false => Err(Failure::value(format!("the buffer of {what} was released"))),
        }
    }
}

/// How many references the driver counts, 0 if it knows no such buffer: PoCL's answer about a freed one whose memory is as
/// it was, Intel's runtime knows its buffers.
///
/// # Safety
/// The object's first word leads to the driver's functions, and the memory there can be read.
unsafe fn references(memory: cl_mem) -> cl_uint {
    get_mem_object_info(memory, CL_MEM_REFERENCE_COUNT).map_or(0, Into::into)
}

/// The first word of an object.
///
/// # Safety
/// The memory there can be read.
unsafe fn begins(object: cl_mem) -> usize {
    // SAFETY: the caller's promise.
    unsafe { object.cast::<usize>().read_volatile() }
}
