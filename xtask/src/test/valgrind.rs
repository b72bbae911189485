//! Memcheck over the code of ours that is `unsafe`: calls into OpenCL, their handles and their buffers.
//!
//! The tests of `PROGRAMS` make every call of `sparrow.h`, and every one that `cl-runtime/src/raw/` has but
//! those for shared virtual memory, on Oclgrind: it interprets kernels, so that valgrind need not follow what
//! a just-in-time compiler makes for newer processors than it knows. `csr-core` has no `unsafe` of its own.

use super::Outcome;
use super::conformance::{PACKAGE, own_folders, passed_tests, run_logged, set_own};
use super::printer::Printer;
use crate::implementation::Implementation;
use crate::project;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Test programs, each with the tests to run; all of them if none is named. Those left out launch much.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("application", &[]),
    ("program_cache", &["a_second_context_loads_what_the_first_built"]),
    (
        "refusals",
        &[
            "an_allocation_above_the_devices_largest",
            "ranges_that_do_not_fit_their_memory",
            "a_queue_of_another_context",
            "a_kernel_that_does_not_build_shows_the_compilers_log",
        ],
    ),
    ("launching", &["a_launch_on_no_rows_waits_for_its_wait_list"]),
    // Every algorithm, waiting for what ends well and for what fails.
    ("in_flight", &["everything_may_be_dropped_with_work_in_flight"]),
    (
        "c_refusals",
        &["every_function_with_every_pointer_null_in_turn_gives_a_status_that_names_it"],
    ),
    ("c_solvers", &["an_observer_sees_every_look_and_may_stop"]),
];

/// And under `--full`.
const FULL_PROGRAMS: &[(&str, &[&str])] = &[
    ("launching", &["a_launch_waits_for_its_wait_list", "values_change_and_the_plan_stays"]),
    ("in_flight", &["a_launch_whose_wait_list_fails_is_in_error_and_its_workspace_goes_on"]),
    ("c_refusals", &[]),
    ("c_interface", &[]),
    ("c_dense", &[]),
    ("c_batches", &[]),
    ("c_vectors", &[]),
    ("c_solvers", &[]),
];

/// What valgrind says of libraries of others; from the folder that cargo runs the tests in.
const SUPPRESSIONS: &str = "../valgrind.supp";

/// What it says when it has nothing to say: proof that it was there.
const NOTHING_FOUND: &str = "ERROR SUMMARY: 0 errors";

/// Memcheck's own status for errors, unlike a test's.
const FOUND: i32 = 99;

const DEADLINE: Duration = Duration::from_secs(15 * 60);

/// Runs the tests of `PROGRAMS`, and of `FULL_PROGRAMS` if it is `full`, under `valgrind`, on the
/// implementation found by `variables`.
pub(super) fn run(
    root: &Path,
    valgrind: &Path,
    variables: &[(String, String)],
    full: bool,
    printer: &Printer,
) -> Result<Outcome> {
    let runner = format!(
        "target.'cfg(all())'.runner = ['{}', '--error-exitcode={FOUND}', '--leak-check=full', \
         '--show-leak-kinds=definite', '--errors-for-leak-kinds=definite', \
         '--suppressions={SUPPRESSIONS}']",
        valgrind.display()
    );
    printer.say("covers the calls of cl-runtime/src/raw/, the launches of sparrow and sparrow.h, on Oclgrind");
    let folder = tempfile::tempdir().context("a temporary directory")?;
    let folders = own_folders(folder.path())?;
    let log = folder.path().join("output");
    let run_tests = |options: &[&str], program: &str, tests: &[&str]| {
        let test = ["test", "--locked", "--package", PACKAGE, "--test", program];
        let mut command = Command::new(project::cargo());
        command.args(options).args(test).args(["--", "--test-threads=1", "--exact"]).args(tests);
        command.current_dir(root);
        set_own(&mut command, &folders);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command.env("SPARROW_TEST_PLATFORM", Implementation::Oclgrind.platform());
        let shown = options.iter().copied().map(project::quoted);
        let shown: Vec<_> = shown.chain(test.map(str::to_owned)).collect();
        printer.say(format_args!(
            "$ cargo {} -- --test-threads=1 --exact {}",
            shown.join(" "),
            tests.join(" ")
        ));
        let status = run_logged(&mut command, &log, DEADLINE)?;
        anyhow::Ok((status, String::from_utf8_lossy(&fs::read(&log)?).into_owned()))
    };
    let more: &[_] = if full { FULL_PROGRAMS } else { &[] };
    for (program, tests) in PROGRAMS.iter().chain(more) {
        // Built apart, so that neither the deadline nor the other environment touches the compiler.
        let build = ["test", "--locked", "--package", PACKAGE, "--test", program, "--no-run"];
        if !Command::new(project::cargo()).args(build).current_dir(root).status()?.success() {
            return Ok(Outcome::Failed("the tests do not build".to_owned()));
        }
        // Once as they are: memcheck would look at Oclgrind's compiler most of the time. What was compiled is in the
        // cache then; how a kernel is compiled without one is `program_cache`'s and `refusals`' to show, under memcheck.
        let (status, output) = run_tests(&[], program, tests)?;
        if !status.is_some_and(|status| status.success()) {
            printer.say(output);
            return Ok(Outcome::Failed(format!("{program} failed without valgrind")));
        }
        let (status, output) = run_tests(&["--config", &runner], program, tests)?;
        let ran: usize = output.lines().filter_map(passed_tests).sum();
        let reason = match status {
            Some(status) if !output.contains(NOTHING_FOUND) => format!("ended with {status}"),
            Some(status) if status.success() && ran >= tests.len().max(1) => {
                printer.say(format_args!("{program}: {ran} tests, no error"));
                continue;
            }
            Some(status) if status.success() => format!("ran {ran} of {} tests", tests.len()),
            Some(status) => format!("ended with {status}"),
            None => "did not end before the deadline".to_owned(),
        };
        printer.say(output);
        return Ok(Outcome::Failed(format!("{program} under valgrind {reason}")));
    }
    Ok(Outcome::Passed)
}
