//! `cargo xtask test`: everything that has to hold before a change lands, in stages.
//!
//! Each stage prints the command it runs; all stages run even when one failed, the last as many at once as
//! there are processors; the last lines say once more how those that failed ended, and then what passed, what failed,
//! what was not tested and why, and how long each took.

mod apps;
mod built;
mod conformance;
mod cpu;
mod fuzz;
mod host_only;
mod licences;
mod metadata;
mod oclgrind;
mod petsc;
mod printer;
mod python;
mod python_apps;
mod stage;
mod summary;
mod unit;
mod valgrind;
mod watched;

use crate::implementation::Implementation;
use crate::parallel::in_parallel;
use crate::provide::{self, Provided, tools};
use crate::{offline, project, tidy};
use anyhow::{Context as _, Result, anyhow, bail};
use built::Built;
use metadata::Metadata;
use printer::Printer;
use stage::Stage;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use xshell::{Shell, cmd};

/// Options of `test`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Whole products of parameters instead of a pairwise cover
    #[arg(long)]
    full: bool,
    /// Only this stage; `conformance` means all that start so
    #[arg(long)]
    stage: Vec<String>,
    /// Name the stages and stop
    #[arg(long)]
    list: bool,
}

/// How a stage ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed(String),
    NotTested(String),
}

/// A stage that has ended.
struct Ended {
    stage: Stage,
    outcome: Outcome,
    took: Duration,
    /// Processor time of all it ran.
    cpu: Duration,
    /// The last lines that it said.
    last: Vec<String>,
}

/// What stages share.
struct Bench {
    root: PathBuf,
    metadata: Metadata,
    full: bool,
    provided: Vec<(Implementation, Result<Provided, String>)>,
    built: OnceLock<Result<Built, String>>,
    pocl_cache: TempDir,
    /// Whether device tests run on two compilers, which then share what one of them can show.
    is_shared: bool,
}

/// What a stage that runs programs is given.
struct Given<'a> {
    root: &'a Path,
    /// By which programs find the implementation.
    variables: &'a [(String, String)],
    full: bool,
    bench: &'a Bench,
    /// Where PoCL keeps what it compiles, in this run and no other.
    pocl_cache: &'a Path,
    printer: &'a Printer,
}

