//! B as SpGEMM reads it: rows that ascend and have no column twice.

use cl_kernels::spgemm_order::{
    DescentArguments, KeyArguments, MergeArguments, SOURCE, SpgemmOrder,
};
use csr_core::{OffsetType, ValueType};

use super::programs::{Groups, groups};
use crate::scratch::any_for_a_kernel_to_write;
use crate::sort::{KeyType, Keyed};
use crate::{AnyArray, AnyMatrix, DeviceArray, Error, Queue, Result};

/// B's rows: B itself, or a copy of it.
#[derive(Debug)]
pub(super) struct SortedRows {
    pub(super) begins: AnyArray,
    pub(super) ends: AnyArray,
    pub(super) columns: AnyArray,
    pub(super) values: AnyArray,
}

/// In which order the entries of a pattern ascend.
#[derive(Debug)]
pub(super) struct Order {
    keyed: Keyed,
    column_bits: u32,
    program: Groups,
}

impl SortedRows {
    /// The arrays of a matrix whose rows ascend.
    pub(super) fn of(matrix: &AnyMatrix) -> Result<Self> {
        let (offsets, rows) = (matrix.offsets(), matrix.rows());
        Ok(SortedRows {
            begins: offsets.slice(0..rows)?,
            ends: offsets.slice(1..rows + 1)?,
            columns: matrix.columns().slice(0..matrix.nnz())?,
            values: matrix.values().slice(0..matrix.nnz())?,
        })
    }

    /// Bytes of a copy.
    pub(super) fn size_bytes(&self) -> usize {
        self.ends.size_bytes() + self.columns.size_bytes() + self.values.size_bytes()
    }
}

impl Order {
    /// Has the device count what does not ascend into `descents`, four words that are 0 before.
    pub(super) fn count_descents(
        queue: &Queue,
        matrix: &AnyMatrix,
        descents: &DeviceArray<u32>,
    ) -> Result<()> {
        let program = program(queue, (ValueType::F32, matrix.offset_type()))?;
        let arguments = DescentArguments {
            rows: matrix.rows() as u32,
            nnz: matrix.nnz() as u64,
            offsets: matrix.offsets().argument(),
            columns: matrix.columns().argument(),
            descents: descents.argument(),
        };
        let units = queue.context().device().traits().compute_units as usize;
        let wanted = matrix.nnz().max(matrix.rows()).div_ceil(program.group_size());
        // SAFETY: the arrays are the matrix's, and there are four words of results.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run(queue, &arguments, wanted.min(units * 16))
        }
    }

    /// Whether rows ascend without a column twice, by what was counted.
    pub(super) fn is_kept(descents: &[u32]) -> bool {
        descents[0..2] == descents[2..4]
    }

    /// Sorts the entries of a matrix: 12 bytes each are kept, and as many more needed meanwhile.
    pub(super) fn find(queue: &Queue, matrix: &AnyMatrix) -> Result<Self> {
        let nnz = matrix.nnz();
        if nnz > u32::MAX as usize {
            let what = "the number of B's entries, whose rows are not sorted,".to_owned();
            let rule = format!("at most {} are sorted", u32::MAX);
            return Err(Error::Range { what, value: nnz as u64, rule });
        }
        let program = program(queue, (matrix.value_type(), matrix.offset_type()))?;
        let bits = |count: usize| usize::BITS - count.saturating_sub(1).leading_zeros();
        let column_bits = bits(matrix.cols());
        let keyed = Keyed::allocate(queue, KeyType::U64, nnz)?;
        let arguments = KeyArguments {
            rows: matrix.rows() as u32,
            column_bits,
            offsets: matrix.offsets().argument(),
            columns: matrix.columns().argument(),
            keys: keyed.keys.argument(),
            entries: keyed.numbers.argument(),
        };
        // SAFETY: the matrix's arrays, and a key and a number for each entry.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &arguments, matrix.rows())?;
        }
        let keyed = keyed.sort(queue, column_bits + bits(matrix.rows()))?;
        Ok(Order { keyed, column_bits, program })
    }

    /// A copy of `matrix`, whose entries these are, with sorted rows and repeated columns added up.
    pub(super) fn sorted(&self, queue: &Queue, matrix: &AnyMatrix) -> Result<SortedRows> {
        let (rows, nnz) = (matrix.rows(), matrix.nnz());
        let sorted = SortedRows {
            begins: matrix.offsets().slice(0..rows)?,
            ends: any_for_a_kernel_to_write(queue, matrix.offset_type(), rows)?,
            columns: any_for_a_kernel_to_write(queue, matrix.types().column_type, nnz)?,
            values: any_for_a_kernel_to_write(queue, matrix.value_type(), nnz)?,
        };
        let arguments = MergeArguments {
            rows: rows as u32,
            column_bits: self.column_bits,
            offsets: matrix.offsets().argument(),
            keys: self.keyed.keys.argument(),
            entries: self.keyed.numbers.argument(),
            values: matrix.values().argument(),
            ends: sorted.ends.argument(),
            columns: sorted.columns.argument(),
            sums: sorted.values.argument(),
        };
        // SAFETY: the entries are the matrix's, and the copy is as long.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            self.program.run_items(queue, &arguments, rows)?;
        }
        Ok(sorted)
    }

    /// Bytes on the device.
    pub(super) fn size_bytes(&self) -> usize {
        self.keyed.keys.size_bytes() + self.keyed.numbers.size_bytes()
    }
}

fn program(queue: &Queue, types: (ValueType, OffsetType)) -> Result<Groups> {
    let max_group_size = queue.context().device().traits().max_group_size;
    let group_size = 1u32 << max_group_size.clamp(1, 256).ilog2();
    groups(queue, SOURCE, types, &SpgemmOrder { group_size }, group_size)
}
