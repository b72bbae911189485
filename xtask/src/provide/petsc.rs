//! PETSc of the distribution, with MPI: for the matrix types of libsparrow_petsc and their tests.
//!
//! Library and MPI are installed as root, headers and PETSc's own test programs unpacked: its package for developers wants
//! more than a test needs, and cannot always be installed.

use super::{Extent, Options, apt, unpacked};
use crate::project;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian 12's.
const INSTALLED: &[&str] = &["libpetsc-real3.18", "openmpi-bin", "libopenmpi-dev"];
const UNPACKED: &[&str] =
    &["libpetsc-real3.18-dev", "libpetsc3.18-dev-common", "libpetsc3.18-dev-examples"];
const LIBRARY: &str = "libpetsc_real.so.3.18";

/// What programs of PETSc are built with and started by.
pub(crate) struct Petsc {
    /// Words for the compiler: where headers are, and the library.
    pub(crate) flags: Vec<String>,
    /// MPI's compiler.
    pub(crate) compiler: PathBuf,
    pub(crate) mpirun: PathBuf,
    /// PETSc's own programs: `mat/tests/ex5.c`.
    pub(crate) sources: PathBuf,
}

/// Finds it, or installs and unpacks it.
///
/// # Errors
/// The packages cannot be had, or hold something else.
pub(crate) fn find(options: &Options) -> Result<Petsc> {
    let library = installed(options)?;
    let program =
        |name: &str| project::find_program(name).with_context(|| format!("{name} is not on PATH"));
    let reason = "PETSc's headers and test programs, not installed but unpacked";
    let root = unpacked("petsc-3.18", UNPACKED, Extent::Alone, reason, options, |root| match root
        .join("usr/share/petsc/3.18/include/petsc/private/matimpl.h")
        .is_file()
    {
        true => Ok(root.to_owned()),
        false => bail!("{} holds no petsc/private/matimpl.h", root.display()),
    })?;
    let share = root.join("usr/share/petsc/3.18");
    let includes = [
        share.join("include"),
        root.join("usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/include"),
    ];
    let mut flags: Vec<String> =
        includes.iter().map(|folder| format!("-I{}", folder.display())).collect();
    flags.push(library.display().to_string());
    flags.push("-lm".to_owned());
    let sources = share.join("share/petsc/examples/src");
    Ok(Petsc { flags, compiler: program("mpicc")?, mpirun: program("mpirun")?, sources })
}

/// The library, where the compiler looks.
fn installed(options: &Options) -> Result<PathBuf> {
    let find = || -> Option<PathBuf> {
        let output = Command::new("cc").arg(format!("-print-file-name={LIBRARY}")).output().ok()?;
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        let has_mpi = ["mpicc", "mpirun"].iter().all(|it| project::find_program(it).is_some());
        (path.is_absolute() && Path::new(&path).is_file() && has_mpi).then_some(path)
    };
    if let Some(path) = find() {
        return Ok(path);
    }
    if options.packages == apt::Permission::No {
        bail!(
            "PETSc and MPI are not installed; as root, `apt-get install {}` installs them",
            INSTALLED.join(" ")
        );
    }
    let _lock = options.store.lock()?;
    apt::install(INSTALLED, "PETSc and MPI are not installed", options.packages)?;
    find().with_context(|| format!("{} are installed, but no {LIBRARY}", INSTALLED.join(", ")))
}
