//! Trials of one device: in a child process, against the clock, every one kept as it ends.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use indicatif::{ProgressBar, ProgressStyle};
use sparrow::{Device, raw_timings_folder};
use sparrow_bench::tune::{
    Candidate, Effort, Outcome, Timing, Trial, TrialReport, Trials, TuneError, Worker,
};

use crate::arguments::Tune;
use crate::failure::Failure;

/// A trial without an answer for so long hangs; the first of a program may compile for seconds.
const DEADLINE: Duration = Duration::from_secs(20);

/// What a trial may take beyond the time there is.
const GRACE: Duration = Duration::from_secs(6);

/// Whether somebody has interrupted.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

pub(super) struct Runs {
    worker: Worker,
    start: Instant,
    budget: Duration,
    bar: ProgressBar,
    raw: Option<(PathBuf, File)>,
    lines: Vec<serde_json::Value>,
    tried: usize,
    failed: usize,
}

impl Runs {
    /// For a device; makes the file of raw timings. `environment` is that before OpenCL was loaded: loaders cut their
    /// variables in place, and a child would find fewer platforms.
    pub(super) fn new(
        device: &Device,
        arguments: &Tune,
        environment: Vec<(OsString, OsString)>,
    ) -> Result<Self, Failure> {
        // A second device finds the handler in place.
        let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
        let program = std::env::current_exe()?;
        let position = device.position();
        let worker = Worker::new(move || {
            let mut command = Command::new(&program);
            command.args(["tune-worker", "--device", &position]);
            command.env_clear().envs(environment.iter().cloned());
            command
        });
        Ok(Runs {
            worker,
            start: Instant::now(),
            budget: Duration::ZERO,
            bar: ProgressBar::hidden(),
            raw: raw_file(device, arguments)?,
            lines: Vec::new(),
            tried: 0,
            failed: 0,
        })
    }

    /// Starts the clock.
    pub(super) fn begin(&mut self, effort: &Effort) {
        self.start = Instant::now();
        self.budget = effort.budget;
        self.bar = ProgressBar::new(effort.budget.as_secs().max(1));
        if let Ok(style) =
            ProgressStyle::with_template("{wide_msg}\n{wide_bar} {elapsed} of {len} s")
        {
            self.bar.set_style(style);
        }
    }

    pub(super) fn end(&mut self) {
        self.bar.finish_and_clear();
    }

    /// Where the entry's numbers come from.
    pub(super) fn origin(&self, effort: &Effort) -> String {
        format!(
            "sparrow tune {}: {} on a ladder of {} matrices",
            env!("CARGO_PKG_VERSION"),
            self.counts(),
            effort.ladder.len()
        )
    }

    pub(super) fn counts(&self) -> String {
        format!("{} trials, {} failed", self.tried, self.failed)
    }

    pub(super) fn raw_path_text(&self) -> String {
        match &self.raw {
            Some((path, _)) => path.display().to_string(),
            None => "not kept".to_owned(),
        }
    }

    /// Every timing, for `--json`.
    pub(super) fn into_lines(self) -> Vec<serde_json::Value> {
        self.lines
    }
}

impl Trials for Runs {
    fn run(&mut self, trial: &Trial) -> Result<Option<TrialReport>, TuneError> {
        let is_over =
            |runs: &Self| INTERRUPTED.load(Ordering::Relaxed) || runs.start.elapsed() > runs.budget;
        if is_over(self) {
            return Ok(None);
        }
        let left = self.budget.saturating_sub(self.start.elapsed()) + GRACE;
        let deadline = DEADLINE.min(left);
        let report = self.worker.run(trial, deadline)?;
        // What was given no time to answer has not failed.
        let is_cut = deadline < DEADLINE && matches!(report.outcome, Outcome::Hung { .. });
        let is_ended = matches!(report.outcome, Outcome::Crashed { .. }) && is_over(self);
        Ok((!is_cut && !is_ended).then_some(report))
    }

    fn spent(&self) -> f64 {
        self.start.elapsed().as_secs_f64() / self.budget.as_secs_f64().max(1e-3)
    }

    fn ended(&mut self, timing: &Timing, phase: &'static str, best: Option<(&Candidate, f64)>) {
        self.tried += 1;
        self.failed += usize::from(timing.outcome.times().is_none());
        if let Ok(line) = serde_json::to_value(timing) {
            let text = format!("{line}\n");
            // A disk that is full takes no more lines, and the entry is made all the same.
            self.raw =
                self.raw.take().filter(|(_, file)| (&*file).write_all(text.as_bytes()).is_ok());
            self.lines.push(line);
        }
        if let Some((candidate, best_us)) = best {
            self.bar.set_message(format!(
                "{phase}, {} trials; {} {}: best so far {candidate}, {best_us:.1} us",
                self.tried, timing.matrix, timing.value_type
            ));
        }
        self.bar.set_position(self.start.elapsed().as_secs().min(self.budget.as_secs()));
    }
}

/// The file that was asked for, or one of the user's data folder; a warning and none where that cannot be made.
fn raw_file(device: &Device, arguments: &Tune) -> Result<Option<(PathBuf, File)>, Failure> {
    if let Some(path) = &arguments.raw {
        let file = File::options().create(true).append(true).open(path);
        let refuse = |error| Failure::input(format!("cannot write {}: {error}", path.display()));
        return Ok(Some((path.clone(), file.map_err(refuse)?)));
    }
    let Some(folder) = raw_timings_folder() else { return Ok(None) };
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seconds = seconds.map_or(0, |since| since.as_secs());
    let name: String = device.traits().table_name().chars().map(plain).collect();
    let path = folder.join(format!("{name}-{seconds}-{}.jsonl", std::process::id()));
    match std::fs::create_dir_all(&folder).and_then(|()| File::create_new(&path)) {
        Ok(file) => Ok(Some((path, file))),
        Err(error) => {
            eprintln!(
                "sparrow: raw timings are not kept: cannot write {}: {error}; --raw FILE keeps them elsewhere",
                path.display()
            );
            Ok(None)
        }
    }
}

/// A character of a file's name.
fn plain(character: char) -> char {
    if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' }
}
