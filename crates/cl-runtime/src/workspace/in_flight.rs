//! Launches that may not have ended, which a workspace's next launch has to come after.

use std::collections::VecDeque;

use crate::{Event, Queue, Result};

/// Launches of a workspace that may not have ended, the oldest first. Each waits for the one before, but a
/// launch in error ends at once and says nothing of those before it: so they are remembered too.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    launches: VecDeque<(Queue, Event)>,
    /// The in-order queue of launches after those, or of what fills the memory, for which no event was made.
    without_event: Option<Queue>,
}

impl InFlight {
    /// After what is in this in-order queue.
    pub(super) fn after(queue: Option<Queue>) -> Self {
        InFlight { without_event: queue, ..InFlight::default() }
    }

    /// Whether what is put into `queue` comes after all of them by itself.
    pub(super) fn is_ordered_by(&self, queue: &Queue) -> bool {
        let is_it = |other: &Queue| other.as_raw() == queue.as_raw();
        queue.is_in_order()
            && self.launches.iter().all(|(other, _)| is_it(other))
            && self.without_event.iter().all(is_it)
    }

    /// Makes an event for launches that have none: their queue is in order, so a marker ends after them.
    pub(super) fn observe(&mut self) -> Result<()> {
        if let Some(queue) = self.without_event.clone() {
            // Not forgotten where the driver refuses the marker.
            let marker = queue.handle().marker(&[])?;
            self.without_event = None;
            self.push(&queue, &marker, false);
        }
        Ok(())
    }

    /// The last one that is not known to have ended. What ended in error cannot be told from what ended
    /// well (Intel's runtime shows both as complete), so those before it are looked at too.
    pub(super) fn last(&mut self) -> Option<&(Queue, Event)> {
        while let Some((_, event)) = self.launches.back()
            && event.is_complete()
        {
            self.launches.pop_back();
        }
        self.launches.back()
    }

    /// Notes a launch in an in-order queue for which no event was made.
    pub(super) fn note_without_event(&mut self, queue: &Queue) {
        if self.without_event.as_ref().is_none_or(|last| last.as_raw() != queue.as_raw()) {
            self.without_event = Some(queue.clone());
        }
    }

    /// Adds a launch; with `ends_last`, no other need be remembered.
    pub(super) fn push(&mut self, queue: &Queue, event: &Event, ends_last: bool) {
        if ends_last {
            self.launches.clear();
            self.without_event = None;
        }
        while let Some((_, oldest)) = self.launches.front()
            && oldest.is_complete()
        {
            self.launches.pop_front();
        }
        self.launches.push_back((queue.clone(), event.clone()));
    }
}
