//! What a plan notes of the rows of each step (`cl/batched/step_rows.h`), and the kernel of the program
//! [`FEATURE_FORWARD`](super::FEATURE_FORWARD) that finds it.

use csr_core::ValueType;

use super::{Batched, STRETCH_WORDS};
use crate::Array;
use crate::arguments::arguments;

/// Places from one where pieces of single problems alike may begin to the next (`ALIGNED`, `cl/batched/pieces.h`), so
/// before their first nonzero are fewer.
const ALIGNED: usize = 32;

impl Batched {
    /// Whether programs whose bunches walk by themselves want it.
    pub fn plans_rows(&self, value_type: ValueType) -> bool {
        value_type.accumulator() == ValueType::F64 && self.pairs == 0 && self.nnz_per_item > 1
    }

    /// Whether the items of a bunch can keep what they want of a piece of a problem of `nnz` nonzeros: two numbers each.
    pub fn can_keep_rows(&self, nnz: u32) -> bool {
        let steps = nnz as usize / (self.step() * self.bunches_per_group as usize) + 2;
        steps < 2 * self.bunch_size as usize
    }

    /// 32-bit words of so many problems.
    pub fn step_rows_words(&self, problems: usize, nnz: u32) -> usize {
        let steps = (nnz as usize + ALIGNED - 1).div_ceil(self.step());
        problems * steps * (self.step() / 64) + (problems * (steps + 1)).div_ceil(2)
    }

    fn step(&self) -> usize {
        self.bunch_size as usize * self.nnz_per_item as usize
    }
}

arguments! {
    /// Arguments of the kernel `find_step_rows`.
    pub struct Arguments<M> for "find_step_rows" {
        /// Problems, a group for each.
        problems: u32,
        /// The stretch that they are.
        stretch: [u64; STRETCH_WORDS],
        /// Row offsets.
        offsets: Array<M>,
        /// [`Batched::step_rows_words`].
        step_rows: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_a_bit_for_two_places_and_a_row() {
        let usual = Batched::usual(32);
        // 31 places and 481 nonzeros are two steps, which have three rows; with 225 they are one.
        assert_eq!(usual.step_rows_words(10, 481), 10 * 2 * 4 + 10 * 3 / 2);
        assert_eq!(usual.step_rows_words(1, 225), 4 + 1);
        assert_eq!(usual.step_rows_words(3, 0), 3 * 4 + 3);
    }

    #[test]
    fn places_are_aligned_as_in_the_kernel() {
        let text = crate::SOURCES.iter().find(|s| s.path == "batched/pieces.h").unwrap().text;
        let of_single = format!("#if defined(ALIKE) && !PAIRS\n#define ALIGNED {ALIGNED}\n");
        assert!(text.contains(&of_single));
    }

    #[test]
    fn a_bunch_keeps_the_rows_of_63_steps() {
        let usual = Batched::usual(32);
        assert!(usual.can_keep_rows(62 * 1024 - 1));
        assert!(!usual.can_keep_rows(62 * 1024));
    }

    #[test]
    fn only_single_problems_in_f64_plan_rows() {
        let usual = Batched::usual(32);
        assert!(usual.plans_rows(ValueType::F64));
        assert!(!usual.plans_rows(ValueType::F32));
        assert!(!Batched { pairs: 1, ..usual }.plans_rows(ValueType::F64));
    }
}
