//! `longest_row`: the nonzeros of the longest row (`cl/format/longest_row.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/longest_row.cl";

parameters! {
    /// Parameters of `longest_row`.
    pub struct LongestRow for "longest_row" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `longest_row`.
    pub struct Arguments<M> for "longest_row" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The result, 0 before: an array of one.
        longest: Array<M>,
    }
}
