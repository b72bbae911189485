//! What the command says to people.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget};

use super::Stream;
use crate::failure::Failure;

/// Whether words, progress and hints are left out.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// From now on only that is said which is to be heeded: errors, and what is not as it was asked for.
pub(crate) fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

pub(super) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Where words go: to standard output, unless that has data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Words(Stream);

impl Words {
    /// `has_data`: whether standard output is where an output goes.
    pub(super) fn new(has_data: bool) -> Self {
        Words(if has_data { Stream::Error } else { Stream::Output })
    }

    /// Whether standard output has the words.
    pub(super) fn are_on_output(self) -> bool {
        self.0 == Stream::Output
    }

    /// Columns of the terminal that shows the words; `None` where none does.
    pub(crate) fn width(self) -> Option<u16> {
        self.0.width()
    }

    /// Says a line.
    ///
    /// # Errors
    /// The stream's, as that of any output.
    pub(crate) fn say(self, line: impl Display) -> Result<(), Failure> {
        self.print(&format!("{line}\n"))
    }

    /// Says a line that is to be heeded, to who wants no words too.
    ///
    /// # Errors
    /// As [`Words::say`].
    pub(crate) fn insist(self, line: impl Display) -> Result<(), Failure> {
        print_wrapped(self.0, &format!("{line}\n"))
    }

    /// Says text that has its ends of lines; lines that are too long for a terminal are wrapped.
    ///
    /// # Errors
    /// As [`Words::say`].
    pub(crate) fn print(self, text: &str) -> Result<(), Failure> {
        if is_quiet() { Ok(()) } else { print_wrapped(self.0, text) }
    }
}

/// A line on standard error that changes nothing of what a user makes of the results.
pub(crate) fn hint(line: impl Display) {
    if !is_quiet() {
        note(line);
    }
}

/// A line on standard error, said in every case: what went wrong, was left out, has changed on the way, or is not as it
/// was asked for. Where that cannot be written there is no other place to say so.
pub(crate) fn note(line: impl Display) {
    let _ = print_wrapped(Stream::Error, &format!("sparrow: {line}\n"));
}

impl Stream {
    /// Tells where data for the stream is lost, and no write says so, since this process was started without it, as
    /// by `>&-`.
    pub(crate) fn tell_if_closed(self) {
        if self.may_be_closed() {
            note(format!("{} is closed, or discards what is written there", self.name()));
        }
    }
}

/// The same bar, which is not shown where only errors are.
pub(crate) fn quiet_bar(bar: ProgressBar) -> ProgressBar {
    if is_quiet() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

fn print_wrapped(stream: Stream, text: &str) -> Result<(), Failure> {
    match stream.width() {
        Some(width) => stream.write(&wrapped(text, width.into())),
        None => stream.write(text),
    }
}

/// The text with lines of at most `width` columns, as far as its words allow; what follows of a line is indented by two
/// more than its begin.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        if textwrap::core::display_width(content) <= width {
            out.push_str(line);
            continue;
        }
        let start = content.len() - content.trim_start_matches(' ').len();
        let (first, next) = (&content[..start], format!("{}  ", &content[..start]));
        let options = textwrap::Options::new(width)
            .initial_indent(first)
            .subsequent_indent(&next)
            .break_words(false)
            .word_splitter(textwrap::WordSplitter::NoHyphenation)
            .word_separator(textwrap::WordSeparator::AsciiSpace);
        out.push_str(&textwrap::fill(&content[start..], options));
        out.push_str(&line[content.len()..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn long_lines_are_wrapped_at_their_own_indentation_and_short_ones_stay() {
        let text = "short  line\n  one two three four\na-very-long-path-of-a-file.mtx and more";
        assert_eq!(
            wrapped(text, 12),
            "short  line\n  one two\n    three\n    four\na-very-long-path-of-a-file.mtx\n  and more"
        );
    }
}
