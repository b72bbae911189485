//! `cargo xtask install`: the command with its manual pages and completions, the C libraries, their headers, and what
//! CMake and pkg-config ask for.
//!
//! Nothing that is installed names the folder it lies in, so that the whole can be moved.

mod command;
mod libraries;
mod metadata;
pub(crate) mod petsc;

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
    /// Where to: PREFIX/bin, PREFIX/include, PREFIX/lib, PREFIX/share
    #[arg(long)]
    prefix: PathBuf,
    /// The folder of libraries below PREFIX, such as lib/x86_64-linux-gnu
    #[arg(long, default_value = "lib")]
    libdir: PathBuf,
    /// Also libsparrow_petsc.so, matrix types for the PETSc that pkg-config finds
    #[arg(long)]
    petsc: bool,
}

/// What becomes of a library's debug information.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbols {
    /// Taken out, where there is the program that does.
    Stripped,
    Kept,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let prefix = std::path::absolute(&arguments.prefix)?;
    let root = project::root()?;
    check_is_below(&arguments.libdir)?;
    let built = build(&root)?;
    for library in LIBRARIES {
        put(library, &root, (&built, Symbols::Stripped), &prefix, &arguments.libdir)?;
    }
    command::put(&built.join("sparrow"), &prefix)?;
    let of_petsc = match arguments.petsc {
        true => {
            let (compiler, flags) = petsc::of_pkg_config()?;
            Some(petsc::put(&root, &prefix, &arguments.libdir, &compiler, &flags)?)
        }
        false => None,
    };
    println!("installed in {}:", prefix.display());
    println!("  the command sparrow, its manual pages, and completions for bash, fish and zsh");
    for library in LIBRARIES {
        println!("  {} and its headers; pkg-config {}", library.soname, library.package);
    }
    if let Some(file) = of_petsc {
        println!("  {}: -dll_append it, and -mat_type aijsparrow", file.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts a library that lies in the folder `built`, and all that belongs to it, under `prefix`.
///
/// # Errors
/// A library folder that is not below the prefix, or a folder that cannot be written.
pub(crate) fn put(
    library: &Library,
    root: &Path,
    built: (&Path, Symbols),
    prefix: &Path,
    libdir: &Path,
) -> Result<()> {
    check_is_below(libdir)?;
    put_library(library, built, &prefix.join(libdir))?;
    put_headers(&root.join(library.headers), &prefix.join("include"))?;
    for (path, text) in metadata::files(library, libdir) {
        write(&prefix.join(libdir).join(path), &text)?;
    }
    Ok(())
}

fn check_is_below(libdir: &Path) -> Result<()> {
    if !libdir.components().all(|part| matches!(part, Component::Normal(_))) {
        bail!("--libdir {} is no folder below the prefix", libdir.display());
    }
    Ok(())
}

/// Builds all of them; the folder they are in.
fn build(root: &Path) -> Result<PathBuf> {
    let sh = Shell::new()?;
    sh.change_dir(root);
    let cargo = project::cargo();
    let packages = LIBRARIES.iter().map(|library| library.crate_name).chain(["sparrow-cli"]);
    let packages = packages.flat_map(|package| ["--package", package]);
    cmd!(sh, "{cargo} build --locked --release {packages...}").run()?;
    Ok(project::target()?.join("release"))
}

/// The library under its full name, with the links by which loader and linker find it.
fn put_library(library: &Library, (built, symbols): (&Path, Symbols), folder: &Path) -> Result<()> {
    let source = built.join(library.built);
    let target = folder.join(library.file);
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    put_binary(&source, &target, (symbols == Symbols::Stripped).then_some("--strip-debug"))?;
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

/// Copies a library or a program, without what the option of `strip` takes out.
fn put_binary(source: &Path, target: &Path, strip: Option<&str>) -> Result<()> {
    // Under another name and then over it: a program that has the old one mapped keeps it.
    let mut fresh = target.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = PathBuf::from(fresh);
    fs::copy(source, &fresh).with_context(|| format!("copying {}", source.display()))?;
    if let Some(option) = strip
        && let Some(strip) = project::find_program("strip")
    {
        let stripped = Command::new(strip).arg(option).arg(&fresh).status()?;
        if !stripped.success() {
            bail!("strip {} failed", fresh.display());
        }
    }
    fs::rename(&fresh, target).with_context(|| target.display().to_string())
}

fn put_headers(from: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for file in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let file = file?;
        let target = folder.join(file.file_name());
        if file.file_type()?.is_dir() {
            put_headers(&file.path(), &target)?;
        } else {
            fs::copy(file.path(), target)
                .with_context(|| format!("copying {}", file.path().display()))?;
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::write(path, text).with_context(|| path.display().to_string())
}
