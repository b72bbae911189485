//! The words of tasks and strided ranges, as `cl/batched/task.h` lays them out.

use cl_kernels::batched::{Batched as Parameters, BatchedAlgorithm, RANGE_WORDS, TASK_WORDS};
use csr_core::batch::{Format, Problem, Steps};

use crate::Result;

pub(super) fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The words of a strided range whose first task has these, and the number `number` among those of strided ranges; what
/// is noted of each task's rows has so many.
pub(super) fn range_words(
    first: [u64; TASK_WORDS],
    steps: Steps,
    number: u64,
    noted_words: u64,
) -> [u64; RANGE_WORDS] {
    let [w0, w1, w2, w3, w4, w5, w6, w7] = first;
    let Steps { index, columns, values, x, y } = steps;
    [w0, w1, w2, w3, w4, w5, w6, w7, values, columns, index, x, y, number, noted_words, 0]
}

/// The words of a task that is a whole problem (`cl/batched/task.h`); what is noted of its rows begins at `place`.
#[inline]
pub(super) fn task_words(
    problem: &Problem,
    number: u32,
    algorithm: BatchedAlgorithm,
    place: u64,
) -> [u64; TASK_WORDS] {
    let lengths = match problem.format {
        Format::Ell { width } => pair(width, problem.rows),
        _ => u64::from(problem.entries) | place << 32,
    };
    [
        problem.values,
        problem.columns,
        problem.index,
        problem.x,
        problem.y,
        pair(problem.rows, problem.cols),
        lengths,
        pair(algorithm.kind(problem.format), number),
    ]
}

/// Where what is noted of tasks' rows lies (`cl/batched/step_rows.h`): one behind the other.
pub(super) struct NotePlaces {
    /// Of single problems; none where nothing is noted.
    pub(super) parameters: Option<Parameters>,
    /// Words so far.
    pub(super) words: u64,
}

impl NotePlaces {
    /// The place of a problem that is cut into so many parts; 0 where nothing is noted.
    pub(super) fn take(&mut self, problem: &Problem, parts: u32) -> u64 {
        let place = self.words;
        self.words += match &self.parameters {
            None => 0,
            Some(parameters) if parts == 1 => parameters.step_rows_words(problem.entries),
            Some(parameters) => parameters.step_rows_words_of_parts(problem.entries, parts),
        };
        place
    }

    /// The place of the first of so many problems alike, and how far apart theirs are.
    pub(super) fn take_many(&mut self, problem: &Problem, count: u32) -> (u64, u64) {
        let place = self.take(problem, 1);
        let apart = self.words - place;
        self.words = place + apart * u64::from(count);
        (place, apart)
    }

    /// Words of all, where each has a place of 32 bits.
    pub(super) fn all_words(&self) -> Result<u64> {
        let limit = u32::MAX.into();
        let what = "the number of words that a plan notes of rows";
        let error = csr_core::Error::TooLarge { what, value: self.words, limit };
        if self.words > limit { Err(error.into()) } else { Ok(self.words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(entries: u32) -> Problem {
        let format = Format::Csr;
        let (index, columns, values, x, y) = (0, 0, 0, 0, 0);
        Problem { rows: 9, cols: 9, entries, format, index, columns, values, x, y }
    }

    #[test]
    fn notes_of_tasks_lie_one_behind_the_other() {
        let usual = Parameters {
            sub_group_size: 32,
            sub_groups_per_group: 4,
            nnz_per_item: 8,
            x_local: 1024,
            rows_per_task: 1024,
            pairs: 0,
        };
        let mut notes = NotePlaces { parameters: Some(usual), words: 0 };
        // Five words for each step of 256 nonzeros, before which there may be 31 places.
        assert_eq!(notes.take(&problem(225), 1), 0);
        assert_eq!(notes.take(&problem(226), 1), 5);
        assert_eq!(notes.take_many(&problem(0), 3), (15, 5));
        assert_eq!(notes.take(&problem(512), 2), 30);
        assert_eq!(notes.all_words().unwrap(), 30 + (2 + 2 * 2) * 5);
        notes.words = 1 << 32;
        assert!(notes.all_words().unwrap_err().to_string().contains("4294967296"));
    }

    #[test]
    fn nothing_is_noted_without_parameters() {
        let mut notes = NotePlaces { parameters: None, words: 0 };
        assert_eq!((notes.take(&problem(9), 1), notes.take_many(&problem(9), 7)), (0, (0, 0)));
        assert_eq!(task_words(&problem(9), 0, BatchedAlgorithm::CsrI, 5)[6], 9 | 5 << 32);
    }
}
