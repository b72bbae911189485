//! Slots of a workspace in which partial sums of cut rows are combined (`cl/group/combine.h`).

use cl_kernels::KernelKey;

use super::accumulator_words;

/// The layout: two accumulators and a counter for each slot, the accumulators first, which are aligned so.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartialSums {
    slots: usize,
    carry_words: usize,
}

impl PartialSums {
    /// For the kernel of `key`, which is launched with so many slots.
    pub(super) fn new(key: &KernelKey, slots: usize) -> Self {
        Self::of_sums(accumulator_words(key), slots)
    }

    /// For accumulators of so many 32-bit words.
    pub(super) fn of_sums(words: usize, slots: usize) -> Self {
        PartialSums { slots, carry_words: 2 * words }
    }

    /// 32-bit words of the workspace.
    pub(super) fn words(self) -> usize {
        self.slots * (self.carry_words + 1)
    }
}
