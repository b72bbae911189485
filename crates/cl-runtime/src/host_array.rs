//! Arrays in memory of the application's: shared virtual memory by its address, and the host's own, lent for reading.

use std::ffi::c_void;
use std::sync::Arc;

use cl_kernels::HostAccess;
use csr_core::{are, counted};

use crate::raw::{Memory, SvmAllocation};
use crate::{AnyArray, Context, DeviceArray, ElementType, Error, Pod, Result};

impl AnyArray {
    /// `len` elements of shared virtual memory of the application's. `fine_grained` says that the host may touch them
    /// without map and unmap.
    ///
    /// # Safety
    /// `pointer` is shared virtual memory of the context it will be used in, holds `len` elements, outlives every launch
    /// that uses it, and holds what its use demands.
    ///
    /// # Errors
    /// An address that is null where elements are needed, or no multiple of an element's size.
    #[expect(unsafe_code, reason = "takes a raw pointer")]
    pub unsafe fn from_svm(
        pointer: *mut c_void,
        element: impl Into<ElementType>,
        len: usize,
        fine_grained: bool,
    ) -> Result<Self> {
        let element = element.into();
        let bytes = element.size_bytes();
        let rule = if pointer.is_null() && len > 0 {
            format!("it must not be null, as {} {} needed", counted(len, "element"), are(len))
        } else if !pointer.addr().is_multiple_of(bytes) {
            format!("it must be a multiple of the element's {}", counted(bytes, "byte"))
        } else {
            let bytes = len.saturating_mul(bytes);
            // SAFETY: the caller's promise.
            let allocation = unsafe { SvmAllocation::from_raw(pointer, bytes, fine_grained) };
            let memory = Memory::Svm(Arc::new(allocation));
            return Ok(Self::of_created(memory, element, len, None));
        };
        let (what, value) = ("the address of shared virtual memory", pointer.addr() as u64);
        Err(Error::Range { what: what.to_owned(), value, rule })
    }
}

impl AnyArray {
    /// The memory that the array lies in, for the application to release: a buffer's handle with a reference more, or the
    /// address of shared virtual memory, which is no more freed here.
    ///
    /// # Errors
    /// The driver refuses the reference.
    pub fn give(&self) -> Result<*mut c_void> {
        match self.memory().0 {
            Memory::Svm(allocation) => Ok(allocation.give()),
            Memory::Buffer(handle) => handle.to_owned_raw(),
        }
    }
}

impl<T: Pod> DeviceArray<T> {
    /// Elements of the host's memory for kernels to read where they lie. Where the device has another memory than the
    /// host, the driver copies them.
    ///
    /// # Safety
    /// They stay there until the array, each clone of it and every command with it have ended, and nothing writes them
    /// meanwhile.
    ///
    /// # Errors
    /// More than the device allocates at once, or the driver's own failure.
    #[expect(unsafe_code, reason = "the compiler does not see how long commands take")]
    pub unsafe fn lend(context: &Context, elements: &[T]) -> Result<Self> {
        if elements.is_empty() {
            return DeviceArray::allocate(context, 0);
        }
        let (len, bytes) = (elements.len(), size_of_val(elements));
        let address = elements.as_ptr();
        if context.device().traits().host_access() == HostAccess::FineGrainedSystem {
            // SAFETY: all of the process is the device's too; the rest is the caller's promise.
            return unsafe { DeviceArray::from_svm(address.cast_mut(), len, true) };
        }
        let what = format!("an array of {}", counted(len, "element"));
        context.check_allocation(&what, bytes as u64)?;
        // SAFETY: the caller's promise.
        let memory = unsafe { Memory::of_host(context.handle(), address.cast(), bytes)? };
        DeviceArray::of_memory(memory, 0, len)
    }
}
