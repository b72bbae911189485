//! Types and choices as numbers, and the way from a number to a type.

use sparrow::{Accumulate, Layout, OffsetType, Op, Planning, Reuse, ValueType};

use crate::failure::{Failure, Result};

/// What a matrix stores: one of SPARROW_VALUE_TYPE_...; x, y, alpha, beta and all sums are `double` for F64 and
/// `float` for the others.
pub type sparrow_value_type = u32;
/// 32-bit IEEE floating point.
pub const SPARROW_VALUE_TYPE_F32: sparrow_value_type = 1;
/// 64-bit IEEE floating point.
pub const SPARROW_VALUE_TYPE_F64: sparrow_value_type = 2;
/// 16-bit IEEE floating point, stored only.
pub const SPARROW_VALUE_TYPE_F16: sparrow_value_type = 3;
/// The upper half of a float, stored only.
pub const SPARROW_VALUE_TYPE_BF16: sparrow_value_type = 4;

/// What row offsets are: one of SPARROW_OFFSET_TYPE_...; column indices are uint32_t.
pub type sparrow_offset_type = u32;
/// 32 bits: at most 4,294,967,295 nonzeros.
pub const SPARROW_OFFSET_TYPE_U32: sparrow_offset_type = 1;
/// 64 bits.
pub const SPARROW_OFFSET_TYPE_U64: sparrow_offset_type = 2;

/// How many products will follow, which an automatic choice weighs a plan's cost against.
pub type sparrow_products = u32;
/// Some tens.
pub const SPARROW_PRODUCTS_SEVERAL: sparrow_products = 0;
/// One.
pub const SPARROW_PRODUCTS_ONCE: sparrow_products = 1;
/// Hundreds: a copy of the matrix pays.
pub const SPARROW_PRODUCTS_MANY: sparrow_products = 2;

/// How products are summed.
pub type sparrow_accumulate = u32;
/// In the type of x and y.
pub const SPARROW_ACCUMULATE_PLAIN: sparrow_accumulate = 0;
/// With a running error term: about twice the digits.
pub const SPARROW_ACCUMULATE_COMPENSATED: sparrow_accumulate = 1;

/// Which matrix multiplies.
pub type sparrow_operation = u32;
/// A itself.
pub const SPARROW_OPERATION_NORMAL: sparrow_operation = 0;
/// A transposed: a copy that the plan keeps, and that new values reach by ..._update_values_blocking.
pub const SPARROW_OPERATION_TRANSPOSE: sparrow_operation = 1;

/// Where a plan is computed; the plan is the same.
pub type sparrow_planning = u32;
/// Where it takes least time.
pub const SPARROW_PLANNING_AUTOMATIC: sparrow_planning = 0;
/// On the host: row offsets are read back.
pub const SPARROW_PLANNING_ON_HOST: sparrow_planning = 1;
/// On the device: a few bytes are read back.
pub const SPARROW_PLANNING_ON_DEVICE: sparrow_planning = 2;

/// Which elements of a dense matrix lie side by side.
pub type sparrow_layout = u32;
/// Those of a row.
pub const SPARROW_LAYOUT_ROW_MAJOR: sparrow_layout = 1;
/// Those of a column.
pub const SPARROW_LAYOUT_COLUMN_MAJOR: sparrow_layout = 2;

/// How a problem of a batch is stored.
pub type sparrow_format = u32;
/// Compressed rows: rows + 1 row offsets, counted from any number on.
pub const SPARROW_FORMAT_CSR: sparrow_format = 1;
/// Coordinates in the order of their rows: a row index for each entry.
pub const SPARROW_FORMAT_COO: sparrow_format = 2;
/// Rows of `ell_width` slots, entries of neighbouring rows side by side.
pub const SPARROW_FORMAT_ELL: sparrow_format = 3;
/// Slices of 32 neighbouring rows, each with a width of its own; ceil(rows / 32) + 1 slice starts.
pub const SPARROW_FORMAT_SLICED_ELL: sparrow_format = 4;

/// What a number stands for, or a failure that lists what there is.
pub(crate) fn choice<T: Copy>(value: u32, name: &str, all: &[(u32, &str, T)]) -> Result<T> {
    let found = all.iter().find(|(number, _, _)| *number == value);
    found.map(|(_, _, choice)| *choice).ok_or_else(|| {
        let known: Vec<_> =
            all.iter().map(|(number, known, _)| format!("{known} ({number})")).collect();
        Failure::argument(format!("{name} is {value}, and none of {}", known.join(", ")))
    })
}

