//! `evc_hyb_plan`: EVC-HYB made from CSR on the device (`cl/spmv/evc_hyb_plan.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/evc_hyb_plan.cl";

/// Feature: columns become the indices, in the order, of the rows of the same number.
pub const FEATURE_RENUMBER: &str = "RENUMBER";

parameters! {
    /// Parameters of `evc_hyb_plan`.
    pub struct EvcHybPlan for "evc_hyb_plan" {
        /// Items of a work-group: a power of two; for `arrange`, the product's.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `make_keys`.
    pub struct KeyArguments<M> for "make_keys" {
        /// Rows of A.
        row_count: u32,
        /// Bits of a key that hold a column; above them is the length.
        column_bits: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// The results: rows, 64 bits each.
        keys: Array<M>,
        /// The rows: rows.
        rows: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `count_rows`.
    pub struct CountArguments<M> for "count_rows" {
        /// Rows of A.
        row_count: u32,
        /// Bits of a key that hold a column.
        column_bits: u32,
        /// Nonzeros of the shortest row that is long by its length.
        long_length: u32,
        /// What rows of a strip and elements of a long row are multiples of.
        alignment: u32,
        /// Lengths asked about.
        boundary_count: u32,
        /// The lengths.
        boundaries: Array<M>,
        /// Keys, ascending: rows.
        keys: Array<M>,
        /// The results: how many rows are shorter than each, and in two words the elements of all long rows.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `ordered_lengths`.
    pub struct LengthArguments<M> for "ordered_lengths" {
        /// Rows of A.
        row_count: u32,
        /// Bits of a key that hold a column.
        column_bits: u32,
        /// Keys, ascending: rows.
        keys: Array<M>,
        /// The results: rows.
        row_lengths: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `start_long_rows`.
    pub struct StartArguments<M> for "start_long_rows" {
        /// Rows of A.
        row_count: u32,
        /// The index of the first long row.
        split: u32,
        /// What elements of a long row are multiples of.
        alignment: u32,
        /// Where the first begins.
        start: u64,
        /// The nonzeros of the row at each index: rows.
        row_lengths: Array<M>,
        /// The results: long rows.
        long_starts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `invert_order`.
    pub struct InvertArguments<M> for "invert_order" {
        /// Rows of A.
        row_count: u32,
        /// The row at each index of the order: rows.
        row_order: Array<M>,
        /// The results, the index of each row: rows.
        order_indices: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `arrange`.
    pub struct ArrangeArguments<M> for "arrange" {
        /// What elements of a long row are multiples of.
        alignment: u32,
        /// What each work-group takes.
        tasks: Array<M>,
        /// The row at each index of the order: rows.
        row_order: Array<M>,
        /// The nonzeros of the row at each index: rows.
        row_lengths: Array<M>,
        /// Where each long row begins.
        long_starts: Array<M>,
        /// Row offsets of CSR: rows + 1.
        offsets: Array<M>,
        /// What goes with the nonzeros of CSR: nnz.
        source: Array<M>,
        /// The index of each row, with [`FEATURE_RENUMBER`]; else nothing is read.
        order_indices: Array<M>,
        /// The results: elements.
        target: Array<M>,
    }
}
