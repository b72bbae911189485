//! `spgemm_tiny`: rows of C of few products, an item each or a few (`cl/spgemm/spgemm_tiny.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spgemm/spgemm_tiny.cl";

parameters! {
    /// Parameters of `spgemm_tiny`.
    pub struct SpgemmTiny for "spgemm_tiny" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Products of a row, at most.
        capacity: [16, 32, 64],
        /// Items of a row: a power of two, at most the group's.
        row_items: [1, 2, 4, 8, 16],
    }
}

impl SpgemmTiny {
    /// Local memory of a group that sums products of so many bytes.
    pub fn local_bytes(&self, number: u64) -> u64 {
        let rows = u64::from(self.group_size / self.row_items.max(1));
        let of_row = u64::from(self.capacity) + u64::from(self.row_items > 1);
        rows * of_row * (4 + number) + 4 * u64::from(self.group_size)
    }
}

arguments! {
    /// Arguments of the kernel `fill_tiny`.
    pub struct FillArguments<M> for "fill_tiny" {
        /// Rows in the list.
        count: u32,
        /// Rows of C.
        rows: Array<M>,
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
        /// The result: columns of C.
        c_columns: Array<M>,
        /// The result: values of C.
        c_values: Array<M>,
    }
}
