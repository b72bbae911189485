//! What stages say that run beside others.

use super::Stage;
use std::fmt::Display;

/// Prints lines with the name of their stage before each, since those of several stages mingle.
#[derive(Clone, Debug)]
pub(super) struct Printer {
    name: String,
}

impl Printer {
    pub(super) fn new(stage: Stage) -> Self {
        Printer { name: stage.name() }
    }

    /// One line, or several.
    pub(super) fn say(&self, text: impl Display) {
        let line = |line: &str| format!("{}: {line}\n", self.name);
        print!("{}", text.to_string().lines().map(line).collect::<String>());
    }
}
