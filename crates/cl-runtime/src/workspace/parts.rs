//! What one launch may use of a workspace, and how it enqueues its kernels.

use super::{Sequence, Workspace};
use crate::arguments::Arguments;
use crate::launch::{After, Size, launch, launch_after};
use crate::raw::Kernel;
use crate::recorder::Recorder;
use crate::{DeviceArray, Event, Queue, Result};

/// What one launch may use.
pub(crate) struct Parts<'a> {
    pub(super) queue: &'a Queue,
    /// In the order in which the workspace was given them.
    pub(super) kernels: &'a mut [Kernel],
    pub(crate) scratch: &'a DeviceArray<u32>,
    /// What the launch comes after, besides what is in its queue.
    pub(crate) wait: Vec<Event>,
    /// Whether the launch has an event; it has none in an in-order queue alone.
    pub(crate) has_event: bool,
    /// What notes the launch, where it is not to be enqueued now.
    pub(super) recorder: Option<&'a Recorder>,
    /// Set where a launch of several kernels was enqueued in part and has ended: the next one begins with
    /// a scratch memory of zeros.
    pub(crate) is_dirty: &'a mut bool,
    /// Where the events of kernels are kept that others wait for.
    pub(crate) earlier: &'a mut Vec<Event>,
    /// The workspace of an algorithm that is a part of the owner.
    pub(crate) inner: Option<&'a mut Workspace>,
}

impl Parts<'_> {
    /// Enqueues a launch of one kernel, by its index.
    ///
    /// # Safety
    /// As [`launch`].
    #[expect(unsafe_code, reason = "as `launch`")]
    pub(crate) unsafe fn launch<'m>(
        &mut self,
        kernel: usize,
        arguments: &dyn Arguments<'m>,
        size: Size,
    ) -> Result<Option<Event>> {
        let after = match (self.recorder, self.has_event) {
            (Some(recorder), _) => After::Record(recorder),
            (None, true) => After::Events(&self.wait),
            (None, false) => After::Queue,
        };
        // SAFETY: the caller's promise.
        unsafe { launch(self.queue, &mut self.kernels[kernel], arguments, size, after) }
    }

    /// Enqueues one of several kernels, after these events and with an event.
    ///
    /// # Safety
    /// As [`launch`].
    #[expect(unsafe_code, reason = "as `launch`")]
    pub(crate) unsafe fn launch_after<'m>(
        &mut self,
        kernel: usize,
        arguments: &dyn Arguments<'m>,
        size: Size,
        wait: &[Event],
    ) -> Result<Event> {
        // SAFETY: the caller's promise.
        unsafe { launch_after(self.queue, &mut self.kernels[kernel], arguments, size, wait) }
    }

    /// Enqueues a launch of two kernels, the second after the first.
    ///
    /// # Safety
    /// As [`launch`], for both.
    #[expect(unsafe_code, reason = "as `launch`")]
    pub(crate) unsafe fn launch_both<'m>(
        &mut self,
        (first, first_size): (&dyn Arguments<'m>, Size),
        (second, second_size): (&dyn Arguments<'m>, Size),
    ) -> Result<Option<Event>> {
        let mut sequence = self.sequence();
        // SAFETY: the caller's promise.
        unsafe {
            sequence.next(0, first, first_size)?;
            sequence.last(1, second, second_size)
        }
    }

    /// Begins a launch of several kernels, each after the one before. A part of them leaves a scratch memory that is
    /// cleared before the next launch.
    pub(crate) fn sequence(&mut self) -> Sequence<'_> {
        self.begin(true)
    }

    /// As [`Parts::sequence`], where whatever a part of them leaves is written before it is read: what an algorithm among
    /// them leaves is its own workspace's.
    pub(crate) fn sequence_of_moves(&mut self) -> Sequence<'_> {
        self.begin(false)
    }

    fn begin(&mut self, leaves_dirt: bool) -> Sequence<'_> {
        self.earlier.clear();
        Sequence {
            queue: self.queue,
            kernels: self.kernels,
            wait: self.wait.clone(),
            has_event: self.has_event,
            recorder: self.recorder,
            has_begun: false,
            leaves_dirt,
            is_dirty: self.is_dirty,
            earlier: self.earlier,
        }
    }

    /// Kernels there are.
    pub(crate) fn kernel_count(&self) -> usize {
        self.kernels.len()
    }
}
