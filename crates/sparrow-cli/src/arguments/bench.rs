//! What `sparrow bench` and each of its operations take.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, Subcommand};
use csr_core::ValueType;
use csr_core::generate::Suite;
use sparrow::{
    Accumulate, Algorithm, BatchedAlgorithm, Products, SpmmAlgorithm, Variant, VectorOrder,
};

use super::examples::{
    BENCH_BATCH_EXAMPLES, BENCH_CONVERT_EXAMPLES, BENCH_HETERO_EXAMPLES, BENCH_SPGEMM_EXAMPLES,
    BENCH_SPMM_EXAMPLES, BENCH_SPMV_EXAMPLES, BENCH_VECTOR_EXAMPLES,
};
use super::{Making, ParameterList, Reading, count, whole};

/// `bench M...` is `bench spmv M...`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    operation: Option<BenchOperation>,
    #[command(flatten)]
    spmv: BenchSpmv,
}

impl Bench {
    /// The operation that is named, or SpMV.
    pub(crate) fn into_operation(self) -> BenchOperation {
        self.operation.unwrap_or(BenchOperation::Spmv(self.spmv))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchOperation {
    /// y = A x with a vector x; what `bench` does where no operation is named
    ///
    /// Without matrices, the quick suite.
    #[command(after_help = BENCH_SPMV_EXAMPLES)]
    Spmv(BenchSpmv),
    /// C = A B with B dense
    ///
    /// Without matrices, the quick suite.
    #[command(after_help = BENCH_SPMM_EXAMPLES)]
    Spmm(BenchSpmm),
    /// C = A A, sparse
    ///
    /// Without matrices, the quick suite; matrices that are not square are left out.
    #[command(after_help = BENCH_SPGEMM_EXAMPLES)]
    Spgemm(BenchSpgemm),
    /// y = A x of thousands of small problems in one launch
    ///
    /// Compared with a loop of single products and with the block-diagonal product. Without matrices, problems drawn
    /// from the published ranges.
    #[command(after_help = BENCH_BATCH_EXAMPLES)]
    Batch(BenchBatch),
    /// y = A x by a device and the host's cores, or two devices, at once
    ///
    /// Compared with each alone, and with the two stages of segmented_sum on both. Without matrices, the suite hetero.
    #[command(after_help = BENCH_HETERO_EXAMPLES)]
    Hetero(BenchHetero),
    /// Formats: COO to CSR, CSR to COO and CSC, to dense and back
    ///
    /// Compared with the host's own conversions. Without matrices, 5 million entries (times --scale) in no order.
    #[command(after_help = BENCH_CONVERT_EXAMPLES)]
    Convert(BenchConvert),
    /// axpy, dot, scale, nrm2 and reduce on dense vectors
    ///
    /// Of 10^3, 10^5 and 10^7 elements; compared with launches that do nothing.
    #[command(after_help = BENCH_VECTOR_EXAMPLES)]
    Vector(BenchVector),
}

impl BenchOperation {
    /// Where a report goes.
    pub(crate) fn html(&self) -> Option<&Path> {
        match self {
            BenchOperation::Spmv(arguments) => arguments.report.html.as_deref(),
            BenchOperation::Spmm(arguments) => arguments.report.html.as_deref(),
            BenchOperation::Spgemm(arguments) => arguments.report.html.as_deref(),
            BenchOperation::Batch(arguments) => arguments.report.html.as_deref(),
            BenchOperation::Hetero(arguments) => arguments.report.html.as_deref(),
            BenchOperation::Convert(_) | BenchOperation::Vector(_) => None,
        }
    }

    /// Whether the table's columns are explained.
    pub(crate) fn has_legend(&self) -> bool {
        match self {
            BenchOperation::Spmv(arguments) => arguments.shown.legend,
            BenchOperation::Spmm(arguments) => arguments.shown.legend,
            BenchOperation::Spgemm(arguments) => arguments.shown.legend,
            BenchOperation::Batch(arguments) => arguments.shown.legend,
            BenchOperation::Hetero(arguments) => arguments.shown.legend,
            BenchOperation::Convert(arguments) => arguments.shown.legend,
            BenchOperation::Vector(arguments) => arguments.shown.legend,
        }
    }

    /// The matrices that are named.
    pub(crate) fn matrices(&self) -> &[OsString] {
        match self {
            BenchOperation::Spmv(arguments) => &arguments.matrices.matrices,
            BenchOperation::Spmm(arguments) => &arguments.matrices.matrices,
            BenchOperation::Spgemm(arguments) => &arguments.matrices.matrices,
            BenchOperation::Batch(arguments) => &arguments.matrices.matrices,
            BenchOperation::Hetero(arguments) => &arguments.matrices.matrices,
            BenchOperation::Convert(arguments) => &arguments.matrices.matrices,
            BenchOperation::Vector(_) => &[],
        }
    }
}

/// What is measured.
#[derive(Debug, Args)]
pub(crate) struct Matrices {
    /// .mtx or .mtx.gz files, .tar.gz with one in each, `-` (standard input), or classes (`sparrow gen --help` lists them)
    pub(crate) matrices: Vec<OsString>,
    /// A suite of classes: quick (12 under 3 million nonzeros), hetero (the 20 of the speculative
    /// segmented sum), papers, full
    #[arg(long)]
    pub(crate) suite: Option<Suite>,
    #[command(flatten)]
    pub(crate) making: Making,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

impl Matrices {
    /// Whether any is named, or a suite.
    pub(crate) fn are_named(&self) -> bool {
        !self.matrices.is_empty() || self.suite.is_some()
    }
}

/// The types of A that an operation is measured in.
#[derive(Debug, Args)]
pub(crate) struct ValueTypes {
    /// What A stores, several with commas
    #[arg(long, default_value = "f32,f64", value_delimiter = ',')]
    pub(crate) value_type: Vec<ValueType>,
}

/// The same where sums are of the type that is stored.
#[derive(Debug, Args)]
pub(crate) struct RealTypes {
    /// f32, f64 or both with a comma
    #[arg(long, default_value = "f32,f64", value_delimiter = ',', value_parser = real_type)]
    pub(crate) value_type: Vec<ValueType>,
}

fn real_type(text: &str) -> Result<ValueType, String> {
    match text {
        "f32" => Ok(ValueType::F32),
        "f64" => Ok(ValueType::F64),
        _ => Err("it must be f32 or f64".to_owned()),
    }
}

/// Hyper-parameters of the kernels.
#[derive(Debug, Args)]
pub(crate) struct Parameters {
    /// Hyper-parameters over the device table's: name=value, several with commas
    #[arg(long, value_name = "NAME=VALUE,...")]
    parameters: Option<ParameterList>,
}

impl Parameters {
    /// Names and values.
    pub(crate) fn to_vec(&self) -> Vec<(String, u32)> {
        self.parameters.iter().flat_map(|list| list.0.clone()).collect()
    }
}

/// How the table is shown.
#[derive(Debug, Args)]
pub(crate) struct Shown {
    /// Say below the table what its columns mean
    #[arg(long)]
    pub(crate) legend: bool,
}

/// The report of an operation that has one.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Also write a report with plots, one self-contained file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchSpmv {
    #[command(flatten)]
    pub(crate) matrices: Matrices,
    /// Names with commas, `all`, or `auto` (chosen for matrix and device)
    #[arg(long, default_value = "auto")]
    pub(crate) algorithms: Algorithms<Algorithm>,
    /// Steps of csr_adaptive that are on: baseline, nrs, nrs-log, full, spin; segmented_sum in one
    /// launch: fused; or where its stage 2 runs: device, cpu; several with commas
    #[arg(long, default_value = "full", value_delimiter = ',')]
    pub(crate) variant: Vec<Variant>,
    #[command(flatten)]
    pub(crate) values: ValueTypes,
    /// plain or compensated
    #[arg(long, default_value = "plain")]
    pub(crate) accumulate: Accumulate,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    /// Which order x and y of evc_hyb are in, several with commas: as the matrix has them, y (permuted), or x and y
    /// (symmetric) in the plan's row order
    #[arg(long, default_value = "original", value_delimiter = ',')]
    pub(crate) order: Vec<VectorOrder>,
    /// How many products a plan is made for: once, several or many
    #[arg(long, default_value = "several")]
    pub(crate) products: Products,
    /// Compare each time with what the bandwidth model predicts, and find where the time goes by three experiments: x
    /// constant, A constant, both constant
    #[arg(long)]
    pub(crate) model: bool,
    /// Rotate over copies that together exceed the cache four times
    #[arg(long)]
    pub(crate) cold: bool,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Debug, Args)]
pub(crate) struct BenchSpmm {
    #[command(flatten)]
    pub(crate) matrices: Matrices,
    /// Columns of B and C, several with commas: each is then compared with as many products with one vector
    #[arg(long, default_value = "32", value_delimiter = ',', value_parser = count::<usize>)]
    pub(crate) columns: Vec<usize>,
    /// Matrices that differ in one thing alone, instead of a suite
    #[arg(long, conflicts_with_all = ["matrices", "suite"])]
    pub(crate) sweep: Option<Sweep>,
    /// How B lies
    #[arg(long, default_value = "row")]
    pub(crate) layout_b: Layout,
    /// How C lies
    #[arg(long, default_value = "row")]
    pub(crate) layout_c: Layout,
    /// Names with commas, `auto` (chosen for matrix and device), or `all` (each, and the choice)
    #[arg(long, default_value = "auto")]
    pub(crate) algorithms: Algorithms<SpmmAlgorithm>,
    #[command(flatten)]
    pub(crate) values: ValueTypes,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Debug, Args)]
