//! Gets the compilers: what the system has, else packages unpacked into our folder.
//!
//! Nothing is installed, as root neither: Intel's package would register an OpenCL driver, and what
//! device tests see must not hang on whether this ran before. The packages of a distribution run from
//! any folder, if the linker is told where their libraries lie.

use super::target::{Compiler, Family};
use super::{amd, intel};
use crate::provide::{self, Extent, Options};
use anyhow::{Context as _, Result, anyhow, bail};
use std::path::Path;
use std::process::{Command, Stdio};

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

/// Runs a compiler and returns what it prints; `libraries` is where its own lie.
///
/// # Errors
/// It does not start, or what it says when it fails.
pub(super) fn run(command: &mut Command, libraries: Option<&Path>) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    if let Some(libraries) = libraries {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("starting {program}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        // clang explains on standard error, while half a file may be on the other; ocloc the other way.
        let said = String::from_utf8_lossy(&output.stderr);
        let said = if said.trim().is_empty() { printed.as_str() } else { &said };
        let lines: Vec<_> = said.trim().lines().take(20).collect();
        bail!("{program} ended with {}: {}", output.status, lines.join("\n"));
    }
    Ok(printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(script: &str) -> String {
        run(Command::new("sh").args(["-c", script]), None).unwrap_err().to_string()
    }

    #[test]
    fn a_failure_says_what_the_compiler_said_wherever_it_said_it() {
        assert!(
            message("echo assembly; echo 'a.cl:1: error' >&2; exit 1").ends_with(": a.cl:1: error")
        );
        assert!(message("echo 'a.cl:2: error'; exit 1").ends_with(": a.cl:2: error"));
        let printed = run(Command::new("sh").args(["-c", "echo fine; echo note >&2"]), None);
        assert_eq!(printed.unwrap(), "fine\n");
    }
}
