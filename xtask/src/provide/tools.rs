//! Tools that stages of `cargo xtask test` call, beside OpenCL implementations.
//!
//! A tool of the system is taken as it is. Debian's packages are installed as for implementations: as
//! root, or where the user said so. Compilers are never installed here: a toolchain is the user's choice.

use super::{Options, apt};
use crate::project;
use anyhow::{Context as _, Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// A program of the system, or of the Debian package called `package`.
///
/// # Errors
/// It is not on PATH and cannot be installed.
pub(crate) fn program(name: &str, package: &str, options: &Options) -> Result<PathBuf> {
    if let Some(path) = project::find_program(name) {
        return Ok(path);
    }
    if options.packages == apt::Permission::No {
        bail!("{name} is not on PATH; as root, `apt-get install {package}` installs it");
    }
    let _lock = options.store.lock()?;
    apt::install(&[package], &format!("{name} is not on PATH"), options.packages)?;
    project::find_program(name)
        .with_context(|| format!("{package} is installed, but {name} is not on PATH"))
}

/// The toolchain that fuzz targets are built with.
pub(crate) const NIGHTLY: &str = "nightly";

/// Whether fuzz targets can be built.
///
/// # Errors
/// What they need is not there, by name and with the command that installs it.
pub(crate) fn check_fuzzing() -> Result<()> {
    if project::find_program("rustup").is_none() {
        bail!("rustup is not on PATH, and fuzzing needs its nightly compiler");
    }
    let toolchains = Command::new("rustup").args(["toolchain", "list"]).output()?;
    let toolchains = String::from_utf8_lossy(&toolchains.stdout).into_owned();
    if !toolchains.lines().any(|line| line.starts_with(NIGHTLY)) {
        bail!(
            "there is no nightly compiler; `rustup toolchain install {NIGHTLY} --profile minimal` \
             installs it"
        );
    }
    if project::find_program("c++").is_none() {
        bail!("c++ is not on PATH, and libFuzzer is compiled by it; install g++");
    }
    Ok(())
}
