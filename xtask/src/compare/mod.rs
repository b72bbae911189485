//! `cargo xtask compare`: Sparrow beside other libraries, on the same matrices, in turn.
//!
//! Matrices are written once in the format of `benches/peers/src/exchange.rs`; `sparrow bench` makes the same ones
//! from the same class and seed. Every program is a process of its own, started afresh each round: ours, then each of
//! theirs, so that what slows the machine for a while slows all. Whoever has no right result has no time. What the
//! machine lacks is named and left out.

mod child;
mod matrix;
mod measure;
mod plot;
mod programs;
mod results;
mod table;

use crate::environment::Choice;
use crate::project;
use crate::provide::{self, Options};
use anyhow::{Context as _, Result, bail};
use child::said;
use matrix::{DEFAULT, EVEN, EVEN_LENGTH, EVEN_ROWS, Matrix};
use measure::Bench;
use programs::Peer;
pub(crate) use programs::{build_exchange, linker_path};
use results::{Case, OURS, Standing};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Options of `compare`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Classes, with @SCALE if not at their own size, or .mtx files; without any, six that take some minutes
    matrices: Vec<String>,
    /// Part of a device's or platform's name
    #[arg(long)]
    device: Option<String>,
    /// Whose OpenCL; the system's device, else a provided PoCL, if left out
    #[arg(long, value_enum)]
    implementation: Option<Choice>,
    /// What A stores, several with commas
    #[arg(long, value_enum, default_value = "f32,f64", value_delimiter = ',')]
    value_type: Vec<ValueType>,
    /// How many products Sparrow's plan is made for: once, several or many
    #[arg(long, default_value = "many")]
    products: String,
    /// Sparrow's algorithms, as `sparrow bench` takes them
    #[arg(long, default_value = "auto")]
    algorithms: String,
    /// Whom to compare with, several with commas; all that this machine has if left out
    #[arg(long, value_enum, value_delimiter = ',')]
    peers: Vec<Peer>,
    /// How often each program is started; the median of its medians counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder for the table, the plot and all times; under target/ if left out
    #[arg(long)]
    out: Option<PathBuf>,
}

/// What the libraries have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ValueType {
    F32,
    F64,
}

impl ValueType {
    fn name(self) -> &'static str {
        match self {
            ValueType::F32 => "f32",
            ValueType::F64 => "f64",
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let names: Vec<&str> = match arguments.matrices.as_slice() {
        [] => DEFAULT.to_vec(),
        names => names.iter().map(String::as_str).collect(),
    };
    let mut matrices = names.into_iter().map(str::parse).collect::<Result<Vec<Matrix>>>()?;
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => project::target()?.join("compare"),
    };
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;

    let options = Options::from_environment(false)?;
    let variables = variables(arguments.implementation, &options)?;
    let peers = if arguments.peers.is_empty() { &Peer::ALL } else { &arguments.peers[..] };
    let device = arguments.device.as_deref();
    let built = programs::build(peers, &variables, &folder, &options)?;
    let (programs, mut left_out) = built;
    for one in &left_out {
        eprintln!("left out: {}: {}", one.what, one.reason);
    }
    let even = matrices.iter_mut().filter(|matrix| matrix.input == EVEN);
    for matrix in even {
        matrix.input = write_even(&programs.exchange, &folder, arguments.seed)?;
    }

    let mut bench_arguments = vec!["--products".to_owned(), arguments.products.clone()];
    bench_arguments.extend(["--algorithms".to_owned(), arguments.algorithms.clone()]);
    bench_arguments.extend(device.iter().flat_map(|text| ["--device".to_owned(), (*text).into()]));
    let bench = Bench {
        programs: &programs,
        arguments: &bench_arguments,
        variables: &variables,
        folder: &folder,
        seed: arguments.seed,
        rounds: arguments.rounds,
    };
    let mut cases = Vec::new();
    for matrix in &matrices {
        for value_type in &arguments.value_type {
            eprintln!("{} {}", matrix.input, value_type.name());
            cases.push(bench.measure(matrix, value_type.name(), &mut left_out)?);
        }
    }
    report(&folder, &cases, &left_out)
}

/// The variables that lead to the implementation asked for.
pub(crate) fn variables(
    choice: Option<Choice>,
    options: &Options,
) -> Result<Vec<(String, String)>> {
    match choice.map(Choice::implementation) {
        None => provide::some_device(options),
        Some(None) => Ok(Vec::new()),
        Some(Some(implementation)) => Ok(provide::provide(implementation, options)?.variables()),
    }
}

/// Writes the matrix of even rows, if it is not there from another time.
fn write_even(program: &Path, folder: &Path, seed: u64) -> Result<String> {
    let path = folder.join(format!("seed-{seed}/{EVEN}.mtx"));
    if !path.is_file() {
        fs::create_dir_all(folder.join(format!("seed-{seed}")))?;
        let mut command = Command::new(program);
        command.args(["even", "--rows", &EVEN_ROWS.to_string()]);
        command.args(["--length", &EVEN_LENGTH.to_string(), "--seed", &seed.to_string()]);
        said(command.arg("--out").arg(&path)).context("writing a matrix of even rows")?;
    }
    path.to_str().map(str::to_owned).context("a folder that is no UTF-8")
}

/// Prints the table and writes it, the plot and every time.
fn report(folder: &Path, cases: &[Case], left_out: &[table::LeftOut]) -> Result<ExitCode> {
    let typed: Vec<_> = std::env::args().skip(1).map(|word| project::quoted(&word)).collect();
    let page = table::markdown(&format!("cargo xtask {}", typed.join(" ")), cases, left_out);
    print!("{page}");
    let mut files = vec![("compare.md", page)];
    let mut lines = String::new();
    for case in cases {
        writeln!(lines, "{}", serde_json::to_string(case)?)?;
    }
    files.push(("compare.jsonl", lines));
    match plot::svg(cases)? {
        Some(plot) => files.push(("compare.svg", plot)),
        None => eprintln!("nothing was compared, so there is no plot"),
    }
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        eprintln!("written: {}", path.display());
    }
    let is_wrong = |case: &&Case| !matches!(case.standing(OURS), Standing::Best(_));
    if let Some(case) = cases.iter().find(is_wrong) {
        bail!("Sparrow has no right result on {} in {}", case.matrix, case.value_type);
    }
    Ok(ExitCode::SUCCESS)
}
