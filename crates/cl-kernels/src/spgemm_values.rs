//! `spgemm_values`: values of rows of C whose columns are known (`cl/spgemm/spgemm_values.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spgemm/spgemm_values.cl";

/// Feature of a program whose tasks are windows of rows: two words each, not one.
pub const WINDOWS: &str = "WINDOWS";

parameters! {
    /// Parameters of `spgemm_values`.
    pub struct SpgemmValues for "spgemm_values" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Entries of C that a group sums at a time.
        outputs: [128, 256, 512, 1024],
        /// Products that an item has in flight.
        products_per_item: [2, 4, 8],
    }
}

arguments! {
    /// Arguments of the kernel `fill_values`.
    pub struct Arguments<M> for "fill_values" {
        /// Tasks.
        count: u32,
        /// Rows of C, or with [`WINDOWS`] rows and windows.
        tasks: Array<M>,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// Columns of A: a row of B each.
        a_columns: Array<M>,
        /// Values of A.
        a_values: Array<M>,
        /// Where each row of B begins.
        b_begins: Array<M>,
        /// Where each row of B ends.
        b_ends: Array<M>,
        /// Columns of B, ascending in each row.
        b_columns: Array<M>,
        /// Values of B.
        b_values: Array<M>,
        /// Row offsets of C: rows + 1.
        c_offsets: Array<M>,
        /// Columns of C.
        c_columns: Array<M>,
        /// The result: values of C.
        c_values: Array<M>,
    }
}
