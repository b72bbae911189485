//! Launches that are noted once and enqueued as often as is asked for, by one call each time.
//!
//! A [`Recorder`] stands where a launch's wait list would ([`After::Record`]): every launch that is given it is noted with
//! a kernel object of its own, whose arguments are set once, and nothing is enqueued. What it has noted becomes a
//! [`Recording`], which is replayed as a command buffer of the driver's, or launch by launch with no other work between
//! them than the driver's own. Both run the same kernels with the same arguments in the same order.

mod arguments;
mod by;

use std::sync::{Mutex, PoisonError};

use cl_kernels::KernelArguments;

use crate::launch::{After, Size, set_arguments};
use crate::raw::{CommandBuffer, Kernel, Memory};
use crate::spmv::Workspace;
use crate::workspace::{OwnerId, Replayed};
use crate::{Event, Queue, Result};
use arguments::MemoryOf;
pub use by::Replay;

/// Launches that were noted for a queue, and not enqueued.
#[derive(Debug)]
pub struct Recorder {
    queue: Queue,
    noted: Mutex<Noted>,
}

/// What was noted.
#[derive(Debug, Default)]
struct Noted {
    /// Kernel objects with all arguments set; launches with the same arguments share one.
    kernels: Vec<Kernel>,
    launches: Vec<Noting>,
    /// What the kernels read and write, once each: neither they nor a command buffer keep it alive.
    memory: Vec<Memory>,
}

/// A launch that was noted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noting {
    /// The index of its kernel.
    pub(crate) kernel: usize,
    pub(crate) size: Size,
    /// Whether a product ends with it: the next finds the workspace as it was before.
    pub(crate) is_last: bool,
}

impl Recorder {
    /// For launches in this queue.
    pub fn new(queue: &Queue) -> Self {
        Recorder { queue: queue.clone(), noted: Mutex::default() }
    }

    /// The queue.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Launches noted so far.
    pub fn len(&self) -> usize {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).launches.len()
    }

    /// Whether nothing was noted so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets launches after the first `count`, of a product that was noted in part.
    pub fn truncate(&self, count: usize) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).launches.truncate(count);
    }

    /// Says of launches after the first `count` that others of the same product follow.
    pub(crate) fn leave_open(&self, count: usize) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.launches.iter_mut().skip(count).for_each(|noting| noting.is_last = false);
    }

    /// Notes a launch of a kernel like this one.
    pub(crate) fn note<'m, A: KernelArguments<&'m Memory>>(
        &self,
        kernel: &Kernel,
        arguments: &A,
        size: Size,
    ) -> Result<()> {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = kernel.another()?;
        set_arguments(&mut own, arguments)?;
        let mut memory = MemoryOf { found: Vec::new() };
        arguments.visit(&mut memory)?;
        for memory in memory.found {
            let is_known = noted.memory.iter().any(|known| known.is_same(memory));
            if !is_known {
                noted.memory.push(memory.clone());
            }
        }
        let known = noted.kernels.iter().position(|kernel| kernel.is_set_as(&own));
        let kernel = known.unwrap_or(noted.kernels.len());
        if known.is_none() {
            noted.kernels.push(own);
        }
        noted.launches.push(Noting { kernel, size, is_last: true });
        Ok(())
    }

    /// Makes what was noted ready to replay, in the way asked for. The workspace is the one of all noted launches, and
    /// from now on the recording's.
    ///
    /// # Errors
    /// A command buffer that was asked for and cannot be had. By default launches one by one stand in for it, and
    /// [`Recording::reason`] says why.
    pub fn finish_blocking(self, workspace: Workspace, replay: Replay) -> Result<Recording> {
        let noted = self.noted.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (buffer, reason) = by::buffer(&self.queue, &noted.kernels, &noted.launches, replay)?;
        Ok(Recording { buffer, reason, queue: self.queue, workspace, noted })
    }
}

/// Launches that are replayed in the queue that they were noted for, any number of times.
///
/// It keeps alive all they work on, but for shared virtual memory that the application has allocated. Where a command
/// buffer replays them, dropping it waits for its queue.
#[derive(Debug)]
pub struct Recording {
    /// Dropped before what it uses.
    buffer: Option<CommandBuffer>,
    reason: String,
    queue: Queue,
    workspace: Workspace,
    noted: Noted,
}

impl Recording {
    /// Enqueues all launches, in their order, `times` times. Allocates no device memory. `None` where no event was asked
    /// for.
    ///
    /// # Errors
    /// An event that it is to come after and that has ended in error already; or the driver's own failure: what was
    /// enqueued has ended then, and the next replay begins with a clean workspace.
    pub fn replay(&mut self, times: u32, after: After<'_>) -> Result<Option<Event>> {
        let Recording { buffer, queue, workspace, noted, .. } = self;
        let Noted { kernels, launches, memory } = noted;
        let owner: OwnerId = workspace.owner();
        let replayed = Replayed { kernels, launches, memory, buffer: buffer.as_mut() };
        workspace.run(owner, queue, after, |mut parts| parts.replay(replayed, times))
    }

    /// The queue it is replayed in.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Kernels that one replay runs.
    pub fn launches(&self) -> usize {
        self.noted.launches.len()
    }

    /// Whether a command buffer of the driver's replays it.
    pub fn is_command_buffer(&self) -> bool {
        self.buffer.is_some()
    }

    /// Why it is replayed so.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

#[cfg(test)]
mod tests {
    use super::Recording;

    #[test]
    fn a_recording_may_move_between_threads() {
        fn is_send<T: Send + Sync>() {}
        is_send::<Recording>();
    }
}
