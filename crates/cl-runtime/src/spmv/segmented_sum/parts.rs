//! Parts of a matrix: some of its tiles, and their partial sums of rows that cross their boundaries.

use std::ops::Range;

use cl_kernels::Variant;
use csr_core::Accumulator;

use super::SegmentedSum;
use crate::launch::After;
use crate::on_host::OnHost;
use crate::spmv::{Operands, Workspace};
use crate::{Error, Event, Queue, Result};

/// Partial sums that a part of a matrix has of rows that cross its boundaries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundaries<T> {
    /// Of the row in the middle of which it begins.
    pub head: T,
    /// Of the row that begins in it and continues after it.
    pub tail: T,
}

impl SegmentedSum {
    /// Nonzeros of a tile.
    pub fn tile(&self) -> usize {
        self.parameters.tile()
    }

    /// Tiles of the matrix; one at least.
    pub fn tiles(&self) -> u32 {
        self.tiles
    }

    /// Enqueues both stages for the tiles `tiles` of the matrix, with stage 2 on the device. Rows that begin in
    /// them and end there are stored; a row that crosses a boundary of the part is not, and the partial sum of
    /// it is read by [`SegmentedSum::boundaries_blocking`].
    ///
    /// # Safety
    /// As [`crate::spmv::Spmv::launch`]; and the tiles are the matrix's, at least one.
    ///
    /// # Errors
    /// As [`crate::spmv::Spmv::launch`], or [`Variant::Fused`], which has no stages.
    #[expect(unsafe_code, reason = "operands are trusted")]
    pub unsafe fn launch_tiles(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        operands: &Operands<'_>,
        tiles: Range<u32>,
        after: After<'_>,
    ) -> Result<Option<Event>> {
        if self.variant == Variant::Fused {
            let rule = "it has one launch, and they are computed in two stages";
            return Err(Error::combination("a product of tiles", "the variant fused", rule));
        }
        workspace.run(self.owner, queue, after, |mut parts| {
            let (arguments, size) = self.stage1(parts.scratch, operands, &tiles);
            let (arguments2, size2) = self.stage2(parts.scratch, operands, &tiles);
            // SAFETY: the caller's promise; stage 2 takes the same memory.
            unsafe { parts.launch_both((&arguments, size), (&arguments2, size2)) }
        })
    }

    /// Partial sums that the tiles launched last have of the row in the middle of which they begin, and of the row that
    /// continues after them; each only where there is such a row. Plain sums only: the error of a compensated one is
    /// not read. They are read where they lie if the host shares the device's memory.
    ///
    /// # Safety
    /// Every launch in this workspace has ended, or was enqueued in `queue`.
    ///
    /// # Errors
    /// The driver's own failure.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    pub unsafe fn boundaries_blocking<T: Accumulator>(
        &self,
        queue: &Queue,
        workspace: &Workspace,
    ) -> Result<Boundaries<T>> {
        let words = self.layout.boundaries()..self.layout.speculator();
        let words = workspace.scratch().slice(words)?;
        // SAFETY: what is in `queue` is waited for, what else could write has ended, and a launch would borrow the workspace.
        let words = unsafe { OnHost::read_blocking(queue, &words)? };
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let sum = |at: usize| bytemuck::pod_read_unaligned(&bytes[at..at + size_of::<T>()]);
        let boundaries = Boundaries { head: sum(0), tail: sum(bytes.len() / 2) };
        words.release_blocking()?;
        Ok(boundaries)
    }
}
