//! What a launch scribbles on, and the kernel objects it sets up.

mod in_flight;
mod parts;
mod replay;
mod sequence;

use std::sync::atomic::{AtomicU64, Ordering};

use cl_kernels::HostAccess;

use crate::launch::After;
use crate::raw::Kernel;
use crate::scratch::zeroed_blocking;
use crate::{DeviceArray, Error, Event, Queue, Result};
use in_flight::InFlight;
pub(crate) use parts::Parts;
pub(crate) use replay::Replayed;
pub(crate) use sequence::Sequence;

/// Ties a workspace to the algorithm object it was made by: counters of one plan say nothing to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnerId(u64);

impl OwnerId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        OwnerId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Which end of a matrix a launch begins at: each at the other than the one before, so that it finds first what is still
/// in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    #[default]
    Forward,
    Backward,
}

impl Direction {
    fn next(self) -> Direction {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }

    /// What comes first of `count` things: their numbers are what it differs by from 0, 1, 2 and so on.
    pub(crate) fn first_of(self, count: usize) -> u32 {
        match self {
            Direction::Forward => 0,
            Direction::Backward => count.saturating_sub(1) as u32,
        }
    }
}

/// Kernel objects and scratch memory of one launch in flight, which `&mut` enforces while a launch is
/// set up; a launch from another queue waits on the device for the one before.
///
/// A launch whose wait list ends in error never runs, and the workspace goes on. Where the device itself
/// fails in the middle of a launch, what the workspace holds is not known: make another.
#[derive(Debug)]
pub struct Workspace {
    owner: OwnerId,
    kernels: Vec<Kernel>,
    /// Which of its owner's programs the kernels are of, where that changes.
    form: u32,
    scratch: DeviceArray<u32>,
    in_flight: InFlight,
    is_dirty: bool,
    direction: Direction,
    /// Of the last launch's kernels those that others wait for: PoCL 3.1 aborts where a command fails whose event
    /// was released.
    earlier: Vec<Event>,
    /// Of the algorithm that is a part of its owner, where there is one.
    inner: Option<Box<Workspace>>,
}

impl Workspace {
    /// A workspace of `words` 32-bit words, all zero, for the kernels of a launch.
    pub(crate) fn new_blocking(
        queue: &Queue,
        owner: OwnerId,
        kernels: Vec<Kernel>,
        words: usize,
    ) -> Result<Self> {
        let scratch = zeroed_blocking(queue, words)?;
        Ok(Self::with_scratch(owner, kernels, scratch))
    }

    /// As [`Workspace::new_blocking`], in memory that the CPU reaches where it lies, if there is such.
    pub(crate) fn new_shared_blocking(
        queue: &Queue,
        owner: OwnerId,
        kernels: Vec<Kernel>,
        words: usize,
    ) -> Result<Self> {
        let svm = [
            HostAccess::FineGrainedSystem,
            HostAccess::FineGrainedBuffer,
            HostAccess::CoarseGrained,
        ];
        if !svm.contains(&queue.context().device().traits().host_access()) {
            return Self::new_blocking(queue, owner, kernels, words);
        }
        let mut scratch = DeviceArray::allocate_svm(queue.context(), words)?;
        scratch.write_blocking(queue, &vec![0; words])?;
        Ok(Self::with_scratch(owner, kernels, scratch))
    }

    /// A workspace in memory that is filled already, or by what is in an in-order queue, after which its launches come.
    pub(crate) fn in_memory(
        owner: OwnerId,
        kernels: Vec<Kernel>,
        scratch: DeviceArray<u32>,
        filled_in: Option<Queue>,
    ) -> Self {
        let mut workspace = Self::with_scratch(owner, kernels, scratch);
        workspace.in_flight = InFlight::after(filled_in);
        workspace
    }

    fn with_scratch(owner: OwnerId, kernels: Vec<Kernel>, scratch: DeviceArray<u32>) -> Self {
        let in_flight = InFlight::default();
        Workspace {
            owner,
            kernels,
            form: 0,
            scratch,
            in_flight,
            is_dirty: false,
            direction: Direction::Forward,
            earlier: Vec::new(),
            inner: None,
        }
    }

    /// The same with the workspace of an algorithm that its owner launches among its own kernels.
    pub(crate) fn with_inner(self, mut inner: Workspace) -> Self {
        // What may still be filling that one's memory comes before the first kernel of all.
        let in_flight = std::mem::take(&mut inner.in_flight);
        Workspace { in_flight, inner: Some(Box::new(inner)), ..self }
    }

    /// The same with kernels of another of its owner's programs.
    pub(crate) fn of_form(self, form: u32) -> Self {
        Workspace { form, ..self }
    }

    /// Takes the kernels of this form of its owner's program, where it has others.
    pub(crate) fn renew(
        &mut self,
        owner: OwnerId,
        form: u32,
        kernels: impl FnOnce() -> Result<Vec<Kernel>>,
    ) -> Result<()> {
        self.check_owner(owner)?;
        if self.form != form {
            self.kernels = kernels()?;
            self.form = form;
        }
        Ok(())
    }

