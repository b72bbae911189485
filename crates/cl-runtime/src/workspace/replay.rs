//! Launches that were noted, enqueued again.

use opencl3::types::cl_event;

use super::Parts;
use crate::raw::{CommandBuffer, Kernel, Memory};
use crate::recorder::Noting;
use crate::{Error, Event, Result};

/// What was noted, and the command buffer that runs all of it where there is one.
pub(crate) struct Replayed<'a> {
    pub(crate) kernels: &'a mut [Kernel],
    pub(crate) launches: &'a [Noting],
    pub(crate) memory: &'a [Memory],
    pub(crate) buffer: Option<&'a mut CommandBuffer>,
}

impl Parts<'_> {
    /// Enqueues all of it `times` times. An event is made where it is asked for, or where shared virtual memory has no
    /// other way to know that it is in use.
    ///
    /// In an in-order queue, with nothing to wait for that has not ended, no event is made between launches, and a command
    /// buffer runs them if there is one. Else each launch waits for the one before by its event: one that never runs,
    /// since what it waits for ends in error, must take the next with it. A command buffer does not do so (PoCL 3.1 aborts,
    /// Intel's runtime runs it).
    pub(crate) fn replay(&mut self, of: Replayed<'_>, times: u32) -> Result<Option<Event>> {
        self.earlier.clear();
        self.settle_what_is_complete()?;
        if times == 0 || of.launches.is_empty() {
            let wait: Vec<cl_event> = self.wait.iter().map(Event::as_raw).collect();
            return self.has_event.then(|| self.queue.handle().marker(&wait)).transpose();
        }
        let is_shared = of.memory.iter().any(|memory| matches!(memory, Memory::Svm(_)));
        let has_event = self.has_event || is_shared;
        let mut last = None;
        // Whether a product was begun and not ended: then nothing has looked at what it has left in the workspace.
        let mut is_open = false;
        let enqueued = match of.buffer {
            _ if !self.queue.is_in_order() || !self.wait.is_empty() => {
                self.one_after_another(of.kernels, of.launches, times, &mut last, &mut is_open)
            }
            Some(buffer) => (1..=times).try_for_each(|run| {
                // SAFETY: the recording has finalized the buffer.
                #[expect(unsafe_code, reason = "a recording's buffer is complete")]
                unsafe {
                    // Of a buffer that is refused a driver may have run a part.
                    is_open = of.launches.iter().any(|noting| !noting.is_last);
                    if run < times || !has_event {
                        return buffer.enqueue_without_event();
                    }
                    last = Some(buffer.enqueue()?);
                }
                Ok(())
            }),
            None => {
                let event = has_event.then_some(&mut last);
                self.in_a_row(of.kernels, of.launches, times, event, &mut is_open)
            }
        };
        if let Err(error) = enqueued {
            *self.is_dirty |= is_open;
            let _ = self.queue.finish_blocking();
            return Err(error);
        }
        for memory in of.memory {
            if let (Memory::Svm(allocation), Some(event)) = (memory, &last) {
                allocation.note_use(event);
            }
        }
        Ok(last)
    }

    /// Has an in-order queue wait for events that are all complete, so that nothing else need: that one is complete does
    /// not by itself make visible what another queue wrote before it.
    fn settle_what_is_complete(&mut self) -> Result<()> {
        // What has failed may show as complete there.
        let hides_failed = self.queue.context().device().traits().hides_failed_commands();
        let is_over = self.wait.iter().all(Event::is_complete);
        if hides_failed || !is_over || self.wait.is_empty() || !self.queue.is_in_order() {
            return Ok(());
        }
        for (index, event) in self.wait.iter().enumerate() {
            if let Some(code) = event.failure() {
                return Err(Error::failed_event(index, code));
            }
        }
        let all: Vec<cl_event> = self.wait.iter().map(Event::as_raw).collect();
        self.earlier.push(self.queue.handle().marker(&all)?);
        self.wait.clear();
        Ok(())
    }

    /// Launches that their queue keeps in order; the last has an event, where there is a slot for it.
    fn in_a_row(
        &self,
        kernels: &mut [Kernel],
        launches: &[Noting],
        times: u32,
        mut event: Option<&mut Option<Event>>,
        is_open: &mut bool,
    ) -> Result<()> {
        let queue = self.queue.handle();
        let mut left = launches.len() as u64 * u64::from(times);
        for _ in 0..times {
            for Noting { kernel, size, is_last } in launches {
                left -= 1;
                let kernel = &mut kernels[*kernel];
                // SAFETY: all arguments were set when the launch was noted, whose caller has promised the memory, which the
                // recording keeps.
                #[expect(unsafe_code, reason = "the promise of the launch that was noted")]
                unsafe {
                    match &mut event {
                        Some(event) if left == 0 => {
                            let last = kernel.enqueue(queue, size.groups, size.group_size, &[])?;
                            **event = Some(last);
                        }
                        _ => kernel.enqueue_without_event(queue, size.groups, size.group_size)?,
                    }
                }
                *is_open = !is_last;
            }
        }
        Ok(())
    }

    /// Launches that wait for each other by their events, which are kept: PoCL 3.1 aborts where a command fails whose event
    /// was released.
    fn one_after_another(
        &mut self,
        kernels: &mut [Kernel],
        launches: &[Noting],
        times: u32,
        last: &mut Option<Event>,
        is_open: &mut bool,
    ) -> Result<()> {
        let queue = self.queue.handle();
        let hides_failed = self.queue.context().device().traits().hides_failed_commands();
        let of_all: Vec<cl_event> = self.wait.iter().map(Event::as_raw).collect();
        let mut wait = of_all.clone();
        for _ in 0..times {
            for Noting { kernel, size, is_last } in launches {
                if let Some(before) = last.take() {
                    wait.truncate(if hides_failed { of_all.len() } else { 0 });
                    wait.push(before.as_raw());
                    self.earlier.push(before);
                }
                // SAFETY: as in `in_a_row`.
                #[expect(unsafe_code, reason = "the promise of the launch that was noted")]
                let done = unsafe {
                    kernels[*kernel].enqueue(queue, size.groups, size.group_size, &wait)?
                };
                *last = Some(done);
                *is_open = !is_last;
            }
        }
        Ok(())
    }
}
