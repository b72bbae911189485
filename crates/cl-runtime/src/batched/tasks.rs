//! The tasks of a batch: listed on the device, packed or not, or as strided ranges of problems from whose numbers they
//! follow.

use cl_kernels::batched::{
    Batched as Parameters, BatchedAlgorithm, FEATURE_ALIKE, FEATURE_FEW_RANGES, FEATURE_ONE_RANGE,
    MOST_NNZ_OF_PLACES, NNZ_PER_TASK, RANGE_WORDS, SMALL_ENTRIES, TASK_WORDS,
};
use csr_core::ValueType;
use csr_core::batch::{Format, Problem, Steps, StridedRange};
use csr_core::plan::batched::{LongRules, Task, TaskRanges, TaskRules, Tasks};

use super::AnyBatch;
use super::cut::{CutTasks, Pending, cut_blocking};
use super::packed::PackedTasks;
use super::survey::Survey;
use super::words::{NotePlaces, range_words, task_words};
use crate::scratch::upload_small_blocking;
use crate::{DeviceArray, Event, Queue, Result};

/// What groups compute, in the order in which they take it.
#[derive(Debug)]
pub(super) struct DeviceTasks {
    pub(super) count: usize,
    /// The first of them, which have a group each.
    pub(super) whole: usize,
    /// Whether a problem is long compared with the others.
    pub(super) has_long: bool,
    pub(super) form: Form,
    /// Of each task that is listed.
    pub(super) words: DeviceArray<u64>,
    /// Of each strided range but the last two.
    pub(super) ranges: DeviceArray<u64>,
    /// No task has more nonzeros.
    most_nnz: u32,
    /// While the device writes the words of those that are listed.
    pub(super) pending: Option<Pending>,
    /// 32-bit words of what is to be noted of the rows of all tasks.
    pub(super) noted_words: u64,
}

/// What the words say, and what a launch says besides.
#[derive(Debug, Default)]
pub(super) struct Form {
    /// Tasks that are listed in full, before those of strided ranges.
    pub(super) listed: u32,
    /// Strided ranges; 0 where all tasks are listed.
    pub(super) range_count: u32,
    /// Words of a packed task; 0 where none is.
    pub(super) packed_words: u32,
    /// How many bits each field of a packed task has.
    pub(super) widths: u64,
    /// What its place in offsets or indices follows.
    pub(super) follows: u32,
    /// The last strided range, or the least of a packed list.
    pub(super) last: [u64; RANGE_WORDS],
    /// The strided range before it, if there is one.
    pub(super) before_last: [u64; RANGE_WORDS],
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

/// Lists are packed where they would take more than the batch's bytes over this: unpacking takes a task instructions.
const PACKED_FROM: usize = 100;

impl DeviceTasks {
    /// Makes the tasks of `batch`, which was surveyed. `may_walk`: sub-groups could walk every problem by themselves,
    /// if none has too many nonzeros.
    pub(super) fn new_blocking(
        queue: &Queue,
        batch: &AnyBatch,
        survey: &Survey<impl Fn(&Problem) -> BatchedAlgorithm>,
        parameters: &Parameters,
        may_walk: bool,
    ) -> Result<Self> {
        let units = queue.context().device().traits().compute_units;
        let problems = batch.problems();
        let alone = parameters.one_by_one();
        // What is too large to be walked is cut, so that its parts are not.
        let is_small_enough = |nnz: u32| !may_walk || alone.can_walk(nnz, batch.value_type());
        let is_enough = |all: &[StridedRange]| match all {
            [one] if one.count >= UNCUT_PER_UNIT * units => {
                is_small_enough(problems[one.first as usize].entries)
            }
            _ => false,
        };
        let is_whole = batch.ranges().is_some_and(is_enough);
        let rules = TaskRules {
            nnz_per_task: if is_whole { UNCUT_NNZ } else { NNZ_PER_TASK },
            rows_per_task: parameters.rows_per_task as usize,
            small_entries: SMALL_ENTRIES,
            long: long_rules(survey.all_work, problems.len(), units),
        };
        let has_long = rules.is_long(survey.most_work);
        let select = |problem: &Problem| survey.select(problem);
        let may_share = |problem: &Problem| select(problem).may_share_group();
        let notes_rows = may_walk && alone.notes_rows(batch.value_type());
        let mut notes = NotePlaces { parameters: notes_rows.then_some(alone), words: 0 };
        if let Some(all) = batch.ranges() {
            let tasks = TaskRanges::new(problems, all, &rules, may_share);
            let tasks =
                Self::of_ranges_blocking(queue, batch, &tasks, select, notes, is_small_enough)?;
            return Ok(DeviceTasks { has_long, ..tasks });
        }
        let Tasks { tasks, whole } = Tasks::new(problems, &rules, may_share);
        let mut pending = None;
        let mut most_nnz = survey.most_nnz;
        let (form, words) = if tasks.iter().any(|task| task.parts > 1) {
            let cut = cut_blocking(queue, batch, &tasks, select, &mut notes, is_small_enough)?;
            (most_nnz, pending) = (cut.most_nnz, cut.pending);
            (Form { listed: number_of_tasks(tasks.len())?, ..Form::default() }, cut.words)
        } else {
            list_blocking(queue, batch, &tasks, select, &mut notes)?
        };
        let ranges = DeviceArray::allocate(queue.context(), 0)?;
        let (count, noted_words) = (tasks.len(), notes.all_words()?);
        Ok(DeviceTasks {
            count,
            whole,
            has_long,
            form,
            words,
            ranges,
            most_nnz,
            pending,
            noted_words,
        })
    }

