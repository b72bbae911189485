//! What each operation of `sparrow bench` takes.

use clap::Args;
use sparrow::{
    Accumulate, Algorithm, BatchedAlgorithm, Choice, Reordering, Reuse, SpmmAlgorithm, SpmmVariant,
    Variant, VectorOrder,
};

use super::columns::Columns;
use super::names::{Algorithms, BatchKind, Layout, Sweep};
use super::parts::{Matrices, Parameters, RealTypes, Report, Shown, ValueTypes};
use crate::arguments::{count, names, whole};

#[derive(Debug, Args)]
pub(crate) struct BenchSpmv {
    #[command(flatten)]
    pub(crate) matrices: Matrices,
    #[arg(long, value_name = "NAMES", default_value = "auto", help = spmv_help(""))]
    pub(crate) algorithms: Algorithms<Algorithm>,
    /// Ways in which a named algorithm runs, several with commas; its default one if left out. Steps of csr_adaptive that
    /// are on: baseline, nrs, nrs-log, full, spin; segmented_sum in one launch: fused, or where its stage 2 runs:
    /// device, cpu; evc_hyb: hybrid, sorted-csr
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) variant: Vec<Variant>,
    #[command(flatten)]
    pub(crate) values: ValueTypes,
    /// How sums are made: plain, or compensated, which keeps what each addition rounds off
    #[arg(long, value_name = "HOW", default_value = "plain")]
    pub(crate) accumulate: Accumulate,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    /// Put rows and columns of the matrix in another order first, in a copy, several with commas: none; rcm (reverse
    /// Cuthill-McKee, of square matrices); clusters (of rows that share columns)
    #[arg(long, value_name = "NAMES", default_value = "none", value_delimiter = ',')]
    pub(crate) reordering: Vec<Reordering>,
    /// Which order x and y are in, with --reordering or of evc_hyb, several with commas: as the matrix has them (original);
    /// y in the plan's order of rows, of evc_hyb by their length (permuted); x and y so, as in a solver (symmetric)
    #[arg(long, value_name = "ORDERS", default_value = "original", value_delimiter = ',')]
    pub(crate) order: Vec<VectorOrder>,
    /// How many products with the matrix `auto` counts on: once, several (some tens) or many (hundreds, which pay for a
    /// copy of the matrix and for trying candidates on it) [default: several]
    #[arg(long, value_name = "HOW_MANY")]
    pub(crate) products: Option<Reuse>,
    /// Run what an earlier run has chosen instead of choosing again: `choice` of its JSON, or a line below its table,
    /// such as "csr_flat(group_size=256,tile_nnz=4096)"
    #[arg(long, conflicts_with_all = ["algorithms", "variant"])]
    pub(crate) choice: Option<Choice>,
    /// With --products many, how many products may be spent on timing candidates before the choice, at most; 0 times none,
    /// and so does a matrix whose product takes much less than its launch [default: 40]
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub(crate) measured_products: Option<u32>,
    /// Compare each time with what the bandwidth model predicts, and find where the time goes by three experiments: x
    /// constant, A constant, both constant
    #[arg(long)]
    pub(crate) model: bool,
    /// Rotate over so many copies of the matrix that none is in the device's cache when it is multiplied again
    #[arg(long)]
    pub(crate) cold: bool,
    /// Compare N products that are launched one by one with N that were recorded and are launched by one call: kernel by
    /// kernel, and by a command buffer of the driver's where it has them
    #[arg(long, value_name = "N", value_parser = count::<u32>, conflicts_with = "cold")]
    pub(crate) launches: Option<u32>,
    #[command(flatten)]
    pub(crate) report: Report,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Debug, Args)]
pub(crate) struct BenchSpmm {
    #[command(flatten)]
    pub(crate) matrices: Matrices,
    /// Columns of B and C, numbers and ranges with commas (1,8,32 or 1-33): each is then compared with as many products
    /// with one vector
    #[arg(long, default_value = "32", allow_hyphen_values = true)]
    pub(crate) columns: Columns,
    /// Matrices that differ in one thing alone, instead of a suite
    #[arg(long, conflicts_with_all = ["matrices", "suite"])]
    pub(crate) sweep: Option<Sweep>,
    /// How B lies
    #[arg(long, default_value = "row")]
    pub(crate) layout_b: Layout,
    /// How C lies
    #[arg(long, default_value = "row")]
    pub(crate) layout_c: Layout,
    #[arg(long, value_name = "NAMES", default_value = "auto", help = each_help(&SpmmAlgorithm::ALL, "matrix and device"))]
    pub(crate) algorithms: Algorithms<SpmmAlgorithm>,
    /// Forms, several with commas: default; published (the mean row decides, row split takes rows as they come and whole,
    /// merge is a nonzero split)
    #[arg(long, value_name = "NAMES", default_value = "default", value_delimiter = ',')]
    pub(crate) variant: Vec<SpmmVariant>,
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
    /// Problems that are drawn at random from the ranges of the paper on batches, besides the matrices named; 32 where
    /// none is
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub(crate) draw: Option<usize>,
    /// Also the published way of adding the parts of rows that are cut, by float atomics (batched_coo, batched_csr_i)
    #[arg(long)]
    pub(crate) atomic: bool,
    /// Also ELL as published, every problem padded to its longest row however much that is (batched_ell)
    #[arg(long)]
    pub(crate) pure_ell: bool,
    /// Leave out what batches are compared with: the loop of single products, and the block-diagonal product
    #[arg(long)]
    pub(crate) alone: bool,
    #[arg(long, value_name = "NAMES", default_value = "auto", help = each_help(&BatchedAlgorithm::ALL, "each problem"))]
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
    /// The partner's part of the nonzeros, 0 to 1; found by trying if left out
    #[arg(long, value_name = "F", value_parser = fraction)]
    pub(crate) share: Option<f64>,
    #[arg(long, value_name = "NAMES", default_value = "auto", help = spmv_help("Of the device alone: "))]
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
    /// How sums are made: plain, or compensated, which keeps what each addition rounds off
    #[arg(long, value_name = "HOW", default_value = "plain")]
    pub(crate) accumulate: Accumulate,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    /// Seed of the vectors
    #[arg(long, default_value_t = csr_core::generate::DEFAULT_SEED, value_parser = whole::<u64>)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

/// What names algorithms of SpMV.
fn spmv_help(of: &str) -> String {
    format!(
        "{of}`auto` (chosen for matrix and device), `all`, or names with commas: {}",
        names(&Algorithm::ALL)
    )
}

/// What names algorithms of an operation where `all` has the choice too.
fn each_help(all: &[impl std::fmt::Display], what: &str) -> String {
    format!(
        "`auto` (chosen for {what}), `all` (each, and the choice), or names with commas: {}",
        names(all)
    )
}

fn fraction(text: &str) -> Result<f64, String> {
    let is_fraction = |value: &f64| (0.0..=1.0).contains(value);
    let value = text.parse().ok().filter(is_fraction);
    value.ok_or_else(|| "it must be 0 to 1".to_owned())
}
