//! The command line. Spellings are a contract: scripts depend on them.

mod solve;
mod tune;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use csr_core::ValueType;
use csr_core::generate::Suite;
use sparrow::{
    Accumulate, Algorithm, BatchedAlgorithm, Products, SpmmAlgorithm, Variant, VectorOrder,
};

pub(crate) use solve::Solve;
pub(crate) use tune::{JudgeArguments, Merge, Tune, TuneCommand};

/// Sparse matrix products on every OpenCL device.
#[derive(Debug, Parser)]
#[command(name = "sparrow", version, about, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Part of a device's or platform's name, PLATFORM:INDEX, `host` (no OpenCL) or `all`; the best
    /// device found, or what SPARROW_DEVICE names, if left out
    #[arg(long, global = true, value_name = "TEXT")]
    pub(crate) device: Option<String>,
    /// Also write JSON Lines to FILE; `-` is standard output, and then nothing else goes there
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What is here, what it can do, which device-table entries apply and why
    Devices(Devices),
    /// Shape and row lengths of a matrix, and which algorithm would be chosen
    Info(Info),
    /// Compute y = alpha A x + beta y and verify every row
    Spmv(Spmv),
    /// Solve A x = b by CG or BiCGStab, and time an iteration beside what its bytes take to copy
    Solve(Solve),
    /// Time products, verify each, and print them beside the device's limit
    Bench(Bench),
    /// Find out by trying which algorithms and hyper-parameters suit a device; applications are faster there
    /// from then on
    Tune(Tune),
    /// Runs trials for `tune`, which can end it
    #[command(hide = true)]
    TuneWorker,
    /// Generate a matrix of the suite as a Matrix Market file
    Gen(Gen),
    /// Check every algorithm on a device against what is right, on shapes that break kernels
    Selftest(Selftest),
}

#[derive(Debug, Args)]
pub(crate) struct Devices {
    /// Show the device-table entries that apply, strongest first
    #[arg(long)]
    pub(crate) table: bool,
}

/// How a class is generated; files ignore it.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Making {
    /// Multiplies the rows of a generated matrix
    #[arg(long, default_value_t = 1.0)]
    pub(crate) scale: f64,
    /// Seed of a generated matrix
    #[arg(long, default_value_t = csr_core::generate::DEFAULT_SEED)]
    pub(crate) seed: u64,
}

