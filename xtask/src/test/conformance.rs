//! The device tests, once an implementation.
//!
//! Each run is a process of its own that sees one implementation and starts with empty caches: its ICD
//! folder, every driver's cache and our own, and the XDG folders lie in a temporary directory. Device
//! tests run one after the other. A kernel that hangs ends with the deadline, not with the day.

use super::printer::Printer;
use super::{Outcome, oclgrind};
use crate::implementation::Implementation;
use crate::project;
use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The package that holds them.
pub(super) const PACKAGE: &str = "conformance";

/// For the pairwise cover, which aims at a minute or two.
const DEADLINE: Duration = Duration::from_secs(40 * 60);

/// For whole products.
const FULL_DEADLINE: Duration = Duration::from_secs(4 * 60 * 60);

/// How lines begin that tests mean to be seen.
const SAID: &str = "conformance: ";

/// Variables of the caller that would change what is tested.
const REMOVED: &[&str] = &[
    "SPARROW_DEVICE",
    "SPARROW_TABLE",
    "SPARROW_CACHE_DIR",
    "SPARROW_LOG",
    "OCL_ICD_FILENAMES",
    "OPENCL_DYLIB_PATH",
    "POCL_DEVICES",
];

/// Variables that name a folder, and the folder's name in the temporary directory.
const FOLDERS: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", "xdg-cache"),
    ("XDG_CONFIG_HOME", "xdg-config"),
    ("XDG_DATA_HOME", "xdg-data"),
    ("XDG_STATE_HOME", "xdg-state"),
    ("POCL_CACHE_DIR", "pocl-cache"),
    ("CUDA_CACHE_PATH", "cuda-cache"),
];

/// Builds the tests, then runs them on `implementation`, found by `variables`.
pub(super) fn run(
    root: &Path,
    implementation: Implementation,
    variables: &[(String, String)],
    full: bool,
    printer: &Printer,
) -> Result<Outcome> {
    let test = ["test", "--locked", "--package", PACKAGE];
    // Built apart, so that neither the deadline nor the other environment touches the compiler.
    printer.say(format_args!("$ cargo {} --no-run", test.join(" ")));
    let built =
        Command::new(project::cargo()).args(test).arg("--no-run").current_dir(root).status()?;
    if !built.success() {
        return Ok(Outcome::Failed("the tests do not build".to_owned()));
    }

    let folder = tempfile::tempdir().context("a temporary directory")?;
    let mut command = Command::new(project::cargo());
    command.args(test).args(["--no-fail-fast", "--", "--test-threads=1"]).current_dir(root);
    set_own(&mut command, &own_folders(folder.path())?);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.env("SPARROW_TEST_PLATFORM", implementation.platform());
    if full {
        command.env("SPARROW_TEST_FULL", "1");
    }
    printer.say(format_args!(
        "$ SPARROW_TEST_PLATFORM='{}' cargo {} --no-fail-fast -- --test-threads=1",
        implementation.platform(),
        test.join(" ")
    ));
    let log = folder.path().join("output");
    let status = run_logged(&mut command, &log, if full { FULL_DEADLINE } else { DEADLINE })?;
    let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let outcome = judge(implementation, status, &output);
    if outcome == Outcome::Passed {
        for line in output.lines() {
            // What a test says of itself, behind what the harness had begun to say.
            if let Some(said) = line.find(SAID) {
                printer.say(&line[said..]);
            } else if line.starts_with("test result:") {
                printer.say(line);
            }
        }
    } else {
        printer.say(output);
    }
    Ok(outcome)
}

/// Empty caches and settings below `folder`, by the variables that name them.
pub(super) fn own_folders(folder: &Path) -> Result<Vec<(&'static str, PathBuf)>> {
    let made = FOLDERS.iter().map(|(name, inside)| {
        let path = folder.join(inside);
        fs::create_dir(&path)?;
        Ok((*name, path))
    });
    made.collect()
}

