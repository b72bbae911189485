//! Pieces of a matrix: some of its tiles, and what they have of rows that cross their borders.

use std::ops::Range;

use cl_kernels::Variant;
use csr_core::Accumulator;

use super::SegmentedSum;
use crate::spmv::{Operands, Workspace};
use crate::{Error, Event, Queue, Result};

/// What a piece of a matrix has of rows that cross its borders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Borders<T> {
    /// Of the row in the middle of which it begins.
    pub head: T,
    /// Of the row that begins in it and goes on behind it.
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
    /// them and end there are stored; a row that crosses a border of the piece is not, and what the piece has of
    /// it is read by [`SegmentedSum::borders_blocking`].
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
        wait: &[Event],
    ) -> Result<Event> {
        if self.variant == Variant::Fused {
            let text =
                "pieces of a matrix are computed in two stages, and this plan has one launch";
            return Err(Error::Mismatch(text.to_owned()));
        }
        workspace.run(self.owner, queue, wait, |mut parts| {
            // A stage 1 that never ran, since what it waits for ended in error, must take stage 2 with it;
            // otherwise the order of the queue is enough, and costs less than an event.
            let is_alone = queue.is_in_order() && parts.wait.is_empty();
            // SAFETY: the caller's promise; stage 2 takes the same memory.
            let stage1 = unsafe {
                if is_alone {
                    self.stage1_unobserved(queue, &mut parts, operands, &tiles)?;
                    None
                } else {
                    Some(self.stage1(queue, &mut parts, operands, &tiles)?)
                }
            };
            parts.first.clone_from(&stage1);
            let mut after: Vec<Event> = stage1.into_iter().collect();
            if queue.context().device().traits().hides_failed_commands() {
                after.extend(parts.wait.iter().cloned());
            }
            // SAFETY: the caller's promise.
            let stage2 = unsafe { self.stage2(queue, &mut parts, operands, &tiles, &after) };
            if stage2.is_err() {
                // Stage 1 has counted what nobody will look at.
                *parts.is_torn = true;
                let _ = queue.finish_blocking();
            }
            stage2
        })
    }

    /// What the tiles launched last have of the row in the middle of which they begin, and of the row that goes
    /// on behind them; each only where there is such a row. Plain sums only: the error of a compensated one is
    /// not read.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn borders_blocking<T: Accumulator>(
        &self,
        queue: &Queue,
        workspace: &Workspace,
    ) -> Result<Borders<T>> {
        let words = self.layout.borders()..self.layout.speculator();
        let words = workspace.scratch().slice(words)?.read_blocking(queue)?;
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let sum = |at: usize| bytemuck::pod_read_unaligned(&bytes[at..at + size_of::<T>()]);
        Ok(Borders { head: sum(0), tail: sum(bytes.len() / 2) })
    }
}
