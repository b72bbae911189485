//! `spgemm_order`: whether columns ascend in every row, and a copy in which they do (`cl/spgemm/spgemm_order.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spgemm/spgemm_order.cl";

parameters! {
    /// Parameters of `spgemm_order`.
    pub struct SpgemmOrder for "spgemm_order" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `count_descents`.
    pub struct DescentArguments<M> for "count_descents" {
        /// Rows of the matrix.
        rows: u32,
        /// Its nonzeros.
        nnz: u64,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Columns: nnz.
        columns: Array<M>,
        /// The result in two words each, 0 before: entries that do not lie beyond the one before, and rows that begin so.
        descents: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `write_keys`.
    pub struct KeyArguments<M> for "write_keys" {
        /// Rows of the matrix.
        rows: u32,
        /// Bits of a key that hold the column.
        column_bits: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Columns: nnz.
        columns: Array<M>,
        /// The result: a key an entry.
        keys: Array<M>,
        /// The result: the number of each entry.
        entries: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `merge_rows`.
    pub struct MergeArguments<M> for "merge_rows" {
        /// Rows of the matrix.
        rows: u32,
        /// Bits of a key that hold the column.
        column_bits: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The sorted keys.
        keys: Array<M>,
        /// Where each entry stood.
        entries: Array<M>,
        /// The values as they stood.
        values: Array<M>,
        /// The result: where each row ends.
        ends: Array<M>,
        /// The result: columns.
        columns: Array<M>,
        /// The result: values.
        sums: Array<M>,
    }
}