    fn of_ranges_blocking(
        queue: &Queue,
        batch: &AnyBatch,
        tasks: &TaskRanges,
        select: impl Fn(&Problem) -> BatchedAlgorithm,
        mut notes: NotePlaces,
        suffices: impl Fn(u32) -> bool,
    ) -> Result<Self> {
        let problems = batch.problems();
        let listed = number_of_tasks(tasks.parts.len())?;
        let range_count = tasks.ranges.len() as u32;
        let CutTasks { words, mut most_nnz, pending } = match tasks.parts.as_slice() {
            [] => {
                let words = DeviceArray::allocate(queue.context(), 0)?;
                CutTasks { words, most_nnz: 0, pending: None }
            }
            parts => cut_blocking(queue, batch, parts, &select, &mut notes, suffices)?,
        };
        let mut number = 0;
        let mut all = Vec::with_capacity(tasks.ranges.len());
        for range in &tasks.ranges {
            let problem = &problems[range.first as usize];
            most_nnz = most_nnz.max(problem.entries);
            let (place, noted) = notes.take_many(problem, range.count);
            let first = task_words(problem, range.first, select(problem), place);
            all.push(range_words(first, range.steps, number as u64, noted));
            number += range.count as usize;
        }
        let last = all.pop().unwrap_or_default();
        let before_last = all.pop().unwrap_or(last);
        let form = Form { listed, range_count, last, before_last, ..Form::default() };
        let ranges = match all.as_slice() {
            [] => DeviceArray::allocate(queue.context(), 0)?,
            others => DeviceArray::upload_blocking(queue, others.as_flattened())?,
        };
        let count = listed as usize + number;
        number_of_tasks(count)?;
        let (whole, noted_words) = (tasks.whole, notes.all_words()?);
        let has_long = false;
        Ok(DeviceTasks {
            count,
            whole,
            has_long,
            form,
            words,
            ranges,
            most_nnz,
            pending,
            noted_words,
        })
    }

    /// The form that a program of its own computes.
    pub(super) fn program_form(&self) -> Option<&'static str> {
        match (self.form.listed, self.form.range_count) {
            (0, 1) if self.are_alike() => Some(FEATURE_ALIKE),
            (0, 1) => Some(FEATURE_ONE_RANGE),
            (_, 0..=2) if self.form.packed_words == 0 => Some(FEATURE_FEW_RANGES),
            _ => None,
        }
    }

