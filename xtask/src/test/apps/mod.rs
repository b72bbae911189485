//! The programs of `tests/apps`, as an application's author would build them: outside the workspace, against the
//! installed libraries, each by the tools of its language.
//!
//! They print y, a row a line, and are held to what is expected. On Oclgrind those in C run under memcheck.

mod programs;
mod surroundings;

use super::conformance::{own_folders, set_own};
use super::watched::{self, Patience};
use super::{Given, Outcome, missing};
use crate::implementation::Implementation;
use crate::install::{self, LIBRARIES, Symbols};
use crate::project;
use crate::provide::{self, tools};
use anyhow::{Context as _, Result, bail};
use programs::{PROGRAMS, Program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use surroundings::Surroundings;

/// Memcheck's own status for errors.
const FOUND: &str = "--error-exitcode=99";

/// Installs the libraries, builds the programs, and runs them on `implementation`.
pub(super) fn run(given: &Given, implementation: Implementation) -> Result<Outcome> {
    let Given { root, variables, printer, .. } = *given;
    let folder = project::target()?.join("apps");
    let prefix = folder.join("prefix");
    printer.say(format_args!("installing into {}", prefix.display()));
    for library in LIBRARIES {
        let built = given.built()?.library_folder(library.built)?;
        install::put(library, root, (built, Symbols::Kept), &prefix, Path::new("lib"))?;
    }
    for library in LIBRARIES {
        let file = prefix.join("lib").join(library.file);
        check_symbols(&file, &root.join(library.symbols))?;
    }
    let options = provide::Options::from_environment(false)?;
    let memcheck = implementation == Implementation::Oclgrind;
    let valgrind = match memcheck.then(|| tools::program("valgrind", "valgrind", &options)) {
        Some(Err(error)) => return Ok(missing(project::is_ci(), &format!("{error:#}"))),
        Some(Ok(valgrind)) => Some(valgrind),
        None => None,
    };
    let surroundings = Surroundings::new(root, &folder, &prefix, variables)?;
    let mut left_out = Vec::new();
    for program in PROGRAMS.iter().filter(|program| !memcheck || program.memcheck) {
        match program.build(&surroundings) {
            Ok(built) => {
                judge(given, program, &built, &surroundings, valgrind.as_deref())
                    .with_context(|| format!("tests/apps/{}", program.folder))?;
                printer.say(format_args!("tests/apps/{}: as expected", program.folder));
            }
            Err(programs::Refusal::NoTool(error)) => {
                printer.say(format_args!("tests/apps/{}: left out, {error:#}", program.folder));
                left_out.push(program.folder);
            }
            Err(programs::Refusal::Failed(error)) => {
                return Err(error.context(format!("building tests/apps/{}", program.folder)));
            }
        }
    }
    match left_out.as_slice() {
        [] => Ok(Outcome::Passed),
        some => Ok(missing(project::is_ci(), &format!("left out: {}", some.join(", ")))),
    }
}

/// Runs a program, and compares what it prints.
fn judge(
    given: &Given,
    program: &Program,
    built: &[PathBuf],
    surroundings: &Surroundings,
    valgrind: Option<&Path>,
) -> Result<()> {
    let root = given.root;
    let folder = tempfile::tempdir().context("a temporary directory")?;
    let mut words: Vec<PathBuf> = Vec::new();
    if let Some(valgrind) = valgrind {
        let suppressions = root.join("tests/valgrind.supp");
        let suppressions = format!("--suppressions={}", suppressions.display());
        words.push(valgrind.to_owned());
        words.extend([FOUND, "--quiet", "--leak-check=full"].map(PathBuf::from));
        words.extend(
            ["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"].map(PathBuf::from),
        );
        words.push(suppressions.into());
    }
    words.extend(built.iter().cloned());
    words.push(root.join("tests/apps/matrix.mtx"));
    let [first, more @ ..] = words.as_slice() else { bail!("a program without a name") };
    let mut command = Command::new(first);
    command.args(more);
    set_own(&mut command, &own_folders(given, folder.path())?);
    command.envs(surroundings.variables());
    let ran = watched::run(&mut command, Patience::new(given.full))?;
    given.printer.add(ran.cpu);
    let output = &ran.output;
    if !ran.is_success() {
        bail!("{}:\n{output}", ran.ending());
    }
    let expected = fs::read_to_string(root.join(program.expected))?;
    if *output != expected {
        bail!("printed\n{output}where {} says\n{expected}", program.expected);
    }
    Ok(())
}

/// Refuses a library that exports other symbols than those listed.
fn check_symbols(library: &Path, list: &Path) -> Result<()> {
    let nm = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output();
    let nm = nm.context("nm, which comes with binutils")?;
    let text = String::from_utf8_lossy(&nm.stdout).into_owned();
    let mut exported: Vec<&str> = text.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    exported.sort_unstable();
    let listed = fs::read_to_string(list)?;
    let listed: Vec<&str> = listed.lines().collect();
    let (lost, new) = differences(&listed, &exported);
    if !lost.is_empty() || !new.is_empty() {
        bail!("{} lost {lost:?} and gained {new:?} beside {}", library.display(), list.display());
    }
    Ok(())
}

/// What is only in the first, and what is only in the second.
fn differences<'a>(first: &[&'a str], second: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let only = |of: &[&'a str], other: &[&'a str]| {
        of.iter().filter(|name| !other.contains(name)).copied().collect()
    };
    (only(first, second), only(second, first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_that_were_lost_and_new_ones_are_named() {
        let (lost, new) = differences(&["a", "b", "c"], &["b", "c", "d"]);
        assert_eq!((lost, new), (vec!["a"], vec!["d"]));
        assert_eq!(differences(&["a"], &["a"]), (vec![], vec![]));
    }
}
