//! `reduce`: sums of dense vectors in one launch and in a fixed order (`cl/vector/reduce.cl`).

use csr_core::ValueType;

use crate::arguments::arguments;
use crate::parameters::parameters;
use crate::tiling::Tiling;
use crate::{Accumulate, Array, DeviceTraits, DeviceType};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "vector/reduce.cl";

/// What becomes of a vector, or of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// The sum of x.
    Sum,
    /// The sum of x_i y_i.
    Dot,
    /// The sum of |x_i|.
    Norm1,
    /// The square root of the sum of x_i^2, without overflow or underflow on the way.
    Norm2,
}

impl Reduction {
    /// Every reduction.
    pub const ALL: [Reduction; 4] =
        [Reduction::Sum, Reduction::Dot, Reduction::Norm1, Reduction::Norm2];

    /// The spelling in errors and records.
    pub fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "reduce",
            Reduction::Dot => "dot",
            Reduction::Norm1 => "nrm1",
            Reduction::Norm2 => "nrm2",
        }
    }

    /// The feature of the kernel's key.
    pub fn feature(self) -> &'static str {
        match self {
            Reduction::Sum => "SUM",
            Reduction::Dot => "DOT",
            Reduction::Norm1 => "NORM1",
            Reduction::Norm2 => "NORM2",
        }
    }

    /// Sums that travel together (`LAUNCH_SUMS` of the kernel).
    fn sums(self) -> usize {
        match self {
            Reduction::Norm2 => 3,
            _ => 1,
        }
    }
}

parameters! {
    /// Parameters of `reduce`.
    pub struct Reduce for "reduce" {
        /// Items of a work-group.
        group_size: [1, 64, 128, 256, 512],
        /// Elements of a load.
        lanes: Tiling::LANES,
        /// Loads of an item that are in flight together, of each array.
        loads: [1, 2, 4, 8],
    }
}

/// Groups of any device at most: few enough for the last of them to add up what all have.
const MOST_GROUPS: u64 = 2048;

/// Groups that a compute unit has at once; more would only begin after them.
const GROUPS_OF_UNIT: u64 = 8;

/// Groups of a sum on `device` at most. The order of sums depends on it.
pub fn most_groups(device: &DeviceTraits) -> u64 {
    match device.device_type {
        // As many as a tiling allows, whatever the machine: its cores are not all that it has.
        DeviceType::Cpu => MOST_GROUPS,
        _ => (GROUPS_OF_UNIT * u64::from(device.compute_units)).clamp(1, MOST_GROUPS),
    }
}

/// Words before the carries (`LAUNCH_SUM_CARRIES` of `cl/group/launch_sum.h`): the counter, in a cache line for itself.
const WORDS_BEFORE_CARRIES: usize = 32;

impl Reduce {
    /// With a given tiling.
    pub fn new(tiling: Tiling) -> Self {
        let Tiling { group_size, lanes, loads } = tiling;
        Reduce { group_size, lanes, loads }
    }

    /// Groups for `count` elements, `most` at most. One group at least: the sum of nothing is written too.
    pub fn groups(&self, count: u64, most: u64) -> u64 {
        let Reduce { group_size, lanes, loads } = *self;
        Tiling { group_size, lanes, loads }.groups(count, most).max(1)
    }

    /// Words of a workspace that serves any reduction of any length.
    pub fn workspace_words(value_type: ValueType, accumulate: Accumulate) -> usize {
        let of_number = value_type.accumulator().size_bytes() / 4;
        let of_sum = match accumulate {
            Accumulate::Plain => of_number,
            Accumulate::Compensated => 2 * of_number,
        };
        let sums = Reduction::ALL.map(Reduction::sums).into_iter().max().unwrap_or(1);
        WORDS_BEFORE_CARRIES + MOST_GROUPS as usize * sums * of_sum
    }
}

arguments! {
    /// Arguments of the kernel `reduce`.
    pub struct Arguments<M> for "reduce" {
        /// Elements of each vector.
        count: u64,
        /// The vector x.
        x: Array<M>,
        /// The vector y, of `dot`; others do not read it.
        y: Array<M>,
        /// One number.
        result: Array<M>,
        /// The counter and the carries of `cl/group/launch_sum.h`.
        workspace: Array<M>,
        /// 0, but the compiler cannot know (`cl/group/carry.h`).
        zero: u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_as_the_kernel_counts_it() {
        let header = crate::source::text_of("group/launch_sum.h");
        assert!(header.contains(&format!("#define LAUNCH_SUM_CARRIES {WORDS_BEFORE_CARRIES}\n")));
        let kernel = crate::source::text_of(SOURCE);
        let line = format!("#define LAUNCH_SUMS {}\n", Reduction::Norm2.sums());
        assert!(kernel.contains(&format!("#ifdef NORM2\n{line}")));
        // Three sums of two f64 each.
        let words = Reduce::workspace_words(ValueType::F64, Accumulate::Compensated);
        assert_eq!(words, 32 + 2048 * 3 * 4);
    }

    #[test]
    fn the_sum_of_nothing_takes_a_group() {
        let reduce = Reduce { group_size: 256, lanes: 2, loads: 4 };
        assert_eq!(reduce.groups(0, 1056), 1);
        assert_eq!(reduce.groups(10_000_000, 1056), 1056);
    }
}
