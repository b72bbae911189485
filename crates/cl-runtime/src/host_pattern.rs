//! Arrays as the host reads them, a matrix's pattern above all: in place where host and device share their memory, else
//! copied.

use std::ops::Deref;

use bytemuck::Pod;
use csr_core::{AnyOffsets, AnyPatternView, PatternView, for_offset_type};

use crate::{AnyMatrix, DeviceArray, Error, HostView, Queue, Result};

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

impl AnyMatrix {
    /// What `read` makes of the row offsets, after everything before in `queue`.
    ///
    /// # Errors
    /// Those of `read`; a queue of another context, or the driver's own failure.
    #[expect(unsafe_code, reason = "maps a pattern")]
    pub fn with_host_offsets_blocking<R, E: From<Error>>(
        &self,
        queue: &Queue,
        read: impl FnOnce(AnyOffsets<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        for_offset_type!(self.offset_type(), O => {
            // SAFETY: a matrix's pattern never changes, as the caller that made it of arrays of its own has promised.
            let offsets = unsafe { OnHost::<O>::read_blocking(queue, self.offsets().typed()?)? };
            let found = read(AnyOffsets::from(&offsets[..]))?;
            offsets.release_blocking()?;
            Ok(found)
        })
    }

    /// What `read` makes of the pattern, after everything before in `queue`. Every invariant has been checked: the
    /// arrays may be the application's.
    ///
    /// # Errors
    /// The first invariant that is broken, with its index; those of `read`; a queue of another context, or the driver's
    /// own failure.
    #[expect(unsafe_code, reason = "maps a pattern")]
    pub fn with_host_pattern_blocking<R, E: From<Error>>(
        &self,
        queue: &Queue,
        read: impl FnOnce(AnyPatternView<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        for_offset_type!(self.offset_type(), O => {
            // SAFETY: as above.
            let offsets = unsafe { OnHost::<O>::read_blocking(queue, self.offsets().typed()?)? };
            // SAFETY: as above.
            let columns = unsafe { OnHost::<u32>::read_blocking(queue, self.columns().typed()?)? };
            let pattern = PatternView::new(self.cols(), &offsets, &columns).map_err(Error::from)?;
            let found = read(pattern.into())?;
            columns.release_blocking()?;
            offsets.release_blocking()?;
            Ok(found)
        })
    }
}
