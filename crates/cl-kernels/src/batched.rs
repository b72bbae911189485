//! `batched`: thousands of small products in one launch (`cl/batched/batched.cl`; Anzt et al. 2017).

mod algorithm;
mod parameters;
pub mod step_notes;

use crate::arguments::arguments;
use crate::{Array, Scalar};

pub use algorithm::{BatchedAlgorithm, BatchedSwitch};
pub use parameters::{Batched, MOST_X_OF_PAIRS, SLICE_ROWS};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "batched/batched.cl";

/// Compiles for 16-bit column indices.
pub const FEATURE_COLUMNS_U16: &str = "COLUMNS_U16";

/// Adds rows that are cut between sub-groups by float atomics, as published.
pub const FEATURE_ATOMIC: &str = "ATOMIC";

/// Computes one strided range of problems by `batched_csr_i`, of no more than [`MOST_NNZ_OF_PLACES`], and nothing else.
pub const FEATURE_ALIKE: &str = "ALIKE";

/// The most nonzeros of tasks that [`FEATURE_ALIKE`] and [`FEATURE_FORWARD`] compute: their places, up to 31 more, have
/// 16 bits.
pub const MOST_NNZ_OF_PLACES: u32 = 65_504;

/// Computes tasks by `batched_csr_i`, each a group's, and nothing else, and has sub-groups walk their chunks by
/// themselves (`cl/batched/walk.h`): where [`Batched::runs_in_step`], x of every problem fits local memory, and every
/// task is such as [`Batched::can_walk`] says.
pub const FEATURE_FORWARD: &str = "FORWARD";

/// The same from the end of each chunk, in every other launch.
pub const FEATURE_BACKWARD: &str = "BACKWARD";

/// Computes one strided range of problems, of whatever kind.
pub const FEATURE_ONE_RANGE: &str = "ONE_RANGE";

/// Computes a list that is not packed, and two strided ranges at most.
pub const FEATURE_FEW_RANGES: &str = "FEW_RANGES";

/// Adds up long rows among short ones by all items of a sub-group, where those run in step.
pub const FEATURE_LONG_ROWS: &str = "LONG_ROWS";

/// 64-bit words of a task that is listed (`cl/batched/task.h`).
pub const TASK_WORDS: usize = 8;

/// 64-bit words of a strided range of tasks (`cl/batched/task.h`).
pub const RANGE_WORDS: usize = 16;

/// Bits by which `widths` tells the width of one field of a packed task from the next.
pub const WIDTH_BITS: u32 = 6;

/// From this bit on `widths` says which groups of a packed task's fields begin a word.
pub const GROUPS_BIT: u32 = 60;

/// A packed task's place in the offsets or indices is counted from 0.
pub const FOLLOWS_NOTHING: u32 = 0;

/// From y and the problem's number, as row offsets lie.
pub const FOLLOWS_ROWS: u32 = 1;

/// From that in values, as row indices lie.
pub const FOLLOWS_VALUES: u32 = 2;

/// The most strided ranges: each task searches for its own.
pub const MOST_RANGES: usize = 16;

/// The most entries of a problem that shares a group with others.
pub const SMALL_ENTRIES: usize = 512;

/// Nonzeros from which on a problem is cut: each part fetches x again, so parts of a few thousand lose more than
/// they gain (docs/notebook/2026-11-24-batches-h200.md).
pub const NNZ_PER_TASK: usize = 20_000;

arguments! {
    /// Arguments of the kernel `batched`.
    pub struct Arguments<M> for "batched" {
        /// Tasks.
        task_count: u32,
        /// The first of them, which have a group each; the others have a sub-group.
        whole: u32,
        /// Tasks that are listed in full, before those of strided ranges.
        listed: u32,
        /// Strided ranges of tasks; 0 where all tasks are listed.
        range_count: u32,
        /// Words of a task in a packed list; 0 where none is packed.
        packed_words: u32,
        /// How many bits each field of a packed task has, [`WIDTH_BITS`] a field, and which begin a word
        /// ([`GROUPS_BIT`]).
        widths: u64,
        /// What a packed task's place in offsets or indices is counted from.
        follows: u32,
        /// The last strided range; of a packed list the least of all tasks.
        last: [u64; RANGE_WORDS],
        /// The strided range before it; where there is none, the same as the last.
        before_last: [u64; RANGE_WORDS],
        /// The tasks that are listed, [`TASK_WORDS`] each or packed.
        tasks: Array<M>,
        /// The strided ranges before the last two, [`RANGE_WORDS`] each.
        ranges: Array<M>,
        /// What the plan noted of each step ([`step_notes`]).
        step_notes: Array<M>,
        /// Row offsets of CSR problems.
        offsets: Array<M>,
        /// Row indices of COO problems, and where the slices of sliced ELL begin.
        indices: Array<M>,
        /// Column indices.
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
        let text_of = |path| crate::SOURCES.iter().find(|source| source.path == path).unwrap().text;
        let text = text_of("batched/task.h");
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
        assert_eq!(RANGE_WORDS, number("RANGE_WORDS") as usize);
        let text = text_of("batched/find_task.h");
        assert!(text.contains(&format!("#define FOLLOWS_ROWS {FOLLOWS_ROWS} ")));
        assert!(text.contains(&format!("#define FOLLOWS_VALUES {FOLLOWS_VALUES} ")));
        assert!(text.contains(&format!("widths >> ({WIDTH_BITS} * field)")));
        assert!(text.contains(&format!("#define GROUPS_BIT {GROUPS_BIT} ")));
        assert!(text.contains(&format!(
            "widths << {} >> {}",
            64 - GROUPS_BIT,
            64 - 4 * WIDTH_BITS
        )));
    }
}
