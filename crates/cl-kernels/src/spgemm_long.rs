//! `spgemm_long`: columns of long rows of C, at which all groups work together (`cl/spgemm/spgemm_long.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spgemm/spgemm_long.cl";

parameters! {
    /// Parameters of `spgemm_long`.
    pub struct SpgemmLong for "spgemm_long" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Products whose bits an item sets.
        products_per_item: [4, 8, 16],
        /// Words of a window, of 32 columns each.
        tile_words: [1024, 2048, 4096],
    }
}

impl SpgemmLong {
    /// What suits groups of up to `max_group_size` items.
    pub fn for_groups(max_group_size: u64) -> Self {
        let group_size = 1 << max_group_size.clamp(1, 256).ilog2();
        SpgemmLong { group_size, products_per_item: 8, tile_words: 2048 }
    }

    /// Products that a group takes.
    pub fn chunk(&self) -> usize {
        self.group_size as usize * self.products_per_item as usize
    }
}

arguments! {
    /// Arguments of the kernel `count_entries`.
    pub struct EntriesArguments<M> for "count_entries" {
        /// Rows in the list.
        count: u32,
        /// Rows of A.
        rows: Array<M>,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// The result: the entries of each listed row.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `start_entries`, one group.
    pub struct StartArguments<M> for "start_entries" {
        /// Rows in the list.
        count: u32,
        /// Rows of A.
        rows: Array<M>,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// The result: where the entries of each listed row begin, and their number.
        entry_starts: Array<M>,
        /// The result: no limit for each listed row.
        limits: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `measure_entries`.
    pub struct MeasureArguments<M> for "measure_entries" {
        /// Entries of all listed rows.
        entries: u32,
        /// Listed rows.
        slots: u32,
        /// Rows of A.
        rows: Array<M>,
        /// Where the entries of each listed row begin, and their number.
        entry_starts: Array<M>,
        /// What an entry of each listed row counts for, at most.
        limits: Array<M>,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// Columns of A: a row of B each.
        a_columns: Array<M>,
        /// Where each row of B begins.
        b_begins: Array<M>,
        /// Where each row of B ends.
        b_ends: Array<M>,
        /// The result: what each entry counts for.
        lengths: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `mark_columns`.
    pub struct MarkArguments<M> for "mark_columns" {
        /// Entries of all listed rows.
        entries: u32,
        /// Listed rows.
        slots: u32,
        /// Words of the bitmap for each.
        row_words: u32,
        /// Rows of A.
        rows: Array<M>,
        /// Where the entries of each listed row begin, and their number.
        entry_starts: Array<M>,
        /// Where the products of each entry begin, and their number.
        starts: Array<M>,
        /// Row offsets of A: rows + 1.
        a_offsets: Array<M>,
        /// Columns of A: a row of B each.
        a_columns: Array<M>,
        /// Where each row of B begins.
        b_begins: Array<M>,
        /// Columns of B.
        b_columns: Array<M>,
        /// The result, 0 before: a bit for each column of each listed row.
        bitmap: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `count_tiles`, a group for each window.
    pub struct TileArguments<M> for "count_tiles" {
        /// A bit for each column of each listed row.
        bitmap: Array<M>,
        /// The result: the bits of each window.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `count_rows`.
    pub struct CountArguments<M> for "count_rows" {
        /// Rows in the list.
        count: u32,
        /// Windows of each.
        row_tiles: u32,
        /// Rows of C.
        rows: Array<M>,
        /// Where the columns of each window begin, and their number.
        window_offsets: Array<M>,
        /// The result: the entries of each row of C, at the row's index.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `fill_tiles`, a group for each window.
    pub struct FillArguments<M> for "fill_tiles" {
        /// Windows of each row.
        row_tiles: u32,
        /// Rows of C.
        rows: Array<M>,
        /// Where the columns of each window begin, and their number.
        window_offsets: Array<M>,
        /// A bit for each column of each listed row.
        bitmap: Array<M>,
        /// Row offsets of C: rows + 1.
        c_offsets: Array<M>,
        /// The result: columns of C.
        c_columns: Array<M>,
    }
}
