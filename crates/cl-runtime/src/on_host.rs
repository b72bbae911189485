//! Arrays as the host reads them: in place where host and device share their memory, else copied.

use std::ops::Deref;

use bytemuck::Pod;

use crate::{DeviceArray, HostView, Queue, Result};

/// Elements of an array that the host can read.
#[derive(Debug)]
pub(crate) enum OnHost<'a, T> {
    /// Where they lie.
    Seen(HostView<'a, T>),
    /// Read back.
    Copied(Vec<T>),
}

impl<'a, T: Pod> OnHost<'a, T> {
    /// The elements after everything before in `queue`.
    ///
    /// # Safety
    /// No command that was enqueued writes the array while what is returned lives, in whatever queue.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    pub(crate) unsafe fn read_blocking(queue: &Queue, array: &'a DeviceArray<T>) -> Result<Self> {
        if !queue.context().device().traits().has_host_memory {
            return Ok(OnHost::Copied(array.read_blocking(queue)?));
        }
        // SAFETY: the caller's promise.
        Ok(OnHost::Seen(unsafe { array.view_blocking(queue)? }))
    }

    /// Bytes that were copied for the host to read.
    pub(crate) fn copied_bytes(&self) -> usize {
        match self {
            OnHost::Seen(view) if view.is_in_place() => 0,
            OnHost::Seen(view) => size_of_val(&view[..]),
            OnHost::Copied(elements) => size_of_val(&elements[..]),
        }
    }

    /// Gives the array back: a failure of that is told.
    pub(crate) fn release_blocking(self) -> Result<()> {
        match self {
            OnHost::Seen(view) => view.unmap_blocking(),
            OnHost::Copied(_) => Ok(()),
        }
    }
}

impl<T: Pod> Deref for OnHost<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            OnHost::Seen(view) => view,
            OnHost::Copied(elements) => elements,
        }
    }
}
