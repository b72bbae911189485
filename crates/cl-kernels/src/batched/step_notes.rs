//! What a plan notes of each step for items that go by twos (`cl/batched/twos.h`), and the kernels of the program
//! [`FEATURE_FORWARD`](super::FEATURE_FORWARD) that find it: of single problems the rows (`cl/batched/step_rows.h`), of
//! pairs the columns of their one pattern (`cl/batched/step_columns.h`).

use csr_core::ValueType;

use super::{Batched, MOST_NNZ_OF_PLACES, RANGE_WORDS};
use crate::Array;
use crate::arguments::arguments;

/// Places from one where chunks of single tasks may begin to the next (`ALIGNED`, `cl/batched/chunks.h`), so
/// before their first nonzero are fewer.
const ALIGNED: usize = 32;

/// The same of pairs.
const ALIGNED_PAIRS: usize = 2;

impl Batched {
    /// Whether programs whose sub-groups walk by themselves want to be told of rows.
    pub fn notes_rows(&self, value_type: ValueType) -> bool {
        self.goes_by_twos(value_type) && self.pairs == 0
    }

    /// Whether they want to be told of columns.
    pub fn notes_columns(&self, value_type: ValueType) -> bool {
        self.goes_by_twos(value_type) && self.pairs == 1
    }

    fn goes_by_twos(&self, value_type: ValueType) -> bool {
        value_type.accumulator() == ValueType::F64 && self.nnz_per_item > 1
    }

    /// Whether sub-groups can walk a task of so many nonzeros by themselves
    /// ([`FEATURE_FORWARD`](super::FEATURE_FORWARD)).
    pub fn can_walk(&self, nnz: u32, value_type: ValueType) -> bool {
        nnz <= MOST_NNZ_OF_PLACES && (!self.notes_rows(value_type) || self.can_keep_rows(nnz))
    }

    /// Whether the items of a sub-group can keep what they want of a chunk of a problem of `nnz` nonzeros: two numbers
    /// each, of rows that have 15 bits.
    fn can_keep_rows(&self, nnz: u32) -> bool {
        let steps = nnz as usize / (self.step() * self.sub_groups_per_group as usize) + 2;
        steps < 2 * self.sub_group_size as usize && self.rows_per_task < 1 << 15
    }

    /// 32-bit words of the rows of a task of `nnz` nonzeros.
    pub fn step_rows_words(&self, nnz: u32) -> u64 {
        let steps = (nnz as usize + ALIGNED - 1).div_ceil(self.step());
        steps as u64 * u64::from(self.step_rows_words_a_step())
    }

    /// The same of a problem that is cut into so many parts, however its rows are (`cl/batched/batched_plan.cl`).
    pub fn step_rows_words_of_parts(&self, nnz: u32, parts: u32) -> u64 {
        let steps = u64::from(nnz) / self.step() as u64 + 2 * u64::from(parts);
        steps * u64::from(self.step_rows_words_a_step())
    }

    /// Of one step: a bit for two places, and a word for the open row and whether the step is uneven.
    pub fn step_rows_words_a_step(&self) -> u32 {
        self.step() as u32 / 64 + 1
    }

    /// Steps of a copy of the columns of a pattern of `nnz` nonzeros.
    pub fn steps_of_a_copy(&self, nnz: u32) -> usize {
        (nnz as usize + ALIGNED_PAIRS - 1).div_ceil(self.step())
    }

    /// 32-bit words of both copies.
    pub fn step_columns_words(&self, nnz: u32) -> usize {
        2 * self.steps_of_a_copy(nnz) * (self.step() / 2)
    }

    /// Nonzeros that a sub-group takes in a step.
    pub fn step(&self) -> usize {
        self.sub_group_size as usize * self.nnz_per_item as usize
    }
}

