//! Measuring products: every result that is timed is verified, and one that is wrong has no time.

mod batch;
mod convert;
mod device;
mod hetero;
mod host;
mod launches;
mod layout;
mod model;
mod operands;
mod peer;
mod reordering;
mod solve;
mod spgemm;
mod spmm;
mod timing;
mod vector;

use csr_core::verify::Summation;
use sparrow::{
    Accumulate, Algorithm, Choice, Measuring, OffsetType, Rates, Reordering, Reuse, ValueType,
    Variant, VectorOrder,
};

use crate::{Details, GeneratorOptions, Record, SCHEMA};

pub use batch::{
    BatchPeers, BatchProblems, BatchSubject, measure_batch, measure_batch_loop, measure_batch_peers,
};
pub use convert::measure_conversions;
pub use device::measure_on_device;
pub use hetero::{ChipRates, add_stages, as_hetero, measure_both};
pub use host::{host_rates, measure_on_host};
pub use launches::add_launches;
pub use model::Model;
pub(crate) use operands::read_blocking;
pub use peer::{PeerRun, peer_record};
pub use reordering::{ReorderedForecast, ReorderingForecast};
pub use solve::{SolveSubject, SolveTarget, Solved, measure_solve};
pub use spgemm::measure_spgemm;
pub use spmm::{SpmmResults, SpmmSubject, measure_spmm};
pub use timing::{Budget, Samples};
pub use vector::{VectorSubject, measure_vectors};

/// Why a measurement could not be made; a wrong result is no error but a record that says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The library refused.
    #[error(transparent)]
    Sparrow(#[from] sparrow::Error),
    /// The matrix was refused.
    #[error(transparent)]
    Matrix(#[from] csr_core::Error),
    /// A candidate of a tuner whose product is wrong: it is not timed.
    #[error("{candidate} is wrong: {message}")]
    Wrong {
        /// The candidate, and what it ran on.
        candidate: String,
        /// What is wrong with its product.
        message: String,
    },
}

impl From<sparrow::RuntimeError> for MeasureError {
    fn from(error: sparrow::RuntimeError) -> Self {
        MeasureError::Sparrow(error.into())
    }
}

impl MeasureError {
    /// Whether the library has refused this algorithm, matrix, type and device together, or its product is wrong: others
    /// may be measured. Else a call of the driver has failed, or a kernel does not build.
    pub fn is_refusal(&self) -> bool {
        use sparrow::{Error as S, RuntimeError as R};
        match self {
            MeasureError::Matrix(_) | MeasureError::Wrong { .. } => true,
            MeasureError::Sparrow(S::Matrix(_) | S::Parameter(_)) => true,
            MeasureError::Sparrow(error) if error.is_mismatch() => true,
            MeasureError::Sparrow(S::Runtime(error)) => matches!(
                error,
                R::Allocation { .. }
                    | R::KernelGroup { .. }
                    | R::Matrix(_)
                    | R::Parameter(_)
                    | R::Range { .. }
                    | R::Unsupported { .. }
                    | R::Value { .. }
            ),
            MeasureError::Sparrow(_) => false,
        }
    }
}

/// What is measured besides the matrix.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What runs; `None` chooses for matrix and device.
    pub algorithm: Option<Algorithm>,
    /// The steps of CSR-Adaptive.
    pub variant: Variant,
    /// How products are summed.
    pub accumulate: Accumulate,
    /// Hyper-parameters over the device table's.
    pub parameters: Vec<(String, u32)>,
    /// Whether rows and columns are put in another order first.
    pub reordering: Reordering,
    /// Which order x and y are in; another than the matrix's is refused where neither the algorithm has one of its own nor
    /// there is a reordering.
    pub order: VectorOrder,
    /// How many products follow a plan.
    pub reuse: Reuse,
    /// What an earlier plan chose, before everything else.
    pub choice: Option<Choice>,
    /// Whether candidates are timed where many products follow.
    pub measuring: Measuring,
    /// Whether launches rotate over copies that together exceed the cache four times.
    pub is_cold: bool,
    /// How long to measure.
    pub budget: Budget,
}

