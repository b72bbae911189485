//! The project's own commands, run as `cargo xtask COMMAND`.
//!
//! One module a command, one line here each. Commands find what they need and say in a sentence what
//! is missing; what people or scripts consume goes to standard output, everything told on the way to
//! standard error.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

mod compare;
mod demo;
mod environment;
mod figure;
mod implementation;
mod install;
mod offline;
mod parallel;
mod probe;
mod project;
mod provide;
mod results;
mod sparrow;
mod test;
mod tidy;
mod wheel;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Time Sparrow and other libraries in turn on the same matrices; writes a table and a plot
    Compare(compare::Arguments),
    /// See it work: find or provide a device, assemble a real problem, benchmark it, write a report
    Demo(demo::Arguments),
    /// Print the variables with which OpenCL programs find an implementation: eval "$(cargo xtask env)"
    Env(environment::Arguments),
    /// Draw a figure of a paper with cuSPARSE and cuBLAS, or MKL, beside Sparrow
    Figure(figure::Arguments),
    /// Build the C libraries and put them, their headers and what build tools ask for under a prefix
    Install(install::Arguments),
    /// Compile every kernel for devices that are not here; rewrites the table in docs/portability.md
    Offline(offline::Arguments),
    /// Get OpenCL implementations: those of the system, packages, or files without root
    Provide(provide::Arguments),
    /// Make the tables of docs/results.md from the records in docs/results/
    Results,
    /// Build the `sparrow` command and run it: on the system's devices, else on a provided PoCL
    Sparrow(sparrow::Arguments),
    /// Run everything that has to hold before a change lands
    Test(test::Arguments),
    /// Check the house rules
    Tidy,
    /// Build the package for Python as a wheel that pip installs on other machines too
    Wheel(wheel::Arguments),
    /// List platforms and devices as JSON; runs in a child, because a driver may crash its process
    #[command(hide = true)]
    Probe(probe::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Env(arguments) => environment::run(&arguments),
        Command::Figure(arguments) => figure::run(&arguments),
        Command::Install(arguments) => install::run(&arguments),
        Command::Offline(arguments) => offline::run(&arguments),
        Command::Provide(arguments) => provide::run(&arguments),
        Command::Results => results::run(),
        Command::Sparrow(arguments) => sparrow::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Tidy => tidy::run(),
        Command::Wheel(arguments) => wheel::run(&arguments),
        Command::Probe(arguments) => probe::run(&arguments),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