arguments! {
    /// Arguments of the kernel `find_step_rows`: of [`super::Arguments`] what says which task is which.
    pub struct StepRows<M> for "find_step_rows" {
        /// Tasks that are listed, before those of strided ranges.
        listed: u32,
        /// Strided ranges.
        range_count: u32,
        /// The last strided range.
        last: [u64; RANGE_WORDS],
        /// The one before it.
        before_last: [u64; RANGE_WORDS],
        /// The tasks that are listed.
        tasks: Array<M>,
        /// The strided ranges before the last two.
        ranges: Array<M>,
        /// Row offsets.
        offsets: Array<M>,
        /// [`Batched::step_rows_words`] for each task, where its words say.
        step_rows: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `find_step_columns`.
    pub struct StepColumns<M> for "find_step_columns" {
        /// [`Batched::steps_of_a_copy`], a group for each of each copy.
        steps: u32,
        /// The strided range that the problems are.
        range: [u64; RANGE_WORDS],
        /// Row offsets.
        offsets: Array<M>,
        /// Column indices.
        columns: Array<M>,
        /// [`Batched::step_columns_words`].
        step_columns: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_a_bit_for_two_places_and_a_word_for_its_row() {
        let usual = Batched::usual(32);
        // 31 places and 481 nonzeros are two steps; with 225 they are one.
        assert_eq!(usual.step_rows_words(481), 2 * 5);
        assert_eq!(usual.step_rows_words(225), 5);
        assert_eq!(usual.step_rows_words(0), 5);
    }

    #[test]
    fn rows_that_15_bits_do_not_count_are_not_walked() {
        let many_rows = Batched { rows_per_task: 1 << 15, ..Batched::usual(32) };
        assert!(!many_rows.can_walk(1, ValueType::F64) && many_rows.can_walk(1, ValueType::F32));
    }

    #[test]
    fn notes_of_parts_have_room_before_those_of_the_next_part() {
        for nnz_per_item in [2, 8] {
            let parameters = Batched { nnz_per_item, ..Batched::usual(32) };
            let step = parameters.step() as u32;
            for lengths in [[0, 0, 0], [1, step - 1, step], [step + 1, 1, 2 * step - 30], [226; 3]]
            {
                let (mut before, mut taken) = (0, 0);
                for (part, &nnz) in (0..).zip(&lengths) {
                    // As the kernel has it.
                    let place = parameters.step_rows_words_of_parts(before, part);
                    assert!(taken <= place, "part {part} of {lengths:?}");
                    taken = place + parameters.step_rows_words(nnz);
                    before += nnz;
                }
                assert!(taken <= parameters.step_rows_words_of_parts(before, 3), "{lengths:?}");
            }
        }
    }

    #[test]
    fn places_are_aligned_as_in_the_kernel() {
        let text = crate::SOURCES.iter().find(|s| s.path == "batched/chunks.h").unwrap().text;
        let single = format!("#if defined(ALL_CSR_I) && !PAIRS\n#define ALIGNED {ALIGNED}\n");
        let pairs = format!("#elif defined(BY_TWOS)\n#define ALIGNED {ALIGNED_PAIRS}\n");
        assert!(text.contains(&single) && text.contains(&pairs));
    }

    #[test]
    fn a_sub_group_keeps_the_rows_of_63_steps() {
        let usual = Batched::usual(32);
        assert!(usual.can_keep_rows(62 * 1024 - 1));
        assert!(!usual.can_keep_rows(62 * 1024));
    }

    #[test]
    fn two_copies_of_a_pattern_are_whole_steps() {
        let pairs = Batched::usual(32).by_pairs();
        // 127 nonzeros and a place before them are one step of 128, 128 are two.
        assert_eq!(pairs.step_columns_words(127), 2 * 64);
        assert_eq!(pairs.step_columns_words(128), 2 * 2 * 64);
        assert_eq!(pairs.step_columns_words(0), 2 * 64);
    }

    #[test]
    fn who_goes_by_twos_in_f64_is_told_of_rows_or_columns() {
        let usual = Batched::usual(32);
        assert!(usual.notes_rows(ValueType::F64) && !usual.notes_columns(ValueType::F64));
        assert!(!usual.notes_rows(ValueType::F32) && !usual.notes_columns(ValueType::F32));
        let pairs = usual.by_pairs();
        assert!(!pairs.notes_rows(ValueType::F64) && pairs.notes_columns(ValueType::F64));
        let ones = Batched { nnz_per_item: 1, ..pairs };
        assert!(!ones.notes_columns(ValueType::F64));
    }
}
