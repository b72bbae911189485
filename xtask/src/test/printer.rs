//! What stages say that run beside others, and the processor time of what they run.

use super::Stage;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt::Display;
use std::time::Duration;

/// How many lines of a stage are kept to be said again where it failed.
const KEPT: usize = 100;

/// Prints lines with the name of their stage before each, since those of several stages mingle.
#[derive(Debug)]
pub(super) struct Printer {
    name: String,
    cpu: Cell<Duration>,
    last: RefCell<VecDeque<String>>,
}

impl Printer {
    pub(super) fn new(stage: Stage) -> Self {
        Printer { name: stage.name(), cpu: Cell::default(), last: RefCell::default() }
    }

    /// One line, or several.
    pub(super) fn say(&self, text: impl Display) {
        let text = text.to_string();
        let line = |line: &str| format!("{}: {line}\n", self.name);
        print!("{}", text.lines().map(line).collect::<String>());
        let mut last = self.last.borrow_mut();
        last.extend(text.lines().map(str::to_owned));
        let old = last.len().saturating_sub(KEPT);
        last.drain(..old);
    }

    /// The last lines that it said.
    pub(super) fn into_last(self) -> Vec<String> {
        self.last.into_inner().into()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_in_order() {
        let printer = Printer::new(Stage::Fmt);
        printer.say("first\nsecond");
        (0..KEPT - 1).for_each(|number| printer.say(number));
        let last = printer.into_last();
        assert_eq!((last.len(), last[0].as_str(), last[1].as_str()), (KEPT, "second", "0"));
    }
}
