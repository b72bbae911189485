//! What a launch comes after, in the types of the functions that launch.

use crate::launch::After;
use crate::{Event, Queue, Result};

mod sealed {
    pub trait Sealed {}
    impl Sealed for &[super::Event] {}
    impl<const N: usize> Sealed for &[super::Event; N] {}
    impl Sealed for &Vec<super::Event> {}
    impl Sealed for Option<&[super::Event]> {}
    impl Sealed for super::NoEvent {}
}

/// What a launch comes after, and whether an event is made for it: a list of events for one of its own, or [`NoEvent`].
/// `None` is `NoEvent` where that is known at run time alone.
pub trait Wait: sealed::Sealed + Copy {
    /// An event, or nothing.
    type Event;

    /// The same, known at run time.
    fn after(&self) -> After<'_>;

    /// What the launch gives back, of the event that was made for it.
    ///
    /// # Errors
    /// The driver's own failure.
    #[doc(hidden)]
    fn given(queue: &Queue, event: Option<Event>) -> Result<Self::Event>;
}

/// After what is in the queue already, and without an event: what comes next in an in-order queue comes after it. An
/// event takes a GPU time of its own between two kernels (2 us on an H200). In a queue out of order only a barrier of
/// the caller's comes after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoEvent;

impl Wait for &[Event] {
    type Event = Event;

    fn after(&self) -> After<'_> {
        After::Events(self)
    }

    fn given(queue: &Queue, event: Option<Event>) -> Result<Event> {
        event.map_or_else(|| queue.handle().marker(&[]), Ok)
    }
}

impl<const N: usize> Wait for &[Event; N] {
    type Event = Event;

    fn after(&self) -> After<'_> {
        After::Events(self.as_slice())
    }

    fn given(queue: &Queue, event: Option<Event>) -> Result<Event> {
        <&[Event]>::given(queue, event)
    }
}

impl Wait for &Vec<Event> {
    type Event = Event;

    fn after(&self) -> After<'_> {
        After::Events(self.as_slice())
    }

    fn given(queue: &Queue, event: Option<Event>) -> Result<Event> {
        <&[Event]>::given(queue, event)
    }
}

impl Wait for NoEvent {
    type Event = ();

    fn after(&self) -> After<'_> {
        After::Queue
    }

    fn given(_queue: &Queue, _event: Option<Event>) -> Result<()> {
        Ok(())
    }
}

impl Wait for Option<&[Event]> {
    type Event = Option<Event>;

    fn after(&self) -> After<'_> {
        self.map_or(After::Queue, After::Events)
    }

    fn given(_queue: &Queue, event: Option<Event>) -> Result<Option<Event>> {
        Ok(event)
    }
}
