//! Arrays as the host sees them, without a copy where memory is shared.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use cl_kernels::Array;

use crate::raw::{Mapping, Memory, note_copied};
use crate::{DeviceArray, Error, Queue, Result};

/// The elements of an array on the device, readable by the host.
#[derive(Debug)]
pub struct HostView<'a, T> {
    mapping: Mapping,
    array: PhantomData<&'a [T]>,
    /// Whether the host has no share of the memory, so that bytes are moved to it, and back where it may write them.
    is_moved: bool,
}

/// The elements of an array on the device, readable and writable by the host.
#[derive(Debug)]
pub struct HostViewMut<'a, T>(HostView<'a, T>);

impl<'a, T: Pod> HostView<'a, T> {
    /// # Safety
    /// As [`crate::raw::QueueHandle::map_blocking`].
    #[expect(unsafe_code, reason = "what else touches the array is not seen from here")]
    pub(crate) unsafe fn map_blocking(
        queue: &Queue,
        array: &Array<&'a Memory>,
        len: usize,
        writes: bool,
    ) -> Result<Self> {
        let (offset, bytes) = (array.start as usize * size_of::<T>(), len * size_of::<T>());
        let Some(memory) = array.memory else {
            return Err(Error::Incompatible("there is no array to look at".to_owned()));
        };
        // SAFETY: the caller's promise.
        let mapping = unsafe { queue.handle().map_blocking(memory, offset, bytes, writes)? };
        // A buffer may lie in memory of the application's, wherever that begins.
        let address = mapping.bytes().as_ptr().addr();
        if !address.is_multiple_of(align_of::<T>()) {
            return Err(Error::Range {
                what: "the address of an array in the host's memory".to_owned(),
                value: address as u64,
                rule: format!("it must be a multiple of {}", align_of::<T>()),
            });
        }
        let is_moved = !queue.context().device().traits().host_access().is_shared();
        if is_moved {
            note_copied(bytes);
        }
        Ok(HostView { mapping, array: PhantomData, is_moved })
    }

    /// As [`HostView::map_blocking`], to be written.
    ///
    /// # Safety
    /// As there.
    #[expect(unsafe_code, reason = "what else touches the array is not seen from here")]
    pub(crate) unsafe fn map_mut_blocking(
        queue: &Queue,
        array: &Array<&'a Memory>,
        len: usize,
    ) -> Result<HostViewMut<'a, T>> {
        // SAFETY: the caller's promise.
        Ok(HostViewMut(unsafe { Self::map_blocking(queue, array, len, true)? }))
    }
}

impl<T: Pod> HostView<'_, T> {
    /// Whether it shows a copy, as the buffer denies the host its own bytes.
    pub fn is_copy(&self) -> bool {
        self.mapping.is_copy()
    }

    /// Whether the host sees the bytes where kernels do: they are no copy, and in memory that both share.
    pub fn is_in_place(&self) -> bool {
        !self.is_moved && !self.is_copy()
    }

    /// Gives the array back to the device.
    ///
    /// # Errors
    /// The driver's own failure; where the view is dropped instead, it is not reported.
    pub fn unmap_blocking(self) -> Result<()> {
        self.mapping.unmap_blocking()
    }
}

impl<T: Pod> HostViewMut<'_, T> {
    /// As [`HostView::is_copy`].
    pub fn is_copy(&self) -> bool {
        self.0.is_copy()
    }

    /// As [`HostView::is_in_place`].
    pub fn is_in_place(&self) -> bool {
        self.0.is_in_place()
    }

    /// Gives the array back to the device; what is enqueued afterwards sees what was written.
    ///
    /// # Errors
    /// The driver's own failure; where the view is dropped instead, it is not reported.
    pub fn unmap_blocking(self) -> Result<()> {
        if self.0.is_moved {
            note_copied(self.0.mapping.bytes().len());
        }
        self.0.mapping.unmap_blocking()
    }
}

impl<T: Pod> Deref for HostView<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(self.mapping.bytes())
    }
}

impl<T: Pod> Deref for HostViewMut<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Pod> DerefMut for HostViewMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.0.mapping.bytes_mut())
    }
}

impl<T: Pod> DeviceArray<T> {
    /// The elements as the host sees them, after everything before in `queue`: at their own address where
    /// the memory is fine-grained shared virtual memory, else mapped, which copies nothing where host and
    /// device share their memory.
    ///
    /// # Safety
    /// No command that was enqueued writes the array while the view lives, in whatever queue.
    ///
    /// # Errors
    /// A queue of another context, or the driver's own failure.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    pub unsafe fn view_blocking(&self, queue: &Queue) -> Result<HostView<'_, T>> {
        queue.context().check_array("the array", self)?;
        queue.finish_blocking()?;
        // SAFETY: the caller's promise.
        unsafe { HostView::map_blocking(queue, &self.argument(), self.len(), false) }
    }

    /// As [`DeviceArray::view_blocking`], to be written.
    ///
    /// # Safety
    /// No command that was enqueued touches the array while the view lives, in whatever queue.
    ///
    /// # Errors
    /// As there.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    pub unsafe fn view_mut_blocking(&mut self, queue: &Queue) -> Result<HostViewMut<'_, T>> {
        queue.context().check_array("the array", self)?;
        queue.finish_blocking()?;
        // SAFETY: the caller's promise.
        unsafe { HostView::map_mut_blocking(queue, &self.argument(), self.len()) }
    }
}
