//! `dense_rows`: a row-major copy of a column-major matrix (`cl/format/dense_rows.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/dense_rows.cl";

/// Rows and columns of what one work-group copies.
pub const TILE_SIDE: usize = 16;

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
        /// Elements from one of its columns to the next.
        leading: u64,
        /// Elements from one row of the copy to the next.
        row_leading: u32,
        /// The matrix.
        from: Array<M>,
        /// The copy.
        to: Array<M>,
    }
}
