//! What `sparrow bench` takes: one of its operations.

mod columns;
mod figure;
mod names;
mod operations;
mod parts;

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, Subcommand};

use super::examples::{
    BENCH_BATCH_EXAMPLES, BENCH_CONVERT_EXAMPLES, BENCH_FIGURE_EXAMPLES, BENCH_HETERO_EXAMPLES,
    BENCH_SPGEMM_EXAMPLES, BENCH_SPMM_EXAMPLES, BENCH_SPMV_EXAMPLES, BENCH_VECTOR_EXAMPLES,
};
pub(crate) use figure::{BenchFigure, sweeps};
pub(crate) use names::{Algorithms, BatchKind, Sweep};
pub(crate) use operations::{
    BenchBatch, BenchConvert, BenchHetero, BenchSpgemm, BenchSpmm, BenchSpmv, BenchVector,
};
pub(crate) use parts::Matrices;

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
    /// y = A x of thousands of small problems at once
    ///
    /// Compared with a loop of single products and with the block-diagonal product. Without matrices, problems drawn
    /// from the published ranges.
    #[command(after_help = BENCH_BATCH_EXAMPLES)]
    Batch(BenchBatch),
    /// y = A x by a device and the host's cores, or two devices, at once
    ///
    /// Compared with each alone; with --algorithms all or segmented_sum, also with the two stages of segmented_sum on both.
    /// Without matrices, the suite hetero.
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
    /// A figure of one of the five papers, drawn from results of this device
    ///
    /// It says first how long it will take. Without matrices, the paper's (likenesses), as large as --budget allows.
    #[command(after_help = BENCH_FIGURE_EXAMPLES)]
    Figure(BenchFigure),
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
            BenchOperation::Figure(arguments) => arguments.report.html.as_deref(),
            BenchOperation::Convert(_) | BenchOperation::Vector(_) => None,
        }
    }

    /// Where other libraries' results are read.
    pub(crate) fn peers(&self) -> Option<&Path> {
        match self {
            BenchOperation::Figure(arguments) => arguments.peers.as_deref(),
            _ => None,
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
            BenchOperation::Figure(_) => false,
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
            BenchOperation::Figure(arguments) => &arguments.matrices,
            BenchOperation::Vector(_) => &[],
        }
    }
}
