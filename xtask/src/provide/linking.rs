//! What programs in C and C++ that link OpenCL are built with.

use super::{Extent, Options, unpacked};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that holds headers of OpenCL for C and C++, unless the compiler finds its own.
pub(crate) fn headers(options: &Options) -> Result<Option<PathBuf>> {
    let system = Path::new("/usr/include/CL");
    if options.uses_system() && system.join("cl.h").is_file() && system.join("opencl.hpp").is_file()
    {
        return Ok(None);
    }
    let packages = ["opencl-c-headers", "opencl-clhpp-headers"];
    let reason = "OpenCL's headers, not installed but unpacked";
    let found =
        unpacked("headers", &packages, Extent::WithDependencies, reason, options, |root| {
            let folder = root.join("usr/include");
            match folder.join("CL/cl.h").is_file() && folder.join("CL/opencl.hpp").is_file() {
                true => Ok(folder),
                false => bail!("{} holds no CL/cl.h and CL/opencl.hpp", root.display()),
            }
        })?;
    Ok(Some(found))
}

/// A folder with a link to the loader: distributions give that name with a package for developers only.
pub(crate) fn loader(folder: &Path, variables: &[(String, String)]) -> Result<PathBuf> {
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
