//! `sell_sigma_plan`: SELL-C-sigma made from CSR on the device (`cl/spmv/sell_sigma_plan.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/sell_sigma_plan.cl";

parameters! {
    /// Parameters of `sell_sigma_plan`.
    pub struct SellSigmaPlan for "sell_sigma_plan" {
        /// Items of a work-group: a multiple of 32.
        group_size: GROUP_SIZES,
        /// Nonzeros that a lane has at most: longer rows are shared.
        lane_nnz: [8, 16, 32, 64],
        /// Rows that are sorted among each other.
        window_rows: [256, 512, 1024],
    }
}

arguments! {
    /// Arguments of the kernel `sell_sigma_order`.
    pub struct OrderArguments<M> for "sell_sigma_order" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// A result: the rows in order, rows.
        order: Array<M>,
        /// A result: slices of each window.
        window_slices: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `sell_sigma_slices`.
    pub struct SliceArguments<M> for "sell_sigma_slices" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The rows in order: rows.
        order: Array<M>,
        /// The first slice of each window: windows + 1.
        window_starts: Array<M>,
        /// The result: what each slice is, 64 bits, slices + 1.
        slices: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `sell_sigma_shape`.
    pub struct ShapeArguments<M> for "sell_sigma_shape" {
        /// Rows of A: at least 1.
        rows: u32,
        /// Slices: at least 1.
        slice_count: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// The rows in order: rows.
        order: Array<M>,
        /// What each slice is: slices + 1.
        slices: Array<M>,
        /// A result: pairs of each slice's longest lane, slices.
        pairs: Array<M>,
        /// A result: what a slice's columns are counted from, slices.
        bases: Array<M>,
        /// A result: slices with 32-bit columns, added to the word that is there.
        wide: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `sell_sigma_columns`.
    pub struct ColumnArguments<M> for "sell_sigma_columns" {
        /// Rows of A: at least 1.
        rows: u32,
        /// Slices: at least 1.
        slice_count: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// The rows in order: rows.
        order: Array<M>,
        /// What each slice is: slices + 1.
        slices: Array<M>,
        /// The first pair of each slice, over 32: slices + 1.
        starts: Array<M>,
        /// What a slice's columns are counted from: slices.
        bases: Array<M>,
        /// A result: lower halves of columns, two a word, 32 for each of `starts`.
        low_columns: Array<M>,
        /// A result: upper halves, where a slice has them.
        high_columns: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `sell_sigma_values`.
    pub struct ValueArguments<M> for "sell_sigma_values" {
        /// Rows of A: at least 1.
        rows: u32,
        /// Slices: at least 1.
        slice_count: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The rows in order: rows.
        order: Array<M>,
        /// What each slice is: slices + 1.
        slices: Array<M>,
        /// The first pair of each slice, over 32: slices + 1.
        starts: Array<M>,
        /// Values of compressed rows: nnz.
        source: Array<M>,
        /// The result: values in the order of the slices, 64 for each of `starts`.
        target: Array<M>,
    }
}
