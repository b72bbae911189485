//! Gets the compilers: what the system has, else packages unpacked into our folder.
//!
//! Nothing is installed, as root neither: Intel's package would register an OpenCL driver, and what
//! device tests see must not hang on whether this ran before. The packages of a distribution run from
//! any folder, if the linker is told where their libraries lie.

use super::figures::Figures;
use super::target::{Family, Target};
use super::{amd, intel};
use crate::provide::{self, Extent, Options};
use anyhow::{Result, anyhow};
use std::path::Path;

/// A family's compiler, ready to run.
pub(super) enum Compiler {
    Amd(amd::Compiler),
    Intel(intel::Compiler),
}

impl Compiler {
    pub(super) fn family(&self) -> Family {
        match self {
            Compiler::Amd(_) => Family::Amd,
            Compiler::Intel(_) => Family::Intel,
        }
    }

    /// What the table names: figures of other versions are not compared.
    pub(super) fn version(&self) -> &str {
        match self {
            Compiler::Amd(compiler) => compiler.version(),
            Compiler::Intel(compiler) => compiler.version(),
        }
    }

    /// The figures of every kernel of a source file.
    ///
    /// # Errors
    /// The compiler's own words, or an output that cannot be read.
    pub(super) fn compile(
        &self,
        target: &Target,
        source: &std::path::Path,
        options: &str,
    ) -> Result<Vec<Figures>> {
        match self {
            Compiler::Amd(compiler) => compiler.compile(target, source, options),
            Compiler::Intel(compiler) => compiler.compile(target, source, options),
        }
    }
}

/// The family's compiler. `scratch` is a folder that lives as long as it is used.
///
/// # Errors
/// No way led to one; the last reason.
pub(super) fn find_or_fetch(family: Family, options: &Options, scratch: &Path) -> Result<Compiler> {
    match family {
        Family::Amd => {
            let mut last = anyhow!("no release of clang is known");
            for release in amd::RELEASES {
                let packages = amd::packages(release);
                let check = |prefix: &Path| {
                    amd::Compiler::find(prefix, release, scratch).map(Compiler::Amd)
                };
                match one(&format!("offline-clang-{release}"), &packages, options, check) {
                    Ok(compiler) => return Ok(compiler),
                    Err(error) => last = error.context(format!("clang {release}")),
                }
            }
            Err(last)
        }
        Family::Intel => {
            let packages = intel::PACKAGES.map(str::to_owned);
            let check = |prefix: &Path| intel::Compiler::find(prefix, scratch).map(Compiler::Intel);
            one("offline-ocloc", &packages, options, check)
        }
    }
}

fn one(
    folder: &str,
    packages: &[String],
    options: &Options,
    check: impl Fn(&Path) -> Result<Compiler>,
) -> Result<Compiler> {
    if options.uses_system()
        && let Ok(compiler) = check(Path::new("/"))
    {
        return Ok(compiler);
    }
    let packages: Vec<_> = packages.iter().map(String::as_str).collect();
    let reason = "a compiler for devices that are not here";
    provide::unpacked(folder, &packages, Extent::WithDependencies, reason, options, check)
}
