//! Several kernels of one launch, each after the one before.

#[cfg(doc)]
use super::Parts;
use crate::arguments::Arguments;
use crate::launch::{After, Size, launch, launch_after, launch_next};
use crate::raw::Kernel;
use crate::recorder::Recorder;
use crate::{Event, Queue, Result};

/// Kernels of one launch, each after the one before. In an in-order queue that has nothing else to wait for its order is
/// enough, and no event is made between them: one takes the host and the GPU some microseconds.
pub(crate) struct Sequence<'a> {
    pub(super) queue: &'a Queue,
    pub(super) kernels: &'a mut [Kernel],
    /// What the next kernel comes after, besides what is in its queue.
    pub(super) wait: Vec<Event>,
    pub(super) has_event: bool,
    /// What notes the kernels, where they are not to be enqueued now.
    pub(super) recorder: Option<&'a Recorder>,
    /// Whether a kernel was enqueued.
    pub(super) has_begun: bool,
    /// Whether the scratch memory has to be cleared after a launch of a part of the kernels.
    pub(super) leaves_dirt: bool,
    pub(super) is_dirty: &'a mut bool,
    pub(super) earlier: &'a mut Vec<Event>,
}

impl Sequence<'_> {
    /// Enqueues a kernel that another one follows, by its index.
    ///
    /// # Safety
    /// As [`Parts::launch`].
    #[expect(unsafe_code, reason = "as `Parts::launch`")]
    pub(crate) unsafe fn next<'m>(
        &mut self,
        kernel: usize,
        arguments: &dyn Arguments<'m>,
        size: Size,
    ) -> Result<()> {
        let kernel = &mut self.kernels[kernel];
        if let Some(recorder) = self.recorder {
            let before = recorder.len();
            // SAFETY: the caller's promise.
            unsafe { launch(self.queue, kernel, arguments, size, After::Record(recorder))? };
            if self.leaves_dirt {
                recorder.leave_open(before);
            }
            return Ok(());
        }
        if self.queue.is_in_order() && self.wait.is_empty() {
            // SAFETY: the caller's promise.
            let launched = unsafe { launch_next(self.queue, kernel, arguments, size) };
            return self.note(launched);
        }
        // A kernel that never ran, since what it waits for ended in error, must take the next with it.
        // SAFETY: the caller's promise.
        let launched = unsafe { launch_after(self.queue, kernel, arguments, size, &self.wait) };
        let done = self.note(launched)?;
        self.earlier.push(done.clone());
        if !self.queue.context().device().traits().hides_failed_commands() {
            self.wait.clear();
        }
        self.wait.push(done);
        Ok(())
    }

    /// Enqueues kernels that another one follows, by what they come after: they make an event where they are given any.
    pub(crate) fn next_by(
        &mut self,
        launch: impl FnOnce(After<'_>) -> Result<Option<Event>>,
    ) -> Result<()> {
        if let Some(recorder) = self.recorder {
            launch(After::Record(recorder))?;
            return Ok(());
        }
        if self.queue.is_in_order() && self.wait.is_empty() {
            let launched = launch(After::Queue);
            return self.note(launched.map(|_| ()));
        }
        let launched = launch(After::Events(&self.wait));
        let done = self.note(launched)?;
        if !self.queue.context().device().traits().hides_failed_commands() {
            self.wait.clear();
        }
        self.earlier.extend(done.clone());
        self.wait.extend(done);
        Ok(())
    }

    /// As [`Sequence::next_by`], of the last kernels. `None` where no event was asked for.
    pub(crate) fn last_by(
        mut self,
        launch: impl FnOnce(After<'_>) -> Result<Option<Event>>,
    ) -> Result<Option<Event>> {
        if let Some(recorder) = self.recorder {
            return launch(After::Record(recorder));
        }
        let launched = match self.has_event {
            true => launch(After::Events(&self.wait)),
            false => launch(After::Queue),
        };
        self.note(launched)
    }

    /// Enqueues the last kernel, by its index. `None` where no event was asked for.
    ///
    /// # Safety
    /// As [`Parts::launch`].
    #[expect(unsafe_code, reason = "as `Parts::launch`")]
    pub(crate) unsafe fn last<'m>(
        mut self,
        kernel: usize,
        arguments: &dyn Arguments<'m>,
        size: Size,
    ) -> Result<Option<Event>> {
        let kernel = &mut self.kernels[kernel];
        if let Some(recorder) = self.recorder {
            // SAFETY: the caller's promise.
            return unsafe { launch(self.queue, kernel, arguments, size, After::Record(recorder)) };
        }
        // SAFETY: the caller's promise.
        let launched = unsafe {
            match self.has_event {
                true => launch_after(self.queue, kernel, arguments, size, &self.wait).map(Some),
                false => launch_next(self.queue, kernel, arguments, size).map(|()| None),
            }
        };
        self.note(launched)
    }

    /// Notes how a kernel was enqueued. Where one was not, those before it are waited for, and nothing has looked at what
    /// they leave.
    fn note<T>(&mut self, launched: Result<T>) -> Result<T> {
        if launched.is_err() && self.has_begun {
            *self.is_dirty |= self.leaves_dirt;
            let _ = self.queue.finish_blocking();
        }
        self.has_begun = true;
        launched
    }
}
