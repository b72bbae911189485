//! The fuzz targets of `fuzz/`: their corpora replayed, then each run for a while on what it makes of
//! them.
//!
//! New inputs go to a temporary folder, so that the committed corpora stay small: what finds a fault is
//! added by hand, with the test of its cure. A fault's input is left in `fuzz/artifacts/`.

use super::Outcome;
use super::conformance::run_logged;
use super::printer::Printer;
use crate::project;
use crate::provide::tools::NIGHTLY;
use anyhow::{Context as _, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use std::{env, fs};

const TARGETS: [&str; 3] = ["matrix_market", "device_table", "row_blocks"];

/// How long each target runs; under `--full`, as long as a release wants.
const SECONDS: u64 = 30;
const FULL_SECONDS: u64 = 600;

/// A small input may not take large memory, nor long. The largest input: a page of text.
const LIMITS: [&str; 4] =
    ["-max_len=4096", "-timeout=20", "-rss_limit_mb=2048", "-malloc_limit_mb=64"];

/// Beside the time a target fuzzes: to read its corpus, and to end its last input.
const GRACE: Duration = Duration::from_secs(120);

/// Replays and runs every target; `programs` is the folder of cargo-fuzz.
pub(super) fn run(root: &Path, programs: &Path, full: bool, printer: &Printer) -> Result<Outcome> {
    let bench = Bench { root, programs, printer, target: project::target()?.join("fuzz") };
    // cargo-fuzz has no --locked: a lock file behind its manifests is a change nobody committed.
    let mut metadata = Command::new(project::cargo());
    metadata.args(["metadata", "--locked", "--format-version", "1", "--manifest-path"]);
    let locked = metadata.arg("fuzz/Cargo.toml").current_dir(root).output()?;
    if !locked.status.success() {
        let reason = String::from_utf8_lossy(&locked.stderr).trim().to_owned();
        return Ok(Outcome::Failed(format!("fuzz/Cargo.lock: {reason}")));
    }
    if !bench.command(&["build"], &[])?.status()?.success() {
        return Ok(Outcome::Failed("the fuzz targets do not build".to_owned()));
    }
    let seconds = if full { FULL_SECONDS } else { SECONDS };
    let mut failed = Vec::new();
    for target in TARGETS {
        for (limit, grace) in
            [("-runs=0".to_owned(), 0), (format!("-max_total_time={seconds}"), seconds)]
        {
            let deadline = GRACE + Duration::from_secs(grace);
            if let Err(reason) = bench.fuzz(target, &limit, deadline)? {
                printer.say(reason);
                failed.push(target);
                break;
            }
        }
    }
    Ok(match failed.as_slice() {
        [] => Outcome::Passed,
        targets => Outcome::Failed(format!("{} found a fault", targets.join(", "))),
    })
}

struct Bench<'a> {
    root: &'a Path,
    programs: &'a Path,
    printer: &'a Printer,
    target: PathBuf,
}

impl Bench<'_> {
    /// `cargo fuzz ARGUMENTS` by the nightly compiler, said before it is done.
    fn command(&self, arguments: &[&str], limits: &[&str]) -> Result<Command> {
        let mut command = Command::new("rustup");
        command.args(["run", NIGHTLY, "cargo", "fuzz"]).args(&arguments[..1]);
        command.arg("--target-dir").arg(&self.target).args(&arguments[1..]).current_dir(self.root);
        if !limits.is_empty() {
            command.arg("--").args(limits);
        }
        let mut words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        words.insert(0, "rustup".into());
        self.printer.say(format_args!("$ {}", words.join(" ")));
        command.env("PATH", self.path()?);
        Ok(command)
    }

    /// PATH with cargo-fuzz in it.
    fn path(&self) -> Result<OsString> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = env::split_paths(&path).chain([self.programs.to_owned()]);
        env::join_paths(folders).context("PATH")
    }

    /// One run of one target; the error says what it found and how to see it again.
    fn fuzz(&self, target: &str, limit: &str, deadline: Duration) -> Result<Result<(), String>> {
        let begin = SystemTime::now();
        let folder = tempfile::tempdir().context("a temporary directory")?;
        let made = folder.path().join("made");
        fs::create_dir(&made)?;
        let made = made.to_str().context("the temporary directory is no UTF-8")?;
        let corpus = format!("fuzz/corpus/{target}");
        let limits: Vec<_> = [limit, "-print_final_stats=1"].into_iter().chain(LIMITS).collect();
        let mut command = self.command(&["run", target, made, &corpus], &limits)?;
        let log = folder.path().join("output");
        let status = run_logged(&mut command, &log, deadline)?;
        let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        let reason = match (status, executions(&output)) {
            (Some(status), Some(runs)) if status.success() && runs > 0 => {
                self.printer.say(format_args!("{target}: {runs} inputs, no fault"));
                return Ok(Ok(()));
            }
            (Some(status), Some(_)) if status.success() => "no input was run".to_owned(),
            (Some(status), _) => format!("ended with {status}"),
            (None, _) => "did not end before the deadline".to_owned(),
        };
        self.printer.say(output);
        let replays = self.artifacts_since(target, begin)?.into_iter().map(|artifact| {
            format!(
                "\n{target}: the input is {}; replay it by `rustup run {NIGHTLY} cargo fuzz run \
                 {target} {}`",
                artifact.display(),
                project::quoted(&artifact.to_string_lossy())
            )
        });
        Ok(Err(format!("{target} {reason}{}", replays.collect::<String>())))
    }

    /// Inputs left by runs since `begin`.
    fn artifacts_since(&self, target: &str, begin: SystemTime) -> Result<Vec<PathBuf>> {
        let Ok(entries) = fs::read_dir(self.root.join("fuzz/artifacts").join(target)) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.metadata()?.modified()? >= begin {
                found.push(entry.path());
            }
        }
        Ok(found)
    }
}

/// Reads `stat::number_of_executed_units: 1234`.
fn executions(output: &str) -> Option<u64> {
    let line = output.lines().find_map(|l| l.strip_prefix("stat::number_of_executed_units:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_its_program_its_claims_and_its_corpus() {
        let folder = project::root().unwrap().join("fuzz");
        let stems = |inside: &str| {
            let entries = fs::read_dir(folder.join(inside)).unwrap();
            let stem = |entry: std::io::Result<fs::DirEntry>| {
                entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()
            };
            let mut stems: Vec<_> = entries.map(stem).collect();
            stems.sort();
            stems
        };
        let mut targets = TARGETS;
        targets.sort();
        for inside in ["fuzz_targets", "claims", "corpus"] {
            assert_eq!(stems(inside), targets, "{inside}");
        }
    }

    #[test]
    fn executions_are_read_from_the_final_statistics() {
        let output = "#2\tINITED\nDone 3 runs in 1 second(s)\n\
                      stat::number_of_executed_units: 36212\nstat::average_exec_per_sec:     9\n";
        assert_eq!(executions(output), Some(36212));
        assert_eq!(executions("ERROR: libFuzzer: deadly signal\n"), None);
    }
}
