//! `solver_vectors`: copies and norms around a solve (`cl/solver/solver_vectors.cl`).

use crate::arguments::arguments;
use crate::parameters::parameters;
use crate::{Array, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "solver/solver_vectors.cl";

parameters! {
    /// Parameters of `solver_vectors`: those of the solver.
    pub struct SolverVectors for "solver_vectors" {
        /// Items of a work-group: a power of two.
        group_size: [64, 128, 256, 512],
        /// Chunks of 16 bytes that an item has under way.
        batch: [1, 2, 4],
    }
}

arguments! {
    /// Arguments of the kernel `copy_vector`.
    pub struct CopyArguments<M> for "copy_vector" {
        /// Elements.
        count: u64,
        /// What is read.
        source: Array<M>,
        /// What is written.
        target: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `vector_norms`.
    pub struct NormArguments<M> for "vector_norms" {
        /// Tiles of the vector.
        tiles: u32,
        /// 0.
        zero: u32,
        /// What elements are multiplied by before they are squared.
        scale: Scalar<M>,
        /// The vector.
        vector: Array<M>,
        /// Where groups put their sums: `cl/group/launch_sum.h`.
        sums_space: Array<M>,
        /// `cl/solver/state.h`.
        state: Array<M>,
    }
}
