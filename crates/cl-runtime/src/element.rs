//! What the elements of an array are, known at run time.

use std::any::TypeId;
use std::fmt;

use csr_core::{ColumnType, OffsetType, ValueType, bf16, counted, f16};

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// Values, or vectors of them.
    Value(ValueType),
    /// 16-bit unsigned integers.
    U16,
    /// 32-bit unsigned integers: row offsets, column indices, row indices.
    U32,
    /// 64-bit unsigned integers: row offsets.
    U64,
    /// 32-bit integers.
    I32,
    /// Anything else, of so many bytes.
    Other(usize),
}

impl ElementType {
    /// That of `T`.
    pub fn of<T: 'static>() -> Self {
        let known = [
            (TypeId::of::<f32>(), ElementType::Value(ValueType::F32)),
            (TypeId::of::<f64>(), ElementType::Value(ValueType::F64)),
            (TypeId::of::<f16>(), ElementType::Value(ValueType::F16)),
            (TypeId::of::<bf16>(), ElementType::Value(ValueType::Bf16)),
            (TypeId::of::<u16>(), ElementType::U16),
            (TypeId::of::<u32>(), ElementType::U32),
            (TypeId::of::<u64>(), ElementType::U64),
            (TypeId::of::<i32>(), ElementType::I32),
        ];
        let found = known.iter().find(|(id, _)| *id == TypeId::of::<T>());
        found.map_or(ElementType::Other(size_of::<T>()), |(_, element)| *element)
    }

    /// Bytes of one element.
    pub fn size_bytes(self) -> usize {
        match self {
            ElementType::Value(value_type) => value_type.size_bytes(),
            ElementType::U16 => 2,
            ElementType::U32 | ElementType::I32 => 4,
            ElementType::U64 => 8,
            ElementType::Other(bytes) => bytes,
        }
    }
}

impl From<ValueType> for ElementType {
    fn from(value_type: ValueType) -> Self {
        ElementType::Value(value_type)
    }
}

impl From<OffsetType> for ElementType {
    fn from(offset_type: OffsetType) -> Self {
        match offset_type {
            OffsetType::U32 => ElementType::U32,
            OffsetType::U64 => ElementType::U64,
        }
    }
}

impl From<ColumnType> for ElementType {
    fn from(column_type: ColumnType) -> Self {
        match column_type {
            ColumnType::U32 => ElementType::U32,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementType::Value(value_type) => f.pad(value_type.name()),
            ElementType::U16 => f.pad("u16"),
            ElementType::U32 => f.pad("u32"),
            ElementType::U64 => f.pad("u64"),
            ElementType::I32 => f.pad("i32"),
            ElementType::Other(bytes) => f.write_str(&counted(bytes, "byte")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_type_has_the_size_of_what_it_names() {
        assert_eq!(ElementType::of::<f64>(), ElementType::Value(ValueType::F64));
        assert_eq!(ElementType::of::<u32>(), ElementType::from(OffsetType::U32));
        assert_eq!(ElementType::of::<u32>(), ElementType::from(ColumnType::U32));
        assert_eq!(ElementType::of::<[u32; 3]>(), ElementType::Other(12));
        for (element, bytes) in [
            (ElementType::of::<f16>(), 2),
            (ElementType::of::<u16>(), 2),
            (ElementType::of::<i32>(), 4),
            (ElementType::of::<u64>(), 8),
        ] {
            assert_eq!(element.size_bytes(), bytes, "{element}");
        }
    }
}
