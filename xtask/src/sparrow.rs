//! `cargo xtask sparrow -- ARGS`: the `sparrow` command on whatever device there is.

use crate::{project, provide};
use anyhow::{Context as _, Result, bail};
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// What follows `--` goes to `sparrow` as it stands.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Arguments of `sparrow`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = project::root()?;
    let built = Command::new(project::cargo())
        .args(["build", "--quiet", "--release", "--package", "sparrow-cli"])
        .current_dir(&root)
        .status()
        .context("starting cargo")?;
    if !built.success() {
        bail!("building sparrow failed");
    }
    let variables = provide::some_device(&provide::Options::from_environment(false)?)?;
    let program = project::target()?.join("release/sparrow");
    let status = Command::new(&program)
        .args(&arguments.arguments)
        .envs(variables)
        .status()
        .with_context(|| format!("starting {}", program.display()))?;
    // Killed by a signal: there is no code to hand on.
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from))
}
