//! The tasks of a batch: listed on the device, packed or not, or as stretches of problems from whose numbers they follow.

use cl_kernels::batched::{
    Batched as Parameters, BatchedAlgorithm, FEATURE_ALIKE, FEATURE_FEW_STRETCHES,
    FEATURE_ONE_STRETCH, MOST_NNZ_ALIKE, NNZ_PER_TASK, SMALL_ENTRIES, STRETCH_WORDS, TASK_WORDS,
};
use cl_kernels::batched_plan::{Arguments, BatchedPlan, DRAFT_WORDS, SOURCE};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::batch::{Format, Problem, Steps, Stretch};
use csr_core::plan::batched::{LongRules, Task, TaskRules, TaskStretches, Tasks, work};
use csr_core::{Offset, Value, ValueType};

use super::Batch;
use super::packed::PackedTasks;
use crate::launch::{Size, launch};
use crate::spmv::workspace::{small_for_a_kernel_to_write, upload_small_blocking};
use crate::{DeviceArray, Queue, Result};

/// What groups compute, in the order in which they take it.
#[derive(Debug)]
pub(super) struct DeviceTasks {
    pub(super) count: usize,
    /// The first of them, which have a group each.
    pub(super) whole: usize,
    /// Whether a problem is long beside the others.
    pub(super) has_long: bool,
    pub(super) form: Form,
    /// Of each task that is listed.
    pub(super) words: DeviceArray<u64>,
    /// Of each stretch but the last two.
    pub(super) stretches: DeviceArray<u64>,
}

/// What the words say, and what a launch says besides.
#[derive(Debug, Default)]
pub(super) struct Form {
    /// Tasks that are listed in full, before those of stretches.
    pub(super) listed: u32,
    /// Stretches; 0 where all tasks are listed.
    pub(super) stretch_count: u32,
    /// Words of a packed task; 0 where none is.
    pub(super) packed_words: u32,
    /// How many bits each field of a packed task has.
    pub(super) widths: u64,
    /// What its place in offsets or indices follows.
    pub(super) follows: u32,
    /// The last stretch, or the least of a packed list.
    pub(super) last: [u64; STRETCH_WORDS],
    /// The stretch before it, if there is one.
    pub(super) before_last: [u64; STRETCH_WORDS],
}

/// Problems alike that every compute unit has at least, or the large ones are cut: with so many no unit waits for another
/// for long, and each part would fetch x again.
const UNCUT_PER_UNIT: u32 = 6;

/// Nonzeros from which on even these are cut: half of what a task can count.
const UNCUT_NNZ: usize = (u32::MAX / 2) as usize;

/// A problem is long with this many times the work of the mean one: the others are done before its group is.
const LONG_TIMES: u64 = 16;

/// Parts of a long problem have the work that falls to a compute unit over this: bunches that a unit runs at once.
const LONG_PARTS: u64 = 32;

/// The fewest nonzeros of such a part.
const LEAST_PART: u64 = 128;

/// Parts of a long problem for each compute unit, at most: groups that a unit runs at once.
const PARTS_PER_UNIT: usize = 8;

/// Lists are packed where they would take more than the batch's bytes over this: unpacking takes a task instructions.
const PACKED_FROM: usize = 100;

