//! `csr_to_dense`: a dense matrix from compressed rows (`cl/format/csr_to_dense.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/csr_to_dense.cl";

parameters! {
    /// Parameters of `csr_to_dense`.
    pub struct CsrToDense for "csr_to_dense" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// Elements that an item sets to zero.
        elements_per_item: [4, 8, 16],
    }
}

arguments! {
    /// Arguments of the kernel `zero_dense`.
    pub struct ZeroArguments<M> for "zero_dense" {
        /// Rows, or columns, that lie apart.
        lines: u64,
        /// Elements of each.
        length: u64,
        /// Elements from the beginning of one to that of the next.
        leading: u64,
        /// The dense matrix.
        dense: Array<M>,
        /// One word, which becomes 0.
        disorder: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `find_disorder`.
    pub struct DisorderArguments<M> for "find_disorder" {
        /// Nonzeros.
        nnz: u64,
        /// The row of each: nnz.
        row_indices: Array<M>,
        /// The column of each: nnz.
        columns: Array<M>,
        /// One word, 0 before: 1 where a row is not in order of its columns.
        disorder: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `scatter_nonzeros`.
    pub struct ScatterArguments<M> for "scatter_nonzeros" {
        /// Nonzeros.
        nnz: u64,
        /// Elements from a row to the next.
        row_stride: u64,
        /// Elements from a column to the next.
        column_stride: u64,
        /// What `find_disorder` found.
        disorder: Array<M>,
        /// The row of each nonzero: nnz.
        row_indices: Array<M>,
        /// The column of each: nnz.
        columns: Array<M>,
        /// The value of each: nnz.
        values: Array<M>,
        /// The dense matrix, zero before.
        dense: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `add_rows`.
    pub struct RowArguments<M> for "add_rows" {
        /// Rows of the matrix.
        rows: u32,
        /// Elements from a row to the next.
        row_stride: u64,
        /// Elements from a column to the next.
        column_stride: u64,
        /// What `find_disorder` found.
        disorder: Array<M>,
        /// The row offsets: rows + 1.
        offsets: Array<M>,
        /// The column of each nonzero: nnz.
        columns: Array<M>,
        /// The value of each: nnz.
        values: Array<M>,
        /// The dense matrix, zero before.
        dense: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `write_rows`.
    pub struct WriteRowArguments<M> for "write_rows" {
        /// Rows of the matrix.
        rows: u32,
        /// Columns of the matrix.
        cols: u32,
        /// Elements from a row to the next.
        leading: u64,
        /// The row offsets: rows + 1.
        offsets: Array<M>,
        /// The column of each nonzero: nnz.
        columns: Array<M>,
        /// The value of each: nnz.
        values: Array<M>,
        /// The dense matrix.
        dense: Array<M>,
    }
}
