//! `libsparrow_petsc.so`, compiled from C against the user's PETSc.

use super::libraries::LIBRARIES;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where its sources are, from the root.
const SOURCES: &str = "crates/sparrow-capi/petsc";
const FILE: &str = "libsparrow_petsc.so";

/// Compiles it into the folder of libraries, beside the libsparrow that it needs; its path.
///
/// # Errors
/// A compiler that does not run, or sources that do not fit this PETSc.
pub(crate) fn put(
    root: &Path,
    prefix: &Path,
    libdir: &Path,
    compiler: &Path,
    flags: &[String],
) -> Result<PathBuf> {
    let folder = prefix.join(libdir);
    let mut sources: Vec<PathBuf> = fs::read_dir(root.join(SOURCES))
        .with_context(|| SOURCES.to_owned())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    sources.retain(|path| path.extension().is_some_and(|it| it == "c"));
    sources.sort();
    let file = folder.join(FILE);
    // As -lsparrow, but with no name to find it by in another folder first.
    let sparrow = LIBRARIES.iter().find(|it| it.package == "sparrow").context("no libsparrow")?;
    let mut command = Command::new(compiler);
    command.args(["-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall"]);
    command.args(["-DCL_TARGET_OPENCL_VERSION=120", "-Wl,-rpath,$ORIGIN"]);
    command.arg("-I").arg(prefix.join("include")).args(&sources).arg("-o").arg(&file);
    command.arg(folder.join(sparrow.soname)).args(flags).arg("-lOpenCL");
    let output = command.output().with_context(|| compiler.display().to_string())?;
    if !output.status.success() {
        bail!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(file)
}

/// The compiler and its words for the PETSc that pkg-config knows.
///
/// # Errors
/// No pkg-config, or no PETSc that it knows.
pub(super) fn of_pkg_config() -> Result<(PathBuf, Vec<String>)> {
    let ask = |words: &[&str]| -> Result<String> {
        let output = Command::new("pkg-config").args(words).arg("PETSc").output();
        let output = output.context("pkg-config is not on PATH")?;
        if !output.status.success() {
            bail!(
                "pkg-config knows no PETSc: set PKG_CONFIG_PATH to the lib/pkgconfig of its \
                 PETSC_DIR/PETSC_ARCH:\n{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let compiler = match ask(&["--variable=ccompiler"])? {
        none if none.is_empty() => "mpicc".to_owned(),
        named => named,
    };
    let flags = ask(&["--cflags", "--libs"])?;
    Ok((compiler.into(), flags.split_whitespace().map(str::to_owned).collect()))
}
