//! Launches that were noted once and are enqueued as often as is asked for, by one call each time.
//!
//! What a [`Recorder`] has noted becomes a [`Recording`], which is replayed as a command buffer of the driver's, or launch
//! by launch with no other work between them than the driver's own. Both run the same kernels with the same arguments in
//! the same order.

mod by;

use crate::launch::After;
use crate::raw::CommandBuffer;
use crate::recorder::{Noted, Recorder};
use crate::workspace::{OwnerId, Replayed, Workspace};
use crate::{Event, Queue, Result};
pub use by::Replay;

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

impl Recorder {
    /// Makes what was noted ready to replay, in the way asked for. The workspace is the one of all noted launches, and
    /// from now on the recording's.
    ///
    /// # Errors
    /// A command buffer that was asked for and cannot be had. By default launches one by one stand in for it, and
    /// [`Recording::reason`] says why.
    pub fn finish_blocking(self, workspace: Workspace, replay: Replay) -> Result<Recording> {
        let (queue, noted) = self.into_parts();
        let (buffer, reason) = by::buffer(&queue, &noted.kernels, &noted.launches, replay)?;
        Ok(Recording { buffer, reason, queue, workspace, noted })
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