impl DeviceTasks {
    /// Makes the tasks of `batch`; `select` says by which algorithm each problem is computed.
    pub(super) fn new_blocking<V: Value, O: Offset>(
        queue: &Queue,
        batch: &Batch<V, O>,
        select: impl Fn(&Problem) -> BatchedAlgorithm,
        parameters: &Parameters,
    ) -> Result<Self> {
        let units = queue.context().device().traits().compute_units;
        let is_enough =
            |all: &[Stretch]| matches!(all, [one] if one.count >= UNCUT_PER_UNIT * units);
        let is_whole = batch.stretches().is_some_and(is_enough);
        let rules = TaskRules {
            nnz_per_task: if is_whole { UNCUT_NNZ } else { NNZ_PER_TASK },
            rows_per_task: parameters.rows_per_task as usize,
            small_entries: SMALL_ENTRIES,
            long: long_rules(batch, units),
        };
        let has_long = batch.kinds().any(|(problem, _)| rules.is_long(problem));
        let problems = batch.problems();
        let may_share = |problem: &Problem| select(problem).may_share_group();
        if let Some(all) = batch.stretches() {
            let stretches = TaskStretches::new(problems, all, &rules, may_share);
            let tasks = Self::of_stretches_blocking(queue, batch, &stretches, select)?;
            return Ok(DeviceTasks { has_long, ..tasks });
        }
        let Tasks { tasks, whole } = Tasks::new(problems, &rules, may_share);
        let mut form = Form { listed: number_of_tasks(tasks.len())?, ..Form::default() };
        let words = if tasks.iter().any(|task| task.parts > 1) {
            cut_blocking(queue, batch, &tasks, select)?
        } else {
            let words_of = |task: &Task| {
                let problem = &problems[task.problem as usize];
                task_words(problem, task.problem, select(problem))
            };
            let words: Vec<[u64; TASK_WORDS]> = tasks.iter().map(words_of).collect();
            let is_small = size_of_val(words.as_slice()) > batch.size_bytes() / PACKED_FROM;
            match is_small.then(|| PackedTasks::new(&words)).flatten() {
                Some(PackedTasks { words_per_task, widths, follows, least, words }) => {
                    form = Form {
                        packed_words: words_per_task,
                        widths,
                        follows,
                        last: stretch_words(least, Steps::default(), 0),
                        ..Form::default()
                    };
                    DeviceArray::upload_blocking(queue, &words)?
                }
                None => DeviceArray::upload_blocking(queue, words.as_flattened())?,
            }
        };
        let stretches = DeviceArray::allocate(queue.context(), 0)?;
        Ok(DeviceTasks { count: tasks.len(), whole, has_long, form, words, stretches })
    }

    fn of_stretches_blocking<V: Value, O: Offset>(
        queue: &Queue,
        batch: &Batch<V, O>,
        tasks: &TaskStretches,
        select: impl Fn(&Problem) -> BatchedAlgorithm,
    ) -> Result<Self> {
        let problems = batch.problems();
        let listed = number_of_tasks(tasks.parts.len())?;
        let stretch_count = tasks.stretches.len() as u32;
        let words = match tasks.parts.as_slice() {
            [] => DeviceArray::allocate(queue.context(), 0)?,
            parts => cut_blocking(queue, batch, parts, &select)?,
        };
        let mut number = 0;
        let mut all = Vec::with_capacity(tasks.stretches.len());
        for stretch in &tasks.stretches {
            let problem = &problems[stretch.first as usize];
            let first = task_words(problem, stretch.first, select(problem));
            all.push(stretch_words(first, stretch.steps, number as u64));
            number += stretch.count as usize;
        }
        let last = all.pop().unwrap_or_default();
        let before_last = all.pop().unwrap_or(last);
        let form = Form { listed, stretch_count, last, before_last, ..Form::default() };
        let stretches = match all.as_slice() {
            [] => DeviceArray::allocate(queue.context(), 0)?,
            others => DeviceArray::upload_blocking(queue, others.as_flattened())?,
        };
        let count = listed as usize + number;
        number_of_tasks(count)?;
        Ok(DeviceTasks { count, whole: tasks.whole, has_long: false, form, words, stretches })
    }

    /// The form that a program of its own computes.
    pub(super) fn program_form(&self) -> Option<&'static str> {
        match (self.form.listed, self.form.stretch_count) {
            (0, 1) if self.are_alike() => Some(FEATURE_ALIKE),
            (0, 1) => Some(FEATURE_ONE_STRETCH),
            (_, 0..=2) if self.form.packed_words == 0 => Some(FEATURE_FEW_STRETCHES),
            _ => None,
        }
    }

    /// Whether they are one stretch of problems by CSR-I, each a group's and none too large for `FEATURE_ALIKE`.
    fn are_alike(&self) -> bool {
        let (nnz, kind) = (self.nnz(), self.form.last[7] as u32);
        (self.form.listed, self.form.stretch_count) == (0, 1)
            && self.whole == self.count
            && kind == BatchedAlgorithm::CsrI.kind(Format::Csr)
            && nnz <= MOST_NNZ_ALIKE
    }

    /// Nonzeros of each of the last stretch's problems.
    pub(super) fn nnz(&self) -> u32 {
        self.form.last[6] as u32
    }

    /// Whether x of the last stretch's problems fits local memory.
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

    pub(super) fn size_bytes(&self) -> usize {
        self.words.size_bytes() + self.stretches.size_bytes()
    }
}

