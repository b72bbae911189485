//! `row_offsets`: compressed rows from sorted entries (`cl/format/row_offsets.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/row_offsets.cl";

parameters! {
    /// Parameters of `row_offsets`.
    pub struct RowOffsetsKernel for "row_offsets" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `row_offsets`.
    pub struct Arguments<M> for "row_offsets" {
        /// Rows of A.
        rows: u32,
        /// Entries of A.
        nnz: u32,
        /// The row of each entry: nnz.
        row_indices: Array<M>,
        /// The result: rows + 1.
        offsets: Array<M>,
        /// One word, 0 before: 1 where entries are not sorted by row, or a row lies outside.
        fault: Array<M>,
    }
}
