//! Parts of problems that are cut: where, the device finds, since it has the row offsets
//! (`cl/batched/batched_plan.cl`).

use cl_kernels::batched::{BatchedAlgorithm, TASK_WORDS};
use cl_kernels::batched_plan::{Arguments, BatchedPlan, DRAFT_WORDS, SOURCE};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::ValueType;
use csr_core::batch::Problem;
use csr_core::plan::batched::Task;

use super::AnyBatch;
use super::words::{pair, task_words};
use crate::launch::{Size, launch_after};
use crate::scratch::{small_for_a_kernel_to_write, upload_small_blocking};
use crate::{DeviceArray, Event, Queue, Result};

/// Tasks of which some are parts of problems.
pub(super) struct CutTasks {
    pub(super) words: DeviceArray<u64>,
    /// No task has more nonzeros.
    pub(super) most_nnz: u32,
    /// While the device writes the words.
    pub(super) pending: Option<Pending>,
}

/// A kernel that was not waited for, with what it reads.
#[derive(Debug)]
pub(super) struct Pending {
    /// None once it was waited for.
    event: Option<Event>,
    _drafts: DeviceArray<u64>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        // Drafts have part of a larger memory, which is the next array's then. What made the plan fail was told.
        if let Some(event) = self.event.take() {
            let _ = event.wait();
        }
    }
}

/// Has the device find them. That no task has more nonzeros than its problem may not suffice: then all problems are in
/// compressed rows, and the device is waited for and asked. Else it may be at it yet.
pub(super) fn cut_blocking(
    queue: &Queue,
    batch: &AnyBatch,
    tasks: &[Task],
    select: impl Fn(&Problem) -> BatchedAlgorithm,
    suffices: impl Fn(u32) -> bool,
) -> Result<CutTasks> {
    let draft = |task: &Task| {
        let problem = &batch.problems()[task.problem as usize];
        let words = task_words(problem, task.problem, select(problem));
        let [w0, w1, w2, w3, w4, w5, w6, w7] = words;
        let (part, work) = (pair(task.part, task.parts), pair(task.part_work, task.row_weight));
        [w0, w1, w2, w3, w4, w5, w6, w7, part, work]
    };
    let drafts: Vec<[u64; DRAFT_WORDS]> = tasks.iter().map(draft).collect();
    let context = queue.context();
    let count = drafts.len();
    let words = small_for_a_kernel_to_write(queue, count * TASK_WORDS)?;
    let drafts = upload_small_blocking(queue, drafts.as_flattened())?;
    let own = BatchedPlan { group_size: context.device().traits().max_group_size.min(64) as u32 };
    let key =
        KernelKey::new(SOURCE, ValueType::F32, batch.offset_type(), Accumulate::Plain, false, &own);
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
    let event = unsafe { launch_after(queue, &mut kernel, &arguments, size, &[])? };
    let mut pending = Some(Pending { event: Some(event), _drafts: drafts });
    let of_problem = |task: &Task| batch.problems()[task.problem as usize].entries;
    let mut most_nnz = tasks.iter().map(of_problem).max().unwrap_or(0);
    if !suffices(most_nnz) {
        finish(&mut pending)?;
        let found = words.read_blocking(queue)?;
        most_nnz = found.chunks(TASK_WORDS).map(|its| its[6] as u32).max().unwrap_or(0);
    }
    Ok(CutTasks { words, most_nnz, pending })
}

/// Waits for the kernel.
///
/// # Errors
/// What it ended with.
pub(super) fn finish(pending: &mut Option<Pending>) -> Result<()> {
    let event = pending.as_mut().and_then(|pending| pending.event.take());
    let ended = event.map_or(Ok(()), |event| event.wait());
    *pending = None;
    ended
}
