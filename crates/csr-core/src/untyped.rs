//! Matrices and arrays whose types are known at run time only.
//!
//! Formats and host products are generic, because they compute. Whatever plans, binds and launches takes these views
//! instead, and is compiled once: a kernel knows its types by its key.

use half::{bf16, f16};

use crate::{Csr, CsrView, Offset, OffsetType, PatternView, Value, ValueType};

/// Names the type of column indices at run time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColumnType {
    /// 32-bit column indices.
    #[default]
    U32,
}

impl ColumnType {
    /// The spelling in records.
    pub fn name(self) -> &'static str {
        match self {
            ColumnType::U32 => "u32",
        }
    }

    /// Bytes of one column index.
    pub fn size_bytes(self) -> usize {
        match self {
            ColumnType::U32 => 4,
        }
    }
}

/// Borrowed row offsets of either type.
#[derive(Clone, Copy, Debug)]
pub enum AnyOffsets<'a> {
    /// 32-bit offsets.
    U32(&'a [u32]),
    /// 64-bit offsets.
    U64(&'a [u64]),
}

impl<'a, O: Offset> From<&'a [O]> for AnyOffsets<'a> {
    fn from(offsets: &'a [O]) -> Self {
        match O::TYPE {
            OffsetType::U32 => AnyOffsets::U32(bytemuck::cast_slice(offsets)),
            OffsetType::U64 => AnyOffsets::U64(bytemuck::cast_slice(offsets)),
        }
    }
}

impl AnyOffsets<'_> {
    /// The type of an offset.
    pub fn offset_type(&self) -> OffsetType {
        match self {
            AnyOffsets::U32(_) => OffsetType::U32,
            AnyOffsets::U64(_) => OffsetType::U64,
        }
    }
}

/// A borrowed, checked pattern with row offsets of either type.
#[derive(Clone, Copy, Debug)]
pub enum AnyPatternView<'a> {
    /// With 32-bit offsets.
    U32(PatternView<'a, u32>),
    /// With 64-bit offsets.
    U64(PatternView<'a, u64>),
}

impl<'a, O: Offset> From<PatternView<'a, O>> for AnyPatternView<'a> {
    fn from(pattern: PatternView<'a, O>) -> Self {
        let (cols, columns) = (pattern.cols(), pattern.columns());
        match AnyOffsets::from(pattern.offsets()) {
            AnyOffsets::U32(offsets) => {
                AnyPatternView::U32(PatternView::new_trusted(cols, offsets, columns))
            }
            AnyOffsets::U64(offsets) => {
                AnyPatternView::U64(PatternView::new_trusted(cols, offsets, columns))
            }
        }
    }
}

impl<'a> AnyPatternView<'a> {
    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        crate::for_pattern!(self, pattern => pattern.rows())
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        crate::for_pattern!(self, pattern => pattern.cols())
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        crate::for_pattern!(self, pattern => pattern.nnz())
    }

    /// The `rows + 1` row offsets.
    pub fn offsets(&self) -> AnyOffsets<'a> {
        crate::for_pattern!(self, pattern => AnyOffsets::from(pattern.offsets()))
    }

    /// The column of each nonzero, row by row.
    pub fn columns(&self) -> &'a [u32] {
        crate::for_pattern!(self, pattern => pattern.columns())
    }
}

