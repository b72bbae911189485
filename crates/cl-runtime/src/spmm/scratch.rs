//! The memory that a launch scribbles on: a copy of B where one is made, sums of parts of rows, and counters of rows that
//! groups share.

use cl_kernels::Array;

use super::{LongNodes, PatternPlan, Spmm, SpmmParameters};
use crate::DeviceArray;
use crate::raw::Memory;

impl Spmm {
    /// A copy of B, in words of 32 bits.
    pub(super) fn copy_words(&self) -> usize {
        match &self.copy {
            // Sums follow it, and begin where a vector may.
            Some(copy) => {
                let elements = self.cols * copy.leading;
                (elements * self.dense.b_type.size_bytes()).next_multiple_of(128) / 4
            }
            None => 0,
        }
    }

    /// Sums of parts of rows, as many columns each as whole vectors have.
    fn sum_words(&self) -> usize {
        let sums = match &self.plan {
            PatternPlan::Tiles(tiles) => 2 * tiles.cuts(),
            PatternPlan::Rows { long, .. } => {
                let rows_at_once = match self.parameters {
                    SpmmParameters::RowSplit(parameters) => parameters.rows_at_once as usize,
                    SpmmParameters::Merge(_) | SpmmParameters::NonzeroSplit(_) => 1,
                };
                long.as_ref().map_or(0, LongNodes::stored_parts) * rows_at_once
            }
        };
        let columns = self.dense.c.cols().next_multiple_of(16);
        sums * columns * self.real_type.size_bytes() / 4
    }

    /// The counters of rows that groups share: for each boundary that cuts one, one a tile of columns.
    fn counter_words(&self) -> usize {
        match (&self.plan, self.parameters) {
            (PatternPlan::Tiles(tiles), SpmmParameters::Merge(_)) => {
                let column_tiles = self.forms.iter().map(|form| form.tiling.tiles as usize).max();
                tiles.cuts() * column_tiles.unwrap_or(1)
            }
            _ => 0,
        }
    }

    /// Where the counters are.
    pub(super) fn counters<'a>(&self, scratch: &'a DeviceArray<u32>) -> Array<&'a Memory> {
        match self.counter_words() {
            0 => Array::none(),
            _ => {
                Array { start: (self.copy_words() + self.sum_words()) as u64, ..scratch.argument() }
            }
        }
    }

    /// All of it.
    pub(super) fn scratch_words(&self) -> usize {
        self.copy_words() + self.sum_words() + self.counter_words()
    }

    /// Where sums of parts are, counted in those.
    pub(super) fn sums<'a>(&self, scratch: &'a DeviceArray<u32>) -> Array<&'a Memory> {
        let start = (self.copy_words() * 4 / self.real_type.size_bytes()) as u64;
        match self.sum_words() {
            0 => Array::none(),
            _ => Array { start, ..scratch.argument() },
        }
    }
}
