//! Batches: thousands of small products, a launch for each kernel that their problems need (`cl/batched/`; Anzt et al.
//! 2017).

mod algorithm;
pub mod columns;
mod parameters;

use crate::arguments::arguments;
use crate::{Array, Scalar};

pub use algorithm::{BatchedAlgorithm, BatchedChoice, BatchedKernel, BatchedSwitch};
pub use parameters::{Batched, MOST_X_OF_PAIRS, SLICE_ROWS};

/// Compiles for 16-bit column indices.
pub const FEATURE_COLUMNS_U16: &str = "COLUMNS_U16";

/// Adds rows that are cut between sub-groups by float atomics, as published.
pub const FEATURE_ATOMIC: &str = "ATOMIC";

/// Computes problems of one size at equal distances, which are not listed.
pub const FEATURE_ONE_RANGE: &str = "ONE_RANGE";

/// Of [`BatchedKernel::CsrIInStep`]: takes the steps of a chunk from the last to the first.
pub const FEATURE_REVERSE: &str = "REVERSE";

/// Of the same: x of a problem may not fit local memory.
pub const FEATURE_WIDE_X: &str = "WIDE_X";

/// 64-bit words of a task that is listed (`cl/batched/task.h`).
pub const TASK_WORDS: usize = 8;

/// 64-bit words of a strided range of tasks (`cl/batched/task.h`).
pub const RANGE_WORDS: usize = 16;

/// The most strided ranges that a batch is surveyed by, instead of problem by problem.
pub const MOST_RANGES: usize = 16;

/// The most entries of a problem that shares a group with others.
pub const SMALL_ENTRIES: usize = 512;

/// Nonzeros from which on a problem is cut: each part fetches x again, so parts of a few thousand lose more than
/// they gain (docs/notebook/2026-11-24-batches-h200.md).
pub const NNZ_PER_TASK: usize = 20_000;

arguments! {
    /// Arguments of the kernel `batched`, of which each source of a [`BatchedKernel`] has one.
    pub struct Arguments<M> for "batched" {
        /// Tasks.
        task_count: u32,
        /// The first of them, which have a group each; the others have a sub-group.
        whole: u32,
        /// The first task of a strided range, and what it grows by ([`FEATURE_ONE_RANGE`]).
        range: [u64; RANGE_WORDS],
        /// The tasks where they are listed, [`TASK_WORDS`] each.
        tasks: Array<M>,
        /// Row offsets (CSR), row indices (COO), or where the slices of sliced ELL begin.
        index: Array<M>,
        /// Column indices, or what [`columns`] makes of them.
        columns: Array<M>,
        /// Values.
        values: Array<M>,
        /// The vectors x.
        x: Array<M>,
        /// The vectors y.
        y: Array<M>,
        /// Scales A x: one for all, or one a problem.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
        /// Elements from one problem's alpha to the next: 0 or 1.
        alpha_stride: u32,
        /// The same of beta.
        beta_stride: u32,
    }
}

#[cfg(test)]
mod tests {
    use csr_core::batch::Format;

    use super::*;

    #[test]
    fn kinds_are_those_of_the_kernels() {
        let text = crate::source::text_of("batched/task.h");
        let number = |name: &str| -> u32 {
            let line = text.lines().find(|line| line.starts_with(&format!("#define {name} ")));
            line.unwrap().rsplit(' ').next().unwrap().parse().unwrap()
        };
        let (csr, sliced) = (Format::Csr, Format::SlicedEll);
        for (algorithm, format, name) in [
            (BatchedAlgorithm::CsrScalar, csr, "KIND_CSR_SCALAR"),
            (BatchedAlgorithm::CsrVector, csr, "KIND_CSR_VECTOR"),
            (BatchedAlgorithm::CsrSmart, csr, "KIND_CSR_SMART"),
            (BatchedAlgorithm::CsrI, csr, "KIND_CSR_I"),
            (BatchedAlgorithm::Coo, Format::Coo, "KIND_COO"),
            (BatchedAlgorithm::Ell, Format::Ell { width: 1 }, "KIND_ELL"),
            (BatchedAlgorithm::Ell, sliced, "KIND_SLICED_ELL"),
        ] {
            assert_eq!(algorithm.kind(format), number(name), "{name}");
        }
        assert_eq!(TASK_WORDS, number("TASK_WORDS") as usize);
    }
}
