//! Unit, property and integration tests: every test program but the device tests, each run where cargo would.

use super::conformance::{PACKAGE, passed_tests};
use super::watched::{self, Patience};
use super::{Given, Outcome};
use crate::project;
use anyhow::Result;
use std::process::Command;

/// Runs them, and the tests of `benches/peers`, which is a workspace of its own.
pub(super) fn run(given: &Given) -> Result<Outcome> {
    let printer = given.printer;
    let device_tests = given.root.join("tests").join(PACKAGE);
    let (mut failed, mut passed) = (Vec::new(), 0);
    for program in given.built()?.tests().filter(|program| program.package != device_tests) {
        let mut command = Command::new(program.file);
        command.current_dir(program.package).env("CARGO_MANIFEST_DIR", program.package);
        command.envs(given.variables.iter().map(|(name, value)| (name, value)));
        let ran = watched::run(&mut command, Patience::new(given.full))?;
        printer.add(ran.cpu);
        let tests: usize = ran.output.lines().filter_map(passed_tests).sum();
        let folder = program.package.strip_prefix(given.root).unwrap_or(program.package).display();
        let (took, cpu) = (ran.took.as_secs_f64(), ran.cpu.as_secs_f64());
        if !ran.is_success() {
            printer.say(&ran.output);
            failed.push(format!("{folder} {} {}", program.name, ran.ending()));
        } else if tests > 0 {
            passed += tests;
            let name = program.name;
            printer.say(format_args!(
                "{folder} {name}: {tests} passed in {took:.1} s, {cpu:.1} s of processor time"
            ));
        }
    }
    let mut peers = Command::new(project::cargo());
    peers.args(["test", "--locked", "--manifest-path", "benches/peers/Cargo.toml", "--target-dir"]);
    peers.arg(project::target()?).current_dir(given.root);
    let ran = watched::run(&mut peers, Patience::new(given.full))?;
    printer.add(ran.cpu);
    if !ran.is_success() {
        printer.say(&ran.output);
        failed.push(format!("benches/peers {}", ran.ending()));
    }
    passed += ran.output.lines().filter_map(passed_tests).sum::<usize>();
    printer.say(format_args!("{passed} tests passed"));
    Ok(match failed.first() {
        Some(first) => Outcome::Failed(first.clone()),
        None if passed == 0 => Outcome::Failed("no test ran".to_owned()),
        None => Outcome::Passed,
    })
}
