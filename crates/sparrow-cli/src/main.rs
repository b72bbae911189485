//! The `sparrow` command: looks at devices and matrices, multiplies, generates, measures.
//!
//! Exit status: 0 done; 1 a run or a verification failed, or there is no device; 2 bad usage or input.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

mod arguments;
mod commands;
mod failure;
mod output;
mod target;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("SPARROW_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A warning is for whoever typed the command, who knows what time it is.
    log.without_time().with_target(false).init();
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Whoever closes our pipe has read enough.
            if failure.is_broken_pipe() {
                return ExitCode::SUCCESS;
            }
            eprintln!("sparrow: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    let Arguments { global, command } = arguments;
    match command {
        Command::Devices(command) => commands::devices::run(&global, &command),
        Command::Info(command) => commands::info::run(&global, &command),
        Command::Spmv(command) => commands::spmv::run(&global, &command),
        Command::Solve(command) => commands::solve::run(&global, &command),
        Command::Bench(command) => commands::bench::run(&global, &command),
        Command::Tune(command) => commands::tune::run(&global, &command),
        Command::TuneWorker => commands::tune::serve_trials(&global),
        Command::Gen(command) => commands::generate::run(&command),
        Command::Selftest(command) => commands::selftest::run(&global, &command),
    }
}
