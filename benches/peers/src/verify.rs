//! Holds what peers computed against the oracle, as Sparrow's own results are held.

use std::path::PathBuf;

use anyhow::{Result, bail};
use csr_core::verify::{Oracle, Summation};
use csr_core::{Accumulator, Csr, Real, ValueType};

use crate::exchange::{self, Word};

#[derive(clap::Args)]
pub struct Arguments {
    #[arg(long)]
    matrix: PathBuf,
    #[arg(long)]
    x: PathBuf,
    /// Vectors that should be A x
    #[arg(required = true)]
    ys: Vec<PathBuf>,
}

/// Prints a line of JSON a vector.
pub fn run(arguments: &Arguments) -> Result<()> {
    match exchange::value_type(&arguments.matrix)? {
        ValueType::F32 => verify::<f32>(arguments),
        ValueType::F64 => verify::<f64>(arguments),
        other => bail!("{other} is not exchanged"),
    }
}

fn verify<T: Accumulator + Real + Word>(arguments: &Arguments) -> Result<()> {
    let matrix: Csr<T, u32> = exchange::read_matrix(&arguments.matrix)?;
    let x: Vec<T> = exchange::read_vector(&arguments.x, matrix.cols())?;
    let (one, zero) = (T::from_f64(1.0), T::from_f64(0.0));
    let oracle = Oracle::new(one, matrix.view(), &x, zero, &vec![zero; matrix.rows()])?;
    for path in &arguments.ys {
        let y: Vec<T> = exchange::read_vector(path, matrix.rows())?;
        let found = oracle.verify(&y, Summation::Plain)?;
        let line = serde_json::json!({
            "y": path, "verified": found.passed(),
            "error_in_tolerance": found.error_in_tolerance, "worst_row": found.worst_row,
        });
        println!("{line}");
    }
    Ok(())
}
