//! `cargo xtask demo`: from a machine that may have no OpenCL to a benchmark of a real problem.
//!
//! It types what a user would type: every step is a call of the `sparrow` command, shown before it runs,
//! and the problem goes through a Matrix Market file like any matrix of the user's. A step that fails
//! ends the demo with that step's exit status.

use crate::{probe, project, provide, sparrow};
use anyhow::{Context as _, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Options of `demo`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where there is no OpenCL: install packages even when not root, which calls sudo
    #[arg(long)]
    install: bool,
}

/// A call of the `sparrow` command.
struct Step {
    /// What it does, in one line.
    purpose: &'static str,
    arguments: Vec<OsString>,
}

/// What the demo leaves behind.
struct Files {
    matrix: PathBuf,
    report: PathBuf,
    records: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    println!("== Find an OpenCL device, or provide one");
    let options = provide::Options::from_environment(arguments.install)?;
    let variables = provide::some_device(&options).context("no OpenCL device could be provided")?;
    println!("{}", devices(&variables)?);

    println!("\n== Build the `sparrow` command, in release mode, if it is not there");
    let program = sparrow::build()?;

    let folder = project::target()?.join("demo");
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let here = std::env::current_dir().context("finding the current folder")?;
    let files = Files::new(folder.strip_prefix(&here).unwrap_or(&folder));
    for step in steps(&files) {
        println!("\n== {}", step.purpose);
        println!("$ sparrow {}", typed(&step.arguments));
        let mut command = Command::new(&program);
        command.args(&step.arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        if let Some(code) = failure(&step, &mut command)? {
            return Ok(code);
        }
    }

    println!("\nThe report, for a browser: {}", files.report.display());
    println!("The same results, as JSON Lines: {}", files.records.display());
    println!("\nNow your own matrix:");
    println!("  cargo xtask sparrow -- bench YOUR.mtx --html report.html");
    Ok(ExitCode::SUCCESS)
}

impl Files {
    fn new(folder: &Path) -> Self {
        Files {
            matrix: folder.join("cantilever.mtx"),
            report: folder.join("report.html"),
            records: folder.join("report.jsonl"),
        }
    }
}

fn steps(files: &Files) -> [Step; 3] {
    let Files { matrix, report, records } = files;
    let gen_arguments: [OsString; 4] =
        ["gen".into(), "elasticity".into(), "--out".into(), matrix.into()];
    let info: [OsString; 3] = ["info".into(), matrix.into(), "--explain".into()];
    let bench: [OsString; 8] = [
        "bench".into(),
        matrix.into(),
        "--algorithms".into(),
        "all".into(),
        "--html".into(),
        report.into(),
        "--json".into(),
        records.into(),
    ];
    [
        Step {
            purpose: "Assemble a real problem and write it as a Matrix Market file: the equations that \
                      say how a beam, clamped at one end, bends under a load",
            arguments: gen_arguments.into(),
        },
        Step {
            purpose: "Read it back, look at its rows, and ask what would run and why",
            arguments: info.into(),
        },
        Step {
            purpose: "Time every algorithm in single and double precision; each result is verified",
            arguments: bench.into(),
        },
    ]
}

/// Runs a step; if it failed, says so and gives the status to end with.
fn failure(step: &Step, command: &mut Command) -> Result<Option<ExitCode>> {
    let status = command.status().with_context(|| format!("starting {command:?}"))?;
    if status.success() {
        return Ok(None);
    }
    eprintln!("the demo stops: `sparrow {}` failed ({status})", typed(&step.arguments));
    Ok(Some(sparrow::exit_code(status)))
}

/// The devices that a program with these variables sees, as one line.
fn devices(variables: &[(String, String)]) -> Result<String> {
    let report = probe::probe(variables, probe::Depth::List)?;
    let names = report.platforms.iter().flat_map(|platform| {
        let name = |device: &probe::DeviceReport| format!("{} ({})", device.name, platform.name);
        platform.devices.iter().map(name)
    });
    Ok(format!("found: {}", names.collect::<Vec<_>>().join(", ")))
}

/// Arguments as a person would type them.
fn typed(arguments: &[OsString]) -> String {
    let words = arguments.iter().map(|word| project::quoted(&word.to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step() -> Step {
        let [step, ..] = steps(&Files::new(Path::new("my target/demo")));
        step
    }

    #[test]
    fn a_step_is_shown_as_it_can_be_typed() {
        let expected = "gen elasticity --out 'my target/demo/cantilever.mtx'";
        assert_eq!(typed(&step().arguments), expected);
    }

    #[test]
    fn the_status_of_a_step_that_fails_is_the_demos() {
        let end_with =
            |code: &str| failure(&step(), Command::new("sh").args(["-c", &format!("exit {code}")]));
        assert_eq!(end_with("0").unwrap(), None);
        assert_eq!(end_with("2").unwrap(), Some(ExitCode::from(2)));
    }
}
