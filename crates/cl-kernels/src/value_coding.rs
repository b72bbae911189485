//! `value_coding`: which values a matrix has, and their codes (`cl/format/value_coding.cl`); and the forms of a product
//! that reads them (`cl/item/copied_values.h`).

use csr_core::{ValueCoding, ValueType};

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_between, parameters};
use crate::{Array, ParameterError};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/value_coding.cl";

/// Words of the table of the values that occur: `TABLE_SLOTS` of the source.
pub const TABLE_SLOTS: usize = 1024;
/// Values that an item takes: `RUN` of the source.
pub const RUN: usize = 64;

/// Of kernels that move values: they are alone in their program.
pub const FEATURE_VALUES_ALONE: &str = "VALUES_ALONE";
/// Of kernels that move values: what is moved are codes, of 8 bits.
pub const FEATURE_CODES: &str = "CODES";

/// The form of a product that reads values coded so; `None` where they are as they are.
pub fn feature(coding: ValueCoding) -> Option<&'static str> {
    match coding {
        ValueCoding::AsTheyAre => None,
        ValueCoding::OneValue => Some("ONE_VALUE"),
        ValueCoding::Dictionary => Some("DICTIONARY"),
        ValueCoding::F32 => Some("VALUES_F32"),
    }
}

/// The forms that there are for values of a type.
pub(crate) fn features(value_type: ValueType) -> Vec<&'static str> {
    let is_wide = value_type == ValueType::F64;
    let all = [ValueCoding::OneValue, ValueCoding::Dictionary, ValueCoding::F32];
    all.into_iter().filter(|one| is_wide || *one != ValueCoding::F32).filter_map(feature).collect()
}

/// Bytes that an algorithm's copy has for the column of a nonzero.
const COLUMN_BYTES: u64 = 2;

/// Whether a dictionary of values gains on a GPU: where the copy as it is would come from memory, beyond a last cache of
/// `cache_bytes`; f64 in that cache, too. f32 there takes 1.0 to 1.12 times as long by a dictionary
/// (docs/notebook/2026-11-29-fewer-bytes.md).
pub fn dictionary_pays(value_type: ValueType, nnz: u64, cache_bytes: u64) -> bool {
    let nonzero_bytes = value_type.size_bytes() as u64 + COLUMN_BYTES;
    value_type == ValueType::F64 || nnz.saturating_mul(nonzero_bytes) > cache_bytes
}

/// Checks an algorithm's parameter that says whether its copy of values may be coded.
pub(crate) fn check_coded(algorithm: &'static str, value: u32) -> Result<(), ParameterError> {
    check_between(algorithm, "coded_values", value, 0..=2)
}

parameters! {
    /// Parameters of `value_coding`.
    pub struct ValueCodingKernel for "value_coding" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `find_values`.
    pub struct FindArguments<M> for "find_values" {
        /// How many values there are.
        count: u32,
        /// The values.
        source: Array<M>,
        /// A result: 1 + the index of one of each value that occurs, [`TABLE_SLOTS`] words, 0 before.
        table: Array<M>,
        /// A result: how many values occur, and whether some of f64 are no f32; two words, 0 before.
        found: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `table_values`.
    pub struct TableArguments<M> for "table_values" {
        /// The values.
        source: Array<M>,
        /// What `find_values` made of them.
        table: Array<M>,
        /// A result: the value of each slot that has one, [`TABLE_SLOTS`].
        values: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `code_values`.
    pub struct CodeArguments<M> for "code_values" {
        /// How many values there are.
        count: u32,
        /// How many values the dictionary has: 1 to 256.
        entries: u32,
        /// The values that occur, in order of size and then of sign.
        dictionary: Array<M>,
        /// The values.
        source: Array<M>,
        /// The result: the code of each, a byte.
        codes: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `narrow_values`, of f64 alone.
    pub struct NarrowArguments<M> for "narrow_values" {
        /// How many values there are.
        count: u32,
        /// The values.
        source: Array<M>,
        /// The result: each as f32.
        narrow: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dictionary_of_f32_gains_beyond_the_last_cache_alone() {
        let cache = 60_000_000;
        assert!(!dictionary_pays(ValueType::F32, 10_000_000, cache));
        assert!(dictionary_pays(ValueType::F32, 10_000_001, cache));
        assert!(!dictionary_pays(ValueType::F16, 15_000_000, cache));
        assert!(dictionary_pays(ValueType::F64, 1, cache));
        assert!(dictionary_pays(ValueType::F32, u64::MAX, cache));
    }
}
