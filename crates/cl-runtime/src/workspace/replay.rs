//! Launches that were noted, enqueued again.

use opencl3::types::cl_event;

use super::Parts;
use crate::raw::{CommandBuffer, Kernel, Memory};
use crate::recording::Noting;
use crate::{Event, Result};

impl Parts<'_> {
    /// Enqueues launches one by one, `times` times. An event is made where it is asked for, or where shared virtual memory
    /// has no other way to know that it is in use.
    ///
    /// In an in-order queue each has the wait list of the whole, and no event is made between two: where what they wait
    /// for ends in error, none of them runs. In a queue out of order each waits for the one before, too.
    pub(crate) fn replay(
        &mut self,
        kernels: &mut [Kernel],
        launches: &[Noting],
        memory: &[Memory],
        times: u32,
    ) -> Result<Option<Event>> {
        self.earlier.clear();
        let queue = self.queue.handle();
        let wait: Vec<cl_event> = self.wait.iter().map(Event::as_raw).collect();
        let has_event = self.has_event || has_shared(memory);
        let total = launches.len() as u64 * u64::from(times);
        if total == 0 {
            return self.has_event.then(|| queue.marker(&wait)).transpose();
        }
        if !self.queue.is_in_order() {
            return self.replay_out_of_order(kernels, launches, memory, times);
        }
        let mut left = total;
        let mut event = None;
        let enqueued = (0..times).try_for_each(|_| {
            launches.iter().try_for_each(|noting| {
                let Noting { kernel, size } = *noting;
                let kernel = &mut kernels[kernel];
                left -= 1;
                // SAFETY: all arguments were set when the launch was noted, whose caller has promised the memory, which the
                // recording keeps.
                #[expect(unsafe_code, reason = "the promise of the launch that was noted")]
                unsafe {
                    if left == 0 && has_event {
                        event = Some(kernel.enqueue(queue, size.groups, size.group_size, &wait)?);
                        return Ok(());
                    }
                    kernel.enqueue_without_event(queue, size.groups, size.group_size, &wait)
                }
            })
        });
        self.note_replay(enqueued, event, memory)
    }

    /// As [`Parts::replay`], each after the one before by its event.
    fn replay_out_of_order(
        &mut self,
        kernels: &mut [Kernel],
        launches: &[Noting],
        memory: &[Memory],
        times: u32,
    ) -> Result<Option<Event>> {
        let queue = self.queue.handle();
        let mut wait: Vec<cl_event> = self.wait.iter().map(Event::as_raw).collect();
        let of_all = wait.len();
        let mut event: Option<Event> = None;
        let enqueued = (0..times).try_for_each(|_| {
            launches.iter().try_for_each(|noting| {
                let Noting { kernel, size } = *noting;
                if let Some(before) = event.take() {
                    wait.truncate(of_all);
                    wait.push(before.as_raw());
                    self.earlier.push(before);
                }
                // SAFETY: as in `replay`.
                #[expect(unsafe_code, reason = "the promise of the launch that was noted")]
                let done =
                    unsafe { kernels[kernel].enqueue(queue, size.groups, size.group_size, &wait)? };
                event = Some(done);
                Ok(())
            })
        });
        self.note_replay(enqueued, event, memory)
    }

    /// As [`Parts::replay`], by a command buffer of the launches. The queue is in order.
    pub(crate) fn replay_buffer(
        &mut self,
        buffer: &mut CommandBuffer,
        memory: &[Memory],
        times: u32,
    ) -> Result<Option<Event>> {
        self.earlier.clear();
        let wait: Vec<cl_event> = self.wait.iter().map(Event::as_raw).collect();
        if times == 0 {
            return self.has_event.then(|| self.queue.handle().marker(&wait)).transpose();
        }
        let has_event = self.has_event || has_shared(memory);
        let mut event = None;
        let enqueued = (1..=times).try_for_each(|run| {
            // SAFETY: the recording has finalized the buffer.
            #[expect(unsafe_code, reason = "a recording's buffer is complete")]
            unsafe {
                if run == times && has_event {
                    event = Some(buffer.enqueue(&wait)?);
                    return Ok(());
                }
                buffer.enqueue_without_event(&wait)
            }
        });
        self.note_replay(enqueued, event, memory)
    }

    /// Notes how a replay was enqueued. Where a part of it was not, what was is waited for, and nothing has looked at what
    /// that leaves.
    fn note_replay(
        &mut self,
        enqueued: Result<()>,
        event: Option<Event>,
        memory: &[Memory],
    ) -> Result<Option<Event>> {
        if let Err(error) = enqueued {
            *self.is_dirty = true;
            let _ = self.queue.finish_blocking();
            return Err(error);
        }
        for memory in memory {
            if let (Memory::Svm(allocation), Some(event)) = (memory, &event) {
                allocation.note_use(event);
            }
        }
        Ok(event)
    }
}

fn has_shared(memory: &[Memory]) -> bool {
    memory.iter().any(|memory| matches!(memory, Memory::Svm(_)))
}
