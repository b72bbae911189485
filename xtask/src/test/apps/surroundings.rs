//! What programs are built with and run in: headers, the loader, the installed libraries.

use crate::project;
use crate::provide::{Options, linking};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that all programs share.
pub(super) struct Surroundings {
    /// `tests/apps`.
    pub(super) sources: PathBuf,
    /// Where programs are built.
    pub(super) builds: PathBuf,
    /// Where Sparrow is installed.
    pub(super) prefix: PathBuf,
    /// A folder with the `libOpenCL.so` that `-lOpenCL` means.
    pub(super) loader: PathBuf,
    /// OpenCL's headers; none where the compiler finds them.
    pub(super) headers: Option<PathBuf>,
    /// For tools and packages that are not there.
    pub(super) options: Options,
    variables: Vec<(String, String)>,
}

impl Surroundings {
    /// Under `folder`, for programs that find an implementation by `variables`.
    pub(super) fn new(
        root: &Path,
        folder: &Path,
        prefix: &Path,
        variables: &[(String, String)],
    ) -> Result<Self> {
        let options = Options::from_environment(false)?;
        let headers = linking::headers(&options)?;
        let builds = folder.join("build");
        fs::create_dir_all(&builds)?;
        let (sources, prefix) = (root.join("tests/apps"), prefix.to_owned());
        let loader = linking::loader(&folder.join("loader"), variables)?;
        let variables = variables.to_vec();
        Ok(Surroundings { sources, builds, prefix, loader, headers, options, variables })
    }

    /// The implementation's variables, with the installed libraries before what else the linker looks through.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        const PATH: &str = "LD_LIBRARY_PATH";
        let mut variables = self.variables.clone();
        let libraries = self.prefix.join("lib").display().to_string();
        match variables.iter_mut().find(|(name, _)| name == PATH) {
            Some((_, folders)) => *folders = format!("{libraries}:{folders}"),
            None => variables.push((PATH.to_owned(), libraries)),
        }
        variables
    }
}

/// A program of the system that nothing installs.
///
/// # Errors
/// It is not on PATH.
pub(super) fn program(name: &str, package: &str) -> Result<PathBuf> {
    project::find_program(name).with_context(|| format!("{name} is not on PATH; install {package}"))
}
