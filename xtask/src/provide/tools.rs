//! Tools that stages of `cargo xtask test` call, beside OpenCL implementations.
//!
//! A tool of the system is taken as it is. Debian's packages are installed as for implementations: as
//! root, or where the user said so. cargo-fuzz is built by cargo into our folder. Compilers are never
//! installed here: a toolchain is the user's choice.

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

/// The version of cargo-fuzz that is built where there is none.
const CARGO_FUZZ: &str = "0.13.2";

/// The folder of a cargo-fuzz that works with the nightly compiler, for PATH.
///
/// # Errors
/// What it needs is not there, by name and with the command that installs it; or its build failed.
pub(crate) fn cargo_fuzz(options: &Options) -> Result<PathBuf> {
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
    if let Some(path) = project::find_program("cargo-fuzz") {
        return Ok(path.parent().context("a program lies in a folder")?.to_owned());
    }
    let folder = options.store.path(&format!("cargo-fuzz-{CARGO_FUZZ}"));
    let programs = folder.join("bin");
    let _lock = options.store.lock()?;
    if !programs.join("cargo-fuzz").is_file() {
        eprintln!(
            "cargo-fuzz is not on PATH; building version {CARGO_FUZZ} into {} (43 crates, 2 MB to \
             fetch, some two minutes)",
            folder.display()
        );
        let install = ["install", "cargo-fuzz", "--version", CARGO_FUZZ, "--locked", "--quiet"];
        let built =
            Command::new(project::cargo()).args(install).arg("--root").arg(&folder).status()?;
        if !built.success() {
            bail!("cargo {} failed", install.join(" "));
        }
    }
    Ok(programs)
}
