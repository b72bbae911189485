//! `spgemm_hash`: columns of rows of C by a hash table in local memory (`cl/spgemm/spgemm_hash.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spgemm/spgemm_hash.cl";

parameters! {
    /// Parameters of `spgemm_hash`.
    pub struct SpgemmHash for "spgemm_hash" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Products of a row, at most: a power of two.
        capacity: [256, 512, 1024, 2048],
    }
}

arguments! {
    /// Arguments of the kernel `count_hashed`.
    pub struct CountArguments<M> for "count_hashed" {
        /// Rows in the list.
        count: u32,
        /// Rows of C.
        rows: Array<M>,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// Columns of A: a row of B each.
        a_columns: Array<M>,
        /// Where each row of B begins.
        b_begins: Array<M>,
        /// Where each row of B ends.
        b_ends: Array<M>,
        /// Columns of B, ascending in each row.
        b_columns: Array<M>,
        /// The result: the entries of each row of C, at the row's index.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `fill_hashed`.
    pub struct FillArguments<M> for "fill_hashed" {
        /// Rows in the list.
        count: u32,
        /// Rows of C.
        rows: Array<M>,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// Columns of A: a row of B each.
        a_columns: Array<M>,
        /// Where each row of B begins.
        b_begins: Array<M>,
        /// Where each row of B ends.
        b_ends: Array<M>,
        /// Columns of B, ascending in each row.
        b_columns: Array<M>,
        /// Row offsets of C: rows + 1.
        c_offsets: Array<M>,
        /// The result: columns of C.
        c_columns: Array<M>,
    }
}
