//! Memcheck over the code of ours that is `unsafe`: calls into OpenCL, their handles and their buffers.
//!
//! The tests of `PROGRAMS` make every call of `sparrow.h`, and every one that `cl-runtime/src/raw/` has but
//! those for shared virtual memory, on Oclgrind: it interprets kernels, so that valgrind need not follow what
//! a just-in-time compiler makes for newer processors than it knows. `csr-core` has no `unsafe` of its own.

use super::conformance::{self, own_folders, passed_tests};
use super::watched::{self, Patience, Ran};
use super::{Given, Outcome, oclgrind};
use crate::implementation::Implementation;
use anyhow::{Context as _, Result};
use std::path::Path;

/// Test programs, each with the tests to run: their names, or how they begin. Those left out launch much.
const PROGRAMS: &[(&str, &[&str])] = &[
    (
        "device",
        &[
            // An algorithm of each kind (`conformance::algorithms`) on an application's objects; those of a queue in
            // order, which differ in a flag, are `--full`'s.
            "application::an_applications_queue_may_be_out_of_order",
            "application::adopted_objects_have_one_reference_more_until_they_are_dropped",
            "application::an_adopted_device_says_of_itself_what_the_listed_one_says",
            "application::the_check_of_borrowed_arrays_names_the_broken_invariant",
            "application::a_borrowed_matrix_multiplies_as_an_uploaded_one",
            "refusals::an_allocation_above_the_devices_largest",
            "refusals::ranges_that_do_not_fit_their_memory",
            "refusals::a_queue_of_another_context",
            "refusals::a_kernel_that_does_not_build_shows_the_compilers_log",
            "launching::a_launch_on_no_rows_waits_for_its_wait_list",
            // The same, waiting for what ends well and for what fails.
            "in_flight::everything_may_be_dropped_with_work_in_flight",
        ],
    ),
    ("program_cache", &["a_second_context_loads_what_the_first_built"]),
    (
        "interfaces",
        &[
            "c_refusals::every_function_with_every_pointer_null_in_turn_gives_a_status_that_names_it",
            "c_solvers::b_may_be_where_x_is_and_new_values_are_seen",
        ],
    ),
];

/// And under `--full`.
const FULL_PROGRAMS: &[(&str, &[&str])] = &[
    (
        "device",
        &[
            "application::an_applications_objects_are_used_in_place_and_given_back",
            "launching::a_launch_waits_for_its_wait_list",
            "launching::values_change_and_the_plan_stays",
            "in_flight::a_launch_whose_wait_list_fails_is_in_error_and_its_workspace_goes_on",
        ],
    ),
    (
        "interfaces",
        &[
            "c_refusals::",
            "c_interface::",
            "c_dense::",
            "c_hyb::",
            "c_batches::",
            "c_vectors::",
            "c_solvers::",
            "c_solver_refusals::",
        ],
    ),
];

/// What valgrind says of libraries of others; from the package's folder.
const SUPPRESSIONS: &str = "../valgrind.supp";

/// What it says when it has nothing to say: proof that it was there.
const NOTHING_FOUND: &str = "ERROR SUMMARY: 0 errors";

/// Memcheck's own status for errors, unlike a test's.
const FOUND: i32 = 99;

/// Runs the tests of `PROGRAMS`, and of `FULL_PROGRAMS` if everything is asked for, under `valgrind`, on Oclgrind.
pub(super) fn run(given: &Given, valgrind: &Path) -> Result<Outcome> {
    let printer = given.printer;
    printer.say(
        "covers the calls of cl-runtime/src/raw/, launches of sparrow, and sparrow.h, on Oclgrind",
    );
    let folder = tempfile::tempdir().context("a temporary directory")?;
    let folders = own_folders(given, folder.path())?;
    let programs = conformance::programs(given)?;
    let more: &[_] = if given.full { FULL_PROGRAMS } else { &[] };
    for (name, tests) in PROGRAMS.iter().chain(more) {
        let program = programs.iter().find(|program| program.name == *name);
        let program = program.with_context(|| format!("no test program {name} was built"))?;
        let run_tests = |valgrind: &[String]| -> Result<Ran> {
            let mut command = conformance::command(given, Implementation::Oclgrind, &folders)?;
            command.env("SPARROW_TEST_MEMCHECK", "1");
            command.current_dir(program.package).args(valgrind).arg(program.file).args(*tests);
            let ran = watched::run(&mut command, Patience::new(given.full))?;
            printer.add(ran.cpu);
            Ok(ran)
        };
        // Once as they are: memcheck would look at Oclgrind's compiler most of the time. What was compiled is in the
        // cache then; how a kernel is compiled without one is `program_cache`'s and `refusals`' to show, under memcheck.
        let plain = run_tests(&[])?;
        if !plain.is_success() {
            printer.say(plain.output);
            return Ok(Outcome::Failed(format!("{name} failed without valgrind")));
        }
        if let Some(finding) = oclgrind::findings(&plain.output).first() {
            printer.say(&plain.output);
            return Ok(Outcome::Failed(format!("{name}: Oclgrind: {finding}")));
        }
        let ran = run_tests(&memcheck(valgrind))?;
        let passed: usize = ran.output.lines().filter_map(passed_tests).sum();
        let reason = if !ran.is_success() || !ran.output.contains(NOTHING_FOUND) {
            ran.ending()
        } else if passed < tests.len().max(1) {
            format!("ran {passed} of {} tests", tests.len())
        } else {
            let (took, cpu) = (ran.took.as_secs_f64(), ran.cpu.as_secs_f64());
            printer.say(format_args!(
                "{name}: {passed} tests, no error in {took:.1} s, {cpu:.1} s of processor time"
            ));
            continue;
        };
        printer.say(ran.output);
        return Ok(Outcome::Failed(format!("{name} under valgrind {reason}")));
    }
    Ok(Outcome::Passed)
}

/// Valgrind's words before a program.
fn memcheck(valgrind: &Path) -> Vec<String> {
    let error = format!("--error-exitcode={FOUND}");
    let suppressions = format!("--suppressions={SUPPRESSIONS}");
    let leaks =
        ["--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"];
    let words = [valgrind.display().to_string(), error, suppressions];
    words.into_iter().chain(leaks.map(str::to_owned)).collect()
}
