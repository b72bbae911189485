//! What cargo knows of the workspace and its dependencies.

use crate::project;
use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Output};

/// The workspaces inside this one, each with a lock file of its own, which no build of ours writes.
const INNER_WORKSPACES: [&str; 3] = ["benches/peers", "fuzz", "tests/apps/rust"];

/// The part of `cargo metadata` that stages read.
#[derive(Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
}

/// A package, ours or another's.
#[derive(Deserialize)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) license: Option<String>,
    /// Where it comes from; none for packages of this checkout.
    pub(super) source: Option<String>,
    #[serde(default)]
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Metadata {
    /// Of the workspace at `root`, with the versions of its lock file.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let output = metadata(root)?;
        serde_json::from_slice(&output.stdout).context("reading what cargo metadata prints")
    }

    /// Names of a package's examples.
    pub(super) fn examples(&self, package: &str) -> Vec<&str> {
        let packages = self.packages.iter().filter(|p| p.name == package && p.source.is_none());
        let targets = packages.flat_map(|p| &p.targets);
        targets.filter(|t| t.kind.iter().any(|k| k == "example")).map(|t| t.name.as_str()).collect()
    }
}

/// An error if a lock file of an inner workspace does not name what our crates depend on today: a stage
/// that builds there would find it only much later.
pub(super) fn check_lock_files(root: &Path) -> Result<()> {
    for folder in INNER_WORKSPACES {
        let advice =
            || format!("{folder}/Cargo.lock: `cd {folder} && cargo metadata` writes it anew");
        metadata(&root.join(folder)).with_context(advice)?;
    }
    Ok(())
}

/// What `cargo metadata` prints of the workspace at `folder`, with the versions of its lock file.
fn metadata(folder: &Path) -> Result<Output> {
    let output = Command::new(project::cargo())
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(folder)
        .output()
        .context("starting cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output)
}
