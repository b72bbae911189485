//! What cargo knows of the workspace and its dependencies.

use crate::project;
use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// The part of `cargo metadata` that stages read.
#[derive(Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    workspace_members: Vec<String>,
}

/// A package, ours or another's.
#[derive(Deserialize)]
pub(super) struct Package {
    id: String,
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
        let output = Command::new(project::cargo())
            .args(["metadata", "--format-version", "1", "--locked"])
            .current_dir(root)
            .output()
            .context("starting cargo metadata")?;
        if !output.status.success() {
            bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        serde_json::from_slice(&output.stdout).context("reading what cargo metadata prints")
    }

    /// Whether the workspace has that package.
    pub(super) fn has_package(&self, name: &str) -> bool {
        self.packages.iter().any(|p| p.name == name && self.workspace_members.contains(&p.id))
    }

    /// Names of a package's examples.
    pub(super) fn examples(&self, package: &str) -> Vec<&str> {
        let packages = self.packages.iter().filter(|p| p.name == package && p.source.is_none());
        let targets = packages.flat_map(|p| &p.targets);
        targets.filter(|t| t.kind.iter().any(|k| k == "example")).map(|t| t.name.as_str()).collect()
    }
}
