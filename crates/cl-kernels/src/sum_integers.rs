//! `sum_integers`: the sum of 32-bit integers (`cl/vector/sum_integers.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::parameters;
use crate::tiling::Tiling;

/// Path of the source below `cl/`.
pub const SOURCE: &str = "vector/sum_integers.cl";

/// Words of its workspace: arrivals and the total, a cache line each.
pub const WORKSPACE_WORDS: usize = 64;

parameters! {
    /// Parameters of `sum_integers`.
    pub struct SumIntegers for "sum_integers" {
        /// Items of a work-group.
        group_size: [1, 64, 128, 256, 512],
        /// Elements of a load.
        lanes: Tiling::LANES,
        /// Loads of an item that are in flight together.
        loads: [1, 2, 4, 8],
    }
}

impl SumIntegers {
    /// With a given tiling.
    pub fn new(tiling: Tiling) -> Self {
        let Tiling { group_size, lanes, loads } = tiling;
        SumIntegers { group_size, lanes, loads }
    }

    /// Groups for `count` elements, `most` at most. One group at least: the sum of nothing is written too.
    pub fn groups(&self, count: u64, most: u64) -> u64 {
        let SumIntegers { group_size, lanes, loads } = *self;
        Tiling { group_size, lanes, loads }.groups(count, most).max(1)
    }
}

arguments! {
    /// Arguments of the kernel `sum_integers`.
    pub struct Arguments<M> for "sum_integers" {
        /// Elements.
        count: u64,
        /// The integers.
        x: Array<M>,
        /// One integer.
        result: Array<M>,
        /// Words that are 0 before and after a launch.
        workspace: Array<M>,
        /// 0, but the compiler cannot know (`cl/group/carry.h`).
        zero: u32,
    }
}
