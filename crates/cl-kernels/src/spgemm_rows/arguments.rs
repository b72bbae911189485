//! Arguments of the kernels of `spgemm_rows`.

use crate::Array;
use crate::arguments::arguments;

arguments! {
    /// Arguments of the kernel `classify_rows`.
    pub struct ClassifyArguments<M> for "classify_rows" {
        /// The first row.
        first_row: u32,
        /// Rows.
        count: u32,
        /// Those that a group takes at once: at most its items.
        group_rows: u32,
        /// What a row that is long takes more than.
        long_work: u64,
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
        /// The result: 0 for each row of C, of all there are, that has no products.
        counts: Array<M>,
        /// The result: a byte a row.
        classes: Array<M>,
        /// The result, 0 before: rows of each class, two words of the products of all but the last, and two of the entries
        /// of A of the last.
        tallies: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `classify_outputs`.
    pub struct OutputArguments<M> for "classify_outputs" {
        /// Rows in the list.
        count: u32,
        /// Rows of A and C.
        rows: Array<M>,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// Entries of each row of C, of all there are.
        counts: Array<M>,
        /// The result: a byte a listed row.
        classes: Array<M>,
        /// The result, 0 before: rows of each class, and windows of [`WINDOW_ROWS`](super::WINDOW_ROWS).
        tallies: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `list_rows`.
    pub struct ListArguments<M> for "list_rows" {
        /// The first row.
        first_row: u32,
        /// Rows.
        count: u32,
        /// A byte a row.
        classes: Array<M>,
        /// Rows of each class.
        tallies: Array<M>,
        /// Rows of each class that are written: 0 before.
        cursors: Array<M>,
        /// The result: the rows, by class, but for the first class.
        list: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `list_outputs`.
    pub struct ListOutputArguments<M> for "list_outputs" {
        /// Rows in the list to be sorted.
        count: u32,
        /// Rows of C.
        rows: Array<M>,
        /// A byte for each of them.
        classes: Array<M>,
        /// Rows of each class.
        tallies: Array<M>,
        /// Rows of each class that are written: 0 before.
        cursors: Array<M>,
        /// The result: the rows, by class.
        list: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `list_windows`.
    pub struct WindowArguments<M> for "list_windows" {
        /// Rows in the list.
        count: u32,
        /// Rows of C.
        rows: Array<M>,
        /// Entries of each row of C.
        counts: Array<M>,
        /// The windows so far: 0 before.
        cursor: Array<M>,
        /// The result: row and window, two words each.
        windows: Array<M>,
    }
}
