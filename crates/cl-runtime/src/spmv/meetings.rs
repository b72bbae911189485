//! Room in which parts of cut rows meet (`cl/group/meet.h`), in a workspace.

use cl_kernels::{Array, KernelKey};

use super::accumulator_words;
use crate::DeviceArray;
use crate::raw::Memory;

/// Two accumulators and a counter for each place at which parts may meet: the accumulators first, which are aligned so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meetings {
    places: usize,
    carry_words: usize,
}

impl Meetings {
    /// For the kernel of `key`, which is launched with so many places.
    pub(super) fn new(key: &KernelKey, places: usize) -> Self {
        Meetings { places, carry_words: 2 * accumulator_words(key) }
    }

    /// 32-bit words of the workspace.
    pub(super) fn words(self) -> usize {
        self.places * (self.carry_words + 1)
    }

    /// Counters and accumulators, in a workspace of that many words.
    pub(super) fn arrays(self, scratch: &DeviceArray<u32>) -> (Array<&Memory>, Array<&Memory>) {
        let carries = scratch.argument();
        let before = (self.places * self.carry_words) as u64;
        (Array { start: carries.start + before, ..carries }, carries)
    }
}