/// Borrowed values of any type.
#[derive(Clone, Copy, Debug)]
pub enum AnyValues<'a> {
    /// 32-bit values.
    F32(&'a [f32]),
    /// 64-bit values.
    F64(&'a [f64]),
    /// 16-bit values.
    F16(&'a [f16]),
    /// The upper halves of 32-bit values.
    Bf16(&'a [bf16]),
}

impl<'a, V: Value> From<&'a [V]> for AnyValues<'a> {
    fn from(values: &'a [V]) -> Self {
        match V::TYPE {
            ValueType::F32 => AnyValues::F32(bytemuck::cast_slice(values)),
            ValueType::F64 => AnyValues::F64(bytemuck::cast_slice(values)),
            ValueType::F16 => AnyValues::F16(bytemuck::cast_slice(values)),
            ValueType::Bf16 => AnyValues::Bf16(bytemuck::cast_slice(values)),
        }
    }
}

impl<'a> AnyValues<'a> {
    /// The type of a value.
    pub fn value_type(&self) -> ValueType {
        match self {
            AnyValues::F32(_) => ValueType::F32,
            AnyValues::F64(_) => ValueType::F64,
            AnyValues::F16(_) => ValueType::F16,
            AnyValues::Bf16(_) => ValueType::Bf16,
        }
    }

    /// The values as they lie in memory.
    pub fn bytes(&self) -> &'a [u8] {
        match self {
            AnyValues::F32(values) => bytemuck::cast_slice(values),
            AnyValues::F64(values) => bytemuck::cast_slice(values),
            AnyValues::F16(values) => bytemuck::cast_slice(values),
            AnyValues::Bf16(values) => bytemuck::cast_slice(values),
        }
    }

    /// Values.
    pub fn len(&self) -> usize {
        self.bytes().len() / self.value_type().size_bytes()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }
}

/// A borrowed, checked matrix of any types.
#[derive(Clone, Copy, Debug)]
pub struct AnyCsrView<'a> {
    pattern: AnyPatternView<'a>,
    values: AnyValues<'a>,
}

impl<'a, V: Value, O: Offset> From<CsrView<'a, V, O>> for AnyCsrView<'a> {
    fn from(matrix: CsrView<'a, V, O>) -> Self {
        AnyCsrView { pattern: matrix.pattern().into(), values: matrix.values().into() }
    }
}

impl<'a, V: Value, O: Offset> From<&'a Csr<V, O>> for AnyCsrView<'a> {
    fn from(matrix: &'a Csr<V, O>) -> Self {
        matrix.view().into()
    }
}

impl<'a> AnyCsrView<'a> {
    /// Pattern and values that belong together.
    pub(crate) fn of_checked(pattern: AnyPatternView<'a>, values: AnyValues<'a>) -> Self {
        debug_assert_eq!(values.len(), pattern.nnz(), "one value a nonzero");
        AnyCsrView { pattern, values }
    }

    /// Offsets and columns.
    pub fn pattern(&self) -> AnyPatternView<'a> {
        self.pattern
    }

    /// The value of each nonzero, row by row.
    pub fn values(&self) -> AnyValues<'a> {
        self.values
    }

    /// The type of its values.
    pub fn value_type(&self) -> ValueType {
        self.values.value_type()
    }

    /// The type of its row offsets.
    pub fn offset_type(&self) -> OffsetType {
        self.pattern.offsets().offset_type()
    }

    /// Bytes of the three arrays.
    pub fn size_bytes(&self) -> usize {
        crate::for_pattern!(self.pattern, pattern => pattern.size_bytes())
            + self.values.bytes().len()
    }
}

/// Evaluates an expression with a name for row offsets of the type that they have.
///
/// ```
/// use csr_core::{AnyOffsets, Offset as _, for_offsets};
///
/// let offsets = AnyOffsets::from([0u64, 3].as_slice());
/// assert_eq!(for_offsets!(offsets, offsets => offsets[1].to_usize()), 3);
/// ```
#[macro_export]
macro_rules! for_offsets {
    ($any:expr, $offsets:ident => $body:expr) => {
        match $any {
            $crate::AnyOffsets::U32($offsets) => $body,
            $crate::AnyOffsets::U64($offsets) => $body,
        }
    };
}

/// Evaluates an expression with a name for a pattern of the type that it has.
#[macro_export]
macro_rules! for_pattern {
    ($any:expr, $pattern:ident => $body:expr) => {
        match $any {
            $crate::AnyPatternView::U32($pattern) => $body,
            $crate::AnyPatternView::U64($pattern) => $body,
        }
    };
}