impl From<Making> for sparrow_bench::Making {
    fn from(making: Making) -> Self {
        sparrow_bench::Making { scale: making.scale, seed: making.seed }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Info {
    /// A .mtx or .mtx.gz file, or a class of the suite (`sparrow gen --help` lists them)
    pub(crate) matrix: String,
    /// Say which algorithm would be chosen, with which parameters, and why
    #[arg(long)]
    pub(crate) explain: bool,
    /// With --explain, how many products a plan is made for: once, several or many
    #[arg(long, default_value = "several", requires = "explain")]
    pub(crate) products: Products,
    #[command(flatten)]
    pub(crate) making: Making,
}

#[derive(Debug, Args)]
pub(crate) struct Spmv {
    /// A .mtx or .mtx.gz file, or a class of the suite
    pub(crate) matrix: String,
    /// Scales A x
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
    pub(crate) alpha: f64,
    /// Scales y before; needs --y unless it is 0
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
    pub(crate) beta: f64,
    /// x: a Matrix Market array of one column, or random:SEED
    #[arg(long, default_value = "random:1", value_name = "FILE|random:SEED")]
    pub(crate) x: String,
    /// y before
    #[arg(long, value_name = "FILE")]
    pub(crate) y: Option<PathBuf>,
    /// Where y after goes, as a Matrix Market array
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The algorithm; chosen for matrix and device if left out
    #[arg(long, value_name = "NAME")]
    pub(crate) algorithm: Option<Algorithm>,
    /// The steps of csr_adaptive that are on
    #[arg(long, default_value = "full")]
    pub(crate) variant: Variant,
    /// plain or compensated
    #[arg(long, default_value = "plain")]
    pub(crate) accumulate: Accumulate,
    #[command(flatten)]
    pub(crate) making: Making,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// .mtx or .mtx.gz files, or classes; without any, the quick suite
    pub(crate) matrices: Vec<String>,
    /// A suite of classes: quick (12 under 3 million nonzeros), hetero (the 20 of the speculative
    /// segmented sum), papers, full
    #[arg(long)]
    pub(crate) suite: Option<Suite>,
    /// Names with commas, `all`, or `auto` (chosen for matrix and device)
    #[arg(long, default_value = "auto")]
    pub(crate) algorithms: Algorithms,
    /// Steps of csr_adaptive that are on: baseline, nrs, nrs-log, full, spin; segmented_sum in one
    /// launch: fused; or where its stage 2 runs: device, cpu; several with commas
    #[arg(long, default_value = "full", value_delimiter = ',')]
    pub(crate) variant: Vec<Variant>,
    /// What A stores, several with commas
    #[arg(long, default_value = "f32,f64", value_delimiter = ',')]
    pub(crate) value_type: Vec<ValueType>,
    /// plain or compensated
    #[arg(long, default_value = "plain")]
    pub(crate) accumulate: Accumulate,
    /// Hyper-parameters over the device table's: name=value, several with commas
    #[arg(long, value_name = "NAME=VALUE,...", conflicts_with = "hetero")]
    pub(crate) parameters: Option<ParameterList>,
    /// Which order x and y of evc_hyb are in, several with commas: as the matrix has them, y (permuted), or x and y
    /// (symmetric) in the plan's row order
    #[arg(long, default_value = "original", value_delimiter = ',', conflicts_with_all = ["hetero", "batch"])]
    pub(crate) order: Vec<VectorOrder>,
    /// How many products a plan is made for: once, several or many
    #[arg(long, default_value = "several", conflicts_with_all = ["hetero", "batch"])]
    pub(crate) products: Products,
    /// A chip's two kinds of cores: each alone, in the two stages of segmented_sum, and both at once;
    /// without matrices, the suite hetero
    #[arg(long)]
    pub(crate) hetero: bool,
    /// With --hetero, who computes beside the device: host, or an OpenCL device as --device names it
    #[arg(long, default_value = "host", value_name = "TEXT", requires = "hetero")]
    pub(crate) partner: String,
    /// With --hetero, the partner's part of the nonzeros, 0 to 1; learnt if left out
    #[arg(long, value_name = "F", requires = "hetero")]
    pub(crate) share: Option<f64>,
    /// Thousands of small problems in one launch, beside a loop of single products and the block-diagonal
    /// product; without matrices, problems drawn from the published ranges
    #[arg(long, conflicts_with_all = ["hetero", "cold"])]
    pub(crate) batch: bool,
    /// With --batch, problems of a batch, several with commas
    #[arg(long, default_value = "1000", value_delimiter = ',', requires = "batch")]
    pub(crate) batch_size: Vec<usize>,
    /// With --batch, what batches are made of, several with commas
    #[arg(long, default_value = "homogeneous,mixed", value_delimiter = ',', requires = "batch")]
    pub(crate) batch_kind: Vec<BatchKind>,
    /// With --batch, problems drawn from the published ranges beside the matrices named; 32 without any
    #[arg(long, value_name = "N", requires = "batch")]
    pub(crate) draw: Option<usize>,
    /// With --batch, also the published way of adding cut rows, by float atomics
    #[arg(long, requires = "batch")]
    pub(crate) atomic: bool,
    /// With --batch, leave out the loop and the block-diagonal product
    #[arg(long, requires = "batch")]
    pub(crate) alone: bool,
    /// What is timed: products with a vector (spmv), with a dense matrix (spmm), of square matrices with themselves
    /// (spgemm), conversions between formats (convert), or dense vectors alone (vector)
    #[arg(long, default_value = "spmv", conflicts_with_all = ["hetero", "batch"])]
    pub(crate) op: Op,
    /// With --op spmm, columns of B and C, several with commas
    #[arg(long, default_value = "32", value_delimiter = ',')]
    pub(crate) columns: Vec<usize>,
    /// With --op spmm, matrices that differ in one thing alone, instead of a suite
    #[arg(long, conflicts_with_all = ["matrices", "suite"])]
    pub(crate) sweep: Option<Sweep>,
    /// With --op spmm, how B lies
    #[arg(long, default_value = "row")]
    pub(crate) layout_b: Layout,
    /// With --op spmm, how C lies
    #[arg(long, default_value = "row")]
    pub(crate) layout_c: Layout,
    /// Beside each time, what the bandwidth model predicts, and where the time goes by three experiments: x
    /// constant, A constant, both constant
    #[arg(long, conflicts_with_all = ["hetero", "batch"])]
    pub(crate) model: bool,
    /// Rotate over copies that together exceed the cache four times
    #[arg(long, conflicts_with = "hetero")]
    pub(crate) cold: bool,
    /// Also write a report with plots, one self-contained file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) making: Making,
}

/// What `--op` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Op {
    /// y = A x
    Spmv,
    /// C = A B with B dense
    Spmm,
    /// C = A A
    Spgemm,
    /// Formats: COO to CSR, CSR to COO and CSC, to dense and back
    Convert,
    /// axpy, dot, scale, nrm2 and reduce on dense vectors; takes no matrix
    Vector,
}

/// What `--sweep` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sweep {
    /// 2^24 nonzeros (times --scale) without zeros between, from 2 rows to 2 columns
    Aspect,
    /// Order 100,000 (times --scale), from 0.01 to 1% nonzeros; beside the dense product
    Density,
}

