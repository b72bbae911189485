//! `cargo xtask env`: the variables that lead an OpenCL program to an implementation.

use crate::implementation::Implementation;
use crate::project::quoted;
use crate::{probe, provide};
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Options of `env`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Whose variables to print; `system` asks for none and only checks that a device is there
    #[arg(long, value_enum, default_value = "pocl")]
    implementation: Choice,
    /// Print one JSON object instead of `export` lines
    #[arg(long)]
    json: bool,
}

/// An implementation, or what the system has.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Choice {
    Pocl,
    Intel,
    Oclgrind,
    System,
}

impl Choice {
    /// None for the system's own.
    pub(crate) fn implementation(self) -> Option<Implementation> {
        match self {
            Choice::Pocl => Some(Implementation::Pocl),
            Choice::Intel => Some(Implementation::Intel),
            Choice::Oclgrind => Some(Implementation::Oclgrind),
            Choice::System => None,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let variables = match arguments.implementation.implementation() {
        Some(implementation) => {
            let options = provide::Options::from_environment(false)?;
            provide::provide(implementation, &options)?.variables()
        }
        None => {
            let report = probe::probe(&[], probe::Depth::List)?;
            let (platform, device) = report.first_device().context(
                "the system has no OpenCL device; `cargo xtask env` without --implementation provides one",
            )?;
            eprintln!("the system's own: {} on {}; nothing to set", device.name, platform.name);
            Vec::new()
        }
    };
    if arguments.json {
        let object: BTreeMap<_, _> = variables.into_iter().collect();
        println!("{}", serde_json::to_string_pretty(&object)?);
    } else {
        for (name, value) in &variables {
            println!("export {name}={}", quoted(value));
        }
    }
    Ok(ExitCode::SUCCESS)
}
