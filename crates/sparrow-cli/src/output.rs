//! Where words, JSON lines and progress go.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::Failure;

/// JSON lines for `--json`: collected, then written whole; nothing half-written is left.
pub(crate) fn write_json_lines(
    path: Option<&Path>,
    lines: &[serde_json::Value],
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    write_text(path, &text)
}

/// Writes a text file by rename; `-` is standard output.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    if path == Path::new("-") {
        std::io::stdout().write_all(text.as_bytes())?;
        return Ok(());
    }
    let refuse =
        |error: std::io::Error| Failure::input(format!("cannot write {}: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let partial = folder.unwrap_or(Path::new(".")).join(name);
    let written = std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&partial);
        refuse(error)
    })
}

/// Refuses a path that cannot be written, before the work whose result it is for.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Ok(());
    }
    let refuse =
        |reason: &str| Err(Failure::input(format!("cannot write {}: {reason}", path.display())));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() {
        return refuse("it is a folder");
    }
    match folder {
        Some(folder) if !folder.is_dir() => refuse("its folder does not exist"),
        _ => Ok(()),
    }
}

/// Whether words may go to standard output, or JSON has it to itself.
pub(crate) fn words_on_stdout(json: Option<&Path>) -> bool {
    json != Some(Path::new("-"))
}

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
