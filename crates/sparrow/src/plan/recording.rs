//! Products of one plan that are recorded once, and launched any number of times by one call.

use std::sync::atomic::{AtomicU64, Ordering};

use cl_runtime::spmv::Workspace;
use cl_runtime::{After, AnyArray, AnyMatrix, Overlap, Queue, Recorder, Recording, Replay, Wait};

use super::{AnyOperands, AnyPlan};
use crate::{Result, RuntimeError};

/// What no plan has, or had before its copy of the values changed.
pub(super) fn new_stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Takes products down, in the order in which each replay makes them; nothing is enqueued.
#[derive(Debug)]
pub struct AnyRecorder<'p> {
    plan: &'p AnyPlan,
    recorder: Recorder,
    workspace: Workspace,
    matrix: Option<Recorded>,
    products: usize,
}

/// Which matrix is in all products of a recording.
#[derive(Debug)]
struct Recorded {
    pattern_id: u64,
    /// Row offsets, columns and values.
    arrays: [AnyArray; 3],
}

impl Recorded {
    fn of(a: &AnyMatrix) -> Self {
        let arrays = a.named_arrays().map(|(_, array)| array.alias());
        Recorded { pattern_id: a.pattern_id(), arrays }
    }

    /// Refuses another matrix. The same with new values is the same: kernels read them where they lie.
    fn check(&self, a: &AnyMatrix) -> Result<()> {
        let is_there = self.arrays.iter().zip(a.named_arrays()).all(|(recorded, (_, array))| {
            array.is_empty() || cl_runtime::overlap(recorded, array) == Overlap::Whole
        });
        if is_there && self.pattern_id == a.pattern_id() {
            return Ok(());
        }
        let text = "the matrix is not the one that the products were recorded with: a recording has one matrix";
        Err(RuntimeError::Incompatible(text.to_owned()).into())
    }
}

/// Products of one plan, ready to be launched again and again ([`AnyPlan::launch_many`]), in the queue that they were
/// recorded for.
///
/// It keeps alive all they work on, but for shared virtual memory that the application has allocated, and has a workspace of
/// its own. Where a command buffer replays them, dropping it waits
/// for its queue.
#[derive(Debug)]
pub struct AnyRecording {
    recording: Recording,
    stamp: u64,
    matrix: Option<Recorded>,
    products: usize,
}

impl AnyPlan {
    /// Begins a recording of products for an application that makes them again and again: y = A x for many x that come
    /// into the same array, or y = A x and x = A y in turn. Its launches are checked and their arguments set once.
    ///
    /// # Errors
    /// A queue of another context or device than the plan's, or the driver's own failure.
    pub fn recorder_blocking(&self, queue: &Queue) -> Result<AnyRecorder<'_>> {
        let workspace = self.workspace_blocking(queue)?;
        let recorder = Recorder::new(queue);
        Ok(AnyRecorder { plan: self, recorder, workspace, matrix: None, products: 0 })
    }

    /// Enqueues all products of a recording, one after the other, and that `times` times, in the queue that they were
    /// recorded for: after the events in `wait`, with an event of their end; or after what is in the queue, without one
    /// ([`NoEvent`](crate::NoEvent)). Each product finds what the ones before have written. Allocates no device memory,
    /// waits for nothing. `a` is the matrix that was recorded; of a plan that keeps no copy of its values, they may have
    /// changed where they lie.
    ///
    /// Where an event in `wait` has not ended, or the queue is out of order, kernels are enqueued one by one, each with an
    /// event that is kept until the next call: what gains most is [`NoEvent`](crate::NoEvent) in an in-order queue. The
    /// event's times, where the queue has profiling on, may be those of the last kernel alone.
    ///
    /// # Errors
    /// A recording of another plan, or of this one before [`AnyPlan::update_values_blocking`] changed its copy of the values;
    /// another matrix, or one whose values have changed since the plan's copy was made; an event in `wait` that has ended
    /// in error already: nothing was enqueued then. Or the driver's own failure: what was enqueued has ended then. Where an
    /// event in `wait` ends in error later, so does the event of the end, and nothing is written.
    pub fn launch_many<W: Wait>(
        &self,
        recording: &mut AnyRecording,
        a: &AnyMatrix,
        times: u32,
        wait: W,
    ) -> Result<W::Event> {
        self.check_pattern(a)?;
        if recording.stamp != self.stamp {
            let text = "the recording was made with another plan, or before the plan's copy of the values was brought up \
                        to date: record its products again";
            return Err(RuntimeError::Incompatible(text.to_owned()).into());
        }
        self.check_values(a)?;
        recording.matrix.iter().try_for_each(|recorded| recorded.check(a))?;
        let event = recording.recording.replay(times, wait.after())?;
        Ok(W::given(recording.recording.queue(), event)?)
    }
}

impl AnyRecorder<'_> {
    /// Records y = alpha A x + beta y after the products that are there. Arrays are kept alive, but for an application's own
    /// shared virtual memory, and not copied: each replay reads and writes what is in them then, alpha and beta on the
    /// device too.
    ///
    /// # Errors
    /// As [`AnyPlan::launch`]; another matrix than in the products before; or a product whose second stage is the CPU's
    /// ([`Variant::Cpu`](crate::Variant::Cpu)). What was recorded before stays.
    pub fn product(&mut self, product: AnyOperands<'_>) -> Result<()> {
        self.matrix.iter().try_for_each(|recorded| recorded.check(product.a))?;
        let before = self.recorder.len();
        let after = After::Record(&self.recorder);
        let queue = self.recorder.queue();
        if let Err(error) = self.plan.enqueue(queue, &mut self.workspace, &product, after) {
            self.recorder.truncate(before);
            return Err(error);
        }
        self.matrix.get_or_insert_with(|| Recorded::of(product.a));
        self.products += 1;
        Ok(())
    }

    /// What was recorded, to be replayed in the way asked for.
    ///
    /// # Errors
    /// [`Replay::CommandBuffer`], where the device or the queue has none or the driver does not record it. By default
    /// launches one by one stand in for it, and [`AnyRecording::reason`] says why.
    pub fn finish_blocking(self, replay: Replay) -> Result<AnyRecording> {
        let AnyRecorder { plan, recorder, workspace, matrix, products } = self;
        let recording = recorder.finish_blocking(workspace, replay)?;
        Ok(AnyRecording { recording, stamp: plan.stamp, matrix, products })
    }
}

impl AnyRecording {
    /// The queue that it is launched in.
    pub fn queue(&self) -> &Queue {
        self.recording.queue()
    }

    /// Products of one replay.
    pub fn products(&self) -> usize {
        self.products
    }

    /// Kernels of one replay.
    pub fn kernels(&self) -> usize {
        self.recording.launches()
    }

    /// Whether a command buffer of the driver's replays it.
    pub fn is_command_buffer(&self) -> bool {
        self.recording.is_command_buffer()
    }

    /// Why it is replayed so.
    pub fn reason(&self) -> &str {
        self.recording.reason()
    }
}
