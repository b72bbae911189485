//! The tasks of a batch on the device.

use cl_kernels::batched::{
    Batched as Parameters, BatchedAlgorithm, NNZ_PER_TASK, SMALL_ENTRIES, TASK_WORDS,
};
use cl_kernels::batched_plan::{Arguments, BatchedPlan, DRAFT_WORDS, SOURCE};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::batch::{Format, Problem};
use csr_core::plan::batched::{Task, TaskRules, Tasks};
use csr_core::{Offset, Value, ValueType};

use super::Batch;
use crate::launch::{Size, launch};
use crate::spmv::workspace::for_a_kernel_to_write;
use crate::{DeviceArray, Queue, Result};

/// What groups compute, in the order in which they take it.
#[derive(Debug)]
pub(super) struct DeviceTasks {
    pub(super) count: usize,
    /// The first of them, which have a group each.
    pub(super) whole: usize,
    pub(super) words: DeviceArray<u64>,
    pub(super) marks: DeviceArray<u32>,
}

impl DeviceTasks {
    /// Makes the tasks of `batch`, whose problems are computed by `algorithms`.
    pub(super) fn new_blocking<V: Value, O: Offset>(
        queue: &Queue,
        batch: &Batch<V, O>,
        algorithms: &[BatchedAlgorithm],
        parameters: &Parameters,
    ) -> Result<Self> {
        let rules = TaskRules {
            nnz_per_task: NNZ_PER_TASK,
            rows_per_task: parameters.rows_per_task as usize,
            small_entries: SMALL_ENTRIES,
        };
        let problems = batch.problems();
        let Tasks { tasks, whole } =
            Tasks::new(problems, &rules, |problem| algorithms[problem].may_share_group());
        let marks_of_task = parameters.bunches_per_group as usize - 1;
        let mut drafts = Vec::with_capacity(tasks.len() * DRAFT_WORDS);
        let mut marks = 0;
        for task in &tasks {
            let algorithm = algorithms[task.problem as usize];
            drafts.extend(draft(task, &problems[task.problem as usize], algorithm, marks as u32));
            if algorithm == BatchedAlgorithm::CsrI {
                marks += marks_of_task;
            }
        }
        u32::try_from(marks).map_err(|_| too_many("the rows that pieces begin in", marks))?;
        u32::try_from(tasks.len()).map_err(|_| too_many("the number of tasks", tasks.len()))?;

        let context = queue.context();
        let words = for_a_kernel_to_write(queue, tasks.len() * TASK_WORDS)?;
        let marks = for_a_kernel_to_write(queue, marks)?;
        let drafts = DeviceArray::upload_blocking(queue, &drafts)?;
        let own =
            BatchedPlan { group_size: context.device().traits().max_group_size.min(64) as u32 };
        let key = KernelKey::new(SOURCE, ValueType::F32, O::TYPE, Accumulate::Plain, false, &own);
        let mut kernel = context.program(&key)?.kernel("plan_batch")?;
        let arguments = Arguments {
            task_count: tasks.len() as u32,
            bunches_per_group: parameters.bunches_per_group,
            drafts: drafts.argument(),
            offsets: batch.offsets().argument(),
            indices: batch.indices().argument(),
            tasks: words.argument(),
            marks: marks.argument(),
        };
        let items = tasks.len() * parameters.bunches_per_group as usize;
        let group_size = own.group_size as usize;
        let size = Size { groups: items.div_ceil(group_size), group_size };
        // SAFETY: every array is as long as the tasks demand; where a problem lies was checked.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let planned = unsafe { launch(queue, &mut kernel, &arguments, size, &[])? };
        planned.wait()?;
        Ok(DeviceTasks { count: tasks.len(), whole, words, marks })
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.words.size_bytes() + self.marks.size_bytes()
    }
}

/// The words of a draft (`cl/batched/task.h`, `cl/batched/batched_plan.cl`).
fn draft(
    task: &Task,
    problem: &Problem,
    algorithm: BatchedAlgorithm,
    marks: u32,
) -> [u64; DRAFT_WORDS] {
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let sizes = match (algorithm, problem.format) {
        (BatchedAlgorithm::CsrI, _) => pair(problem.entries, marks),
        (_, Format::Ell { width }) => pair(width, problem.rows),
        _ => pair(problem.entries, 0),
    };
    [
        problem.values,
        problem.columns,
        problem.index,
        problem.x,
        problem.y,
        pair(problem.rows, problem.cols),
        sizes,
        pair(algorithm.kind(problem.format), task.problem),
        pair(task.part, task.parts),
        pair(task.part_work, task.row_weight),
    ]
}

fn too_many(what: &'static str, value: usize) -> csr_core::Error {
    csr_core::Error::TooLarge { what, value: value as u64, limit: u64::from(u32::MAX) }
}