impl<'a> Given<'a> {
    /// What one build makes, of which the first to ask waits for it.
    fn built(&self) -> Result<&'a Built> {
        self.bench.built()
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.list {
        for stage in Stage::all() {
            println!("{:22} {}", stage.name(), stage.purpose());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let stages = select(&arguments.stage)?;
    project::check_tools()?;
    let root = project::root()?;
    let start = Instant::now();
    let provided = provide_for(&stages)?;
    let bench = Bench {
        metadata: Metadata::read(&root)?,
        root,
        full: arguments.full,
        is_shared: COMPILERS.iter().all(|&compiler| is_tested(compiler, &stages, &provided)),
        provided,
        built: OnceLock::new(),
        pocl_cache: tempfile::tempdir().context("a temporary directory")?,
    };
    println!("provided after {:.1} s", start.elapsed().as_secs_f64());

    let (beside, alone): (Vec<_>, Vec<_>) = stages.into_iter().partition(Stage::runs_beside);
    let mut ended: Vec<_> = alone.into_iter().map(|stage| bench.alone(stage)).collect();
    let chains: Vec<&[Stage]> = beside.chunk_by(|a, b| shares_folder(*a, *b)).collect();
    let of_chain = |chain: &&[Stage]| chain.iter().map(|&stage| bench.timed(stage)).collect();
    ended.extend(in_parallel::<_, Vec<_>>(&chains, of_chain)?.into_iter().flatten());
    summary::print(&ended, (start.elapsed(), cpu::of_us()));
    let failed = ended.iter().any(|one| matches!(one.outcome, Outcome::Failed(_)));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Whether the second has to wait for the first: both build in one folder.
fn shares_folder(first: Stage, second: Stage) -> bool {
    first.folder().is_some() && first.folder() == second.folder()
}

/// The stages whose name is given, or starts with it before a dash; all if none is given.
fn select(names: &[String]) -> Result<Vec<Stage>> {
    let chosen = |stage: &Stage, name: &String| {
        stage.name() == *name || stage.name().starts_with(&format!("{name}-"))
    };
    for name in names {
        if !Stage::all().iter().any(|stage| chosen(stage, name)) {
            bail!("no stage is called {name}; `cargo xtask test --list` names them");
        }
    }
    let all = Stage::all().into_iter();
    Ok(all.filter(|s| names.is_empty() || names.iter().any(|name| chosen(s, name))).collect())
}

/// What compiles kernels, and does not interpret them.
const COMPILERS: [Implementation; 2] = [Implementation::Pocl, Implementation::Intel];

/// Whether device tests will run on an implementation.
fn is_tested(
    implementation: Implementation,
    stages: &[Stage],
    provided: &[(Implementation, Result<Provided, String>)],
) -> bool {
    stages.contains(&Stage::Conformance(implementation))
        && provided.iter().any(|(found, outcome)| *found == implementation && outcome.is_ok())
}

/// What the stages need; what could not be had stays as the reason.
fn provide_for(stages: &[Stage]) -> Result<Vec<(Implementation, Result<Provided, String>)>> {
    let mut wanted = Vec::new();
    for need in stages.iter().filter_map(|stage| stage.needs()) {
        if !wanted.contains(&need) {
            wanted.push(need);
        }
    }
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let options = provide::Options::from_environment(false)?;
    let provide_one = |implementation: Implementation| {
        let provided = provide::provide(implementation, &options);
        match &provided {
            Ok(provided) => println!("{implementation}: {}", provided.description()),
            Err(error) => println!("{implementation}: not provided: {error:#}"),
        }
        (implementation, provided.map_err(|error| format!("{error:#}")))
    };
    Ok(wanted.into_iter().map(provide_one).collect())
}

impl Bench {
    /// Whether `implementation` leaves parts of its device tests to another one.
    fn shares(&self, implementation: Implementation) -> bool {
        self.is_shared && COMPILERS.contains(&implementation)
    }

    /// A stage that has the machine to itself: every child of ours is its.
    fn alone(&self, stage: Stage) -> Ended {
        let before = cpu::of_us();
        let ended = self.timed(stage);
        Ended { cpu: cpu::of_us() - before, ..ended }
    }

    fn timed(&self, stage: Stage) -> Ended {
        println!("\n== {}: {}", stage.name(), stage.purpose());
        let start = Instant::now();
        let printer = Printer::new(stage);
        let outcome = self.run(stage, &printer);
        let outcome = outcome.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        let cpu = printer.cpu();
        Ended { stage, outcome, took: start.elapsed(), cpu, last: printer.into_last() }
    }

    /// All that one build makes, built when it is first asked for.
    fn built(&self) -> Result<&Built> {
        let build = || Built::build(&self.root).map_err(|error| format!("{error:#}"));
        self.built.get_or_init(build).as_ref().map_err(|reason| anyhow!("{reason}"))
    }

    fn run(&self, stage: Stage, printer: &Printer) -> Result<Outcome> {
        let sh = Shell::new()?;
        sh.change_dir(&self.root);
        let cargo = project::cargo();
        // Named by value in commands below, so that what is printed can be typed.
        let variables = match stage.needs().map(|need| self.provided(need)) {
            None => Vec::new(),
            Some(Ok(provided)) => provided.variables(),
            Some(Err(outcome)) => return Ok(outcome),
        };
        for (name, value) in &variables {
            sh.set_var(name, value);
        }
        if self.full {
            sh.set_var("SPARROW_TEST_FULL", "1");
        }
        let given = Given {
            root: &self.root,
            variables: &variables,
            full: self.full,
            bench: self,
            pocl_cache: self.pocl_cache.path(),
            printer,
        };
        match stage {
            Stage::Fmt => cmd!(sh, "{cargo} fmt --all --check").run()?,
            Stage::Clippy => {
                cmd!(sh, "{cargo} clippy --locked --workspace --all-targets -- -D warnings")
                    .run()?;
                // A workspace of its own; in the same folder, so that what both are made of is there.
                let peers = ["--manifest-path", "benches/peers/Cargo.toml"];
                let target = project::target()?;
                let rest = ["--all-targets", "--", "-D", "warnings"];
                cmd!(sh, "{cargo} clippy --locked {peers...} --target-dir {target} {rest...}")
                    .run()?;
            }
            Stage::Tidy => {
                if tidy::run()? != ExitCode::SUCCESS {
                    return Ok(Outcome::Failed("house rules are broken".to_owned()));
                }
                metadata::check_lock_files(&self.root)?;
            }
            Stage::Licences => return licences::check(&self.root, &self.metadata),
            Stage::Build => drop(self.built()?),
            Stage::Unit => return unit::run(&given),
            Stage::Docs => {
                sh.set_var("RUSTDOCFLAGS", "-D warnings");
                cmd!(sh, "{cargo} doc --locked --workspace --lib --no-deps").run()?;
            }
            Stage::Doctests => cmd!(sh, "{cargo} test --locked --workspace --doc").run()?,
            Stage::Examples => {
                let built = self.built()?;
                for name in self.metadata.examples("sparrow-sparse") {
                    let example = built.example(name)?;
                    cmd!(sh, "{example}").run()?;
                }
            }
            Stage::Offline => {
                let verdict = offline::check(
                    &self.root,
                    self.built()?.example("specialisations")?,
                    self.full,
                )?;
                return Ok(offline_outcome(&verdict, project::is_ci()));
            }
            Stage::Apps(implementation) => return apps::run(&given, implementation),
            Stage::Petsc => return petsc::run(&given),
            Stage::Python(implementation) => return python::run(&given, implementation),
            Stage::PythonApps => return python_apps::run(&given),
            Stage::Conformance(implementation) => {
                return conformance::run(&given, implementation);
            }
            Stage::Valgrind => {
                let options = provide::Options::from_environment(false)?;
                return match tools::program("valgrind", "valgrind", &options) {
                    Ok(valgrind) => valgrind::run(&given, &valgrind),
                    Err(error) => Ok(missing(project::is_ci(), &format!("{error:#}"))),
                };
            }
            Stage::Fuzz => {
                return match tools::check_fuzzing() {
                    Ok(()) => fuzz::run(&given),
                    // Under CI too: no stable toolchain can do it, and the corpora are replayed anyway.
                    Err(error) => Ok(Outcome::NotTested(format!("{error:#}"))),
                };
            }
        }
        Ok(Outcome::Passed)
    }

    /// The implementation, or how the stage that needs it ends: failed under CI.
    fn provided(&self, wanted: Implementation) -> Result<&Provided, Outcome> {
        let found = self.provided.iter().find(|(implementation, _)| *implementation == wanted);
        match found {
            Some((_, Ok(provided))) => Ok(provided),
            Some((_, Err(reason))) => Err(missing(project::is_ci(), reason)),
            None => Err(Outcome::Failed(format!("{wanted} was not asked for"))),
        }
    }
}

fn missing(ci: bool, reason: &str) -> Outcome {
    if ci { Outcome::Failed(reason.to_owned()) } else { Outcome::NotTested(reason.to_owned()) }
}

fn offline_outcome(verdict: &offline::Verdict, ci: bool) -> Outcome {
    match (verdict.failures.as_slice(), verdict.not_tested.as_slice()) {
        ([], []) => Outcome::Passed,
        ([], families) => missing(ci, &families.join("; ")),
        ([first, ..], _) => {
            let first = first.lines().next().unwrap_or_default();
            Outcome::Failed(format!("{} failures: {first}", verdict.failures.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_chosen_by_name_or_family() {
        let names = |names: &[&str]| -> Vec<String> {
            let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
            select(&names).unwrap().iter().map(Stage::name).collect()
        };
        assert_eq!(names(&["clippy"]), ["clippy"]);
        let family = ["conformance-oclgrind", "conformance-pocl", "conformance-intel"];
        assert_eq!(names(&["conformance"]), family);
        assert_eq!(names(&[]).len(), Stage::all().len());
        assert!(select(&["conform".to_owned()]).is_err());
    }

    #[test]
    fn an_implementation_that_is_not_there_fails_under_ci_and_is_named_elsewhere() {
        assert_eq!(missing(true, "no network"), Outcome::Failed("no network".to_owned()));
        assert_eq!(missing(false, "no network"), Outcome::NotTested("no network".to_owned()));
    }

    #[test]
    fn offline_fails_by_what_is_wrong_first_and_by_a_missing_compiler_under_ci() {
        let verdict = |failures: &[&str], not_tested: &[&str]| offline::Verdict {
            failures: failures.iter().map(|&text| text.to_owned()).collect(),
            not_tested: not_tested.iter().map(|&text| text.to_owned()).collect(),
        };
        assert_eq!(offline_outcome(&verdict(&[], &[]), true), Outcome::Passed);
        let no_amd = verdict(&[], &["AMD: no network"]);
        assert_eq!(offline_outcome(&no_amd, true), Outcome::Failed("AMD: no network".to_owned()));
        let not_tested = Outcome::NotTested("AMD: no network".to_owned());
        assert_eq!(offline_outcome(&no_amd, false), not_tested);
        let spill = verdict(&["a spill", "another"], &["AMD: no network"]);
        assert_eq!(
            offline_outcome(&spill, false),
            Outcome::Failed("2 failures: a spill".to_owned())
        );
    }
}