/// Where the matrix came from, for the record.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Name of the matrix in records.
    pub name: String,
    /// "file", "assembled" or "likeness".
    pub source: &'static str,
    /// How it was made.
    pub generator: GeneratorOptions,
}

fn summation(accumulate: Accumulate) -> Summation {
    match accumulate {
        Accumulate::Plain => Summation::Plain,
        Accumulate::Compensated => Summation::Compensated,
    }
}

/// Bytes that must move once in a product with beta = 0: columns, values, offsets, x and y.
fn bytes_once(shape: &Shape) -> f64 {
    let value = shape.value_type.size_bytes() as f64;
    let accumulator = shape.value_type.accumulator().size_bytes() as f64;
    shape.nnz as f64 * (4.0 + value)
        + (shape.rows as f64 + 1.0) * shape.offset_type.size_bytes() as f64
        + (shape.rows as f64 + shape.cols as f64) * accumulator
}

/// The figures a product's bytes follow from.
#[derive(Clone, Copy, Debug)]
struct Shape {
    rows: usize,
    cols: usize,
    nnz: usize,
    value_type: ValueType,
    offset_type: OffsetType,
}

/// The fields every record has, times left out; sums are plain, and the cache is hot.
fn untimed_record(origin: &Origin, shape: &Shape, details: Details) -> Record {
    Record {
        schema: SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        matrix: origin.name.clone(),
        source: origin.source.to_owned(),
        rows: shape.rows as u64,
        cols: shape.cols as u64,
        nnz: shape.nnz as u64,
        op: details.operation(),
        algorithm: String::new(),
        variant: String::new(),
        params: String::new(),
        kernel_key: String::new(),
        value_type: shape.value_type.to_string(),
        offset_type: shape.offset_type.to_string(),
        accumulate: Accumulate::Plain.to_string(),
        device: String::new(),
        platform: String::new(),
        driver: String::new(),
        seed: origin.generator.seed,
        scale: (origin.source != "file" && origin.generator.scale != 1.0)
            .then_some(origin.generator.scale),
        stream_gbytes_per_s: None,
        copy_gbytes_per_s: None,
        cache: "hot".to_owned(),
        median_us: None,
        min_us: None,
        p95_us: None,
        runs: 0,
        gflops: None,
        gbytes_per_s: None,
        limit_us: None,
        limit_fraction: None,
        setup_us: None,
        setup_in_products: None,
        plan_bytes: 0,
        repeatable: false,
        verified: false,
        error_in_tolerance: None,
        non_finite: 0,
        details,
    }
}

/// The fields of a product with a vector that `subject` decides, too.
fn untimed_spmv(origin: &Origin, shape: &Shape, subject: &Subject, details: Details) -> Record {
    let cache = if subject.is_cold { "cold" } else { "hot" }.to_owned();
    let accumulate = subject.accumulate.to_string();
    Record { accumulate, cache, ..untimed_record(origin, shape, details) }
}

/// Fills in times and what follows from them, for a product that must move `bytes` once; only for results that
/// verified.
fn add_times(
    record: &mut Record,
    shape: &Shape,
    bytes: f64,
    samples: &Samples,
    rates: &Rates,
    setup_us: f64,
) {
    let median = samples.median_us();
    let limit = bytes / rates.best() * 1e6;
    record.median_us = Some(median);
    record.min_us = Some(samples.min_us());
    record.p95_us = Some(samples.p95_us());
    record.runs = samples.launches();
    record.gflops = Some(2.0 * shape.nnz as f64 / median / 1e3);
    record.gbytes_per_s = Some(bytes / median / 1e3);
    record.limit_us = Some(limit);
    record.limit_fraction = Some(limit / median);
    record.setup_us = Some(setup_us);
    record.setup_in_products = Some(setup_us / median);
}
