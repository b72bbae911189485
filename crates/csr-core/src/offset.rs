//! The types row offsets come in. Column indices are always `u32`.

/// Names an [`Offset`] at run time, as records and kernel keys spell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OffsetType {
    /// 32-bit offsets: at most 4,294,967,295 nonzeros.
    U32,
    /// 64-bit offsets.
    U64,
}

impl OffsetType {
    /// The spelling in records and kernel keys.
    pub fn name(self) -> &'static str {
        match self {
            OffsetType::U32 => "u32",
            OffsetType::U64 => "u64",
        }
    }

    /// The largest number of nonzeros this type can count.
    pub fn max_nnz(self) -> u64 {
        match self {
            OffsetType::U32 => u32::MAX_NNZ,
            OffsetType::U64 => u64::MAX_NNZ,
        }
    }

    /// Bytes of one row offset.
    pub fn size_bytes(self) -> usize {
        match self {
            OffsetType::U32 => 4,
            OffsetType::U64 => 8,
        }
    }
}

impl std::fmt::Display for OffsetType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A type row offsets can have: `u32` or `u64`, independent of the column indices' type.
pub trait Offset:
    sealed::Sealed + bytemuck::Pod + Ord + std::hash::Hash + std::fmt::Debug + Send + Sync + 'static
{
    /// This type's name at run time.
    const TYPE: OffsetType;

    /// The largest number of nonzeros this type can count.
    const MAX_NNZ: u64;

    /// Widens; an offset of a checked pattern always fits.
    fn to_usize(self) -> usize;

    /// Narrows, or `None` where `value` exceeds [`Offset::MAX_NNZ`].
    fn try_from_usize(value: usize) -> Option<Self>;
}

impl Offset for u32 {
    const TYPE: OffsetType = OffsetType::U32;
    const MAX_NNZ: u64 = u32::MAX as u64;

    fn to_usize(self) -> usize {
        self as usize
    }

    fn try_from_usize(value: usize) -> Option<Self> {
        u32::try_from(value).ok()
    }
}

impl Offset for u64 {
    const TYPE: OffsetType = OffsetType::U64;
    const MAX_NNZ: u64 = u64::MAX;

    fn to_usize(self) -> usize {
        // Offsets above the address space cannot pass a pattern's check: the columns slice bounds them.
        usize::try_from(self).unwrap_or(usize::MAX)
    }

    fn try_from_usize(value: usize) -> Option<Self> {
        u64::try_from(value).ok()
    }
}