pub(crate) fn value_type(value: sparrow_value_type, name: &str) -> Result<ValueType> {
    let all = [
        (SPARROW_VALUE_TYPE_F32, "SPARROW_VALUE_TYPE_F32", ValueType::F32),
        (SPARROW_VALUE_TYPE_F64, "SPARROW_VALUE_TYPE_F64", ValueType::F64),
        (SPARROW_VALUE_TYPE_F16, "SPARROW_VALUE_TYPE_F16", ValueType::F16),
        (SPARROW_VALUE_TYPE_BF16, "SPARROW_VALUE_TYPE_BF16", ValueType::Bf16),
    ];
    choice(value, name, &all)
}

pub(crate) fn value_number(value_type: ValueType) -> sparrow_value_type {
    match value_type {
        ValueType::F32 => SPARROW_VALUE_TYPE_F32,
        ValueType::F64 => SPARROW_VALUE_TYPE_F64,
        ValueType::F16 => SPARROW_VALUE_TYPE_F16,
        ValueType::Bf16 => SPARROW_VALUE_TYPE_BF16,
    }
}

pub(crate) fn offset_type(value: sparrow_offset_type, name: &str) -> Result<OffsetType> {
    let all = [
        (SPARROW_OFFSET_TYPE_U32, "SPARROW_OFFSET_TYPE_U32", OffsetType::U32),
        (SPARROW_OFFSET_TYPE_U64, "SPARROW_OFFSET_TYPE_U64", OffsetType::U64),
    ];
    choice(value, name, &all)
}

pub(crate) fn offset_number(offset_type: OffsetType) -> sparrow_offset_type {
    match offset_type {
        OffsetType::U32 => SPARROW_OFFSET_TYPE_U32,
        OffsetType::U64 => SPARROW_OFFSET_TYPE_U64,
    }
}

pub(crate) fn products(value: sparrow_products, name: &str) -> Result<Reuse> {
    let all = [
        (SPARROW_PRODUCTS_SEVERAL, "SPARROW_PRODUCTS_SEVERAL", Reuse::Several),
        (SPARROW_PRODUCTS_ONCE, "SPARROW_PRODUCTS_ONCE", Reuse::Once),
        (SPARROW_PRODUCTS_MANY, "SPARROW_PRODUCTS_MANY", Reuse::Many),
    ];
    choice(value, name, &all)
}

pub(crate) fn accumulate(value: sparrow_accumulate, name: &str) -> Result<Accumulate> {
    let compensated = Accumulate::Compensated;
    let all = [
        (SPARROW_ACCUMULATE_PLAIN, "SPARROW_ACCUMULATE_PLAIN", Accumulate::Plain),
        (SPARROW_ACCUMULATE_COMPENSATED, "SPARROW_ACCUMULATE_COMPENSATED", compensated),
    ];
    choice(value, name, &all)
}

pub(crate) fn operation(value: sparrow_operation, name: &str) -> Result<Op> {
    let all = [
        (SPARROW_OPERATION_NORMAL, "SPARROW_OPERATION_NORMAL", Op::Normal),
        (SPARROW_OPERATION_TRANSPOSE, "SPARROW_OPERATION_TRANSPOSE", Op::Transpose),
    ];
    choice(value, name, &all)
}

pub(crate) fn planning(value: sparrow_planning, name: &str) -> Result<Planning> {
    let all = [
        (SPARROW_PLANNING_AUTOMATIC, "SPARROW_PLANNING_AUTOMATIC", Planning::Automatic),
        (SPARROW_PLANNING_ON_HOST, "SPARROW_PLANNING_ON_HOST", Planning::OnHost),
        (SPARROW_PLANNING_ON_DEVICE, "SPARROW_PLANNING_ON_DEVICE", Planning::OnDevice),
    ];
    choice(value, name, &all)
}

pub(crate) fn layout(value: sparrow_layout, name: &str) -> Result<Layout> {
    let all = [
        (SPARROW_LAYOUT_ROW_MAJOR, "SPARROW_LAYOUT_ROW_MAJOR", Layout::RowMajor),
        (SPARROW_LAYOUT_COLUMN_MAJOR, "SPARROW_LAYOUT_COLUMN_MAJOR", Layout::ColumnMajor),
    ];
    choice(value, name, &all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_stands_for_nothing_is_named_with_those_that_do() {
        let failure = value_type(9, "arrays->value_type").unwrap_err();
        let text = format!("{failure:?}");
        assert!(text.contains("arrays->value_type is 9, and none of SPARROW_VALUE_TYPE_F32 (1)"));
    }

    #[test]
    fn numbers_and_types_are_each_others_inverse() {
        for known in ValueType::ALL {
            assert_eq!(value_type(value_number(known), "").unwrap(), known);
        }
        for known in [OffsetType::U32, OffsetType::U64] {
            assert_eq!(offset_type(offset_number(known), "").unwrap(), known);
        }
    }
}