pub(crate) struct BenchSpgemm {
    #[command(flatten)]
    pub(crate) matrices: Matrices,
    #[command(flatten)]
    pub(crate) values: RealTypes,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Debug, Args)]
pub(crate) struct BenchBatch {
    #[command(flatten)]
    pub(crate) matrices: Matrices,
    /// Problems of a batch, several with commas
    #[arg(long, default_value = "1000", value_delimiter = ',', value_parser = count::<usize>)]
    pub(crate) batch_size: Vec<usize>,
    /// What batches are made of, several with commas
    #[arg(long, default_value = "homogeneous,mixed", value_delimiter = ',')]
    pub(crate) batch_kind: Vec<BatchKind>,
    /// Problems drawn from the published ranges, with the matrices named; 32 where none is
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub(crate) draw: Option<usize>,
    /// Also the published way of adding cut rows, by float atomics
    #[arg(long)]
    pub(crate) atomic: bool,
    /// Leave out the loop and the block-diagonal product
    #[arg(long)]
    pub(crate) alone: bool,
    /// Names with commas, `auto` (chosen for each problem), or `all` (each, and the choice)
    #[arg(long, default_value = "auto")]
    pub(crate) algorithms: Algorithms<BatchedAlgorithm>,
    #[command(flatten)]
    pub(crate) values: ValueTypes,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Debug, Args)]
