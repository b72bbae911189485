//! What stage 1 leaves for stage 2, and where it lies in a workspace.

use cl_kernels::segmented_sum::{BORDERS, COUNTERS, PIECE_ROWS, SegmentedSum};
use cl_kernels::{Accumulate, Array, KernelKey};

use crate::raw::Memory;
use crate::{DeviceArray, Error, Result};

/// How much there is of everything, for the tiles of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// Tiles of the matrix; one at least, which finds the rows of a matrix without nonzeros.
    pub(super) tiles: u32,
    /// Bunches that take them.
    pub(super) bunches: u32,
    /// Ranges of rows the speculator array holds: one a tile, one before the first nonzero, and those that
    /// long ranges are cut into.
    pub(super) capacity: u32,
    /// 32-bit words of an accumulator.
    sum_words: usize,
}

impl Sizes {
    /// For a matrix of `rows` rows and `nnz` nonzeros.
    ///
    /// # Errors
    /// More tiles or ranges than 32 bits count.
    pub(super) fn new(
        rows: usize,
        nnz: usize,
        parameters: &SegmentedSum,
        key: &KernelKey,
    ) -> Result<Self> {
        let tiles = nnz.div_ceil(parameters.tile()).max(1);
        let capacity = tiles + 1 + rows.div_ceil(PIECE_ROWS);
        let Ok(capacity) = u32::try_from(capacity) else {
            return Err(Error::Range {
                what: "the tiles of segmented_sum".to_owned(),
                value: tiles as u64,
                rule: format!(
                    "there can be {} at most, with the ranges of rows; larger tiles make fewer",
                    u32::MAX
                ),
            });
        };
        let compensated = if key.accumulate == Accumulate::Compensated { 2 } else { 1 };
        let sum_words = key.value_type.accumulator().size_bytes() / 4 * compensated;
        // No more than the capacity, so both fit.
        let tiles = tiles as u32;
        let bunches = tiles.div_ceil(parameters.tiles_per_bunch);
        Ok(Sizes { tiles, bunches, capacity, sum_words })
    }

    /// 32-bit words of all of it.
    pub(super) fn words(&self) -> usize {
        self.counters_at() + COUNTERS
    }

    fn sums(&self) -> usize {
        2 * self.bunches as usize + BORDERS
    }

    fn head_rows_at(&self) -> usize {
        self.sums() * self.sum_words + 2 * self.capacity as usize
    }

    fn counters_at(&self) -> usize {
        self.head_rows_at() + self.bunches as usize + 1
    }
}

/// The parts of a workspace. Accumulators come first, as they are aligned most strictly.
#[derive(Debug)]
pub(super) struct Scratch<'a> {
    words: &'a DeviceArray<u32>,
    sizes: Sizes,
}

impl<'a> Scratch<'a> {
    pub(super) fn new(words: &'a DeviceArray<u32>, sizes: Sizes) -> Self {
        Scratch { words, sizes }
    }

    /// An array from the word `at` on, of elements of `element_words`.
    fn array(&self, at: usize, element_words: usize) -> Array<&'a Memory> {
        let whole = self.words.argument();
        Array { start: (whole.start + at as u64) / element_words as u64, ..whole }
    }

    pub(super) fn heads(&self) -> Array<&'a Memory> {
        self.array(0, self.sizes.sum_words)
    }

    pub(super) fn tails(&self) -> Array<&'a Memory> {
        let at = self.sizes.bunches as usize * self.sizes.sum_words;
        self.array(at, self.sizes.sum_words)
    }

    pub(super) fn borders(&self) -> Array<&'a Memory> {
        let at = 2 * self.sizes.bunches as usize * self.sizes.sum_words;
        self.array(at, self.sizes.sum_words)
    }

    pub(super) fn speculator(&self) -> Array<&'a Memory> {
        self.array(self.sizes.sums() * self.sizes.sum_words, 2)
    }

    pub(super) fn head_rows(&self) -> Array<&'a Memory> {
        self.array(self.sizes.head_rows_at(), 1)
    }

    pub(super) fn counters(&self) -> Array<&'a Memory> {
        self.array(self.sizes.counters_at(), 1)
    }

    /// The counters, to be set by the host.
    pub(super) fn counters_array(&self) -> Result<DeviceArray<u32>> {
        let at = self.sizes.counters_at();
        self.words.slice(at..at + COUNTERS)
    }
}
