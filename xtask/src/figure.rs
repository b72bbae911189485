//! `cargo xtask figure`: a paper's figure with NVIDIA's or Intel's library beside Sparrow.
//!
//! The other library runs first, in a program of its own (`benches/peers`), on the figure's own matrices; `sparrow bench
//! figure --peers` then measures ours on the same ones and draws both.

use crate::environment::Choice;
use crate::provide::{Options, peers};
use crate::{compare, project, sparrow};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Options of `figure`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// With cuSPARSE: spmm-1, -4 to -7, batched-3 to -7, segmented-sum-4, -5, evc-hyb-3, -5, -15; with MKL, these without
    /// batched-3 to -7 and evc-hyb-3
    figure: String,
    /// Matrices instead of the figure's own
    matrices: Vec<String>,
    /// Whose library
    #[arg(long, value_enum, default_value = "cusparse")]
    peer: Peer,
    /// Part of a device's or platform's name for Sparrow. If left out NVIDIA for cusparse; for mkl the device that every
    /// command takes, a GPU before a CPU: name the CPU's, as `sparrow devices` prints it, where there are both
    #[arg(long)]
    device: Option<String>,
    /// Whose OpenCL; the system's device, else a provided PoCL, if left out
    #[arg(long, value_enum)]
    implementation: Option<Choice>,
    /// Multiplies the rows of generated matrices, and the problems of a batch; as the budget allows if left out
    #[arg(long)]
    scale: Option<f64>,
    /// How long each of the two may take: 90s, 4m, 1h
    #[arg(long, default_value = "4m")]
    budget: String,
    /// Types of A's values, several with commas; the figure's if left out
    #[arg(long)]
    value_type: Option<String>,
    /// The folder for the report, the results and the other library's results; under target/ if left out
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Whose library, as `sparrow-peers figure --peer` spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Peer {
    /// NVIDIA's cuSPARSE, and cuBLAS for dense products
    Cusparse,
    /// Intel's MKL, got by pip where it is not there
    Mkl,
}

impl Peer {
    fn word(self) -> &'static str {
        match self {
            Peer::Cusparse => "cusparse",
            Peer::Mkl => "mkl",
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => project::target()?.join("figures"),
    };
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let file = |ending: &str| folder.join(format!("{}.{ending}", arguments.figure));
    let options = Options::from_environment(false)?;
    let variables = compare::variables(arguments.implementation, &options)?;
    let sparrow = sparrow::build()?;

    let theirs = file(&format!("{}.jsonl", arguments.peer.word()));
    let mut other = Command::new(compare::build_exchange()?);
    other.arg("figure").arg(&arguments.figure).args(&arguments.matrices);
    other.args(["--peer", arguments.peer.word()]).args(shared(arguments));
    other.arg("--json").arg(&theirs);
    if let Some(scale) = arguments.scale {
        other.arg("--scale").arg(scale.to_string());
    }
    if arguments.peer == Peer::Mkl {
        let libraries = peers::mkl(&options)?;
        let libraries = libraries.to_str().context("a folder that is no UTF-8")?;
        other.envs([compare::linker_path(libraries)]);
    }
    started(&mut other)?;

    let mut ours = Command::new(sparrow);
    ours.args(["bench", "figure"]).arg(&arguments.figure).args(&arguments.matrices);
    ours.args(shared(arguments)).arg("--peers").arg(&theirs);
    ours.arg("--html").arg(file("html")).arg("--json").arg(file("jsonl"));
    let device = arguments.device.as_deref();
    if let Some(device) = device.or((arguments.peer == Peer::Cusparse).then_some("NVIDIA")) {
        ours.args(["--device", device]);
    }
    started(ours.envs(variables))?;
    Ok(ExitCode::SUCCESS)
}

/// What both programs are told.
fn shared(arguments: &Arguments) -> Vec<String> {
    let mut words = vec!["--budget".to_owned(), arguments.budget.clone()];
    let types = arguments.value_type.iter();
    words.extend(types.flat_map(|types| ["--value-type".to_owned(), types.clone()]));
    words
}

/// Runs a program that talks to the user itself.
fn started(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("starting {program}"))?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}
