//! The tasks of a batch: listed on the device, packed or not, or as stretches of problems from whose numbers they follow.

use cl_kernels::batched::{
    Batched as Parameters, BatchedAlgorithm, NNZ_PER_TASK, SMALL_ENTRIES, STRETCH_WORDS, TASK_WORDS,
};
use cl_kernels::batched_plan::{Arguments, BatchedPlan, DRAFT_WORDS, SOURCE};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::batch::{Format, Problem, Steps, Stretch};
use csr_core::plan::batched::{Task, TaskRules, TaskStretches, Tasks};
use csr_core::{Offset, Value, ValueType};

use super::Batch;
use super::packed::PackedTasks;
use crate::launch::{Size, launch};
use crate::spmv::workspace::for_a_kernel_to_write;
use crate::{DeviceArray, Queue, Result};

/// What groups compute, in the order in which they take it.
#[derive(Debug)]
pub(super) struct DeviceTasks {
    pub(super) count: usize,
    /// The first of them, which have a group each.
    pub(super) whole: usize,
    pub(super) form: Form,
    /// Of each task, or of each stretch where they are several.
    pub(super) words: DeviceArray<u64>,
}

/// What the words say, and what a launch says besides; the default is tasks listed in full.
#[derive(Debug, Default)]
pub(super) struct Form {
    /// Stretches; 0 where tasks are listed.
    pub(super) stretch_count: u32,
    /// Words of a packed task; 0 where none is.
    pub(super) packed_words: u32,
    /// How many bits each field of a packed task has.
    pub(super) widths: u64,
    /// What its place in offsets or indices follows.
    pub(super) follows: u32,
    /// The first task of the only stretch, or the least of a packed list.
    pub(super) first: [u64; TASK_WORDS],
    /// From task to task of the only stretch.
    pub(super) steps: [u64; 5],
}

/// Problems alike that every compute unit has at least, or the large ones are cut: with so many no unit waits for another
/// for long, and each part would fetch x again.
const UNCUT_PER_UNIT: u32 = 6;

/// Nonzeros from which on even these are cut: half of what a task can count.
const UNCUT_NNZ: usize = (u32::MAX / 2) as usize;

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
        };
        let problems = batch.problems();
        let may_share = |problem: &Problem| select(problem).may_share_group();
        let stretches = batch.stretches();
        let stretches =
            stretches.and_then(|all| TaskStretches::new(problems, all, &rules, may_share));
        if let Some(stretches) = stretches {
            return Self::of_stretches_blocking(queue, problems, &stretches, select);
        }
        let Tasks { tasks, whole } = Tasks::new(problems, &rules, may_share);
        u32::try_from(tasks.len()).map_err(|_| {
            let (value, limit) = (tasks.len() as u64, u64::from(u32::MAX));
            csr_core::Error::TooLarge { what: "the number of tasks", value, limit }
        })?;
        let words_of = |task: &Task| {
            let problem = &problems[task.problem as usize];
            task_words(problem, task.problem, select(problem))
        };
        let mut form = Form::default();
        let words = if tasks.iter().any(|task| task.parts > 1) {
            let draft = |task: &Task| {
                let [w0, w1, w2, w3, w4, w5, w6, w7] = words_of(task);
                let (part, work) =
                    (pair(task.part, task.parts), pair(task.part_work, task.row_weight));
                [w0, w1, w2, w3, w4, w5, w6, w7, part, work]
            };
            let drafts: Vec<[u64; DRAFT_WORDS]> = tasks.iter().map(draft).collect();
            cut_blocking(queue, batch, drafts.as_flattened())?
        } else {
            let words: Vec<[u64; TASK_WORDS]> = tasks.iter().map(words_of).collect();
            let is_small = size_of_val(words.as_slice()) > batch.size_bytes() / PACKED_FROM;
            match is_small.then(|| PackedTasks::new(&words)).flatten() {
                Some(PackedTasks { words_per_task, widths, follows, least, words }) => {
                    form = Form {
                        packed_words: words_per_task,
                        widths,
                        follows,
                        first: least,
                        ..form
                    };
                    DeviceArray::upload_blocking(queue, &words)?
                }
                None => DeviceArray::upload_blocking(queue, words.as_flattened())?,
            }
        };
        Ok(DeviceTasks { count: tasks.len(), whole, form, words })
    }

    fn of_stretches_blocking(
        queue: &Queue,
        problems: &[Problem],
        tasks: &TaskStretches,
        select: impl Fn(&Problem) -> BatchedAlgorithm,
    ) -> Result<Self> {
        let mut form = Form { stretch_count: tasks.stretches.len() as u32, ..Form::default() };
        let mut count = 0;
        let mut all = Vec::with_capacity(tasks.stretches.len());
        for stretch in &tasks.stretches {
            let problem = &problems[stretch.first as usize];
            let Steps { index, columns, values, x, y } = stretch.steps;
            form.first = task_words(problem, stretch.first, select(problem));
            form.steps = [values, columns, index, x, y];
            let mut words = [0; STRETCH_WORDS];
            words[..TASK_WORDS].copy_from_slice(&form.first);
            words[TASK_WORDS..][..form.steps.len()].copy_from_slice(&form.steps);
            words[TASK_WORDS + form.steps.len()] = count as u64;
            all.push(words);
            count += stretch.count as usize;
        }
        let words = match all.as_slice() {
            // A launch says it.
            [] | [_] => DeviceArray::allocate(queue.context(), 0)?,
            several => DeviceArray::upload_blocking(queue, several.as_flattened())?,
        };
        Ok(DeviceTasks { count, whole: tasks.whole, form, words })
    }

    /// Whether they are one stretch of problems by CSR-I, each a group's.
    pub(super) fn are_alike(&self) -> bool {
        let kind = self.form.first[7] as u32;
        self.form.stretch_count == 1
            && self.whole == self.count
            && kind == BatchedAlgorithm::CsrI.kind(Format::Csr)
    }

    /// Whether they are such, of one pattern, whose x fits local memory: what pairs ask.
    pub(super) fn are_of_one_pattern(&self, parameters: &Parameters) -> bool {
        let [_, columns, index, ..] = self.form.steps;
        let cols = self.form.first[5] >> 32;
        self.are_alike() && (columns, index) == (0, 0) && cols <= u64::from(parameters.x_local)
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.words.size_bytes()
    }
}

/// The words of tasks whose drafts are these, some of them parts of problems.
fn cut_blocking<V: Value, O: Offset>(
    queue: &Queue,
    batch: &Batch<V, O>,
    drafts: &[u64],
) -> Result<DeviceArray<u64>> {
    let context = queue.context();
    let count = drafts.len() / DRAFT_WORDS;
    let words = for_a_kernel_to_write(queue, count * TASK_WORDS)?;
    let drafts = DeviceArray::upload_blocking(queue, drafts)?;
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