/// What `--layout-b` and `--layout-c` name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Layout {
    /// Elements of a row side by side
    Row,
    /// Elements of a column side by side
    Column,
}

impl From<Layout> for sparrow::Layout {
    fn from(layout: Layout) -> Self {
        match layout {
            Layout::Row => sparrow::Layout::RowMajor,
            Layout::Column => sparrow::Layout::ColumnMajor,
        }
    }
}

/// What batches `--batch-kind` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BatchKind {
    /// Each matrix a batch of its own
    Homogeneous,
    /// All matrices in random order
    Mixed,
    /// The same problems, the largest first
    Sorted,
    /// Order 1,024 with 1 to 64 nonzeros a row, balanced and heaped in few rows
    Density,
    /// Tiny problems, and the same with one among them that has a full row of 1,024
    DenseRow,
}

/// What `--algorithms` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Algorithms {
    /// Chosen for matrix and device.
    Auto,
    /// Every one of the operation.
    All,
    /// These.
    These(Vec<Algorithm>),
    /// These, for batches.
    Batched(Vec<BatchedAlgorithm>),
    /// These, for dense matrices.
    Spmm(Vec<SpmmAlgorithm>),
}

impl Algorithms {
    /// Those for one matrix that were named.
    pub(crate) fn of_one_matrix(&self) -> Vec<Algorithm> {
        match self {
            Algorithms::All => Algorithm::ALL.to_vec(),
            Algorithms::These(algorithms) => algorithms.clone(),
            Algorithms::Auto | Algorithms::Batched(_) | Algorithms::Spmm(_) => Vec::new(),
        }
    }
}

impl FromStr for Algorithms {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Algorithms::Auto),
            "all" => Ok(Algorithms::All),
            _ if text.starts_with("batched_") => {
                text.split(',').map(str::parse).collect::<Result<_, _>>().map(Algorithms::Batched)
            }
            _ if text.starts_with("spmm_") => {
                text.split(',').map(str::parse).collect::<Result<_, _>>().map(Algorithms::Spmm)
            }
            _ => text.split(',').map(str::parse).collect::<Result<_, _>>().map(Algorithms::These),
        }
    }
}

/// What `--parameters` lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParameterList(pub(crate) Vec<(String, u32)>);

impl FromStr for ParameterList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parameter = |part: &str| {
            let refuse = || format!("\"{part}\" is not NAME=VALUE with a whole number");
            let (name, value) = part.split_once('=').ok_or_else(refuse)?;
            Ok((name.to_owned(), value.parse().map_err(|_| refuse())?))
        };
        text.split(',').map(parameter).collect::<Result<_, _>>().map(ParameterList)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Selftest {
    /// Whole products of shapes, types, coefficients and placements, instead of a pairwise cover;
    /// some minutes
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Debug, Args)]
#[command(after_help = classes_help())]
pub(crate) struct Gen {
    /// A class of the suite
    pub(crate) class: String,
    /// Where the matrix goes: .mtx or .mtx.gz
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) making: Making,
}

fn classes_help() -> String {
    let lines = csr_core::generate::Class::all()
        .map(|class| format!("  {:<18} {}", class.name(), class.description()));
    format!("Classes:\n{}", lines.collect::<Vec<_>>().join("\n"))
}
