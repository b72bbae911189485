//! A matrix on a device as the host reads it: where it lies if both share their memory, else a copy.

use csr_core::{CsrView, Offset, PatternView, Value};

use crate::on_host::OnHost;
use crate::{AnyMatrix, Error, Queue, Result};

/// The three arrays of a matrix for the host to read. Mapped memory is unmapped when this is dropped.
#[derive(Debug)]
pub struct HostMatrix<'a, V, O> {
    cols: usize,
    offsets: OnHost<'a, O>,
    columns: OnHost<'a, u32>,
    values: OnHost<'a, V>,
}

impl<'a, V: Value, O: Offset> HostMatrix<'a, V, O> {
    /// Looks at a matrix of these types after everything before in `queue`, and checks every invariant of its pattern: its
    /// arrays may be the application's.
    ///
    /// # Safety
    /// No command that was enqueued writes the arrays while what is returned lives, in whatever queue: where they are mapped,
    /// OpenCL leaves undefined what that would give.
    ///
    /// # Errors
    /// Other types, the first invariant that is broken, a queue of another context, or the driver's own failure.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    pub unsafe fn view_blocking(queue: &Queue, matrix: &'a AnyMatrix) -> Result<Self> {
        // SAFETY: the caller's promise.
        let seen = unsafe {
            HostMatrix {
                cols: matrix.cols(),
                offsets: OnHost::read_blocking(queue, matrix.offsets().typed()?)?,
                columns: OnHost::read_blocking(queue, matrix.columns().typed()?)?,
                values: OnHost::read_blocking(queue, matrix.values().typed()?)?,
            }
        };
        PatternView::new(seen.cols, &seen.offsets, &seen.columns).map_err(Error::from)?;
        Ok(seen)
    }

    /// The matrix.
    ///
    /// # Safety
    /// No command writes the arrays while what is returned lives, nor has one since they were looked at.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    pub unsafe fn csr(&self) -> CsrView<'_, V, O> {
        let pattern = PatternView::of_checked(self.cols, &self.offsets, &self.columns);
        CsrView::of_checked(pattern, &self.values)
    }

    /// Bytes that were copied for the host: 0 where it reads the arrays where they lie.
    pub fn copied_bytes(&self) -> usize {
        self.offsets.copied_bytes() + self.columns.copied_bytes() + self.values.copied_bytes()
    }
}
