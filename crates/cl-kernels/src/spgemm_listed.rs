//! Arguments of the kernels that find the columns of listed rows of C: those of `spgemm_tiny`, `spgemm_hash` and
//! `spgemm_bitmap`.

use crate::Array;
use crate::arguments::arguments;

arguments! {
    /// Arguments of the kernel `count_listed`, which each of the three has.
    pub struct CountArguments<M> for "count_listed" {
        /// Rows in the list.
        count: u32,
        /// Rows of C.
        rows: Array<M>,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// Columns of A: a row of B each.
        a_columns: Array<M>,
        /// Where each row of B begins.
        b_begins: Array<M>,
        /// Where each row of B ends.
        b_ends: Array<M>,
        /// Columns of B, ascending in each row.
        b_columns: Array<M>,
        /// The result: the entries of each row of C, at the row's index.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `fill_listed`; `spgemm_tiny` has another, which sums values too.
    pub struct FillArguments<M> for "fill_listed" {
        /// Rows in the list.
        count: u32,
        /// Rows of C.
        rows: Array<M>,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// Columns of A: a row of B each.
        a_columns: Array<M>,
        /// Where each row of B begins.
        b_begins: Array<M>,
        /// Where each row of B ends.
        b_ends: Array<M>,
        /// Columns of B, ascending in each row.
        b_columns: Array<M>,
        /// Row offsets of C: rows + 1.
        c_offsets: Array<M>,
        /// The result: columns of C.
        c_columns: Array<M>,
    }
}
