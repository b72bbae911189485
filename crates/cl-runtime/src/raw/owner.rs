//! Owners of reference-counted handles.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use opencl3::types::{cl_command_queue, cl_context, cl_event, cl_mem};

use super::check;
use super::fault::{self, Object};
use crate::Result;

/// One reference to an OpenCL object, released when the last clone of its owner is gone.
#[derive(Debug)]
struct Reference {
    handle: *mut c_void,
    /// No other reference has or had it; handles themselves are used again.
    id: u64,
    release: unsafe fn(*mut c_void) -> Result<(), i32>,
    object: Object,
    /// Of a buffer, when the driver was asked.
    alignment_bytes: OnceLock<u64>,
}

impl Reference {
    fn new(
        handle: *mut c_void,
        release: unsafe fn(*mut c_void) -> Result<(), i32>,
        object: Object,
    ) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let alignment_bytes = OnceLock::new();
        Arc::new(Reference { handle, id, release, object, alignment_bytes })
    }
}

// SAFETY: OpenCL objects are reference-counted by thread-safe calls and may be used from any thread
// (OpenCL 1.2, appendix A.2; kernels, the exception, have an owner of their own).
unsafe impl Send for Reference {}
// SAFETY: as above.
unsafe impl Sync for Reference {}

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: this owner holds one reference. A failing release at exit cannot be reported.
        let release = unsafe { (self.release)(self.handle) };
        fault::released(self.object, release);
    }
}

/// Declares an owner: cheap to clone, releases on the last drop, retains what it adopts.
macro_rules! owner {
    ($(#[$meta:meta])* $name:ident, $object:ident, $handle:ty, $retain:path, $release:path, $retain_name:literal) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub struct $name(Arc<Reference>);

        impl $name {
            /// Takes over one reference that the caller owns.
            ///
            /// # Safety
            /// `handle` is a valid handle of this kind, and the caller gives up one reference to it.
            pub unsafe fn from_owned(handle: $handle) -> Self {
                fault::created(Object::$object);
                // SAFETY: the caller's promise; the reference is counted now.
                unsafe { Self::from_created(handle) }
            }

            /// As `from_owned`, for a handle that the seam has counted when it was created.
            ///
            /// # Safety
            /// As there.
            pub(super) unsafe fn from_created(handle: $handle) -> Self {
                $name(Reference::new(handle, $release, Object::$object))
            }

            /// Adds a reference of its own to a handle that stays the caller's.
            ///
            /// # Safety
            /// `handle` is a valid handle of this kind.
            ///
            /// # Errors
            /// The driver refuses to retain it.
            pub unsafe fn retain(handle: $handle) -> Result<Self> {
                // SAFETY: the caller says the handle is valid.
                check($retain_name, unsafe { $retain(handle) })?;
                // SAFETY: the reference just added is the one given over.
                Ok(unsafe { Self::from_owned(handle) })
            }

            /// The handle with one reference more, which is the caller's to release.
            ///
            /// # Errors
            /// The driver refuses to retain it.
            pub fn to_owned_raw(&self) -> Result<$handle> {
                // SAFETY: `self` holds a reference, so the handle is valid.
                check($retain_name, unsafe { $retain(self.as_raw()) })?;
                Ok(self.as_raw())
            }

            /// The handle, still owned by `self`.
            pub fn as_raw(&self) -> $handle {
                self.0.handle
            }
        }
    };
}

owner!(
    /// One reference to a context.
    ContextHandle,
    Context,
    cl_context,
    opencl3::context::context::retain_context,
    opencl3::context::context::release_context,
    "clRetainContext"
);
owner!(
    /// One reference to a command queue.
    QueueHandle,
    Queue,
    cl_command_queue,
    opencl3::command_queue::retain_command_queue,
    opencl3::command_queue::release_command_queue,
    "clRetainCommandQueue"
);
owner!(
    /// One reference to a memory object.
    MemHandle,
    Memory,
    cl_mem,
    opencl3::memory::retain_mem_object,
    opencl3::memory::release_mem_object,
    "clRetainMemObject"
);

impl MemHandle {
    /// What no other owner but a clone of this one has, or ever had.
    pub(super) fn id(&self) -> u64 {
        self.0.id
    }

    /// What `ask` found the buffer's alignment to be, which it is asked once.
    pub(super) fn alignment_bytes(&self, ask: impl FnOnce() -> Result<u64>) -> Result<u64> {
        if let Some(bytes) = self.0.alignment_bytes.get() {
            return Ok(*bytes);
        }
        let bytes = ask()?;
        Ok(*self.0.alignment_bytes.get_or_init(|| bytes))
    }

    /// Whether there is no clone of this owner.
    pub(super) fn is_only_owner(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// The handle without a reference of its own.
    ///
    /// # Safety
    /// `handle` is a valid handle, and lives until the last clone of this owner is gone.
    pub unsafe fn borrow(handle: cl_mem) -> Self {
        fn nothing(_: cl_mem) -> std::result::Result<(), i32> {
            Ok(())
        }
        fault::created(Object::Memory);
        MemHandle(Reference::new(handle, nothing, Object::Memory))
    }
}

owner!(
    /// One reference to an event.
    EventHandle,
    Event,
    cl_event,
    opencl3::event::retain_event,
    opencl3::event::release_event,
    "clRetainEvent"
);
