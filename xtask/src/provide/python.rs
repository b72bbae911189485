//! Python packages that a test's program imports, in a folder of our own.

use super::wheels::Pip;
use super::{Options, apt};
use crate::project;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::PathBuf;

/// A Python, and the folder in which it finds these packages and what they need.
///
/// # Errors
/// No Python, no pip, or the packages cannot be had for it.
pub(crate) fn packages(
    folder: &str,
    requirements: &[&str],
    options: &Options,
) -> Result<(PathBuf, PathBuf)> {
    let python = project::find_program("python3").context("python3 is not on PATH")?;
    let _lock = options.store.lock()?;
    let path = options.store.path(folder);
    if !path.is_dir() {
        let pip = Pip::find(python.clone(), &options.store)?;
        eprintln!("fetching {} by pip into {}", requirements.join(", "), path.display());
        let temporary = options.store.temporary()?;
        let tree = temporary.path().join("tree");
        let mut command = pip.command();
        command.args(["install", "--only-binary=:all:", "--no-cache-dir", "--quiet"]);
        command.args(["--disable-pip-version-check", "--root-user-action=ignore", "--target"]);
        command.arg(&tree).args(requirements);
        apt::run(&mut command)?;
        fs::rename(&tree, &path).with_context(|| format!("moving it to {}", path.display()))?;
    }
    Ok((python, path))
}