pub(crate) struct BenchHetero {
    #[command(flatten)]
    pub(crate) matrices: Matrices,
    /// What computes together with the device: host, or an OpenCL device as --device names it
    #[arg(long, default_value = "host", value_name = "TEXT")]
    pub(crate) partner: String,
    /// The partner's part of the nonzeros, 0 to 1; learnt if left out
    #[arg(long, value_name = "F", value_parser = fraction)]
    pub(crate) share: Option<f64>,
    /// Of the device alone: names with commas, or `all`
    #[arg(long, default_value = "all")]
    pub(crate) algorithms: Algorithms<Algorithm>,
    #[command(flatten)]
    pub(crate) values: ValueTypes,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Debug, Args)]
pub(crate) struct BenchConvert {
    #[command(flatten)]
    pub(crate) matrices: Matrices,
    #[command(flatten)]
    pub(crate) values: ValueTypes,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Debug, Args)]
pub(crate) struct BenchVector {
    #[command(flatten)]
    pub(crate) values: RealTypes,
    /// plain or compensated
    #[arg(long, default_value = "plain")]
    pub(crate) accumulate: Accumulate,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    /// Seed of the vectors
    #[arg(long, default_value_t = csr_core::generate::DEFAULT_SEED, value_parser = whole::<u64>)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

fn fraction(text: &str) -> Result<f64, String> {
    let is_fraction = |value: &f64| (0.0..=1.0).contains(value);
    let value = text.parse().ok().filter(is_fraction);
    value.ok_or_else(|| "it must be 0 to 1".to_owned())
}

/// What `--sweep` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sweep {
    /// 2^24 nonzeros (times --scale) without zeros between, from 2 rows to 2 columns
    Aspect,
    /// Order 100,000 (times --scale), from 0.01 to 1% nonzeros; compared with the dense product
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

/// What `--algorithms` names, of those of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Algorithms<A> {
    /// Chosen by the library.
    Auto,
    /// Every one of the operation.
    All,
    /// These.
    These(Vec<A>),
}

impl<A: Copy> Algorithms<A> {
    /// What to time, `None` for the choice, which is among `all`.
    pub(crate) fn with_choice(&self, all: &[A]) -> Vec<Option<A>> {
        match self {
            Algorithms::Auto => vec![None],
            Algorithms::All => std::iter::once(None).chain(all.iter().copied().map(Some)).collect(),
            Algorithms::These(these) => these.iter().copied().map(Some).collect(),
        }
    }

    /// Those that are named, or all.
    pub(crate) fn named_or(&self, all: &[A]) -> Vec<A> {
        match self {
            Algorithms::Auto | Algorithms::All => all.to_vec(),
            Algorithms::These(these) => these.clone(),
        }
    }
}

impl<A: FromStr> FromStr for Algorithms<A> {
    type Err = A::Err;

    fn from_str(text: &str) -> Result<Self, A::Err> {
        match text {
            "auto" => Ok(Algorithms::Auto),
            "all" => Ok(Algorithms::All),
            _ => text.split(',').map(str::parse).collect::<Result<_, _>>().map(Algorithms::These),
        }
    }
}
