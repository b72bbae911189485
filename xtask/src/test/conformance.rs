//! The device tests, once an implementation.
//!
//! Each run sees one implementation and starts with empty caches: its ICD folder, every driver's cache and our own, and
//! the XDG folders lie in a temporary directory. Device tests run one after the other, and each module of a test program
//! is a process of its own, so that what one module leaves behind in the driver does not reach another.

use super::built::TestProgram;
use super::watched::{self, Patience, Ran};
use super::{Given, Outcome, host_only, oclgrind};
use crate::implementation::Implementation;
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package that holds them.
pub(super) const PACKAGE: &str = "conformance";

/// How lines begin that tests mean to be seen.
const SAID: &str = "conformance: ";

/// Variables of the caller that would change what is tested.
const REMOVED: &[&str] = &[
    "SPARROW_DEVICE",
    "SPARROW_TABLE",
    "SPARROW_CACHE_DIR",
    "SPARROW_LOG",
    "SPARROW_TEST_MEMCHECK",
    "SPARROW_TEST_SHARED",
    "OCL_ICD_FILENAMES",
    "OPENCL_DYLIB_PATH",
    "POCL_DEVICES",
];

/// Variables that name a folder, and the folder's name in the temporary directory.
const FOLDERS: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", "xdg-cache"),
    ("XDG_CONFIG_HOME", "xdg-config"),
    ("XDG_DATA_HOME", "xdg-data"),
    ("XDG_STATE_HOME", "xdg-state"),
    ("CUDA_CACHE_PATH", "cuda-cache"),
];

/// Runs the tests on `implementation`.
pub(super) fn run(given: &Given, implementation: Implementation) -> Result<Outcome> {
    let folder = tempfile::tempdir().context("a temporary directory")?;
    let folders = own_folders(given, folder.path())?;
    let mut outcome = Outcome::NotTested("no test ran".to_owned());
    for program in programs(given)? {
        let modules = modules(&program)?;
        if let Some(unknown) = host_only::unknown_module(program.name, modules.keys()) {
            bail!("host_only.rs lists {unknown} of {}, which has no such module", program.name);
        }
        for (module, tests) in modules {
            let name = format!("{} {module}", program.name);
            let left_out = host_only::reason(program.name, &module, implementation);
            if let Some(reason) = left_out.filter(|_| !given.full && given.bench.is_shared) {
                given.printer.say(format_args!("{name} NOT RUN HERE: {reason}"));
                continue;
            }
            let mut command = command(given, implementation, &folders)?;
            command.current_dir(program.package).arg(program.file).arg("--exact").args(tests);
            let ran = watched::run(&mut command, Patience::new(given.full))?;
            given.printer.add(ran.cpu);
            let judged = judge(implementation, &ran);
            say(given, &name, &ran, &judged);
            outcome = worse(outcome, judged, &name);
        }
    }
    Ok(match outcome {
        Outcome::NotTested(reason) => Outcome::Failed(reason),
        other => other,
    })
}

/// The programs of the package.
pub(super) fn programs<'a>(given: &Given<'a>) -> Result<Vec<TestProgram<'a>>> {
    let folder = given.root.join("tests").join(PACKAGE);
    let found: Vec<_> = given.built()?.tests().filter(|one| one.package == folder).collect();
    if found.is_empty() {
        bail!("no test of the package {PACKAGE} was built");
    }
    Ok(found)
}

/// `env ... test program`, for one implementation: the program and what to run of it are to be added.
pub(super) fn command(
    given: &Given,
    implementation: Implementation,
    folders: &[(&str, PathBuf)],
) -> Result<Command> {
    let mut command = Command::new("env");
    set_own(&mut command, folders);
    command.envs(given.variables.iter().map(|(name, value)| (name, value)));
    command.env("SPARROW_TEST_PLATFORM", implementation.platform());
    command.env("SPARROW_TEST_COMMAND", given.built()?.command("sparrow")?);
    command.env("RUST_TEST_THREADS", "1");
    if given.full {
        command.env("SPARROW_TEST_FULL", "1");
    } else if given.bench.shares(implementation) {
        command.env("SPARROW_TEST_SHARED", "1");
    }
    Ok(command)
}

/// The tests of a program by how their names begin: its modules.
fn modules(program: &TestProgram) -> Result<BTreeMap<String, Vec<String>>> {
    let list = Command::new(program.file)
        .args(["--list", "--format=terse"])
        .output()
        .with_context(|| format!("starting {}", program.file.display()))?;
    if !list.status.success() {
        bail!("listing the tests of {} ended with {}", program.name, list.status);
    }
    Ok(modules_of(&String::from_utf8_lossy(&list.stdout)))
}

/// Reads lines as `spmv::every_case_of_the_suite_passes: test`; tests outside a module have one process together.
fn modules_of(list: &str) -> BTreeMap<String, Vec<String>> {
    let mut modules = BTreeMap::<String, Vec<String>>::new();
    for name in list.lines().filter_map(|line| line.strip_suffix(": test")) {
        let module =
            name.split_once("::").map_or(String::new(), |(module, _)| format!("{module}::"));
        modules.entry(module).or_default().push(name.to_owned());
    }
    modules
}

/// What tests say of themselves, and all of it if something is wrong.
fn say(given: &Given, name: &str, ran: &Ran, judged: &Outcome) {
    let printer = given.printer;
    if *judged != Outcome::Passed {
        printer.say(&ran.output);
    }
    for line in ran.output.lines() {
        // Behind what the harness had begun to say.
        if let Some(said) = line.find(SAID) {
            printer.say(&line[said..]);
        }
    }
    let tests: usize = ran.output.lines().filter_map(passed_tests).sum();
    let (took, cpu) = (ran.took.as_secs_f64(), ran.cpu.as_secs_f64());
    printer.say(format_args!("{name} {tests} passed in {took:.1} s, {cpu:.1} s of processor time"));
}