/// Pairs of `count` problems that lie `apart` values apart: of neighbours, or, where that is odd, of a problem and the next
/// but one (`cl/batched/task.h`).
fn pairs(count: usize, apart: u64) -> usize {
    if apart.is_multiple_of(2) { count.div_ceil(2) } else { count / 4 * 2 + (count % 4).min(2) }
}

fn number_of_tasks(count: usize) -> Result<u32> {
    let limit = u32::MAX.into();
    let error =
        csr_core::Error::TooLarge { what: "the number of tasks", value: count as u64, limit };
    Ok(u32::try_from(count).map_err(|_| error)?)
}

/// When a problem is cut because the others would be done before it, on a device of so many compute units.
fn long_rules<V: Value, O: Offset>(batch: &Batch<V, O>, units: u32) -> LongRules {
    let units = units.max(1);
    let works = batch.kinds().map(|(problem, count)| work(problem) * count as u64);
    let all: u64 = works.sum();
    let mean = all / batch.problems().len().max(1) as u64;
    let of_a_part = (all / (u64::from(units) * LONG_PARTS)).max(LEAST_PART);
    LongRules {
        work: (LONG_TIMES * mean).max(2 * of_a_part),
        nnz_per_task: of_a_part as usize,
        most_parts: PARTS_PER_UNIT * units as usize,
    }
}

/// The words of tasks, some of them parts of problems, as the device finds them.
fn cut_blocking<V: Value, O: Offset>(
    queue: &Queue,
    batch: &Batch<V, O>,
    tasks: &[Task],
    select: impl Fn(&Problem) -> BatchedAlgorithm,
) -> Result<DeviceArray<u64>> {
    let draft = |task: &Task| {
        let problem = &batch.problems()[task.problem as usize];
        let [w0, w1, w2, w3, w4, w5, w6, w7] = task_words(problem, task.problem, select(problem));
        let (part, work) = (pair(task.part, task.parts), pair(task.part_work, task.row_weight));
        [w0, w1, w2, w3, w4, w5, w6, w7, part, work]
    };
    let drafts: Vec<[u64; DRAFT_WORDS]> = tasks.iter().map(draft).collect();
    let context = queue.context();
    let count = drafts.len();
    let words = small_for_a_kernel_to_write(queue, count * TASK_WORDS)?;
    let drafts = upload_small_blocking(queue, drafts.as_flattened())?;
    let own = BatchedPlan { group_size: context.device().traits().max_group_size.min(64) as u32 };
    let key = KernelKey::new(SOURCE, ValueType::F32, O::TYPE, Accumulate::Plain, false, &own);
    let mut kernel = context.program(&key)?.kernel("plan_batch")?;
    let arguments = Arguments {
        task_count: count as u32,
        drafts: drafts.argument(),
        offsets: batch.offsets().argument(),
        indices: batch.indices().argument(),
        tasks: words.argument(),
    };
    let group_size = own.group_size as usize;
    let size = Size { groups: count.div_ceil(group_size), group_size };
    // SAFETY: every array is as long as the tasks demand; where a problem lies was checked.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let planned = unsafe { launch(queue, &mut kernel, &arguments, size, &[])? };
    planned.wait()?;
    Ok(words)
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The words of a stretch whose first task has these, and the number `number` among those of stretches.
fn stretch_words(first: [u64; TASK_WORDS], steps: Steps, number: u64) -> [u64; STRETCH_WORDS] {
    let [w0, w1, w2, w3, w4, w5, w6, w7] = first;
    let Steps { index, columns, values, x, y } = steps;
    [w0, w1, w2, w3, w4, w5, w6, w7, values, columns, index, x, y, number, 0, 0]
}

/// The words of a task that is a whole problem (`cl/batched/task.h`).
fn task_words(problem: &Problem, number: u32, algorithm: BatchedAlgorithm) -> [u64; TASK_WORDS] {
    let lengths = match problem.format {
        Format::Ell { width } => pair(width, problem.rows),
        _ => pair(problem.entries, 0),
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
