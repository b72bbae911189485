//! The fuzz targets of `fuzz/`: their corpora replayed, then each run for a while on what it makes of
//! them.
//!
//! They are built as cargo-fuzz builds them, by the nightly compiler alone: with the address sanitizer and what
//! libFuzzer is guided by. New inputs go to a temporary folder, so that the committed corpora stay small: what finds a
//! fault is added by hand, with the test of its cure. A fault's input is left in `fuzz/artifacts/`.

use super::printer::Printer;
use super::watched::{self, Patience};
use super::{Given, Outcome};
use crate::project;
use crate::provide::tools::NIGHTLY;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

const TARGETS: [&str; 3] = ["matrix_market", "device_table", "row_blocks"];

/// How long each target runs; under `--full`, as long as a release wants.
const SECONDS: u64 = 10;
const FULL_SECONDS: u64 = 600;

/// What the compiler puts into the programs: the sanitizer, and counters and compared numbers for libFuzzer.
const RUSTFLAGS: &str = "-Zsanitizer=address -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0 \
    --cfg fuzzing -Cdebug-assertions -Ccodegen-units=1";

/// A small input may not take large memory, nor long. The largest input: a page of text.
const LIMITS: [&str; 4] =
    ["-max_len=4096", "-timeout=20", "-rss_limit_mb=2048", "-malloc_limit_mb=64"];

/// Replays and runs every target.
pub(super) fn run(given: &Given) -> Result<Outcome> {
    let Given { root, full, printer, .. } = *given;
    let bench = Bench { root, printer, programs: build_folder()? };
    let built = watched::run(&mut bench.build()?, Patience::new(full))?;
    printer.add(built.cpu);
    if !built.is_success() {
        printer.say(built.output);
        return Ok(Outcome::Failed("the fuzz targets do not build".to_owned()));
    }
    let seconds = if full { FULL_SECONDS } else { SECONDS };
    let mut failed = Vec::new();
    for target in TARGETS {
        for limit in ["-runs=0".to_owned(), format!("-max_total_time={seconds}")] {
            if let Err(reason) = bench.fuzz(target, &limit, Patience::new(full))? {
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

/// Where cargo puts the programs: what is built for a named target does not share flags with what runs at build time.
fn build_folder() -> Result<PathBuf> {
    Ok(project::target()?.join("fuzz").join(host()?).join("release"))
}

/// The compiler's name for this machine.
fn host() -> Result<String> {
    let output = Command::new("rustup").args(["run", NIGHTLY, "rustc", "-vV"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("the nightly compiler does not say what it compiles for")?.to_owned())
}

struct Bench<'a> {
    root: &'a Path,
    printer: &'a Printer,
    programs: PathBuf,
}

impl Bench<'_> {
    fn build(&self) -> Result<Command> {
        let mut command = Command::new("rustup");
        command.args(["run", NIGHTLY, "cargo", "build", "--locked", "--release", "--bins"]);
        command.args(["--manifest-path", "fuzz/Cargo.toml", "--target", &host()?, "--target-dir"]);
        command.arg(project::target()?.join("fuzz")).current_dir(self.root);
        self.say(&command, &format!("RUSTFLAGS='{RUSTFLAGS}' "));
        command.env("RUSTFLAGS", RUSTFLAGS);
        Ok(command)
    }

    /// Says a command before it is done.
    fn say(&self, command: &Command, before: &str) {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<_> = words.map(|word| project::quoted(&word.to_string_lossy())).collect();
        self.printer.say(format_args!("$ {before}{}", words.join(" ")));
    }

    /// One run of one target; the error says what it found and how to see it again.
    fn fuzz(&self, target: &str, limit: &str, patience: Patience) -> Result<Result<(), String>> {
        let begin = SystemTime::now();
        let folder = tempfile::tempdir().context("a temporary directory")?;
        let made = folder.path().join("made");
        fs::create_dir(&made)?;
        let artifacts = self.artifacts(target);
        fs::create_dir_all(&artifacts)?;
        let mut command = Command::new(self.programs.join(target));
        command.arg(made).arg(self.root.join("fuzz/corpus").join(target));
        command.arg(format!("-artifact_prefix={}/", artifacts.display()));
        command.args([limit, "-print_final_stats=1"]).args(LIMITS).current_dir(self.root);
        // The same type's description in several libraries is no fault of theirs.
        command.env("ASAN_OPTIONS", "detect_odr_violation=0");
        self.say(&command, "");
        let ran = watched::run(&mut command, patience)?;
        self.printer.add(ran.cpu);
        let reason = match executions(&ran.output) {
            Some(runs) if ran.is_success() && runs > 0 => {
                self.printer.say(format_args!("{target}: {runs} inputs, no fault"));
                return Ok(Ok(()));
            }
            _ if ran.is_success() => "no input was run".to_owned(),
            _ => ran.ending(),
        };
        self.printer.say(ran.output);
        let replays = self.artifacts_since(target, begin)?.into_iter().map(|artifact| {
            let program = self.programs.join(target);
            let input = project::quoted(&artifact.to_string_lossy());
            format!("\n{target}: replay what it found by `{} {input}`", program.display())
        });
        Ok(Err(format!("{target} {reason}{}", replays.collect::<String>())))
    }

    /// Where inputs are left that found something.
    fn artifacts(&self, target: &str) -> PathBuf {
        self.root.join("fuzz/artifacts").join(target)
    }

    /// Inputs left by runs since `begin`.
    fn artifacts_since(&self, target: &str, begin: SystemTime) -> Result<Vec<PathBuf>> {
        let Ok(entries) = fs::read_dir(self.artifacts(target)) else {
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
