//! `cargo xtask wheel`: the package for Python as one file that pip installs.
//!
//! maturin, which comes by pip, builds it and names the oldest C library that it runs with (the tag `manylinux`);
//! auditwheel, an independent judge, looks at what came out.

use crate::project;
use crate::provide::{Options, python};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Where pip puts what builds and judges, and what that is.
const TOOLS: (&str, &[&str]) =
    ("maturin-1.16.0-auditwheel-6.8.2", &["maturin==1.16.0", "auditwheel==6.8.2"]);

/// The first Python whose stable interface has the buffer protocol.
const OLDEST_PYTHON: (u32, u32) = (3, 11);

/// Options of `wheel`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder that it goes to
    #[arg(long, default_value = "target/wheels")]
    out: PathBuf,
}

/// For whom it is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Optimised, and tagged for other machines.
    Release,
    /// As tests are built, for this machine.
    Tests,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    project::check_tools()?;
    let options = Options::from_environment(false)?;
    let out = std::path::absolute(&arguments.out)?;
    let wheel = build(Purpose::Release, &out, &options)?;
    let (python, tools) = tools(&options)?;
    let mut judge = Command::new(python);
    judge.env("PYTHONPATH", tools).args(["-m", "auditwheel", "show"]).arg(&wheel);
    let judged = judge.output().context("starting auditwheel")?;
    let said = String::from_utf8_lossy(&judged.stdout);
    eprintln!("{}", said.trim());
    if !judged.status.success() || !said.contains("manylinux_") {
        bail!("auditwheel names no manylinux for it: {}", String::from_utf8_lossy(&judged.stderr));
    }
    println!("{}", wheel.display());
    Ok(ExitCode::SUCCESS)
}

/// Builds the wheel into an emptied folder.
///
/// # Errors
/// No Python that is new enough, no pip, or something does not build.
pub(crate) fn build(purpose: Purpose, out: &Path, options: &Options) -> Result<PathBuf> {
    let root = project::root()?;
    let (python, tools) = tools(options)?;
    let mut command = Command::new(tools.join("bin/maturin"));
    command.args(["build", "--locked", "--manifest-path"]);
    command.arg(root.join("crates/sparrow-python/Cargo.toml"));
    command.arg("--interpreter").arg(&python).arg("--out").arg(out);
    command.args(match purpose {
        Purpose::Release => ["--profile", "release", "--auditwheel", "check"].as_slice(),
        Purpose::Tests => &["--profile", "dev", "--compatibility", "linux"],
    });
    // Of an earlier version, or of another tag.
    for stale in wheels(out) {
        fs::remove_file(stale)?;
    }
    let status = command.current_dir(&root).status().context("starting maturin")?;
    if !status.success() {
        bail!("maturin ended with {status}");
    }
    wheels(out).pop().with_context(|| format!("no wheel in {}", out.display()))
}

/// Python, and the folder of the tools.
///
/// # Errors
/// No Python that is new enough, no pip, or no network.
pub(crate) fn tools(options: &Options) -> Result<(PathBuf, PathBuf)> {
    let (folder, requirements) = TOOLS;
    let (python, tools) = python::packages(folder, requirements, options)?;
    let (major, minor) = OLDEST_PYTHON;
    let condition = format!("import sys; sys.exit(sys.version_info < ({major}, {minor}))");
    let status = Command::new(&python).args(["-c", &condition]).status().context("python3")?;
    if !status.success() {
        bail!("{} is older than Python {major}.{minor}", python.display());
    }
    Ok((python, tools))
}

/// The wheels of the package in a folder.
fn wheels(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("sparrow_sparse-") && name.ends_with(".whl")
    };
    files.filter(is_one).collect()
}
