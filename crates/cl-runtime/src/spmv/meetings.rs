//! Room in which parts of cut rows meet (`cl/group/meet.h`), in a workspace.

use cl_kernels::KernelKey;

use super::accumulator_words;

/// Two accumulators and a counter for each place at which parts may meet: the accumulators first, which are aligned so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meetings {
    places: usize,
    carry_words: usize,
}

impl Meetings {
    /// For the kernel of `key`, which is launched with so many places.
    pub(super) fn new(key: &KernelKey, places: usize) -> Self {
        Self::of_sums(accumulator_words(key), places)
    }

    /// For accumulators of so many 32-bit words.
    pub(super) fn of_sums(words: usize, places: usize) -> Self {
        Meetings { places, carry_words: 2 * words }
    }

    /// 32-bit words of the workspace.
    pub(super) fn words(self) -> usize {
        self.places * (self.carry_words + 1)
    }
}
