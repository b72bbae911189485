//! `cargo xtask install`: the C libraries, their headers, and what CMake and pkg-config ask for.
//!
//! Nothing that is installed names the folder it lies in, so that the whole can be moved.

mod libraries;
mod metadata;

use crate::project;
use anyhow::{Context as _, Result, bail};
pub(crate) use libraries::LIBRARIES;
use libraries::Library;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};
use xshell::{Shell, cmd};

/// Options of `install`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Where to: PREFIX/include, PREFIX/lib
    #[arg(long)]
    prefix: PathBuf,
    /// The folder of libraries below PREFIX, such as lib/x86_64-linux-gnu
    #[arg(long, default_value = "lib")]
    libdir: PathBuf,
}

/// How the libraries are built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// For those who use them.
    Release,
    /// Sooner, for tests.
    Debug,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let prefix = std::path::absolute(&arguments.prefix)?;
    install(&prefix, &arguments.libdir, Profile::Release)?;
    println!("installed in {}:", prefix.display());
    for library in LIBRARIES {
        println!("  {} and its headers; pkg-config {}", library.soname, library.package);
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the libraries and puts them under `prefix`.
///
/// # Errors
/// A library folder that is not below the prefix, a build that fails, or a folder that cannot be written.
pub(crate) fn install(prefix: &Path, libdir: &Path, profile: Profile) -> Result<()> {
    if !libdir.components().all(|part| matches!(part, Component::Normal(_))) {
        bail!("--libdir {} is no folder below the prefix", libdir.display());
    }
    let root = project::root()?;
    let built = build(&root, profile)?;
    for library in LIBRARIES {
        put_library(library, &built, &prefix.join(libdir), profile)?;
        put_headers(&root.join(library.headers), &prefix.join("include"))?;
        for (path, text) in metadata::files(library, libdir) {
            write(&prefix.join(libdir).join(path), &text)?;
        }
    }
    Ok(())
}

/// Builds all of them; the folder they are in.
fn build(root: &Path, profile: Profile) -> Result<PathBuf> {
    let sh = Shell::new()?;
    sh.change_dir(root);
    let cargo = project::cargo();
    let packages = LIBRARIES.iter().flat_map(|library| ["--package", library.crate_name]);
    let (flags, folder): (&[&str], _) = match profile {
        Profile::Release => (&["--release"], "release"),
        Profile::Debug => (&[], "debug"),
    };
    cmd!(sh, "{cargo} build --locked {flags...} {packages...}").run()?;
    Ok(project::target()?.join(folder))
}

/// The library under its full name, with the links by which loader and linker find it.
fn put_library(library: &Library, built: &Path, folder: &Path, profile: Profile) -> Result<()> {
    let source = built.join(library.built);
    let target = folder.join(library.file);
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    // Beside and then over it: a program that has the old one mapped keeps it.
    let beside = folder.join(format!("{}.new", library.file));
    fs::copy(&source, &beside).with_context(|| format!("copying {}", source.display()))?;
    if profile == Profile::Release
        && let Some(strip) = project::find_program("strip")
    {
        let stripped = Command::new(strip).arg("--strip-debug").arg(&beside).status()?;
        if !stripped.success() {
            bail!("strip {} failed", beside.display());
        }
    }
    fs::rename(&beside, &target).with_context(|| target.display().to_string())?;
    for link in [library.soname, library.link] {
        let link = folder.join(link);
        if link.symlink_metadata().is_ok() {
            fs::remove_file(&link).with_context(|| link.display().to_string())?;
        }
        std::os::unix::fs::symlink(library.file, &link)
            .with_context(|| link.display().to_string())?;
    }
    Ok(())
}

fn put_headers(from: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for file in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let file = file?;
        fs::copy(file.path(), folder.join(file.file_name()))
            .with_context(|| format!("copying {}", file.path().display()))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::write(path, text).with_context(|| path.display().to_string())
}
