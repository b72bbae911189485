//! The plan of `spmm_merge`: where pieces begin, found on the device; eight bytes are read back.

use cl_kernels::spmm_merge::SpmmMerge;
use cl_kernels::spmm_merge_plan::{Arguments, SOURCE, SpmmMergePlan};
use cl_kernels::{Accumulate, Array, KernelKey};
use csr_core::{Offset, Value, ValueType};

use crate::launch::{Size, launch};
use crate::raw::Memory;
use crate::spmv::workspace::zeroed_blocking;
use crate::{DeviceArray, Error, Matrix, Queue, Result};

/// Pieces of the merge path: rows and nonzeros in equal parts.
#[derive(Debug)]
pub(super) struct Pieces {
    count: usize,
    /// For each border a row, a slot, and the first border of a row that is cut.
    pub(super) border_rows: DeviceArray<u32>,
    pub(super) slots: DeviceArray<u32>,
    pub(super) chain_borders: DeviceArray<u32>,
    /// 32-bit or 64-bit, as the matrix counts nonzeros; kernels are told which.
    nonzeros: DeviceArray<u32>,
    cuts: usize,
    chains: usize,
}

impl Pieces {
    /// Cuts a pattern.
    ///
    /// # Errors
    /// More pieces than 32 bits count, no memory for them, or the driver's own failure.
    pub(super) fn cut_blocking<V: Value, O: Offset>(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        parameters: &SpmmMerge,
    ) -> Result<Self> {
        let context = queue.context();
        let (rows, nnz) = (matrix.rows(), matrix.nnz());
        let count = (rows + nnz).div_ceil(parameters.piece as usize);
        if count >= u32::MAX as usize {
            let what = "the number of pieces";
            let limit = u64::from(u32::MAX) - 1;
            return Err(csr_core::Error::TooLarge { what, value: count as u64, limit }.into());
        }
        let borders = count + 1;
        let offset_words = size_of::<O>() / 4;
        // Nothing needs the zeros but Oclgrind, which forgets that kernels write to memory used before.
        let words = zeroed_blocking(queue, borders * (3 + offset_words))?;
        let part = |number: usize, len| words.slice(number * borders..number * borders + len);
        // 64-bit nonzeros come first: they begin where 64 bits may.
        let nonzeros = part(0, borders * offset_words)?;
        let border_rows = part(offset_words, borders)?;
        let slots = part(offset_words + 1, borders)?;
        let chain_borders = part(offset_words + 2, borders)?;
        let counts = zeroed_blocking(queue, 2)?;
        let group_size = 1 << context.device().traits().max_group_size.clamp(1, 64).ilog2();
        let plan = SpmmMergePlan { group_size, piece: parameters.piece, slack: parameters.slack };
        let key = KernelKey::new(SOURCE, ValueType::F32, O::TYPE, Accumulate::Plain, false, &plan);
        let mut kernel = context.program(&key)?.kernel("spmm_merge_plan")?;
        let arguments = Arguments {
            rows: rows as u32,
            nnz: nnz as u64,
            pieces: count as u32,
            offsets: matrix.offsets().argument(),
            border_rows: border_rows.argument(),
            border_nonzeros: nonzeros.argument(),
            slots: slots.argument(),
            chain_borders: chain_borders.argument(),
            counts: counts.argument(),
        };
        let size =
            Size { groups: borders.div_ceil(group_size as usize), group_size: group_size as usize };
        // SAFETY: the arrays are as long as the borders are many, and the offsets are a pattern's.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let cut = unsafe { launch(queue, &mut kernel, &arguments, size, &[])? };
        // Launches may follow on other queues.
        cut.wait()?;
        let found = counts.read_blocking(queue)?;
        let [cuts, chains] = found[..] else {
            return Err(Error::Mismatch("two numbers were read, and others came".to_owned()));
        };
        let (cuts, chains) = (cuts as usize, chains as usize);
        Ok(Pieces { count, border_rows, slots, chain_borders, nonzeros, cuts, chains })
    }

    /// Pieces, each one work-group of a tile.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The first nonzero behind each border.
    pub(super) fn border_nonzeros(&self) -> Array<&Memory> {
        self.nonzeros.argument()
    }

    /// Borders that cut a row.
    pub(super) fn cuts(&self) -> usize {
        self.cuts
    }

    /// Rows that are cut.
    pub(super) fn chains(&self) -> usize {
        self.chains
    }

    /// Bytes on the device.
    pub(super) fn size_bytes(&self) -> usize {
        self.nonzeros.size_bytes() + 3 * self.border_rows.size_bytes()
    }
}
