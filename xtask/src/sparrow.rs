//! `cargo xtask sparrow -- ARGS`: the `sparrow` command on whatever device there is.

use crate::{project, provide};
use anyhow::{Context as _, Result, bail};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

/// What follows `--` goes to `sparrow` as it stands.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Arguments of `sparrow`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let program = build()?;
    let variables = provide::some_device(&provide::Options::from_environment(false)?)?;
    let status = Command::new(&program)
        .args(&arguments.arguments)
        .envs(variables)
        .status()
        .with_context(|| format!("starting {}", program.display()))?;
    Ok(exit_code(status))
}

/// Builds the command in release mode; returns its program file.
///
/// # Errors
/// It does not build.
pub(crate) fn build() -> Result<PathBuf> {
    let built = Command::new(project::cargo())
        .args(["build", "--quiet", "--release", "--package", "sparrow-cli"])
        .current_dir(project::root()?)
        .status()
        .context("starting cargo")?;
    if !built.success() {
        bail!("building sparrow failed");
    }
    Ok(project::target()?.join("release/sparrow"))
}

/// The status of a child as ours. Killed by a signal, it has no code to hand on: that is a failure.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
