//! `csr_to_coo`: the row of each nonzero, and what a transposed copy is made of (`cl/format/csr_to_coo.cl`).

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};
use crate::{Array, DeviceTraits};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/csr_to_coo.cl";

/// An item takes neighbouring nonzeros, and goes through the offsets from the row of the first on.
pub const FEATURE_ROWS_IN_ORDER: &str = "ROWS_IN_ORDER";

parameters! {
    /// Parameters of `csr_to_coo`.
    pub struct CsrToCoo for "csr_to_coo" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// Nonzeros that an item finds the rows of.
        nnz_per_item: [4, 8, 16],
    }
}

impl CsrToCoo {
    /// For [`FEATURE_ROWS_IN_ORDER`]: as many nonzeros as make the first search a small part of the work, in groups so
    /// small that all units have some, and no larger than the device's.
    pub fn in_order(device: &DeviceTraits) -> Self {
        CsrToCoo { group_size: device.max_group_size.clamp(1, 2) as u32, nnz_per_item: 2048 }
    }

    /// Nonzeros of a group.
    pub fn tile(&self) -> usize {
        (self.group_size * self.nnz_per_item) as usize
    }
}

arguments! {
    /// Arguments of the kernel `expand_rows`.
    pub struct ExpandArguments<M> for "expand_rows" {
        /// Rows of the matrix.
        rows: u32,
        /// Nonzeros: at least one.
        nnz: u64,
        /// The row offsets: rows + 1.
        offsets: Array<M>,
        /// The row of each nonzero: nnz.
        row_indices: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `number_columns`.
    pub struct NumberArguments<M> for "number_columns" {
        /// Nonzeros.
        nnz: u32,
        /// The column of each: nnz.
        columns: Array<M>,
        /// A copy of them: nnz.
        keys: Array<M>,
        /// The numbers of the nonzeros, from 0 on: nnz.
        numbers: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `write_transposed`.
    pub struct TransposedArguments<M> for "write_transposed" {
        /// Nonzeros.
        nnz: u32,
        /// Their numbers, in order of their columns: nnz.
        numbers: Array<M>,
        /// The row of each nonzero: nnz.
        row_indices: Array<M>,
        /// The columns of the transposed matrix: nnz.
        columns: Array<M>,
        /// Where each of its values comes from: nnz.
        sources: Array<M>,
    }
}
