//! `dense_rows`: a row-major copy of a dense matrix (`cl/format/dense_rows.cl`).

use csr_core::Layout;

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/dense_rows.cl";

/// The matrix is row-major already, and its copy's rows are further apart.
pub const FEATURE_FROM_ROW_MAJOR: &str = "FROM_ROW_MAJOR";

/// Rows and columns of what one work-group copies of a column-major matrix.
const TILE_SIDE: usize = 16;

/// Elements of the copy that a work-group writes of a row-major one, or one row.
const GROUP_ELEMENTS: usize = 2048;

/// Work-groups that copy a matrix; the rows of the copy are `row_leading` elements apart.
pub fn groups(layout: Layout, rows: usize, columns: usize, row_leading: usize) -> usize {
    match layout {
        Layout::RowMajor => rows.div_ceil((GROUP_ELEMENTS / row_leading.max(1)).max(1)),
        Layout::ColumnMajor => rows.div_ceil(TILE_SIDE) * columns.div_ceil(TILE_SIDE),
    }
}

parameters! {
    /// Parameters of `dense_rows`.
    pub struct DenseRows for "dense_rows" {
        /// Items of a work-group: a multiple of 16.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `dense_rows`.
    pub struct Arguments<M> for "dense_rows" {
        /// Rows of the matrix.
        rows: u32,
        /// Its columns.
        width: u32,
        /// Elements from one of its columns (rows) to the next.
        leading: u64,
        /// Elements from one row of the copy to the next.
        row_leading: u32,
        /// The matrix.
        from: Array<M>,
        /// The copy.
        to: Array<M>,
    }
}
