//! What stages say that run beside others, and the processor time of what they run.

use super::Stage;
use std::cell::Cell;
use std::fmt::Display;
use std::time::Duration;

/// Prints lines with the name of their stage before each, since those of several stages mingle.
#[derive(Debug)]
pub(super) struct Printer {
    name: String,
    cpu: Cell<Duration>,
}

impl Printer {
    pub(super) fn new(stage: Stage) -> Self {
        Printer { name: stage.name(), cpu: Cell::default() }
    }

    /// One line, or several.
    pub(super) fn say(&self, text: impl Display) {
        let line = |line: &str| format!("{}: {line}\n", self.name);
        print!("{}", text.to_string().lines().map(line).collect::<String>());
    }

    /// A program of the stage has ended, which took that processor time.
    pub(super) fn add(&self, cpu: Duration) {
        self.cpu.set(self.cpu.get() + cpu);
    }

    /// Of all programs so far.
    pub(super) fn cpu(&self) -> Duration {
        self.cpu.get()
    }
}
