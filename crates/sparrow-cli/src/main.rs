//! The `sparrow` command: looks at devices and matrices, multiplies, generates, measures.
//!
//! Exit status: 0 done; 1 a run, a write or a verification failed, or there is no device; 2 bad usage or input; 128 and
//! the number of the signal that interrupted.

mod arguments;
mod commands;
mod failure;
mod interrupt;
mod output;
mod target;

use std::process::ExitCode;

use arguments::{Arguments, Command, Global, parse, translate};
use failure::Failure;
use output::{Stream, be_quiet, hint, note};

/// Traces of everything, or what `SPARROW_LOG` asks for, as `debug` or `cl_runtime=debug,warn`; else warnings, or
/// nothing but errors.
fn log_to_stderr(global: &Global) {
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::util::SubscriberInitExt as _;

    let asked = std::env::var("SPARROW_LOG").ok().and_then(|text| text.parse().ok());
    let all = |level| Targets::new().with_default(level);
    let filter = match asked {
        _ if global.verbose => all(LevelFilter::DEBUG),
        _ if global.quiet => all(LevelFilter::WARN),
        Some(asked) => asked,
        None => all(LevelFilter::WARN),
    };
    // Who typed the command knows what time it is.
    let lines = tracing_subscriber::fmt::layer().without_time().with_target(false);
    // Where standard error cannot be written there is no other place to say so.
    let lines = lines.log_internal_errors(false);
    tracing_subscriber::registry().with(lines.with_writer(std::io::stderr)).with(filter).init();
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().collect();
    let translated = translate(&mut arguments);
    let parsed = parse(arguments);
    if let Ok(Arguments { global, command }) = &parsed {
        log_to_stderr(global);
        if global.quiet {
            be_quiet();
        }
        tracing::debug!(version = env!("CARGO_PKG_VERSION"), ?command, "parsed");
    }
    if let Some((old, new)) = translated {
        hint(format_args!("`{old}` is spelled `{new}` now"));
    }
    let ended = match parsed {
        Ok(arguments) => run(arguments),
        Err(usage) if usage.use_stderr() => {
            // Where that cannot be written there is no other place to say so.
            let _ = usage.print();
            return ExitCode::from(2);
        }
        Err(answer) => Stream::Output.write(&answer.render().to_string()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                note(message);
            }
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    let Arguments { global, command } = arguments;
    match command {
        // Who interrupts means the tuning, which lets the trial under way end.
        Command::TuneWorker => interrupt::ignore()?,
        _ => interrupt::listen()?,
    }
    match command {
        Command::Devices(command) => commands::devices::run(&global, &command),
        Command::Info(command) => commands::info::run(&global, &command),
        Command::Spmv(command) => commands::spmv::run(&global, &command),
        Command::Solve(command) => commands::solve::run(&global, &command),
        Command::Bench(command) => commands::bench::run(&global, &command.into_operation()),
        Command::Tune(command) => commands::tune::run(&global, &command),
        Command::TuneWorker => commands::tune::serve_trials(&global),
        Command::Gen(command) => commands::generate::run(&global, &command),
        Command::Selftest(command) => commands::selftest::run(&global, &command),
        Command::Completions(command) => commands::manual::completions(&global, &command),
        Command::Man(command) => commands::manual::pages(&global, &command),
    }
}
