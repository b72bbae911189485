//! The headers of amgcl, which programs that solve by its multigrid include: unpacked from the source package of its
//! Python module, beside those of Boost that they include themselves.

use super::wheels::Pip;
use super::{Extent, Options, apt, checksum, unpacked};
use crate::project;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The source package, pinned.
const REQUIREMENT: &str = "pyamgcl==1.0.0.post4";
const FILE: &str = "pyamgcl-1.0.0.post4.tar.gz";
const TREE: &str = "pyamgcl-1.0.0.post4";
const SHA256: &str = "8e2a1ba8e922ec9a6030fd953e50511adc89a54f6fe1164b6371f105e649e21d";

/// Folders for the compiler to look into.
///
/// # Errors
/// No pip, no apt-get where Boost is not installed, or files that cannot be had or are not the expected ones.
pub(crate) fn headers(options: &Options) -> Result<Vec<PathBuf>> {
    let mut folders = vec![amgcl(options)?];
    if !(options.uses_system() && Path::new("/usr/include/boost/version.hpp").is_file()) {
        let reason = "Boost's headers, not installed but unpacked";
        let packages = ["libboost-dev"];
        let extent = Extent::WithDependencies;
        let boost = unpacked("boost", &packages, extent, reason, options, |root| {
            let folder = root.join("usr/include");
            match folder.join("boost/version.hpp").is_file() {
                true => Ok(folder),
                false => bail!("{} holds no boost/version.hpp", root.display()),
            }
        })?;
        folders.push(boost);
    }
    Ok(folders)
}

fn amgcl(options: &Options) -> Result<PathBuf> {
    let _lock = options.store.lock()?;
    let folder = options.store.path(TREE);
    if !folder.is_dir() {
        let python = project::find_program("python3").context("python3 is not on PATH")?;
        let pip = Pip::find(python.clone(), &options.store)?;
        eprintln!("fetching {REQUIREMENT} by pip into {}", folder.display());
        let temporary = options.store.temporary()?;
        let mut command = pip.command();
        command.args(["download", "--no-deps", "--no-binary=:all:", "--no-cache-dir", "--quiet"]);
        command.args(["--disable-pip-version-check", "--dest"]).arg(temporary.path());
        apt::run(command.arg(REQUIREMENT)).with_context(|| format!("fetching {REQUIREMENT}"))?;
        let file = temporary.path().join(FILE);
        checksum::verify(&file, SHA256)?;
        let mut command = Command::new(&python);
        command.args(["-m", "tarfile", "-e"]).arg(&file).arg(temporary.path());
        apt::run(&mut command).with_context(|| format!("unpacking {FILE}"))?;
        fs::rename(temporary.path().join(TREE), &folder)
            .with_context(|| format!("moving it to {}", folder.display()))?;
    }
    Ok(folder)
}
