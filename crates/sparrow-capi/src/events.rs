//! Wait lists that come in, and events that go out.

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{Context, Event, Queue};

use crate::failure::{Failure, Result};

/// A wait list as the application hands it over.
pub(crate) type List = (cl_uint, *const cl_event);

/// The application's queue, which must be one of the context.
///
/// # Safety
/// NULL, or a valid queue.
pub(crate) unsafe fn queue(context: &Context, queue: cl_command_queue) -> Result<Queue> {
    if queue.is_null() {
        return Err(Failure::null("queue"));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { Queue::from_raw(context, queue)? })
}

/// The events of a list.
///
/// # Safety
/// NULL, or as many valid events (or NULL) as the list says.
pub(crate) unsafe fn wait_list((count, list): List) -> Result<Vec<Event>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if list.is_null() {
        return Err(Failure::argument(format!(
            "event_wait_list is NULL, and num_events_in_wait_list is {count}"
        )));
    }
    let mut events = Vec::with_capacity(count.min(64) as usize);
    for index in 0..count as usize {
        // SAFETY: there are `count` of them, as the caller says.
        let event = unsafe { list.add(index).read_unaligned() };
        if event.is_null() {
            return Err(Failure::null(&format!("event_wait_list[{index}]")));
        }
        // SAFETY: a valid event, as the caller says.
        events.push(unsafe { Event::retain(event)? });
    }
    Ok(events)
}

/// Waits until the events of a list have ended well.
///
/// # Safety
/// As [`wait_list`].
pub(crate) unsafe fn wait_blocking(list: List) -> Result<()> {
    // SAFETY: the caller's promise.
    let events = unsafe { wait_list(list)? };
    for (index, event) in events.iter().enumerate() {
        // There are drivers on which a wait for what has failed already never ends.
        if let Some(code) = event.failure() {
            return Err(failed(index, code));
        }
        if let Err(error) = event.wait() {
            return Err(event.failure().map_or_else(|| error.into(), |code| failed(index, code)));
        }
    }
    Ok(())
}

fn failed(index: usize, code: i32) -> Failure {
    let status = opencl3::error_codes::error_text(code);
    sparrow::RuntimeError::FailedEvent { index, status, code }.into()
}

/// Where a launch's event goes, if anybody asked for it.
#[derive(Debug)]
pub(crate) struct EventOut(*mut cl_event);

impl EventOut {
    /// # Safety
    /// NULL, or memory for an event.
    pub(crate) unsafe fn new(pointer: *mut cl_event) -> Self {
        if !pointer.is_null() {
            // SAFETY: the caller's promise.
            unsafe { pointer.write_unaligned(std::ptr::null_mut()) };
        }
        EventOut(pointer)
    }

    /// What a launch comes after: without a list and where no event was asked for, what is in the queue, and no event is
    /// made for it.
    pub(crate) fn wait<'w>(&self, list: &'w [Event]) -> Option<&'w [Event]> {
        (!self.0.is_null() || !list.is_empty()).then_some(list)
    }

    /// Hands over a reference to the event, if one was made.
    pub(crate) fn give_if_any(self, event: Option<&Event>) -> Result<()> {
        event.map_or(Ok(()), |event| self.give(event))
    }

    /// Hands over a reference.
    pub(crate) fn give(self, event: &Event) -> Result<()> {
        if self.0.is_null() {
            return Ok(());
        }
        // SAFETY: the event is valid; the reference is the application's from here on.
        let retained = unsafe { opencl3::event::retain_event(event.as_raw()) };
        retained.map_err(|code| Failure::of_call("clRetainEvent", code))?;
        // SAFETY: there is memory for an event, as `new` was promised.
        unsafe { self.0.write_unaligned(event.as_raw()) };
        Ok(())
    }
}
