//! The tasks of one kernel of a batch: listed on the device, or a strided range of problems from whose numbers they
//! follow.

use cl_kernels::batched::{
    Batched as Parameters, BatchedAlgorithm, BatchedKernel, NNZ_PER_TASK, RANGE_WORDS,
    SMALL_ENTRIES, TASK_WORDS,
};
use csr_core::batch::{Problem, StridedRange};
use csr_core::plan::batched::{LongRules, TaskRules, Tasks, work};

use super::AnyBatch;
use super::cut::{Pending, cut_blocking};
use super::survey::Survey;
use super::words::{range_words, task_words};
use crate::scratch::upload_small_blocking;
use crate::{DeviceArray, Queue, Result};

/// What groups compute, in the order in which they take it.
#[derive(Debug)]
pub(super) struct DeviceTasks {
    pub(super) count: usize,
    /// The first of them, which have a group each.
    pub(super) whole: usize,
    /// Where they are a strided range, its words; nothing is listed then.
    pub(super) range: Option<[u64; RANGE_WORDS]>,
    /// The words of those that are listed.
    pub(super) words: DeviceArray<u64>,
    /// No task has more nonzeros.
    pub(super) most_nnz: u32,
    /// Rows and nonzeros of all tasks, and about those of the largest.
    pub(super) work: (u64, u64),
    /// While the device writes the words.
    pub(super) pending: Option<Pending>,
}

/// Problems alike that every compute unit has at least, or the large ones are cut: with so many no unit waits for
/// another for long, and each part would fetch x again.
const UNCUT_PER_UNIT: u32 = 6;

/// Nonzeros from which on even these are cut: half of what a task can count.
const UNCUT_NNZ: usize = (u32::MAX / 2) as usize;

/// A problem is long with this many times the work of the mean one: the others are done before its group is.
const LONG_TIMES: u64 = 16;

/// Parts of a long problem have the work that falls to a compute unit over this: sub-groups that a unit runs at once.
const LONG_PARTS: u64 = 32;

/// The fewest nonzeros of such a part.
const LEAST_PART: u64 = 128;

/// Parts of a long problem for each compute unit, at most: groups that a unit runs at once.
const PARTS_PER_UNIT: usize = 8;

/// Tasks are few if all together have no more work than so many of the largest for each compute unit: then the launch takes
/// as long as its largest task. Read from an H200, whose units run as many groups of twice the sub-groups at once, fewer of
/// COO (docs/notebook/2026-12-01-batches-of-few-tasks-h200.md).
const FEW_PER_UNIT: u64 = 4;
const FEW_PER_UNIT_OF_COO: u64 = 2;

impl DeviceTasks {
    /// Makes the tasks of the problems that `kernel` computes, of a batch that was surveyed.
    pub(super) fn new_blocking(
        queue: &Queue,
        batch: &AnyBatch,
        survey: &Survey<impl Fn(&Problem) -> BatchedAlgorithm>,
        kernel: BatchedKernel,
        parameters: &Parameters,
    ) -> Result<Self> {
        let units = queue.context().device().traits().compute_units;
        let problems = batch.problems();
        let in_step = kernel == BatchedKernel::CsrIInStep;
        let select = |problem: &Problem| survey.select(problem);
        let takes = |problem: &Problem| select(problem).kernel(in_step) == kernel;
        let may_share = |problem: &Problem| select(problem).may_share_group();
        let first = |range: &StridedRange| &problems[range.first as usize];
        let one = batch.ranges().and_then(|all| only(all, |range| takes(first(range))));
        // What is too large for this kernel is cut, so that its parts are not.
        let fits = |nnz: u32| !in_step || nnz <= parameters.most_nnz_in_step();
        let are_enough = |range: &StridedRange| range.count >= UNCUT_PER_UNIT * units;
        let is_uncut = one.is_some_and(|range| are_enough(range) && fits(first(range).entries));
        let rules = TaskRules {
            nnz_per_task: if is_uncut { UNCUT_NNZ } else { NNZ_PER_TASK },
            rows_per_task: parameters.rows_per_task as usize,
            small_entries: SMALL_ENTRIES,
            long: long_rules(survey.all_work, problems.len(), units),
        };
        if let Some(range) = one.filter(|range| !rules.cuts(first(range))) {
            let problem = first(range);
            let shares_group = rules.is_small(problem) && may_share(problem);
            let words = task_words(problem, range.first, select(problem));
            return Ok(DeviceTasks {
                count: range.count as usize,
                whole: if shares_group { 0 } else { range.count as usize },
                range: Some(range_words(words, range.steps)),
                words: DeviceArray::allocate(queue.context(), 0)?,
                most_nnz: problem.entries,
                work: (work(problem) * u64::from(range.count), work(problem)),
                pending: None,
            });
        }
        let Tasks { tasks, whole } = Tasks::new(problems, &rules, takes, may_share);
        let count = tasks.len();
        check_number_of_tasks(count)?;
        let works = tasks
            .iter()
            .map(|task| work(&problems[task.problem as usize]).div_ceil(u64::from(task.parts)));
        let work = works.fold((0, 0), |(all, most), work| (all + work, most.max(work)));
        let (words, most_nnz, pending) = if tasks.iter().any(|task| task.parts > 1) {
            let cut = cut_blocking(queue, batch, &tasks, select, fits)?;
            (cut.words, cut.most_nnz, cut.pending)
        } else {
            let numbered =
                tasks.iter().map(|task| (task.problem, &problems[task.problem as usize]));
            let most_nnz = numbered.clone().map(|(_, problem)| problem.entries).max().unwrap_or(0);
            let words: Vec<[u64; TASK_WORDS]> = numbered
                .map(|(number, problem)| task_words(problem, number, select(problem)))
                .collect();
            (upload_small_blocking(queue, words.as_flattened())?, most_nnz, None)
        };
        Ok(DeviceTasks { count, whole, range: None, words, most_nnz, work, pending })
    }

