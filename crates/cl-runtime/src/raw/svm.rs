//! Shared virtual memory: an allocation both sides address by the same pointer.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use opencl3::memory as cl;
use opencl3::types::cl_context;

use super::{ContextHandle, EventHandle, fault, make};
use crate::Result;

/// Shared virtual memory: owned and freed here, or the application's.
#[derive(Debug)]
pub struct SvmAllocation {
    pointer: *mut c_void,
    bytes: usize,
    owner: Option<ContextHandle>,
    fine_grained: bool,
    /// Launches and fills since the last time all were seen complete: unlike buffers, shared virtual memory is
    /// not kept alive by the commands that use it.
    uses: Mutex<Vec<EventHandle>>,
    /// Whether it is the application's to free, although it was allocated here.
    is_given: AtomicBool,
}

// SAFETY: the pointer is a plain address; all access goes through queues or `unsafe fn`.
unsafe impl Send for SvmAllocation {}
// SAFETY: as above.
unsafe impl Sync for SvmAllocation {}

impl SvmAllocation {
    /// Allocates `bytes`; fine-grained memory needs no map and unmap around host access.
    ///
    /// # Errors
    /// The device lacks that level of shared virtual memory, or has not so much of it.
    pub fn new(context: &ContextHandle, bytes: usize, fine_grained: bool) -> Result<Self> {
        let mut flags = cl::CL_MEM_READ_WRITE;
        if fine_grained {
            flags |= cl::CL_MEM_SVM_FINE_GRAIN_BUFFER;
        }
        // SAFETY: the context is valid; alignment 0 asks for the default.
        let pointer = make("clSVMAlloc", || unsafe {
            let pointer = cl::svm_alloc(context.as_raw(), flags, bytes.max(1), 0)?;
            if pointer.is_null() { Err(-4) } else { Ok(pointer) } // CL_MEM_OBJECT_ALLOCATION_FAILURE
        })?;
        Ok(SvmAllocation {
            pointer,
            bytes: bytes.max(1),
            owner: Some(context.clone()),
            fine_grained,
            uses: Mutex::new(Vec::new()),
            is_given: AtomicBool::new(false),
        })
    }

    /// Refers to `bytes` of shared virtual memory that the application owns.
    ///
    /// # Safety
    /// `pointer` is shared virtual memory of the context it is used in, at least `bytes` long, and
    /// outlives every launch that uses it.
    pub unsafe fn from_raw(pointer: *mut c_void, bytes: usize, fine_grained: bool) -> Self {
        SvmAllocation {
            pointer,
            bytes,
            owner: None,
            fine_grained,
            uses: Mutex::new(Vec::new()),
            is_given: AtomicBool::new(true),
        }
    }

    /// The address, on both sides.
    pub fn as_raw(&self) -> *mut c_void {
        self.pointer
    }

    /// The address, from now on the application's to free (clSVMFree): it is not freed here any more.
    pub fn give(&self) -> *mut c_void {
        self.is_given.store(true, Ordering::Relaxed);
        self.pointer
    }

    /// The context it was allocated in; `None` where the application did.
    pub fn context(&self) -> Option<cl_context> {
        self.owner.as_ref().map(ContextHandle::as_raw)
    }

    /// Bytes of the allocation.
    pub fn size_bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the host may touch it without map and unmap.
    pub fn is_fine_grained(&self) -> bool {
        self.fine_grained
    }

    /// Remembers a launch or fill that uses the memory; an owned allocation waits for it before it is freed.
    pub(crate) fn note_use(&self, event: &EventHandle) {
        if self.owner.is_none() {
            return;
        }
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.retain(|event| !event.is_complete());
        uses.push(event.clone());
    }
}

impl Drop for SvmAllocation {
    fn drop(&mut self) {
        if let Some(context) = &self.owner {
            let uses = self.uses.get_mut().unwrap_or_else(PoisonError::into_inner);
            for event in uses.drain(..) {
                // A failed command no longer uses the memory. Not through the seam: it would not be reported
                // of a failure here, and the memory would be freed under the command.
                let _ = opencl3::event::wait_for_events(&[event.as_raw()]);
            }
            if *self.is_given.get_mut() {
                return;
            }
            // SAFETY: allocated in this context by `new`, freed once, and no launch uses it any more.
            let release = unsafe { cl::svm_free(context.as_raw(), self.pointer) };
            fault::released(fault::Object::Memory, release);
        }
    }
}
