//! Where words, results and progress go.

mod files;
mod lines;
mod progress;
mod sink;
mod words;

pub(crate) use files::Files;
pub(crate) use lines::{JsonLines, write_json_line};
pub(crate) use progress::{BytesProgress, progress_bar};
pub(crate) use sink::{Stream, is_standard_output, shown, write_output, write_text};
pub(crate) use words::{Words, be_quiet, hint, note, quiet_bar};