/// All failures; else a pass, if there was any.
fn worse(so_far: Outcome, judged: Outcome, name: &str) -> Outcome {
    match (so_far, judged) {
        (Outcome::Failed(before), Outcome::Failed(reason)) => {
            Outcome::Failed(format!("{before}; {name}: {reason}"))
        }
        (failed @ Outcome::Failed(_), _) => failed,
        (_, Outcome::Failed(reason)) => Outcome::Failed(format!("{name}: {reason}")),
        (_, passed) => passed,
    }
}

/// Empty caches and settings below `folder`, by the variables that name them, and PoCL's cache, which all stages share
/// that hold what its compiler says against a program.
pub(super) fn own_folders(given: &Given, folder: &Path) -> Result<Vec<(&'static str, PathBuf)>> {
    let shared = std::iter::once(Ok(("POCL_CACHE_DIR", given.pocl_cache.to_owned())));
    let made = FOLDERS.iter().map(|(name, inside)| {
        let path = folder.join(inside);
        fs::create_dir(&path)?;
        Ok((*name, path))
    });
    made.chain(shared).collect()
}

/// Gives a command those folders, and nothing of the caller's that would change what is tested.
pub(super) fn set_own(command: &mut Command, folders: &[(&str, PathBuf)]) {
    for name in REMOVED {
        command.env_remove(name);
    }
    command.envs(folders.iter().map(|(name, path)| (name, path)));
}

fn judge(implementation: Implementation, ran: &Ran) -> Outcome {
    if !ran.is_success() {
        return Outcome::Failed(ran.ending());
    }
    let output = ran.output.as_str();
    let tests: usize = output.lines().filter_map(passed_tests).sum();
    if tests == 0 {
        return Outcome::Failed("no test ran".to_owned());
    }
    if let Some(line) = output.lines().find(|line| is_count_of_warnings(line)) {
        return Outcome::Failed(format!("a kernel does not compile cleanly: {line}"));
    }
    if implementation == Implementation::Oclgrind {
        let findings = oclgrind::findings(output);
        if let Some(first) = findings.first() {
            return Outcome::Failed(format!("{} findings of Oclgrind: {first}", findings.len()));
        }
    }
    Outcome::Passed
}

/// Whether this is what Clang, in a driver, leaves on the error output of whoever compiled a kernel with warnings.
fn is_count_of_warnings(line: &str) -> bool {
    line.ends_with(" warning generated.") || line.ends_with(" warnings generated.")
}

/// Reads `test result: ok. 12 passed; ...`.
pub(super) fn passed_tests(line: &str) -> Option<usize> {
    line.strip_prefix("test result: ok. ")?.split_once(" passed")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(script: &str) -> Outcome {
        let mut command = Command::new("sh");
        let ran = watched::run(command.args(["-c", script]), Patience::new(false)).unwrap();
        judge(Implementation::Oclgrind, &ran)
    }

    #[test]
    fn a_run_passes_only_with_tests_that_passed_and_nothing_found() {
        let result = "echo 'test result: ok. 3 passed; 0 failed'";
        assert_eq!(judged(result), Outcome::Passed);
        let failed = |outcome: Outcome, words: &str| matches!(outcome, Outcome::Failed(reason) if reason.contains(words));
        assert!(failed(judged(&format!("{result}; exit 101")), "101"));
        assert!(failed(judged("echo 'test result: ok. 0 passed; 0 failed'"), "no test ran"));
        let warned = "echo '15 warnings generated.' >&2";
        assert!(failed(judged(&format!("{warned}; {result}")), "15 warnings"));
        let finding = "printf 'Invalid read of size 4\\n\\tKernel: k\\n' >&2";
        assert!(failed(
            judged(&format!("{finding}; {result}")),
            "Invalid read of size 4 (kernel k)"
        ));
    }

    #[test]
    fn a_program_is_run_a_module_at_a_time_and_each_test_once() {
        let list = "a::one: test\na::inner::two: test\nb::three: test\nb::time: benchmark\n";
        let of = |list: &str| -> Vec<(String, usize)> {
            modules_of(list).into_iter().map(|(module, tests)| (module, tests.len())).collect()
        };
        assert_eq!(of(list), [("a::".to_owned(), 2), ("b::".to_owned(), 1)]);
        assert_eq!(of("one: test\ntwo: test\n"), [(String::new(), 2)]);
        // What the name of one module ends with is another's name: tests are named in full.
        let tests = &modules_of("faults::x: test\nc_faults::y: test\n")["faults::"];
        assert_eq!(tests, &["faults::x"]);
        assert!(modules_of("0 tests\n").is_empty());
    }

    #[test]
    fn every_failure_is_kept() {
        let failed = |reason: &str| Outcome::Failed(reason.to_owned());
        let outcome = worse(Outcome::NotTested("none".to_owned()), Outcome::Passed, "a");
        assert_eq!(outcome, Outcome::Passed);
        let outcome = worse(outcome, failed("wrong"), "b");
        assert_eq!(outcome, failed("b: wrong"));
        assert_eq!(
            worse(worse(outcome, failed("too"), "c"), Outcome::Passed, "d"),
            failed("b: wrong; c: too")
        );
    }
}
