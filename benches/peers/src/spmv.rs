//! y = A x by another library: reads what was written for peers, times the library's algorithms, and leaves each one's y
//! to be verified.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use csr_core::{Accumulator, Csr, Real, ValueType};
use sparrow_bench::Budget;

use crate::cusparse::CuSparse;
use crate::exchange::{self, Word};
use crate::mkl::{Mkl, MklValue};
use crate::timed::{Outcome, Timed};

/// A line of this schema is what every peer prints, those in other languages too.
const SCHEMA: &str = "sparrow-peer/1";

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
        Peer::Mkl => Mkl::open()?.spmv(&matrix, &x, &Budget::default())?,
        Peer::Cusparse => CuSparse::open()?.spmv(&matrix, &x, &Budget::default())?,
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
