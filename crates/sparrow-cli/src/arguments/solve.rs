//! What `sparrow solve` takes.

use std::path::PathBuf;

use clap::Args;
use csr_core::ValueType;
use sparrow::{Algorithm, Preconditioner, Products, SolverMethod};

use super::{Making, ParameterList};

#[derive(Debug, Args)]
pub(crate) struct Solve {
    /// A .mtx or .mtx.gz file, or a class of the suite; square
    pub(crate) matrix: String,
    /// cg (A symmetric and positive definite) or bicgstab (any A)
    #[arg(long, default_value = "cg")]
    pub(crate) method: SolverMethod,
    /// What residuals are multiplied by: none, or jacobi (the inverse diagonal)
    #[arg(long, default_value = "none", value_name = "NAME")]
    pub(crate) precondition: Preconditioner,
    /// The residual that is small enough, as a multiple of the norm of b
    #[arg(long, default_value_t = 1e-8)]
    pub(crate) tol: f64,
    /// Iterations at most
    #[arg(long, default_value_t = 10_000)]
    pub(crate) max_iters: u32,
    /// b: a Matrix Market array of one column, random:SEED or ones
    #[arg(long, default_value = "random:1", value_name = "FILE|random:SEED|ones")]
    pub(crate) b: String,
    /// Where the iterations begin, a Matrix Market array of one column; zeros if left out
    #[arg(long, value_name = "FILE")]
    pub(crate) x: Option<PathBuf>,
    /// Where x goes, as a Matrix Market array
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also write a report with the residual plotted, one self-contained file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// What A stores
    #[arg(long, default_value = "f64")]
    pub(crate) value_type: ValueType,
    /// Iterations between two looks at the residual, each of which waits for the device; what comes out is the same
    #[arg(long, value_name = "K")]
    pub(crate) check_every: Option<u32>,
    /// The algorithm of the products; chosen for matrix and device if left out
    #[arg(long, value_name = "NAME")]
    pub(crate) algorithm: Option<Algorithm>,
    /// How many products the plan is made for: once, several or many
    #[arg(long, default_value = "many")]
    pub(crate) products: Products,
    /// Hyper-parameters of the kernels between products over the device table's: name=value, several with commas
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub(crate) parameters: Option<ParameterList>,
    #[command(flatten)]
    pub(crate) making: Making,
}