/// Evaluates an expression with a name for a type of row offsets.
#[macro_export]
macro_rules! for_offset_type {
    ($offset_type:expr, $O:ident => $body:expr) => {
        match $offset_type {
            $crate::OffsetType::U32 => {
                type $O = u32;
                $body
            }
            $crate::OffsetType::U64 => {
                type $O = u64;
                $body
            }
        }
    };
}

/// Evaluates an expression with a name for a type of values.
///
/// ```
/// use csr_core::{Real as _, Value as _, ValueType, for_value_type};
///
/// let rounded = for_value_type!(ValueType::F32, V => V::from_f64(0.1).to_f64());
/// assert_eq!(rounded, f64::from(0.1_f32));
/// ```
#[macro_export]
macro_rules! for_value_type {
    ($value_type:expr, $V:ident => $body:expr) => {
        match $value_type {
            $crate::ValueType::F32 => {
                type $V = f32;
                $body
            }
            $crate::ValueType::F64 => {
                type $V = f64;
                $body
            }
            $crate::ValueType::F16 => {
                type $V = $crate::f16;
                $body
            }
            $crate::ValueType::Bf16 => {
                type $V = $crate::bf16;
                $body
            }
        }
    };
}

/// Evaluates an expression with a name for a matrix of the types that it has.
///
/// ```
/// use csr_core::{AnyCsrView, Csr, for_csr};
///
/// let matrix: Csr<f32> = Csr::new(1, vec![0, 1], vec![0], vec![2.5]).unwrap();
/// let any = AnyCsrView::from(matrix.view());
/// assert_eq!(for_csr!(any, matrix => matrix.size_bytes()), 16);
/// ```
#[macro_export]
macro_rules! for_csr {
    ($any:expr, $matrix:ident => $body:expr) => {{
        let any: $crate::AnyCsrView<'_> = $any;
        $crate::for_pattern!(any.pattern(), pattern => $crate::for_values!(any.values(), values => {
            let $matrix = $crate::CsrView::of_checked(pattern, values);
            $body
        }))
    }};
}

/// Evaluates an expression with a name for values of the type that they have.
#[macro_export]
macro_rules! for_values {
    ($any:expr, $values:ident => $body:expr) => {
        match $any {
            $crate::AnyValues::F32($values) => $body,
            $crate::AnyValues::F64($values) => $body,
            $crate::AnyValues::F16($values) => $body,
            $crate::AnyValues::Bf16($values) => $body,
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erased_matrix_keeps_types_sizes_and_arrays() {
        let matrix: Csr<f16, u64> =
            Csr::new(3, vec![0, 2, 2], vec![0, 2], vec![f16::ONE, f16::NEG_ONE]).unwrap();
        let any = AnyCsrView::from(matrix.view());
        assert_eq!(any.values().value_type(), ValueType::F16);
        assert_eq!((any.values().len(), any.values().bytes().len()), (2, 4));
        let pattern = any.pattern();
        assert_eq!((pattern.rows(), pattern.cols(), pattern.nnz()), (2, 3, 2));
        assert_eq!(pattern.offsets().offset_type(), OffsetType::U64);
        let last = for_offsets!(pattern.offsets(), offsets => offsets[2].to_usize());
        assert_eq!((last, pattern.columns()), (2, [0, 2].as_slice()));
    }

    #[test]
    fn types_named_at_run_time_are_those_that_run() {
        for value_type in ValueType::ALL {
            let found = for_value_type!(value_type, V => (V::TYPE, size_of::<V>()));
            assert_eq!(found, (value_type, value_type.size_bytes()));
        }
        for offset_type in [OffsetType::U32, OffsetType::U64] {
            assert_eq!(for_offset_type!(offset_type, O => O::TYPE), offset_type);
        }
    }
}
