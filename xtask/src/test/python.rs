//! The package for Python: its wheel, installed into a fresh environment, and its tests there.
//!
//! The wheel is built as tests are, beside what the workspace has built already. numpy, scipy, pyopencl and pytest come by
//! pip once, of the versions named here, into a folder that the environment looks into. What type checkers find is looked
//! at on PoCL alone.

use super::conformance::{own_folders, set_own};
use super::watched::{self, Patience};
use super::{Given, Outcome, missing};
use crate::implementation::Implementation;
use crate::project;
use crate::provide::{Options, python};
use crate::wheel::{self, Purpose};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the packages, and what they are.
const PACKAGES: (&str, &[&str]) = (
    "python-tests-3",
    &[
        "numpy==2.4.6",
        "scipy==1.17.1",
        "pyopencl==2026.1.4",
        "ml_dtypes==0.6.0",
        "matplotlib==3.11.2",
        "pytest==9.2.0",
        "tqdm==4.70.1",
        "mypy==2.4.1",
    ],
);

/// Builds, installs and tests.
pub(super) fn run(given: &Given, implementation: Implementation) -> Result<Outcome> {
    let options = Options::from_environment(false)?;
    let (folder, requirements) = PACKAGES;
    let provided =
        wheel::tools(&options).and_then(|_| python::packages(folder, requirements, &options));
    let (python, packages) = match provided {
        Ok(provided) => provided,
        Err(error) => return Ok(missing(project::is_ci(), &format!("{error:#}"))),
    };
    let wheel = build_wheel(&options)?;
    let interpreter = environment(implementation.word(), &python, &packages, &wheel)?;
    given.printer.say(format_args!("installed {}", wheel.display()));

    let own = tempfile::tempdir().context("a temporary directory")?;
    let mut command = Command::new(&interpreter);
    // Away from the sources, so that what is imported is what was installed.
    command.current_dir(own.path()).args(["-W", "error", "-m", "pytest", "-p", "no:cacheprovider"]);
    command.arg("-c").arg(given.root.join("crates/sparrow-python/pyproject.toml"));
    let tests = given.root.join("crates/sparrow-python/tests");
    command.arg(&tests);
    // They are the same on every device, and take longer than all others.
    if implementation != Implementation::Pocl {
        command.arg("--ignore").arg(tests.join("test_types.py"));
    }
    set_own(&mut command, &own_folders(given, own.path())?);
    command.envs(given.variables.iter().map(|(name, value)| (name, value)));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let ran = watched::run(&mut command, Patience::new(given.full))?;
    given.printer.add(ran.cpu);
    let last = ran.output.lines().last().unwrap_or_default();
    given.printer.say(if ran.is_success() { last } else { &ran.output });
    Ok(match ran.is_success() {
        true => Outcome::Passed,
        false => Outcome::Failed(ran.ending()),
    })
}

/// Builds the wheel as tests are built.
pub(super) fn build_wheel(options: &Options) -> Result<PathBuf> {
    wheel::build(Purpose::Tests, &project::target()?.join("python/wheels"), options)
}

/// A new environment that sees `packages` and has the wheel; returns its interpreter.
pub(super) fn environment(
    name: &str,
    python: &Path,
    packages: &Path,
    wheel: &Path,
) -> Result<PathBuf> {
    let folder = project::target()?.join("python").join(name);
    let interpreter = fresh(python, &folder, packages)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "--python"]).arg(&interpreter);
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]);
    step(pip.arg(wheel), "installing the wheel")?;
    Ok(interpreter)
}

/// A new environment that sees `packages`; returns its interpreter.
fn fresh(python: &Path, environment: &Path, packages: &Path) -> Result<PathBuf> {
    if environment.is_dir() {
        fs::remove_dir_all(environment)?;
    }
    let mut command = Command::new(python);
    step(command.args(["-m", "venv", "--without-pip"]).arg(environment), "making an environment")?;
    let interpreter = environment.join("bin/python");
    let mut ask = Command::new(&interpreter);
    ask.args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]);
    let answer = ask.output().context("starting the environment's python")?;
    let site = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
    fs::write(site.join("tests.pth"), format!("{}\n", packages.display()))
        .with_context(|| format!("writing to {}", site.display()))?;
    Ok(interpreter)
}

fn step(command: &mut Command, what: &str) -> Result<()> {
    let status = command.status().with_context(|| what.to_owned())?;
    if !status.success() {
        bail!("{what} ended with {status}");
    }
    Ok(())
}
