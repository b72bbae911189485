//! The ICD loader, `libOpenCL.so.1`: the system's, or one unpacked into our folder.

use super::Options;
use super::apt::{self, Extent};
use crate::probe::{self, Depth};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

const PACKAGE: &str = "ocl-icd-libopencl1";

/// The loader to name in the environment; `None` if the system's own is found without being named.
pub(super) fn find_or_fetch(options: &Options) -> Result<Option<PathBuf>> {
    if !options.ignore_system && system_has_one(options)? {
        return Ok(None);
    }
    let folder = options.store.path("loader");
    if let Some(loader) = find_file(&folder, "libOpenCL.so.1") {
        return Ok(Some(loader));
    }
    let temporary = options.store.temporary()?;
    let reason = "no libOpenCL.so.1 was found";
    apt::download(&[PACKAGE], Extent::Alone, reason, temporary.path(), &options.store).context(
        "no OpenCL loader: install the package ocl-icd-libopencl1 (Debian, Ubuntu), ocl-icd (Fedora, \
         Arch) or OpenCL-ICD-Loader",
    )?;
    fs::rename(temporary.path().join("tree"), &folder)?;
    let loader = find_file(&folder, "libOpenCL.so.1");
    Ok(Some(loader.with_context(|| format!("{PACKAGE} holds no libOpenCL.so.1"))?))
}

fn system_has_one(options: &Options) -> Result<bool> {
    let empty = options.store.icd_folder("none", None)?;
    let variables = [("OCL_ICD_VENDORS".to_owned(), empty.display().to_string())];
    match probe::probe(&variables, Depth::List) {
        Ok(report) => Ok(report.loader),
        Err(error) => {
            eprintln!("the system's libOpenCL is unusable: {error:#}");
            Ok(false)
        }
    }
}

/// The first file below `folder` whose name starts so.
pub(super) fn find_file(folder: &Path, start: &str) -> Option<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let starts = |path: &Path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(start.as_bytes()))
    };
    entries.iter().find_map(|path| match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => find_file(path, start),
        _ => starts(path).then(|| path.clone()),
    })
}
