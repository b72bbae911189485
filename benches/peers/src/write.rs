//! What peers read: a matrix with an x, and matrices that the suite does not have.

use std::path::PathBuf;

use anyhow::{Result, bail};
use csr_core::generate::{DEFAULT_SEED, even_matrix};
use csr_core::io::write_matrix_market;
use csr_core::{Accumulator, Csr, Real, ValueType, random_vector};
use sparrow_bench::{GeneratorOptions, Input};

use crate::exchange::{Word, write_matrix, write_vector};

#[derive(clap::Args)]
pub struct Arguments {
    /// A .mtx or .mtx.gz file, or a class of the suite
    input: String,
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    #[arg(long, default_value = "f64")]
    value_type: ValueType,
    /// Where the matrix goes
    #[arg(long)]
    matrix: PathBuf,
    /// Where x goes: numbers between -1 and 1, by the seed
    #[arg(long)]
    x: PathBuf,
}

/// Writes both, and a line of JSON that says what they are.
pub fn run(arguments: &Arguments) -> Result<()> {
    let input = Input::parse(&arguments.input)?;
    match arguments.value_type {
        ValueType::F32 => write::<f32>(arguments, &input),
        ValueType::F64 => write::<f64>(arguments, &input),
        other => bail!("{other} is not exchanged: --value-type takes f32 and f64"),
    }
}

fn write<T: Accumulator + Real + Word>(arguments: &Arguments, input: &Input) -> Result<()> {
    let generator = GeneratorOptions { scale: arguments.scale, seed: arguments.seed };
    let matrix = input.load(generator, &|_, _| {})?.with_u32_offsets()?.narrowed::<T>()?;
    write_matrix(&arguments.matrix, &matrix)?;
    write_vector(&arguments.x, &random_vector::<T>(arguments.seed, matrix.cols()))?;
    let line = serde_json::json!({
        "matrix": input.name(), "source": input.source(), "rows": matrix.rows(),
        "cols": matrix.cols(), "nnz": matrix.nnz(), "value_type": T::TYPE.name(),
    });
    println!("{line}");
    Ok(())
}

#[derive(clap::Args)]
pub struct EvenArguments {
    /// Rows, and columns
    #[arg(long)]
    rows: usize,
    /// Nonzeros of each row
    #[arg(long)]
    length: usize,
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// A .mtx or .mtx.gz file
    #[arg(long)]
    out: PathBuf,
}

/// Writes it.
pub fn run_even(arguments: &EvenArguments) -> Result<()> {
    let EvenArguments { rows, length, seed, out } = arguments;
    let matrix: Csr<f64, u32> = even_matrix(*rows, *rows, *length, *seed)?;
    write_matrix_market(out, matrix.view())?;
    Ok(())
}
