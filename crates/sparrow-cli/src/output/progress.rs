//! How far work has come: the reading of a file, or jobs of equal kind.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::words::{is_quiet, quiet_bar};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over bytes that shows up once the work has taken two seconds and a terminal looks on.
pub(crate) struct BytesProgress {
    bar: ProgressBar,
    start: Instant,
    is_shown: AtomicBool,
}

impl BytesProgress {
    pub(crate) fn new(what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        BytesProgress { bar, start: Instant::now(), is_shown: AtomicBool::new(false) }
    }

    /// Bytes done and in all.
    pub(crate) fn update(&self, done: u64, total: u64) {
        let is_slow = self.start.elapsed() > Duration::from_secs(2);
        if is_slow
            && std::io::stderr().is_terminal()
            && !is_quiet()
            && !self.is_shown.swap(true, Ordering::Relaxed)
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}

impl Drop for BytesProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar over so many jobs of work, with a message and the time so far.
pub(crate) fn progress_bar(jobs: usize) -> ProgressBar {
    let bar = quiet_bar(ProgressBar::new(jobs as u64));
    if let Ok(style) = ProgressStyle::with_template("{pos}/{len} {wide_bar} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar
}
