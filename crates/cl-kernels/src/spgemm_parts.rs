//! `spgemm_parts`: values of crowded rows of C, whose products are sorted by windows (`cl/spgemm/spgemm_parts.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spgemm/spgemm_parts.cl";

parameters! {
    /// Parameters of `spgemm_parts`.
    pub struct SpgemmParts for "spgemm_parts" {
        /// Items of a work-group: a power of two, at least 32.
        group_size: GROUP_SIZES,
        /// Entries of C of a window.
        outputs: [512, 1024],
        /// Products that an item has in flight.
        products_per_item: [2, 4, 8],
    }
}

arguments! {
    /// Arguments of the kernel `write_parts`.
    pub struct WriteArguments<M> for "write_parts" {
        /// The first part.
        first_part: u64,
        /// Parts.
        count: u32,
        /// Entries of all listed rows.
        entries: u32,
        /// Listed rows.
        slots: u32,
        /// Rows of C.
        rows: Array<M>,
        /// Where the entries of each listed row begin, and their number.
        entry_starts: Array<M>,
        /// Where the windows of each listed row begin, and their number.
        window_starts: Array<M>,
        /// Where the parts of each entry begin, and their number.
        starts: Array<M>,
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
        /// Columns of C.
        c_columns: Array<M>,
        /// The result: the window of each part.
        windows: Array<M>,
        /// The result: the number of each part, from 0 on.
        numbers: Array<M>,
        /// The result: where each part comes from, two words.
        sources: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `fill_parts`, a group for each window.
    pub struct FillArguments<M> for "fill_parts" {
        /// Parts.
        count: u32,
        /// 0 where these are the first parts of all, else 1.
        has_sums: u32,
        /// Listed rows.
        slots: u32,
        /// Rows of C.
        rows: Array<M>,
        /// Where the windows of each listed row begin, and their number.
        window_starts: Array<M>,
        /// The window of each part, ascending.
        windows: Array<M>,
        /// The number that each part had.
        numbers: Array<M>,
        /// Where each part comes from, two words, by its number.
        sources: Array<M>,
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
        /// Columns of C.
        c_columns: Array<M>,
        /// The result: values of C, sums so far.
        c_values: Array<M>,
    }
}
