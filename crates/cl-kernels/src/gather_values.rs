//! `gather_values`: values of a matrix in another order (`cl/format/gather_values.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/gather_values.cl";

parameters! {
    /// Parameters of `gather_values`.
    pub struct GatherValues for "gather_values" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `gather_values`.
    pub struct Arguments<M> for "gather_values" {
        /// The number of values, as the last row offset holds it: an array of one.
        count: Array<M>,
        /// Where each value comes from: nnz.
        sources: Array<M>,
        /// The values: nnz.
        values: Array<M>,
        /// Where they go: nnz.
        target: Array<M>,
    }
}
