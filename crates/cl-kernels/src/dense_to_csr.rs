//! `dense_to_csr`: compressed rows from a dense matrix (`cl/format/dense_to_csr.cl`).

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};
use crate::{Array, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/dense_to_csr.cl";

parameters! {
    /// Parameters of `dense_to_csr`.
    pub struct DenseToCsrKernel for "dense_to_csr" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// Elements of a row that an item looks at.
        cell: [4, 8, 16],
    }
}

arguments! {
    /// Arguments of the kernel `count_cells`.
    pub struct CountArguments<M> for "count_cells" {
        /// Rows of the matrix.
        rows: u32,
        /// Columns of the matrix.
        cols: u32,
        /// Cells of a row.
        row_cells: u32,
        /// Elements from a row to the next.
        row_stride: u64,
        /// Elements from a column to the next.
        column_stride: u64,
        /// What is larger in size is kept, and NaN.
        tolerance: Scalar<M>,
        /// The dense matrix.
        dense: Array<M>,
        /// What each cell keeps: rows x row_cells.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `write_cells`.
    pub struct WriteArguments<M> for "write_cells" {
        /// Rows of the matrix.
        rows: u32,
        /// Columns of the matrix.
        cols: u32,
        /// Cells of a row.
        row_cells: u32,
        /// Elements from a row to the next.
        row_stride: u64,
        /// Elements from a column to the next.
        column_stride: u64,
        /// As before.
        tolerance: Scalar<M>,
        /// The dense matrix.
        dense: Array<M>,
        /// What is kept before each cell, and in all: rows x row_cells + 1.
        kept_offsets: Array<M>,
        /// The row offsets: rows + 1.
        offsets: Array<M>,
        /// The column of each nonzero: nnz.
        columns: Array<M>,
        /// The value of each: nnz.
        values: Array<M>,
    }
}