/// Gives a command those folders, and nothing of the caller's that would change what is tested.
pub(super) fn set_own(command: &mut Command, folders: &[(&str, PathBuf)]) {
    for name in REMOVED {
        command.env_remove(name);
    }
    command.envs(folders.iter().map(|(name, path)| (name, path)));
}

/// Runs it with both outputs in one file; `None` if the deadline came first.
pub(super) fn run_logged(
    command: &mut Command,
    log: &Path,
    deadline: Duration,
) -> Result<Option<ExitStatus>> {
    let file = File::create(log)?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        // A group of its own, so that cargo's children end with it.
        .process_group(0)
        .spawn()
        .context("starting cargo")?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > deadline {
            // The shell's own `kill`: a bare machine has no program of that name.
            let kill = format!("kill -KILL -{}", child.id());
            Command::new("sh").args(["-c", &kill]).status()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn judge(implementation: Implementation, status: Option<ExitStatus>, output: &str) -> Outcome {
    let Some(status) = status else {
        return Outcome::Failed("did not end before the deadline".to_owned());
    };
    if !status.success() {
        return Outcome::Failed(format!("cargo test ended with {status}"));
    }
    let ran: usize = output.lines().filter_map(passed_tests).sum();
    if ran == 0 {
        return Outcome::Failed("no test ran".to_owned());
    }
    if let Some(line) = output.lines().find(|line| is_count_of_warnings(line)) {
        return Outcome::Failed(format!("a kernel does not compile cleanly: {line}"));
    }
    if implementation == Implementation::Oclgrind {
        let findings = oclgrind::findings(output);
        if let Some(first) = findings.first() {
            return Outcome::Failed(format!("{} findings of Oclgrind: {first}", findings.len()));
        }
    }
    Outcome::Passed
}

/// Whether this is what Clang, in a driver, leaves on the error output of whoever compiled a kernel with warnings.
fn is_count_of_warnings(line: &str) -> bool {
    line.ends_with(" warning generated.") || line.ends_with(" warnings generated.")
}

/// Reads `test result: ok. 12 passed; ...`.
pub(super) fn passed_tests(line: &str) -> Option<usize> {
    line.strip_prefix("test result: ok. ")?.split_once(" passed")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_script(script: &str, deadline: Duration) -> (Option<ExitStatus>, String) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("output");
        let status = run_logged(Command::new("sh").args(["-c", script]), &log, deadline).unwrap();
        (status, fs::read_to_string(log).unwrap())
    }

    fn judged(script: &str) -> Outcome {
        let (status, output) = run_script(script, Duration::from_secs(10));
        judge(Implementation::Oclgrind, status, &output)
    }

    #[test]
    fn a_run_passes_only_with_tests_that_passed_and_nothing_found() {
        let result = "echo 'test result: ok. 3 passed; 0 failed'";
        assert_eq!(judged(result), Outcome::Passed);
        let failed = |outcome: Outcome, words: &str| matches!(outcome, Outcome::Failed(reason) if reason.contains(words));
        assert!(failed(judged(&format!("{result}; exit 101")), "101"));
        assert!(failed(judged("echo 'test result: ok. 0 passed; 0 failed'"), "no test ran"));
        let warned = "echo '15 warnings generated.' >&2";
        assert!(failed(judged(&format!("{warned}; {result}")), "15 warnings"));
        let finding = "printf 'Invalid read of size 4\\n\\tKernel: k\\n' >&2";
        assert!(failed(
            judged(&format!("{finding}; {result}")),
            "Invalid read of size 4 (kernel k)"
        ));
    }

    #[test]
    fn the_deadline_ends_children_too() {
        let start = Instant::now();
        let (status, output) =
            run_script("echo begun; sleep 60 & sleep 60", Duration::from_millis(200));
        assert!(status.is_none());
        assert_eq!(output, "begun\n");
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}
