//! Libraries that Sparrow is timed beside, where the system has none: files in our folder, nothing installed.

use super::catalogue::MKL;
use super::{Extent, Options, check_machine, unpacked, wheels};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// The folder of MKL's libraries, for `LD_LIBRARY_PATH`.
///
/// # Errors
/// They cannot be had here.
pub(crate) fn mkl(options: &Options) -> Result<PathBuf> {
    check_machine()?;
    let _lock = options.store.lock()?;
    let mut folder = options.store.path(MKL.folder);
    if !folder.join(MKL.library).is_file() {
        folder = wheels::fetch_bundle(&MKL, &options.store)?;
    }
    match folder.join(MKL.library).parent() {
        Some(libraries) if folder.join(MKL.library).is_file() => Ok(libraries.to_owned()),
        _ => bail!("{} holds no {}", folder.display(), MKL.library),
    }
}

/// The folder that ViennaCL's headers lie in as `viennacl/`; none where the compiler finds its own.
///
/// # Errors
/// They cannot be had here.
pub(crate) fn viennacl(options: &Options) -> Result<Option<PathBuf>> {
    const HEADER: &str = "viennacl/compressed_matrix.hpp";
    if options.uses_system() && Path::new("/usr/include").join(HEADER).is_file() {
        return Ok(None);
    }
    // Alone: what it depends on is for parts of it that are not compiled here.
    let (packages, extent) = (["libviennacl-dev"], Extent::Alone);
    let reason = "ViennaCL's headers, not installed but unpacked";
    let found = unpacked("viennacl", &packages, extent, reason, options, |root| {
        let folder = root.join("usr/include");
        match folder.join(HEADER).is_file() {
            true => Ok(folder),
            false => bail!("{} holds no {HEADER}", root.display()),
        }
    })?;
    Ok(Some(found))
}
