//! The plan of `spmm_merge` and of `spmm_nonzero_split`: where tiles begin, found on the device; eight bytes are read back.

use cl_kernels::spmm_merge::SpmmMerge;
use cl_kernels::spmm_merge_plan::{Arguments, FEATURE_BY_NONZEROS, SOURCE, SpmmMergePlan};
use cl_kernels::{Accumulate, Array, KernelKey};
use csr_core::ValueType;

use crate::launch::{Size, launch_after};
use crate::raw::Memory;
use crate::scratch::zeroed_blocking;
use crate::{AnyMatrix, DeviceArray, Error, Queue, Result};

/// What tiles are equal parts of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The merge path: rows and nonzeros.
    Path(SpmmMerge),
    /// Nonzeros, so many a tile.
    Nonzeros(u32),
}

/// Tiles: equal parts of the merge path, or of the nonzeros.
#[derive(Debug)]
pub(super) struct Tiles {
    count: usize,
    /// For each boundary a row, a slot, and the first boundary of a row that is cut.
    pub(super) boundary_rows: DeviceArray<u32>,
    pub(super) slots: DeviceArray<u32>,
    pub(super) chain_boundaries: DeviceArray<u32>,
    /// 32-bit or 64-bit, as the matrix counts nonzeros; kernels are told which.
    nonzeros: DeviceArray<u32>,
    cuts: usize,
    chains: usize,
}

impl Tiles {
    /// Cuts a pattern.
    ///
    /// # Errors
    /// More tiles than 32 bits count, no memory for them, or the driver's own failure.
    pub(super) fn cut_blocking(queue: &Queue, matrix: &AnyMatrix, cut: Cut) -> Result<Self> {
        let context = queue.context();
        let (rows, nnz) = (matrix.rows(), matrix.nnz());
        let (length, tile_length, slack) = match cut {
            Cut::Path(parameters) => (rows + nnz, parameters.tile_length, parameters.slack),
            Cut::Nonzeros(tile_length) => (nnz, tile_length, 0),
        };
        let count = match cut {
            // Rows without nonzeros are stored, too.
            Cut::Nonzeros(_) if rows > 0 => length.div_ceil(tile_length as usize).max(1),
            _ => length.div_ceil(tile_length as usize),
        };
        if count >= u32::MAX as usize {
            let what = "the number of tiles";
            let limit = u64::from(u32::MAX) - 1;
            return Err(csr_core::Error::TooLarge { what, value: count as u64, limit }.into());
        }
        let boundaries = count + 1;
        let offset_words = matrix.offset_type().size_bytes() / size_of::<u32>();
        // Nothing needs the zeros but Oclgrind, which forgets that kernels write to memory used before.
        let words = zeroed_blocking(queue, boundaries * (3 + offset_words))?;
        let part = |number: usize, len| words.slice(number * boundaries..number * boundaries + len);
        // 64-bit nonzeros come first: they begin where 64 bits may.
        let nonzeros = part(0, boundaries * offset_words)?;
        let boundary_rows = part(offset_words, boundaries)?;
        let slots = part(offset_words + 1, boundaries)?;
        let chain_boundaries = part(offset_words + 2, boundaries)?;
        let counts = zeroed_blocking(queue, 2)?;
        let group_size = 1 << context.device().traits().max_group_size.clamp(1, 64).ilog2();
        let plan = SpmmMergePlan { group_size, tile_length, slack };
        let (real, offset_type) = (ValueType::F32, matrix.offset_type());
        let mut key = KernelKey::new(SOURCE, real, offset_type, Accumulate::Plain, false, &plan);
        key.features.extend(matches!(cut, Cut::Nonzeros(_)).then_some(FEATURE_BY_NONZEROS));
        let mut kernel = context.program(&key)?.kernel("spmm_merge_plan")?;
        let arguments = Arguments {
            rows: rows as u32,
            nnz: nnz as u64,
            tiles: count as u32,
            offsets: matrix.offsets().argument(),
            boundary_rows: boundary_rows.argument(),
            boundary_nonzeros: nonzeros.argument(),
            slots: slots.argument(),
            chain_boundaries: chain_boundaries.argument(),
            counts: counts.argument(),
        };
        let size = Size {
            groups: boundaries.div_ceil(group_size as usize),
            group_size: group_size as usize,
        };
        // SAFETY: the arrays are as long as the boundaries are many, and the offsets are a pattern's.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let cut = unsafe { launch_after(queue, &mut kernel, &arguments, size, &[])? };
        // Launches may follow on other queues.
        cut.wait()?;
        let found = counts.read_blocking(queue)?;
        let [cuts, chains] = found[..] else {
            return Err(Error::Incompatible("two numbers were read, and others came".to_owned()));
        };
        let (cuts, chains) = (cuts as usize, chains as usize);
        Ok(Tiles { count, boundary_rows, slots, chain_boundaries, nonzeros, cuts, chains })
    }

    /// Tiles, each one work-group (by nonzeros, one sub-group) for each tile of columns.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The first nonzero after each boundary.
    pub(super) fn boundary_nonzeros(&self) -> Array<&Memory> {
        self.nonzeros.argument()
    }

    /// Boundaries that cut a row.
    pub(super) fn cuts(&self) -> usize {
        self.cuts
    }

    /// Rows that are cut.
    pub(super) fn chains(&self) -> usize {
        self.chains
    }

    /// Bytes on the device.
    pub(super) fn size_bytes(&self) -> usize {
        self.nonzeros.size_bytes() + 3 * self.boundary_rows.size_bytes()
    }
}
