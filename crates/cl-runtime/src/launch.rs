//! Enqueueing a kernel with its arguments.

use crate::arguments::Arguments;
use crate::device::name_of;
use crate::raw::Kernel;
use crate::recorder::Recorder;
use crate::{Error, Event, Program, Queue, Result};

pub(crate) use crate::size::Size;

/// What a launch comes after, and whether an event is made for it.
#[derive(Clone, Copy, Debug)]
pub enum After<'a> {
    /// After these events, and with an event of its own.
    Events(&'a [Event]),
    /// After what is in the queue, without an event: what comes next in an in-order queue comes after it. An event takes a
    /// GPU time of its own between two kernels (2 us on an H200). In a queue out of order only a barrier of the caller's
    /// comes after it.
    Queue,
    /// Not now: it is noted, to be enqueued whenever what is noted is replayed.
    Record(&'a Recorder),
}

/// Sets all arguments and enqueues the kernel. Without groups nothing is launched, and an event completes when those it
/// comes after have. `None` where no event was asked for.
///
/// # Safety
/// The memory in `arguments` is as long as the kernel will read and write.
#[expect(
    unsafe_code,
    reason = "what a kernel does with its memory is the launching algorithm's promise"
)]
pub(crate) unsafe fn launch<'a>(
    queue: &Queue,
    kernel: &mut Kernel,
    arguments: &dyn Arguments<'a>,
    size: Size,
    after: After<'_>,
) -> Result<Option<Event>> {
    let (wait, has_event) = match after {
        After::Events(wait) => (wait.iter().map(Event::as_raw).collect(), true),
        After::Queue => (Vec::new(), false),
        After::Record(recorder) => {
            if size.groups > 0 {
                check_device(queue, kernel, size)?;
                recorder.note(kernel, arguments, size)?;
            }
            return Ok(None);
        }
    };
    if size.groups == 0 {
        return has_event.then(|| queue.handle().marker(&wait)).transpose();
    }
    check_device(queue, kernel, size)?;
    let shared = arguments.set(kernel)?;
    // Shared virtual memory has no other way to know that it is in use.
    if !has_event && shared.is_empty() {
        // SAFETY: all arguments were just set; the rest is the caller's promise.
        unsafe { kernel.enqueue_without_event(queue.handle(), size.groups, size.group_size)? };
        return Ok(None);
    }
    // SAFETY: as above.
    let event = unsafe { kernel.enqueue(queue.handle(), size.groups, size.group_size, &wait)? };
    for allocation in shared {
        allocation.note_use(&event);
    }
    Ok(has_event.then_some(event))
}

/// Refuses a queue of another device than the kernel was built for, which there are drivers that crash on, and groups
/// of more items than the device says it runs.
fn check_device(queue: &Queue, kernel: &Kernel, size: Size) -> Result<()> {
    let device = queue.context().device();
    if kernel.device() != device.id() {
        return Err(Error::Device {
            what: format!("the kernel {}", kernel.name()),
            found: device.traits().name.clone(),
            needed: name_of(kernel.device()),
        });
    }
    let most = device.traits().max_group_size;
    if size.group_size as u64 > most {
        return Err(Error::Range {
            what: format!("the group size of the kernel {}", kernel.name()),
            value: size.group_size as u64,
            rule: format!("{} allows at most {most}", device.traits().name),
        });
    }
    Ok(())
}

/// As [`launch`], after these events and with an event.
///
/// # Safety
/// As there.
#[expect(unsafe_code, reason = "as `launch`")]
pub(crate) unsafe fn launch_after<'a>(
    queue: &Queue,
    kernel: &mut Kernel,
    arguments: &dyn Arguments<'a>,
    size: Size,
    wait: &[Event],
) -> Result<Event> {
    // SAFETY: the caller's promise.
    let event = unsafe { launch(queue, kernel, arguments, size, After::Events(wait))? };
    event.map_or_else(|| queue.handle().marker(&[]), Ok)
}

/// As [`launch`], after what `queue` holds and before whatever comes next in it: no event is made where the queue sees
/// to that, and where it does not, the launch is waited for.
///
/// # Safety
/// As there.
#[expect(unsafe_code, reason = "as `launch`")]
pub(crate) unsafe fn launch_next<'a>(
    queue: &Queue,
    kernel: &mut Kernel,
    arguments: &dyn Arguments<'a>,
    size: Size,
) -> Result<()> {
    let after = if queue.is_in_order() { After::Queue } else { After::Events(&[]) };
    // SAFETY: the caller's promise.
    match unsafe { launch(queue, kernel, arguments, size, after)? } {
        Some(event) => queue.settle_blocking(&event),
        None => Ok(()),
    }
}

/// Launches of one program's kernels, each after the one before.
pub(crate) struct LaunchSequence<'a> {
    queue: &'a Queue,
    program: &'a Program,
    group_size: usize,
    /// Made once each: a driver may take longer for that than for a launch.
    kernels: Vec<(&'static str, Kernel)>,
}

impl<'a> LaunchSequence<'a> {
    /// Of groups of `group_size` items.
    pub(crate) fn new(queue: &'a Queue, program: &'a Program, group_size: usize) -> Self {
        LaunchSequence { queue, program, group_size, kernels: Vec::new() }
    }

    /// Groups for `items` items.
    pub(crate) fn groups(&self, items: usize) -> usize {
        items.div_ceil(self.group_size)
    }

    /// Enqueues the kernel that takes these arguments.
    ///
    /// # Safety
    /// As [`launch`].
    #[expect(unsafe_code, reason = "as `launch`")]
    pub(crate) unsafe fn run<'m>(
        &mut self,
        arguments: &dyn Arguments<'m>,
        groups: usize,
    ) -> Result<Event> {
        let known = self.kernels.iter().position(|(name, _)| *name == arguments.kernel_name());
        let at = match known {
            Some(at) => at,
            None => {
                self.kernels
                    .push((arguments.kernel_name(), self.program.kernel(arguments.kernel_name())?));
                self.kernels.len() - 1
            }
        };
        let size = Size { groups, group_size: self.group_size };
        // SAFETY: the caller's promise.
        let event =
            unsafe { launch_after(self.queue, &mut self.kernels[at].1, arguments, size, &[])? };
        self.queue.settle_blocking(&event)?;
        Ok(event)
    }
}