    /// Whether groups of twice the sub-groups take less time on a device of so many compute units. Where most tasks share
    /// groups, larger ones would only be fewer.
    pub(super) fn are_few(&self, units: u32, kernel: BatchedKernel) -> bool {
        let (all, most) = self.work;
        let per_unit =
            if kernel == BatchedKernel::Coo { FEW_PER_UNIT_OF_COO } else { FEW_PER_UNIT };
        2 * self.whole > self.count && all <= per_unit * u64::from(units) * most
    }

    /// Whether all are problems of one pattern.
    pub(super) fn are_of_one_pattern(&self) -> bool {
        // From task to task neither columns nor row offsets move.
        self.range.is_some_and(|words| words[TASK_WORDS + 1..TASK_WORDS + 3] == [0, 0])
    }

    /// Groups of two problems of one pattern each, or of one that has no other.
    pub(super) fn pairs(&self) -> usize {
        let values_apart = self.range.map_or(0, |words| words[TASK_WORDS]);
        pairs(self.count, values_apart)
    }
}

/// The one of `ranges` that `takes` names, if it names one alone.
fn only(ranges: &[StridedRange], takes: impl Fn(&StridedRange) -> bool) -> Option<&StridedRange> {
    let mut taken = ranges.iter().filter(|range| takes(range));
    taken.next().filter(|_| taken.next().is_none())
}

/// Pairs of `count` problems that lie `apart` values apart: of neighbours, or, where that is odd, of a problem and the
/// next but one (`cl/batched/in_step.h`).
fn pairs(count: usize, apart: u64) -> usize {
    if apart.is_multiple_of(2) { count.div_ceil(2) } else { count / 4 * 2 + (count % 4).min(2) }
}

fn check_number_of_tasks(count: usize) -> Result<()> {
    match u32::try_from(count) {
        Ok(_) => Ok(()),
        Err(_) => {
            let (value, limit) = (count as u64, u32::MAX.into());
            let what = "the number of tasks";
            Err(csr_core::Error::TooLarge { what, value, limit }.into())
        }
    }
}

/// When one of so many problems, which have so much work together, is cut because the others would be done before it,
/// on a device of so many compute units.
fn long_rules(all_work: u64, problems: usize, units: u32) -> LongRules {
    let units = units.max(1);
    let mean = all_work / problems.max(1) as u64;
    let of_a_part = (all_work / (u64::from(units) * LONG_PARTS)).max(LEAST_PART);
    LongRules {
        work: (LONG_TIMES * mean).max(2 * of_a_part),
        nnz_per_task: of_a_part as usize,
        most_parts: PARTS_PER_UNIT * units as usize,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_problem_is_in_one_pair_and_no_group_without_a_problem() {
        for count in 1..30 {
            for apart in [6, 7] {
                let mut taken = vec![0; count];
                for group in 0..super::pairs(count, apart) {
                    // As the kernel has it (cl/batched/batched_csr_i_in_step.cl).
                    let (first, to_other) = if apart % 2 == 0 {
                        (2 * group, 1)
                    } else {
                        (2 * (group & !1) + group % 2, 2)
                    };
                    taken[first] += 1;
                    if let Some(other) = taken.get_mut(first + to_other) {
                        *other += 1;
                    }
                }
                assert_eq!(taken, vec![1; count], "{count} problems, {apart} values apart");
            }
        }
    }
}
