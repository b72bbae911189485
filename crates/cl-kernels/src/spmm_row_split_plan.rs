//! `spmm_row_split_plan`: how even rows are, which are alike, and which are long (`cl/spmm/spmm_row_split_plan.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmm/spmm_row_split_plan.cl";

parameters! {
    /// Parameters of `spmm_row_split_plan`.
    pub struct SpmmRowSplitPlan for "spmm_row_split_plan" {
        /// Items of a work-group: a multiple of 32.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `count_steps`.
    pub struct StepArguments<M> for "count_steps" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The result in two words, 0 before.
        steps: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `find_alike_rows`.
    pub struct AlikeArguments<M> for "find_alike_rows" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// The result, a bit a row.
        alike: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `find_long_rows`.
    pub struct LongArguments<M> for "find_long_rows" {
        /// Rows of A.
        rows: u32,
        /// The most nonzeros of a row that is not long.
        part_nnz: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The result, in any order: each long row, and the number of its parts.
        found: Array<M>,
        /// How many there are, 0 before.
        count: Array<M>,
    }
}
