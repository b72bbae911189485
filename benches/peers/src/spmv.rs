//! y = A x by another library: reads what was written for peers, times the library's algorithms, and leaves each one's y
//! to be verified.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use csr_core::{Accumulator, Csr, Real, ValueType};
use sparrow_bench::Samples;

use crate::cusparse::CuSparse;
use crate::exchange::{self, Word};
use crate::mkl::{Mkl, MklValue};

/// A line of this schema is what every peer prints, those in other languages too.
const SCHEMA: &str = "sparrow-peer/1";

/// y before each algorithm runs: not zero, and no NaN either, because cuSPARSE may read y though beta is 0.
pub const POISON: f64 = 1e30;

/// A library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Peer {
    /// Intel's MKL, inspector-executor
    Mkl,
    /// NVIDIA's cuSPARSE, generic interface
    Cusparse,
}

#[derive(clap::Args)]
pub struct Arguments {
    #[arg(value_enum)]
    peer: Peer,
    #[arg(long)]
    matrix: PathBuf,
    #[arg(long)]
    x: PathBuf,
    /// The folder for y of each algorithm
    #[arg(long)]
    out: PathBuf,
}

/// What one algorithm took.
pub struct Timed<T> {
    pub algorithm: &'static str,
    pub samples: Samples,
    /// From a matrix that is where products run until the first product can.
    pub setup_us: f64,
    pub y: Vec<T>,
}

/// A library's algorithms, and how it calls itself.
pub struct Outcome<T> {
    pub peer: &'static str,
    pub version: String,
    /// Where it ran.
    pub device: String,
    pub timed: Vec<Timed<T>>,
}

#[derive(clap::Args)]
pub struct ProbeArguments {
    #[arg(value_enum)]
    peer: Peer,
}

/// Opens a library, or fails with the reason why it cannot be.
pub fn probe(arguments: &ProbeArguments) -> Result<()> {
    match arguments.peer {
        Peer::Mkl => Mkl::open().map(drop),
        Peer::Cusparse => CuSparse::open().map(drop),
    }
}

/// Sets up once unheard, because libraries load parts of theirs when they are first called, and then as often as Sparrow
/// does for its own set-up. Returns what was made last, and the median in microseconds.
pub fn set_up<S>(mut make: impl FnMut() -> Result<S>) -> Result<(S, f64)> {
    let mut made = make()?;
    let begin = Instant::now();
    let mut times_us = Vec::new();
    while times_us.len() < 3 || (times_us.len() < 15 && begin.elapsed().as_millis() < 100) {
        // The one before makes room first.
        drop(made);
        let start = Instant::now();
        made = make()?;
        times_us.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times_us.sort_by(f64::total_cmp);
    Ok((made, times_us[times_us.len() / 2]))
}

/// Prints a line of JSON for each algorithm.
pub fn run(arguments: &Arguments) -> Result<()> {
    match exchange::value_type(&arguments.matrix)? {
        ValueType::F32 => time::<f32>(arguments),
        ValueType::F64 => time::<f64>(arguments),
        other => bail!("{other} is not exchanged"),
    }
}

fn time<T: Accumulator + Real + Word + MklValue>(arguments: &Arguments) -> Result<()> {
    let matrix: Csr<T, u32> = exchange::read_matrix(&arguments.matrix)?;
    let x: Vec<T> = exchange::read_vector(&arguments.x, matrix.cols())?;
    let outcome = match arguments.peer {
        Peer::Mkl => Mkl::open()?.spmv(&matrix, &x)?,
        Peer::Cusparse => CuSparse::open()?.spmv(&matrix, &x)?,
    };
    for timed in &outcome.timed {
        print(&outcome, timed, &matrix, &arguments.out)?;
    }
    Ok(())
}

fn print<T: Accumulator + Real + Word>(
    outcome: &Outcome<T>,
    timed: &Timed<T>,
    matrix: &Csr<T, u32>,
    out: &Path,
) -> Result<()> {
    let Outcome { peer, version, device, .. } = outcome;
    let path = out.join(format!("y-{peer}-{}.x", timed.algorithm));
    exchange::write_vector(&path, &timed.y)?;
    let samples = &timed.samples;
    let line = serde_json::json!({
        "schema": SCHEMA, "peer": peer, "version": version, "device": device,
        "algorithm": timed.algorithm, "value_type": T::TYPE.name(),
        "rows": matrix.rows(), "cols": matrix.cols(), "nnz": matrix.nnz(),
        "median_us": samples.median_us(), "min_us": samples.min_us(), "p95_us": samples.p95_us(),
        "runs": samples.launches(), "setup_us": timed.setup_us,
        "y": path.to_str().context("a path that is no UTF-8")?,
    });
    println!("{line}");
    Ok(())
}
