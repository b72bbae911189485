//! What a plan makes of the columns of the one pattern that pairs of problems have in f64 (`cl/batched/by_two.h`).

use csr_core::ValueType;

use super::{Batched, RANGE_WORDS};
use crate::Array;
use crate::arguments::arguments;

/// Positions from one where a step of pairs may begin to the next (`STEP_ALIGNED`), of which each has a copy.
const ALIGNED: usize = 2;

impl Batched {
    /// Whether items of the kernel by sub-groups in step take two entries at a time, and read copied columns.
    pub fn copies_columns(&self, value_type: ValueType) -> bool {
        value_type.accumulator() == ValueType::F64 && self.nnz_per_item > 1 && self.pairs == 1
    }

    /// Steps of a copy of the columns of a pattern of `nnz` nonzeros.
    pub fn steps_of_a_copy(&self, nnz: u32) -> usize {
        (nnz as usize + ALIGNED - 1).div_ceil(self.step())
    }

    /// 32-bit words of both copies.
    pub fn copied_columns_words(&self, nnz: u32) -> usize {
        ALIGNED * self.steps_of_a_copy(nnz) * (self.step() / 2)
    }

    fn step(&self) -> usize {
        self.sub_group_size as usize * self.nnz_per_item as usize
    }
}

arguments! {
    /// Arguments of the kernel `copy_columns`.
    pub struct CopyArguments<M> for "copy_columns" {
        /// [`Batched::steps_of_a_copy`], a group for each of each copy.
        steps: u32,
        /// The strided range that the problems are.
        range: [u64; RANGE_WORDS],
        /// Row offsets.
        offsets: Array<M>,
        /// Column indices.
        columns: Array<M>,
        /// [`Batched::copied_columns_words`].
        copies: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_copies_of_a_pattern_are_whole_steps() {
        let pairs = Batched::defaults(32).by_pairs();
        // 127 nonzeros and a position before them are one step of 128, 128 are two.
        assert_eq!(pairs.copied_columns_words(127), 2 * 64);
        assert_eq!(pairs.copied_columns_words(128), 2 * 2 * 64);
        assert_eq!(pairs.copied_columns_words(0), 2 * 64);
    }

    #[test]
    fn pairs_in_f64_alone_read_copied_columns() {
        let alone = Batched::defaults(32);
        let pairs = alone.by_pairs();
        assert!(!alone.copies_columns(ValueType::F64) && pairs.copies_columns(ValueType::F64));
        assert!(!pairs.copies_columns(ValueType::F32));
        let ones = Batched { nnz_per_item: 1, ..pairs };
        assert!(!ones.copies_columns(ValueType::F64));
    }

    #[test]
    fn copies_are_as_many_as_the_kernel_has() {
        let text = crate::source::text_of("batched/in_step.h");
        let by_two = format!("#elif defined(BY_TWO)\n#define STEP_ALIGNED {ALIGNED}\n");
        assert!(text.contains(&by_two));
    }
}
