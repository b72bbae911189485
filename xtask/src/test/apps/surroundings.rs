//! What programs are built with and run in: headers, the loader, the installed libraries.

use crate::project;
use crate::provide::{self, Options};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
        let headers = headers(&options)?;
        let builds = folder.join("build");
        fs::create_dir_all(&builds)?;
        let (sources, prefix) = (root.join("tests/apps"), prefix.to_owned());
        let loader = loader(&folder.join("loader"), variables)?;
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

/// A folder that holds headers of OpenCL for C and C++, unless the compiler finds its own.
fn headers(options: &Options) -> Result<Option<PathBuf>> {
    let system = Path::new("/usr/include/CL");
    if options.uses_system() && system.join("cl.h").is_file() && system.join("opencl.hpp").is_file()
    {
        return Ok(None);
    }
    let packages = ["opencl-c-headers", "opencl-clhpp-headers"];
    let reason = "OpenCL's headers, not installed but unpacked";
    let found = provide::unpacked("headers", &packages, reason, options, |root| {
        let folder = root.join("usr/include");
        match folder.join("CL/cl.h").is_file() && folder.join("CL/opencl.hpp").is_file() {
            true => Ok(folder),
            false => bail!("{} holds no CL/cl.h and CL/opencl.hpp", root.display()),
        }
    })?;
    Ok(Some(found))
}

/// A folder with a link to the loader: distributions give that name with a package for developers only.
fn loader(folder: &Path, variables: &[(String, String)]) -> Result<PathBuf> {
    let named = variables.iter().find(|(name, _)| name == "OPENCL_DYLIB_PATH");
    let file = match named {
        Some((_, path)) => PathBuf::from(path),
        None => {
            let output = Command::new("cc").arg("-print-file-name=libOpenCL.so.1").output()?;
            PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
        }
    };
    let file = fs::canonicalize(&file).context("the compiler finds no libOpenCL.so.1")?;
    fs::create_dir_all(folder)?;
    let link = folder.join("libOpenCL.so");
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link)?;
    }
    std::os::unix::fs::symlink(&file, &link).with_context(|| link.display().to_string())?;
    Ok(folder.to_owned())
}

/// A program of the system that nothing installs.
///
/// # Errors
/// It is not on PATH.
pub(super) fn program(name: &str, package: &str) -> Result<PathBuf> {
    project::find_program(name).with_context(|| format!("{name} is not on PATH; install {package}"))
}
