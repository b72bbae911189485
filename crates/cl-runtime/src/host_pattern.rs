//! A matrix's pattern as the host reads it.

use csr_core::{AnyOffsets, AnyPatternView, PatternView, for_offset_type};

use crate::on_host::OnHost;
use crate::{AnyMatrix, Error, Queue, Result};

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
