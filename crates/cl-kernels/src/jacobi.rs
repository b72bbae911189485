//! `jacobi`: the inverse of a matrix's diagonal (`cl/solver/jacobi.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::parameters;

/// Path of the source below `cl/`.
pub const SOURCE: &str = "solver/jacobi.cl";

parameters! {
    /// Parameters of `jacobi`.
    pub struct Jacobi for "jacobi" {
        /// Items of a work-group.
        group_size: [1, 64, 128, 256],
        /// Items that share a row: a power of two, at most `group_size`.
        items_per_row: [1, 8],
    }
}

arguments! {
    /// Arguments of the kernel `inverse_diagonal`.
    pub struct Arguments<M> for "inverse_diagonal" {
        /// Rows.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values: nnz.
        values: Array<M>,
        /// The inverse of each row's diagonal.
        inverse: Array<M>,
        /// Becomes the least row whose diagonal has no inverse, where that is less.
        flawed: Array<M>,
    }
}
