//! Implementations and compilers unpacked from the distribution's packages, without root.
//!
//! Their libraries look for each other by name, so programs find them by `LD_LIBRARY_PATH`. PoCL finds
//! its own files from where its library lies.

use super::apt::{self, Extent};
use super::loader::{self, find_file};
use super::{Options, Place, Provided, check};
use crate::implementation::Implementation;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Where it lies once fetched.
pub(super) fn folder(implementation: Implementation, options: &Options) -> PathBuf {
    options.store.path(&format!("{}-packages", implementation.word()))
}

/// Whether what lies in `folder` answers.
pub(super) fn check_folder(
    implementation: Implementation,
    folder: &Path,
    options: &Options,
) -> Result<Provided> {
    let start = format!("lib{}.so.", implementation.word());
    let library = find_file(folder, &start)
        .with_context(|| format!("{} holds no {start}*", folder.display()))?;
    let loader = match find_file(folder, "libOpenCL.so.1") {
        Some(loader) => Some(loader),
        None => loader::find_or_fetch(options)?,
    };
    let text = library.to_str().with_context(|| format!("{} is no UTF-8", library.display()))?;
    let place = Place {
        origin: format!("in {}", folder.display()),
        icd_folder: options.store.icd_folder(implementation.word(), Some(text))?,
        loader,
        libraries: library.parent().map(Path::to_owned),
    };
    check(implementation, &place)
}

/// Fetches and unpacks the packages of an implementation with those of their dependencies that are not
/// installed.
pub(super) fn fetch(implementation: Implementation, options: &Options) -> Result<Provided> {
    let temporary = options.store.temporary()?;
    let reason = format!("{implementation} of this distribution, not installed but unpacked");
    apt::download(
        implementation.packages(),
        Extent::WithDependencies,
        &reason,
        temporary.path(),
        &options.store,
    )?;
    let folder = folder(implementation, options);
    fs::rename(temporary.path().join("tree"), &folder)
        .with_context(|| format!("moving it to {}", folder.display()))?;
    let checked = check_folder(implementation, &folder, options);
    if checked.is_err() {
        fs::remove_dir_all(&folder).ok();
    }
    checked
}

/// A tool from packages that are unpacked into `folder` of our store, and not installed. `check` is given
/// what stands for the root there. What an earlier call left is used if it passes, else fetched anew.
///
/// # Errors
/// The packages cannot be had, or what they hold does not pass.
pub(crate) fn unpacked<T>(
    folder: &str,
    packages: &[&str],
    extent: Extent,
    reason: &str,
    options: &Options,
    check: impl Fn(&Path) -> Result<T>,
) -> Result<T> {
    super::check_machine()?;
    let _lock = options.store.lock()?;
    let path = options.store.path(folder);
    if path.is_dir() {
        match check(&path) {
            Ok(tool) => return Ok(tool),
            Err(error) => eprintln!("{error:#}; fetching {} again", packages.join(" ")),
        }
        fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
    }
    let temporary = options.store.temporary()?;
    apt::download(packages, extent, reason, temporary.path(), &options.store)?;
    fs::rename(temporary.path().join("tree"), &path)
        .with_context(|| format!("moving it to {}", path.display()))?;
    check(&path)
}

#[cfg(test)]
mod tests {
    use super::super::store::Store;
    use super::*;

    #[test]
    fn what_was_unpacked_before_is_used_without_asking_a_client() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned()).unwrap();
        fs::create_dir(store.path("tool")).unwrap();
        let options = Options { packages: apt::Permission::No, ignore_system: true, store };
        let extent = Extent::Alone;
        let found = unpacked("tool", &["no-such-package"], extent, "a test", &options, |prefix| {
            Ok(prefix.to_owned())
        });
        assert_eq!(found.unwrap(), options.store.path("tool"));
    }
}