    /// Bytes of scratch memory on the device.
    pub fn size_bytes(&self) -> usize {
        self.scratch.size_bytes() + self.inner.as_ref().map_or(0, |inner| inner.size_bytes())
    }

    /// What it was made by.
    pub(crate) fn owner(&self) -> OwnerId {
        self.owner
    }

    /// Adds a kernel after those there are.
    pub(crate) fn add_kernel(&mut self, kernel: Kernel) {
        self.kernels.push(kernel);
    }

    pub(crate) fn scratch(&self) -> &DeviceArray<u32> {
        &self.scratch
    }

    /// The direction of the next launch.
    pub(crate) fn next_direction(&mut self) -> Direction {
        let next = self.direction.next();
        std::mem::replace(&mut self.direction, next)
    }

    /// Has the next launch begin with a scratch memory of zeros.
    pub(crate) fn set_dirty(&mut self) {
        self.is_dirty = true;
    }

    /// Runs one launch of `owner`'s kernels after the launches before it, in whatever queues they are. `None` where no
    /// event was asked for.
    pub(crate) fn run(
        &mut self,
        owner: OwnerId,
        queue: &Queue,
        after: After<'_>,
        launch: impl FnOnce(Parts<'_>) -> Result<Option<Event>>,
    ) -> Result<Option<Event>> {
        self.check_owner(owner)?;
        let (wait, has_event) = match after {
            After::Events(wait) => (wait, true),
            // Others have no way to come after a launch in a queue out of order but its event.
            After::Queue => (&[][..], !queue.is_in_order()),
            // What is in flight is looked at whenever the recording is replayed.
            After::Record(_) => return launch(self.parts(queue, Vec::new(), false, after)),
        };
        // There are drivers on which a wait for what has failed already never ends (PoCL 3.1).
        for (index, event) in wait.iter().enumerate() {
            if let Some(code) = event.failure() {
                return Err(Error::failed_event(index, code));
            }
        }
        let is_ordered = self.in_flight.is_ordered_by(queue);
        if !is_ordered {
            self.in_flight.observe()?;
        }
        let mut all = wait.to_vec();
        if !is_ordered && let Some((last_queue, event)) = self.in_flight.last() {
            // The queue it is in alone may have been told of that launch, and a queue that was not
            // flushed need not begin: waiting for it from another could take for ever.
            last_queue.flush()?;
            all.push(event.clone());
        }
        if !has_event && !all.is_empty() {
            // What follows in the queue waits for a marker that waits.
            let before = std::mem::take(&mut all);
            let before: Vec<_> = before.iter().map(Event::as_raw).collect();
            let marker = queue.handle().marker(&before)?;
            self.in_flight.push(queue, &marker, true);
        }
        let was_dirty = self.is_dirty;
        if was_dirty {
            let filled = self.clear(queue)?;
            all.extend(filled.into_iter().filter(|_| has_event));
        }
        let launched = launch(self.parts(queue, all, has_event, after));
        if let Some(inner) = &mut self.inner {
            // The next launch comes after all of this one, whatever is in it.
            inner.in_flight = InFlight::default();
        }
        if launched.is_err() && was_dirty {
            // Nothing is known to come after the zeros: a launch in another queue might not.
            self.is_dirty = true;
            let _ = queue.finish_blocking();
        }
        match launched? {
            // Without a wait list of its own it can only end after all before it.
            Some(event) => {
                self.in_flight.push(queue, &event, is_ordered && wait.is_empty());
                Ok(matches!(after, After::Events(_)).then_some(event))
            }
            None => {
                self.in_flight.note_without_event(queue);
                Ok(None)
            }
        }
    }

    fn parts<'a>(
        &'a mut self,
        queue: &'a Queue,
        wait: Vec<Event>,
        has_event: bool,
        after: After<'a>,
    ) -> Parts<'a> {
        let recorder = match after {
            After::Record(recorder) => Some(recorder),
            After::Events(_) | After::Queue => None,
        };
        Parts {
            queue,
            kernels: &mut self.kernels,
            scratch: &self.scratch,
            wait,
            has_event,
            recorder,
            is_dirty: &mut self.is_dirty,
            earlier: &mut self.earlier,
            inner: self.inner.as_deref_mut(),
        }
    }

    /// Fills the scratch memory with zeros, that of an algorithm within too: a replay does not ask that one's workspace.
    fn clear(&mut self, queue: &Queue) -> Result<Vec<Event>> {
        let mut filled: Vec<Event> = self.scratch.fill(queue, 0)?.into_iter().collect();
        if let Some(inner) = &mut self.inner {
            filled.extend(inner.clear(queue)?);
        }
        self.is_dirty = false;
        Ok(filled)
    }

    fn check_owner(&self, owner: OwnerId) -> Result<()> {
        if self.owner == owner {
            return Ok(());
        }
        Err(Error::OtherPlan { what: "the workspace" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_begins_at_the_end_that_the_one_before_left() {
        assert_eq!(Direction::Forward.first_of(7), 0);
        assert_eq!(Direction::Backward.first_of(7), 6);
        assert_eq!(Direction::Backward.first_of(0), 0);
        assert_eq!(Direction::Forward.next(), Direction::Backward);
        assert_eq!(Direction::Backward.next(), Direction::Forward);
    }
}
