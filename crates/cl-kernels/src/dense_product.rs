//! `dense_product`: the dense product that sparse ones are compared with (`cl/measure/dense_product.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::parameters;

/// Path of the source below `cl/`.
pub const SOURCE: &str = "measure/dense_product.cl";

/// Rows of C that a work-group makes.
pub const TILE_ROWS: usize = 128;

/// Columns of C that a work-group makes.
pub const TILE_COLUMNS: usize = 64;

parameters! {
    /// Parameters of `dense_product`.
    pub struct DenseProductKernel for "dense_product" {
        /// Items of a work-group: 256, or on a CPU 1.
        group_size: [1, 256],
    }
}

arguments! {
    /// Arguments of the kernel `write_out_zeros`.
    pub struct WriteOutArguments<M> for "write_out_zeros" {
        /// The first row.
        first_row: u32,
        /// Columns of A.
        columns_of_a: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values of A: nnz.
        values: Array<M>,
        /// The rows with their zeros.
        dense: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `dense_product`.
    pub struct Arguments<M> for "dense_product" {
        /// Rows of A and C.
        rows: u32,
        /// Columns of A and rows of B.
        depth: u32,
        /// Columns of B and C.
        width: u32,
        /// A.
        a: Array<M>,
        /// B.
        b: Array<M>,
        /// C.
        c: Array<M>,
    }
}
