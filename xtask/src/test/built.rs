//! Every program of the workspace, built once for all stages that run one.
//!
//! Cargo unites the features of what one command builds. So there is one command: with others, of fewer packages, each
//! crate would be compiled again with fewer features.

use crate::project;
use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The one command; it builds tests, examples, commands and libraries.
const BUILD: [&str; 4] = ["test", "--locked", "--workspace", "--no-run"];

/// A program, or a library of ours.
#[derive(Debug)]
struct Artifact {
    name: String,
    kind: String,
    /// Whether it holds tests, with the harness.
    is_test: bool,
    /// The package's folder.
    package: PathBuf,
    /// The program, or else the library's files.
    files: Vec<PathBuf>,
}

/// A program that holds tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct TestProgram<'a> {
    /// The file's name in `tests`, or the library's or command's.
    pub(super) name: &'a str,
    /// Where cargo would run it.
    pub(super) package: &'a Path,
    pub(super) file: &'a Path,
}

/// All that was built.
#[derive(Debug)]
pub(super) struct Built {
    artifacts: Vec<Artifact>,
}

impl Built {
    /// Builds.
    ///
    /// # Errors
    /// Something does not build; the compiler has said what.
    pub(super) fn build(root: &Path) -> Result<Self> {
        println!("$ cargo {}", BUILD.join(" "));
        let mut command = Command::new(project::cargo());
        command.args(BUILD).arg("--message-format=json-render-diagnostics").current_dir(root);
        let output = command.stderr(Stdio::inherit()).output().context("starting cargo")?;
        if !output.status.success() {
            bail!("the workspace does not build");
        }
        let artifacts = output.stdout.split(|byte| *byte == b'\n').filter_map(artifact);
        Ok(Built { artifacts: artifacts.collect() })
    }

    /// Programs with tests.
    pub(super) fn tests(&self) -> impl Iterator<Item = TestProgram<'_>> {
        self.artifacts.iter().filter(|artifact| artifact.is_test).filter_map(|artifact| {
            let file = artifact.files.first()?;
            Some(TestProgram { name: &artifact.name, package: &artifact.package, file })
        })
    }

    /// An example of any package.
    ///
    /// # Errors
    /// There is none of that name.
    pub(super) fn example(&self, name: &str) -> Result<&Path> {
        self.find("example", name)
    }

    /// A command of any package.
    ///
    /// # Errors
    /// There is none of that name.
    pub(super) fn command(&self, name: &str) -> Result<&Path> {
        self.find("bin", name)
    }

    fn find(&self, kind: &str, name: &str) -> Result<&Path> {
        let is_it = |artifact: &&Artifact| {
            !artifact.is_test && artifact.kind == kind && artifact.name == name
        };
        let artifact = self.artifacts.iter().find(is_it);
        let file = artifact.and_then(|artifact| artifact.files.first());
        file.map(PathBuf::as_path).with_context(|| format!("no {kind} called {name} was built"))
    }

    /// The folder with the library file of that name.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn library_folder(&self, file: &str) -> Result<&Path> {
        let files = self.artifacts.iter().filter(|one| !one.is_test).flat_map(|one| &one.files);
        let found = files.filter_map(|path| path.parent().filter(|_| path.ends_with(file))).next();
        found.with_context(|| format!("no {file} was built"))
    }
}

#[derive(Deserialize)]
struct Message {
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Reads a line of cargo's; `None` for what is no artifact.
fn artifact(line: &[u8]) -> Option<Artifact> {
    let message: Message = serde_json::from_slice(line).ok()?;
    Some(Artifact {
        name: message.target.name,
        kind: message.target.kind.into_iter().next()?,
        is_test: message.profile.test,
        package: message.manifest_path.parent()?.to_owned(),
        files: message.executable.map_or(message.filenames, |file| vec![file]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = r#"{"reason":"compiler-artifact","package_id":"x","manifest_path":"/w/a/Cargo.toml","target":{"kind":["test"],"crate_types":["bin"],"name":"device","src_path":"/w/a/t.rs"},"profile":{"opt_level":"0","test":true},"features":[],"filenames":["/w/target/device-1"],"executable":"/w/target/device-1","fresh":true}"#;
    const LIBRARY: &str = r#"{"reason":"compiler-artifact","package_id":"y","manifest_path":"/w/c/Cargo.toml","target":{"kind":["cdylib","rlib"],"crate_types":["cdylib","rlib"],"name":"c","src_path":"/w/c/l.rs"},"profile":{"opt_level":"0","test":false},"features":[],"filenames":["/w/target/libc.so","/w/target/libc-2.rlib"],"executable":null,"fresh":true}"#;
    const OTHER: &str = r#"{"reason":"build-finished","success":true}"#;

    #[test]
    fn programs_and_libraries_are_found_by_what_they_are() {
        let lines = [TEST, LIBRARY, OTHER].map(str::as_bytes);
        let built = Built { artifacts: lines.into_iter().filter_map(artifact).collect() };
        let tests: Vec<_> = built.tests().collect();
        assert_eq!(tests.len(), 1);
        assert_eq!((tests[0].name, tests[0].package), ("device", Path::new("/w/a")));
        assert_eq!(built.library_folder("libc.so").unwrap(), Path::new("/w/target"));
        assert!(built.library_folder("libd.so").is_err());
        assert!(built.command("device").is_err());
    }
}
