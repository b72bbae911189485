//! Queues and events.

use crate::device::name_of;
use crate::raw::{EventHandle, QueueHandle};
use crate::{Context, Error, Result};

/// What a launch returns: wait for it, or put it into the wait list of what comes next.
pub type Event = EventHandle;

/// A command queue on the device of a [`Context`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Queue {
    handle: QueueHandle,
    context: Context,
    in_order: bool,
}

impl Queue {
    /// A new in-order queue.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn new(context: &Context) -> Result<Self> {
        Self::create(context, false)
    }

    /// A new in-order queue whose events carry times.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn with_profiling(context: &Context) -> Result<Self> {
        Self::create(context, true)
    }

    fn create(context: &Context, profiling: bool) -> Result<Self> {
        let handle = QueueHandle::create(context.handle(), context.device().id(), profiling)?;
        Ok(Queue { handle, context: context.clone(), in_order: true })
    }

    /// Uses a queue of the application's; it keeps its own reference.
    ///
    /// # Safety
    /// `queue` is a valid command queue.
    ///
    /// # Errors
    /// The queue belongs to another context or device than `context`.
    #[expect(unsafe_code, reason = "takes a raw handle")]
    pub unsafe fn from_raw(
        context: &Context,
        queue: opencl3::types::cl_command_queue,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let handle = unsafe { QueueHandle::retain(queue)? };
        let (its_context, its_device) = handle.context_and_device()?;
        if its_context.as_raw() != context.handle().as_raw() {
            return Err(Error::context("the queue", "the one given"));
        }
        let device = context.device();
        if its_device != device.id() {
            return Err(Error::Device {
                what: "a kernel of the context given".to_owned(),
                found: name_of(its_device),
                needed: device.traits().name.clone(),
            });
        }
        let in_order = handle.is_in_order();
        Ok(Queue { handle, context: context.clone(), in_order })
    }

    /// The handle, for the application's own calls.
    pub fn as_raw(&self) -> opencl3::types::cl_command_queue {
        self.handle.as_raw()
    }

    /// The context the queue belongs to.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Hands everything enqueued to the device.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn flush(&self) -> Result<()> {
        self.handle.flush()
    }

    /// Waits until everything enqueued is done.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn finish_blocking(&self) -> Result<()> {
        self.handle.finish()
    }

    /// An event that completes when everything that was enqueued so far has.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn marker(&self) -> Result<Event> {
        self.handle.marker(&[])
    }

    pub(crate) fn handle(&self) -> &QueueHandle {
        &self.handle
    }

    /// Waits for `event` where what is enqueued next would not: on an application's out-of-order queue.
    ///
    /// # Errors
    /// The command it stands for failed.
    pub fn settle_blocking(&self, event: &Event) -> Result<()> {
        if self.in_order { Ok(()) } else { event.wait() }
    }

    /// Runs `make` with this queue. Where it compiles a kernel that the device runs in smaller groups only than its
    /// parameters say ([`Error::KernelGroup`], of which `limit_of` gives the limit), it runs once more as on a device of
    /// such groups, to which all parameters are fitted then; what it makes serves this queue.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn fitting<T, E>(
        &self,
        limit_of: impl Fn(&E) -> Option<u64>,
        mut make: impl FnMut(&Queue) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut queue = self.clone();
        loop {
            let made = make(&queue);
            let limit = made.as_ref().err().and_then(&limit_of);
            match limit.filter(|limit| *limit < queue.context.device().traits().max_group_size) {
                Some(limit) if limit > 0 => queue.context = queue.context.with_groups(limit),
                _ => return made,
            }
        }
    }

    pub(crate) fn is_in_order(&self) -> bool {
        self.in_order
    }

    /// The queue, where it runs commands in the order they were enqueued.
    pub fn in_order(&self) -> Option<InOrder<'_>> {
        self.in_order.then_some(InOrder(self))
    }
}

/// A queue that runs commands in the order they were enqueued, so that a launch in it needs no event for others to come
/// after it.
#[derive(Clone, Copy, Debug)]
pub struct InOrder<'a>(&'a Queue);

impl std::ops::Deref for InOrder<'_> {
    type Target = Queue;

    fn deref(&self) -> &Queue {
        self.0
    }
}