    /// Whether they are one strided range of problems by CSR-I, each a group's and none too large for `FEATURE_ALIKE`.
    fn are_alike(&self) -> bool {
        let (nnz, kind) = (self.nnz(), self.form.last[7] as u32);
        (self.form.listed, self.form.range_count) == (0, 1)
            && self.whole == self.count
            && kind == BatchedAlgorithm::CsrI.kind(Format::Csr)
            && nnz <= MOST_NNZ_OF_PLACES
    }

    /// Whether sub-groups of such parameters can walk them by themselves, if they may.
    pub(super) fn can_be_walked(&self, parameters: &Parameters, value_type: ValueType) -> bool {
        let is_readable = self.count > 0 && self.form.packed_words == 0 && !self.has_long;
        is_readable && parameters.can_walk(self.most_nnz, value_type)
    }

    /// Nonzeros of each of the last strided range's problems.
    pub(super) fn nnz(&self) -> u32 {
        self.form.last[6] as u32
    }

    /// Whether x of the last strided range's problems fits local memory.
    pub(super) fn x_fits(&self, parameters: &Parameters) -> bool {
        let cols = self.form.last[5] >> 32;
        cols <= u64::from(parameters.x_local)
    }

    /// Whether they are such, of one pattern, whose x fits local memory: what pairs ask.
    pub(super) fn are_of_one_pattern(&self, parameters: &Parameters) -> bool {
        let (columns, index) = (self.form.last[TASK_WORDS + 1], self.form.last[TASK_WORDS + 2]);
        self.are_alike() && (columns, index) == (0, 0) && self.x_fits(parameters)
    }

    /// Groups of two problems of one pattern each, or of one that has no other.
    pub(super) fn pairs(&self) -> usize {
        pairs(self.count, self.form.last[TASK_WORDS])
    }

    /// What a kernel that reads the words has to wait for: nothing in a queue that runs kernels in order.
    pub(super) fn written(&self, queue: &Queue) -> Vec<Event> {
        let events = self.pending.iter().filter_map(Pending::event);
        events.filter(|_| !queue.is_in_order()).cloned().collect()
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.words.size_bytes() + self.ranges.size_bytes()
    }
}

/// Lists tasks that are whole problems, packed where they are small.
fn list_blocking(
    queue: &Queue,
    batch: &AnyBatch,
    tasks: &[Task],
    select: impl Fn(&Problem) -> BatchedAlgorithm,
    notes: &mut NotePlaces,
) -> Result<(Form, DeviceArray<u64>)> {
    let problem_of = |task: &Task| &batch.problems()[task.problem as usize];
    let words_of = |task: &Task, place: u64| {
        let problem = problem_of(task);
        task_words(problem, task.problem, select(problem), place)
    };
    let listed = number_of_tasks(tasks.len())?;
    if tasks.len() * size_of::<[u64; TASK_WORDS]>() > batch.size_bytes() / PACKED_FROM
        // What is packed is not walked, so nothing is noted of it.
        && let Some(packed) = PackedTasks::new(tasks.iter().map(|task| words_of(task, 0)))
    {
        let form = Form {
            packed_words: packed.words_per_task,
            widths: packed.widths,
            follows: packed.follows,
            last: range_words(packed.least, Steps::default(), 0, 0),
            ..Form::default()
        };
        return Ok((form, upload_small_blocking(queue, &packed.words)?));
    }
    let words = tasks.iter().map(|task| words_of(task, notes.take(problem_of(task), 1)));
    let words: Vec<[u64; TASK_WORDS]> = words.collect();
    let form = Form { listed, ..Form::default() };
    Ok((form, upload_small_blocking(queue, words.as_flattened())?))
}

/// Pairs of `count` problems that lie `apart` values apart: of neighbours, or, where that is odd, of a problem and the
/// next but one (`cl/batched/task.h`).
fn pairs(count: usize, apart: u64) -> usize {
    if apart.is_multiple_of(2) { count.div_ceil(2) } else { count / 4 * 2 + (count % 4).min(2) }
}

fn number_of_tasks(count: usize) -> Result<u32> {
    let limit = u32::MAX.into();
    let error =
        csr_core::Error::TooLarge { what: "the number of tasks", value: count as u64, limit };
    Ok(u32::try_from(count).map_err(|_| error)?)
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
                    // As the kernel has it (cl/batched/batched.cl).
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
