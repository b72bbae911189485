//! Programs that others wrote in Python, with their sparse products by Sparrow: each fetched by pip, beside our adapter of
//! `tests/apps/python`, under its own tests of such products and ours of the adapter.

use super::conformance::{own_folders, set_own};
use super::watched::{self, Patience};
use super::{Given, Outcome, missing, python};
use crate::project;
use crate::provide::{self, Options};
use crate::wheel;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// A program, its adapter and its tests.
struct Program {
    /// The folder of `tests/apps/python`.
    folder: &'static str,
    /// Where pip puts it, and what that is.
    packages: (&'static str, &'static [&'static str]),
    /// Its own tests, files among the packages, and the arguments with which pytest runs those of sparse products.
    tests: (&'static [&'static str], &'static [&'static str]),
}

const PROGRAMS: &[Program] = &[
    Program {
        folder: "nengo",
        packages: (
            "nengo-ocl-3.0.0",
            &[
                "nengo-ocl==3.0.0",
                "nengo==4.1.0",
                "numpy==2.4.6",
                "scipy==1.17.1",
                "pyopencl==2026.1.4",
                // Nengo's plugin has an argument that pytest 9 took away.
                "pytest==8.4.2",
                "pytest-allclose==1.0.0",
                "pytest-plt==1.1.1",
                "pytest-rng==1.0.0",
            ],
        ),
        tests: (
            &["nengo_ocl/tests/test_clra_gemv.py", "nengo/tests/test_transforms.py"],
            &["-o", "nengo_simulator=nengo_ocl.Simulator", "-k", "sparse"],
        ),
    },
    Program {
        folder: "pyfai",
        packages: (
            "pyfai-2026.9.0",
            &[
                "pyFAI==2026.9.0",
                "silx==3.1.3",
                "numpy==2.4.6",
                "scipy==1.17.1",
                "pyopencl==2026.1.4",
                "pytest==9.2.0",
            ],
        ),
        // Its median filter, which is no product, does not end on PoCL, with or without Sparrow.
        tests: (&["pyFAI/opencl/test/test_ocl_azim_csr.py"], &["-k", "integrate_ng"]),
    },
];

/// Runs all of them; one that pip cannot fetch is left out and named.
pub(super) fn run(given: &Given) -> Result<Outcome> {
    let options = Options::from_environment(false)?;
    if let Err(error) = wheel::tools(&options) {
        return Ok(missing(project::is_ci(), &format!("{error:#}")));
    }
    let wheel = python::build_wheel(&options)?;
    let mut left_out = Vec::new();
    for program in PROGRAMS {
        let (folder, requirements) = program.packages;
        match provide::python::packages(folder, requirements, &options) {
            Ok((python, packages)) => {
                let interpreter = python::environment(folder, &python, &packages, &wheel)?;
                for theirs in [true, false] {
                    let outcome = tests(given, program, &interpreter, &packages, theirs)?;
                    if !matches!(outcome, Outcome::Passed) {
                        return Ok(outcome);
                    }
                }
            }
            Err(error) => {
                let name = program.folder;
                given.printer.say(format_args!("tests/apps/python/{name}: left out, {error:#}"));
                left_out.push(name);
            }
        }
    }
    Ok(match left_out.as_slice() {
        [] => Outcome::Passed,
        some => missing(project::is_ci(), &format!("left out: {}", some.join(", "))),
    })
}

/// One run of pytest: of the program's own tests, under the plugin `their_tests.py`, or of the adapter's.
fn tests(
    given: &Given,
    program: &Program,
    interpreter: &Path,
    packages: &Path,
    theirs: bool,
) -> Result<Outcome> {
    let folder = given.root.join("tests/apps/python").join(program.folder);
    let own = tempfile::tempdir()?;
    let mut command = Command::new(interpreter);
    command.current_dir(own.path()).args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    if theirs {
        let (files, arguments) = program.tests;
        command.args(["-p", "their_tests"]).args(arguments);
        command.args(files.iter().map(|file| packages.join(file)));
    } else {
        command.arg(&folder);
    }
    set_own(&mut command, &own_folders(given, own.path())?);
    command.envs(given.variables.iter().map(|(name, value)| (name, value)));
    command.env("PYTHONPATH", &folder).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("PYOPENCL_CTX", "0").env("MPLBACKEND", "agg");
    let ran = watched::run(&mut command, Patience::new(given.full))?;
    given.printer.add(ran.cpu);
    let last = ran.output.lines().last().unwrap_or_default();
    let said = if ran.is_success() { last } else { &ran.output };
    given.printer.say(format_args!("tests/apps/python/{}: {said}", program.folder));
    Ok(match ran.is_success() {
        true => Outcome::Passed,
        false => Outcome::Failed(format!("{}: {}", program.folder, ran.ending())),
    })
}
