//! A gate that launches wait at until it is opened: a user event.

#![expect(unsafe_code, clippy::unwrap_used, reason = "support code of tests, as an application")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use opencl3::event as cl;
use sparrow::{Context, Event};

/// Any negative status stands for an error.
const FAILED: i32 = -1;

/// Closed until [`Gate::open`]. Dropped closed, it lets nothing hang: it opens with an error.
#[derive(Debug)]
pub struct Gate {
    event: Event,
    is_open: bool,
}

impl Gate {
    /// A closed gate.
    ///
    /// # Panics
    /// The driver's own failure.
    pub fn new(context: &Context) -> Self {
        let event = cl::create_user_event(context.as_raw()).unwrap();
        // SAFETY: the event is new, and its one reference becomes the owner's.
        Gate { event: unsafe { Event::from_owned(event) }, is_open: false }
    }

    /// What a wait list takes.
    pub fn event(&self) -> Event {
        self.event.clone()
    }

    /// Lets everything pass.
    ///
    /// # Panics
    /// The driver's own failure.
    pub fn open(mut self) {
        self.is_open = true;
        cl::set_user_event_status(self.event.as_raw(), 0).unwrap(); // CL_COMPLETE
    }

    /// Ends in error, and with it what waits for it.
    ///
    /// # Panics
    /// The driver's own failure.
    pub fn fail(mut self) {
        self.is_open = true;
        cl::set_user_event_status(self.event.as_raw(), FAILED).unwrap();
    }

    /// Lets everything pass a little later, from a thread of its own: there are drivers whose flush
    /// waits for what was flushed.
    pub fn open_soon(self) -> Opening {
        let has_begun = Arc::new(AtomicBool::new(false));
        let begins = has_begun.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            begins.store(true, Ordering::SeqCst);
            self.open();
        });
        Opening { has_begun, thread }
    }
}

/// A gate that opens soon.
#[derive(Debug)]
pub struct Opening {
    has_begun: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Opening {
    /// Ends when the gate is open.
    ///
    /// # Panics
    /// The driver's own failure to open it.
    pub fn wait(self) {
        self.thread.join().unwrap();
    }

    /// Whether `event` completed while the gate was closed; ends when the gate is open.
    ///
    /// # Panics
    /// The driver's own failure to open it.
    pub fn was_passed_by(self, event: &Event) -> bool {
        let mut passed = false;
        while !self.has_begun.load(Ordering::SeqCst) {
            // Completion is seen first: an opening in between is no passing.
            passed |= event.is_complete() && !self.has_begun.load(Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(2));
        }
        self.thread.join().unwrap();
        passed
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if !self.is_open {
            // A failing test should end. Nobody is left to tell of a failure here.
            let _ = cl::set_user_event_status(self.event.as_raw(), FAILED);
        }
    }
}
