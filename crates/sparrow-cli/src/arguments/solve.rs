//! What `sparrow solve` takes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use csr_core::ValueType;
use sparrow::{Algorithm, Preconditioner, Reordering, Reuse, SolverMethod};

use super::{
    Column, GeneratorOptions, MATRIX, ParameterList, REORDERING, Reading, VECTOR, algorithm_help,
    from_zero, whole,
};

fn check_every(text: &str) -> Result<u32, String> {
    let iterations = text.parse().ok().filter(|every| (1..=1 << 16).contains(every));
    iterations.ok_or_else(|| "it must be a whole number from 1 to 65536".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct Solve {
    #[arg(help = format!("{MATRIX}; A must be square"))]
    pub(crate) matrix: OsString,
    /// cg (A symmetric, and positive or negative definite) or bicgstab (any A)
    #[arg(long, default_value = "cg")]
    pub(crate) method: SolverMethod,
    /// What makes iterations fewer: none, or jacobi (residuals are divided by the diagonal of A)
    #[arg(long, default_value = "none", value_name = "NAME")]
    pub(crate) precondition: Preconditioner,
    /// How small b - A x has to be: its norm as a multiple of the norm of b
    #[arg(long, default_value = "1e-8", value_parser = from_zero)]
    pub(crate) tol: f64,
    /// Iterations at most
    #[arg(long, default_value_t = 10_000, value_parser = whole::<u32>)]
    pub(crate) max_iters: u32,
    /// b: a Matrix Market file; numbers from -1 to 1, drawn by a seed (random:SEED); ones; or `archive`: NAME_b.mtx in the
    /// matrix's archive
    #[arg(long, default_value = "random:1", value_name = VECTOR)]
    pub(crate) b: OsString,
    /// Where the iterations begin, as --b; `archive` is NAME_x.mtx. Zeros if left out
    #[arg(long, value_name = VECTOR)]
    pub(crate) x: Option<OsString>,
    #[command(flatten)]
    pub(crate) column: Column,
    /// Where x goes, as a Matrix Market array; where it did not converge, the x of the least residual
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also write a report with the residual plotted, one self-contained file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Type of A's values: f32, f64, f16 or bf16; vectors and sums are f32 for 16-bit values [default: f64, or f32 where
    /// the device has no f64]
    #[arg(long, value_name = "TYPE")]
    pub(crate) value_type: Option<ValueType>,
    /// Iterations between two looks at the residual, each of which waits for the device; what comes out is the same
    /// [default: 4 where the device is a CPU, else 32]
    #[arg(long, value_name = "K", value_parser = check_every)]
    pub(crate) check_every: Option<u32>,
    /// Also measure how fast the device copies memory, and say what an iteration takes compared with its bytes
    #[arg(long)]
    pub(crate) measure: bool,
    #[arg(long, value_name = "NAME", help = algorithm_help("The algorithm of the products"))]
    pub(crate) algorithm: Option<Algorithm>,
    /// How many products the choice of an algorithm counts on: once, several (some tens) or many (hundreds)
    /// [default: many]
    #[arg(long, value_name = "HOW_MANY")]
    pub(crate) products: Option<Reuse>,
    #[arg(long, value_name = "NAME", default_value = "none", help = REORDERING)]
    pub(crate) reordering: Reordering,
    /// Hyper-parameters of the kernels between products over the device table's: name=value, several with commas
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub(crate) parameters: Option<ParameterList>,
    #[command(flatten)]
    pub(crate) generator: GeneratorOptions,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
