//! `sort`: rows by 64-bit keys (`cl/format/sort.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/sort.cl";

/// Bits of a key that three launches sort by (`DIGIT_BITS` of the kernel).
pub const DIGIT_BITS: u32 = 4;

parameters! {
    /// Parameters of `sort`.
    pub struct Sort for "sort" {
        /// Items of a work-group: a power of two, at least 16.
        group_size: GROUP_SIZES,
        /// Neighbouring keys that an item moves.
        keys_per_item: [4, 8, 16],
    }
}

arguments! {
    /// Arguments of the kernel `count_digits`.
    pub struct CountArguments<M> for "count_digits" {
        /// Keys.
        count: u32,
        /// Bits below the digit.
        shift: u32,
        /// The keys.
        keys: Array<M>,
        /// How often each digit is in each tile, by digit.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `scan_counts`.
    pub struct ScanArguments<M> for "scan_counts" {
        /// Counts.
        count: u32,
        /// Each becomes the sum of those before it.
        counts: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `move_by_digit`.
    pub struct MoveArguments<M> for "move_by_digit" {
        /// Keys.
        count: u32,
        /// Bits below the digit.
        shift: u32,
        /// Where each tile's keys with each digit go.
        counts: Array<M>,
        /// The keys.
        keys: Array<M>,
        /// Their rows.
        rows: Array<M>,
        /// The keys in order of the digit.
        sorted_keys: Array<M>,
        /// Their rows.
        sorted_rows: Array<M>,
    }
}
