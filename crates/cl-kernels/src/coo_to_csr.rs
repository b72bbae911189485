//! `coo_to_csr`: compressed rows from entries in any order (`cl/format/coo_to_csr.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/coo_to_csr.cl";

/// Words that the kernel `make_keys` finds: whether entries are unordered, the first with a row outside, the first
/// with a column outside.
pub const FINDINGS: usize = 3;

parameters! {
    /// Parameters of `coo_to_csr`.
    pub struct CooToCsrKernel for "coo_to_csr" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `make_keys`.
    pub struct KeyArguments<M> for "make_keys" {
        /// Entries.
        nnz: u32,
        /// Rows of the matrix.
        rows: u32,
        /// Columns of the matrix.
        cols: u32,
        /// Bits of a key that hold the column.
        column_bits: u32,
        /// The row of each entry: nnz.
        row_indices: Array<M>,
        /// The column of each entry: nnz.
        column_indices: Array<M>,
        /// The key of each entry: nnz.
        keys: Array<M>,
        /// The numbers of the entries, from 0 on: nnz.
        numbers: Array<M>,
        /// What was found on the way: [`FINDINGS`].
        findings: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `mark_firsts`.
    pub struct FirstArguments<M> for "mark_firsts" {
        /// Entries.
        nnz: u32,
        /// Their keys, ascending: nnz.
        keys: Array<M>,
        /// 1 for the first entry of each row and column, 0 for others: nnz.
        firsts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `find_offsets`.
    pub struct OffsetArguments<M> for "find_offsets" {
        /// Rows of the matrix.
        rows: u32,
        /// Entries.
        nnz: u32,
        /// Bits of a key that hold the column.
        column_bits: u32,
        /// 1 where entries of one row and column are summed.
        is_packed: u32,
        /// The keys, ascending: nnz.
        keys: Array<M>,
        /// Where they are summed, the index of each entry: nnz + 1.
        indices: Array<M>,
        /// The result: rows + 1.
        offsets: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `write_columns`.
    pub struct ColumnArguments<M> for "write_columns" {
        /// Entries.
        nnz: u32,
        /// Bits of a key that hold the column.
        column_bits: u32,
        /// 1 where entries of one row and column are summed.
        is_packed: u32,
        /// The keys, ascending: nnz.
        keys: Array<M>,
        /// Where they are summed, the index of each entry: nnz + 1.
        indices: Array<M>,
        /// The column of each index.
        columns: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `write_values`.
    pub struct ValueArguments<M> for "write_values" {
        /// Entries.
        nnz: u32,
        /// 1 where entries of one row and column are summed.
        is_packed: u32,
        /// Their numbers in sorted order: nnz.
        numbers: Array<M>,
        /// Where they are summed, the index of each entry: nnz + 1.
        indices: Array<M>,
        /// The value of each entry, in the order they had: nnz.
        from: Array<M>,
        /// The value of each index.
        to: Array<M>,
    }
}
