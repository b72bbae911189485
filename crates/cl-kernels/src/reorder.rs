//! `reorder`: a dense vector in another order, and back (`cl/vector/reorder.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "vector/reorder.cl";

parameters! {
    /// Parameters of `reorder`.
    pub struct Reorder for "reorder" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `gather_vector`.
    pub struct GatherArguments<M> for "gather_vector" {
        /// Elements of the vector.
        count: u32,
        /// The index that each element of the target comes from: count.
        order: Array<M>,
        /// The vector: count.
        source: Array<M>,
        /// The vector in the order: count.
        target: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `scatter_vector`.
    pub struct ScatterArguments<M> for "scatter_vector" {
        /// Elements of the vector.
        count: u32,
        /// The index that each element of the source goes to: count.
        order: Array<M>,
        /// The vector in the order: count.
        source: Array<M>,
        /// The vector: count.
        target: Array<M>,
    }
}
