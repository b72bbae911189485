//! Trials of one device: in a child process, against the clock, every one kept as it ends.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use indicatif::{ProgressBar, ProgressStyle};
use sparrow::{Device, raw_timings_folder};
use sparrow_bench::counted;
use sparrow_bench::tune::{
    Candidate, Effort, Outcome, Timing, Trial, TrialReport, Trials, TuneError, Worker,
};

use crate::arguments::Tune;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{JsonLines, Stream, is_standard_output, note, quiet_bar};

/// A trial without an answer for so long hangs; the first of a program may compile for seconds.
const DEADLINE: Duration = Duration::from_secs(20);

/// What a trial may take beyond the time there is.
const GRACE: Duration = Duration::from_secs(6);

pub(super) struct Runs<'a> {
    worker: Worker,
    start: Instant,
    budget: Duration,
    bar: ProgressBar,
    raw: Option<(PathBuf, File)>,
    lines: &'a mut JsonLines,
    /// Of a line that could not be written, after which there are no more trials.
    written: Result<(), Failure>,
    tried: usize,
    failed: usize,
}

impl<'a> Runs<'a> {
    /// For a device; makes the file of raw timings. `environment` is that before OpenCL was loaded: loaders cut their
    /// variables in place, and a child would find fewer platforms.
    pub(super) fn new(
        device: &Device,
        arguments: &Tune,
        environment: Vec<(OsString, OsString)>,
        lines: &'a mut JsonLines,
    ) -> Result<Self, Failure> {
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
            lines,
            written: Ok(()),
            tried: 0,
            failed: 0,
        })
    }

    /// Starts the clock.
    pub(super) fn begin(&mut self, effort: &Effort) {
        self.start = Instant::now();
        self.budget = effort.budget;
        self.bar = quiet_bar(ProgressBar::new(effort.budget.as_secs().max(1)));
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
            "sparrow tune {}: {} on a ladder of {}",
            env!("CARGO_PKG_VERSION"),
            self.counts(),
            counted(effort.ladder.len(), "matrix")
        )
    }

    pub(super) fn counts(&self) -> String {
        format!("{}, {} failed", counted(self.tried, "trial"), self.failed)
    }

    pub(super) fn raw_path_text(&self) -> String {
        match &self.raw {
            Some((path, _)) => path.display().to_string(),
            None => "not kept".to_owned(),
        }
    }

    /// Whether every timing has its line in `--json`.
    pub(super) fn into_written(self) -> Result<(), Failure> {
        self.written
    }

    /// Whether there are no more trials: interrupted, or time is up, or nothing would read them.
    fn is_over(&self) -> bool {
        interrupt::signal().is_some() || self.written.is_err() || self.start.elapsed() > self.budget
    }
}

impl Trials for Runs<'_> {
    fn run(&mut self, trial: &Trial) -> Result<Option<TrialReport>, TuneError> {
        if self.is_over() {
            return Ok(None);
        }
        let left = self.budget.saturating_sub(self.start.elapsed()) + GRACE;
        let deadline = DEADLINE.min(left);
        let report = self.worker.run(trial, deadline)?;
        // What was given no time to answer has not failed.
        let is_cut = deadline < DEADLINE && matches!(report.outcome, Outcome::Hung { .. });
        let is_ended = matches!(report.outcome, Outcome::Crashed { .. }) && self.is_over();
        Ok((!is_cut && !is_ended).then_some(report))
    }

    fn spent(&self) -> f64 {
        self.start.elapsed().as_secs_f64() / self.budget.as_secs_f64().max(1e-3)
    }

    fn ended(&mut self, timing: &Timing, phase: &'static str, best: Option<(&Candidate, f64)>) {
        self.tried += 1;
        self.failed += usize::from(timing.outcome.times().is_none());
        if let (Some((path, file)), Ok(line)) = (&mut self.raw, serde_json::to_string(timing))
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            // The entry is made all the same.
            let path = path.display();
            self.bar
                .suspend(|| note(format_args!("raw timings end: cannot write {path}: {error}")));
            self.raw = None;
        }
        if self.written.is_ok() {
            self.written = self.lines.push(timing);
        }
        if let Some((candidate, best_us)) = best {
            self.bar.set_message(format!(
                "{phase}, {}; {} {}: best so far {candidate}, {best_us:.1} µs",
                counted(self.tried, "trial"),
                timing.matrix,
                timing.value_type
            ));
        }
        self.bar.set_position(self.start.elapsed().as_secs().min(self.budget.as_secs()));
    }
}

/// The file that was asked for, or one of the user's data folder; a warning and none where that cannot be made.
fn raw_file(device: &Device, arguments: &Tune) -> Result<Option<(PathBuf, File)>, Failure> {
    if let Some(path) = &arguments.raw {
        let file = match is_standard_output(path) {
            true => Stream::Output.open(),
            false => File::options().create(true).append(true).open(path),
        };
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
            note(format_args!(
                "raw timings are not kept: cannot write {}: {error}; --raw FILE keeps them elsewhere",
                path.display()
            ));
            Ok(None)
        }
    }
}

/// A character of a file's name.
fn plain(character: char) -> char {
    if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' }
}
