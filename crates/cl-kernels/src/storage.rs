//! What an algorithm stores, as the bandwidth model and the cost model ask.

use csr_core::ValueType;
use csr_core::model::Demand;

use crate::Variant;

/// What an algorithm stores, and how products go through that: what the bandwidth model knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// In which format.
    pub format: StorageFormat,
    /// How often a product reads row offsets, where the format has them.
    pub offset_reads: u32,
    /// The variants whose products are two stages, the second a kernel of its own or the CPU's.
    pub staged: &'static [Variant],
}

/// The format that a product reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageFormat {
    /// A's compressed rows, x gathered in their order.
    Csr,
    /// A's compressed rows, x gathered for neighbouring rows at once; on a CPU an item is a loop, and rows follow one
    /// another.
    CsrRowPerItem,
    /// Rows in order of length, in strips and as compressed rows (`csr_core::evc_hyb`).
    EvcHyb,
    /// A copy of which the plan's bytes are all that is read.
    Copy,
}

impl Storage {
    /// Compressed rows, offsets read once.
    pub const CSR: Storage = Storage { format: StorageFormat::Csr, offset_reads: 1, staged: &[] };

    /// What a product moves: A's `nnz` entries, row offsets of `offset_bytes` each as often as they are read, and what
    /// the plan holds. `bench --model` counts by it too.
    pub fn demand(
        &self,
        rows: u64,
        nnz: u64,
        value_type: ValueType,
        offset_bytes: u64,
        plan_bytes: u64,
    ) -> Demand {
        let stored = if self.format == StorageFormat::Copy { 0 } else { nnz };
        Demand {
            rows,
            nnz,
            stored,
            value_bytes: value_type.size_bytes() as u64,
            element_bytes: value_type.accumulator().size_bytes() as u64,
            structure_bytes: u64::from(self.offset_reads) * (rows + 1) * offset_bytes + plan_bytes,
        }
    }
}
