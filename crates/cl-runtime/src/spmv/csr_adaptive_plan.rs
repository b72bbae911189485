//! Row blocks on the device: uploaded, or cut there from row offsets that are there already.

use cl_kernels::csr_adaptive_plan::{
    BEGIN_WORDS_PER_CHUNK, COUNT_WORDS, CsrAdaptivePlan, MarkArguments, SOURCE, WriteArguments,
};
use cl_kernels::{Accumulate, DeviceTraits, KernelKey};
use csr_core::ValueType;
use csr_core::plan::csr_adaptive::{
    LengthBreak, ROWS_PER_CHUNK, RowBlock, RowBlockRules, RowBlocks, StreamReduction,
};

use crate::launch::{Size, launch_after};
use crate::plan_workspace::PlanWorkspace;
use crate::scratch::zeroed_blocking;
use crate::{AnyArray, DeviceArray, Error, Queue, Result};

/// Row blocks of a pattern, in device memory.
#[derive(Debug)]
pub struct DeviceRowBlocks {
    rules: RowBlockRules,
    entries: DeviceArray<RowBlock>,
    cut_rows: usize,
    /// Bytes allocated: a little more than the entries, where it was not known how many there would be.
    size_bytes: usize,
}

impl DeviceRowBlocks {
    /// Copies row blocks that were cut on the host.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn upload_blocking(queue: &Queue, row_blocks: &RowBlocks) -> Result<Self> {
        let entries = DeviceArray::upload_blocking(queue, row_blocks.entries())?;
        let (rules, cut_rows) = (*row_blocks.rules(), row_blocks.cut_rows());
        Ok(DeviceRowBlocks { rules, size_bytes: entries.size_bytes(), entries, cut_rows })
    }

    /// Whether a device has local memory and items for cutting rows.
    pub(super) fn can_cut_on(device: &DeviceTraits) -> bool {
        CsrAdaptivePlan::default_for(device).check(device).is_ok()
    }

    /// Cuts the rows of a matrix of `nnz` nonzeros on the device, into the blocks that
    /// [`RowBlocks::build`] would cut. Reads 8 bytes back.
    ///
    /// # Errors
    /// Rules that no kernel can follow, more blocks than can be counted, or the driver's own failure.
    pub fn cut_blocking(
        queue: &Queue,
        offsets: &AnyArray,
        nnz: usize,
        rules: RowBlockRules,
    ) -> Result<Self> {
        rules.check()?;
        let context = queue.context();
        let (rows, offset_type) = (offsets.len().saturating_sub(1), offsets.offset_type()?);
        let numbers = Numbers::of(&rules, rows, nnz)?;
        if rows == 0 {
            return Self::upload_blocking(queue, &RowBlocks::from_offsets(&[0_u32], rules)?);
        }
        let parameters = CsrAdaptivePlan::default_for(context.device().traits());
        parameters.check(context.device().traits())?;
        let plain = Accumulate::Plain;
        let key = KernelKey::new(SOURCE, ValueType::F32, offset_type, plain, false, &parameters);
        let chunks = rows.div_ceil(ROWS_PER_CHUNK);
        let size = Size { groups: chunks, group_size: parameters.group_size as usize };

        let mut workspace = PlanWorkspace::take_blocking(queue, key, chunks)?;
        let [results, counts, begins] = workspace.parts(chunks)?;
        let mark = MarkArguments {
            rows: rows as u32,
            offsets: offsets.argument(),
            nnz_per_block: numbers.nnz_per_block,
            share: numbers.share,
            breaks_lengths: u32::from(rules.length_break == LengthBreak::On),
            begins: begins.argument(),
            counts: counts.argument(),
        };
        // SAFETY: the workspace is as long as `chunks` demands, and the offsets are a pattern's.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let marked = unsafe { launch_after(queue, &mut workspace.mark, &mark, size, &[])? };
        queue.settle_blocking(&marked)?;
        let mut write_blocking = |capacity: usize| -> Result<_> {
            let entries = DeviceArray::<RowBlock>::allocate(context, capacity)?;
            let write = WriteArguments {
                rows: rows as u32,
                offsets: offsets.argument(),
                num_rows_stream: numbers.num_rows_stream,
                share: numbers.share,
                reduction_size: numbers.reduction_size,
                begins: begins.argument(),
                counts: counts.argument(),
                capacity: u32::try_from(capacity).unwrap_or(u32::MAX),
                row_blocks: entries.argument(),
                results: results.argument(),
            };
            // SAFETY: as above; past `capacity` nothing is written.
            #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
            let written = unsafe { launch_after(queue, &mut workspace.write, &write, size, &[])? };
            // Launches may follow on other queues. And NVIDIA's blocking read alone would look only now and
            // then whether it can begin.
            written.wait()?;
            Ok(entries)
        };
        let mut entries = write_blocking(likely_capacity(&rules, nnz))?;
        let found = results.read_blocking(queue)?;
        let (blocks, cut_rows) = (found[0], found[1]);
        let needed = blocks as usize + 1;
        if needed > entries.len() {
            entries = write_blocking(needed)?;
        }
        context.keep_plan_workspace(workspace);
        Ok(DeviceRowBlocks {
            rules,
            size_bytes: entries.size_bytes(),
            entries: entries.slice(0..needed)?,
            cut_rows: cut_rows as usize,
        })
    }

    /// The rules the rows were cut by.
    pub fn rules(&self) -> &RowBlockRules {
        &self.rules
    }

    /// One entry a block, and a last one that holds the number of rows.
    pub fn entries(&self) -> &DeviceArray<RowBlock> {
        &self.entries
    }

    /// Blocks, each one work-group of a launch.
    pub fn count(&self) -> usize {
        self.entries.len() - 1
    }

    /// Rows that several groups share.
    pub fn cut_rows(&self) -> usize {
        self.cut_rows
    }

    /// Bytes on the device.
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }
}

/// Capacity for the entries that a matrix of `nnz` nonzeros is likely to have: a quarter more than full blocks
/// would be. Where rows of unlike lengths are neighbours, or rows are long, there can be any number more.
fn likely_capacity(rules: &RowBlockRules, nnz: usize) -> usize {
    let full = nnz / rules.nnz_per_block;
    full + full / 4 + 2
}

impl PlanWorkspace {
    /// A workspace for `key` and at least `chunks` chunks: the context's, or new.
    fn take_blocking(queue: &Queue, key: KernelKey, chunks: usize) -> Result<Self> {
        let context = queue.context();
        let words = COUNT_WORDS + chunks * (COUNT_WORDS + BEGIN_WORDS_PER_CHUNK);
        if let Some(kept) = context.take_plan_workspace()
            && kept.key == key
            && kept.words.len() >= words
        {
            return Ok(kept);
        }
        let program = context.program(&key)?;
        Ok(PlanWorkspace {
            key,
            mark: program.kernel("mark_row_blocks")?,
            write: program.kernel("write_row_blocks")?,
            // Nothing needs the zeros but Oclgrind, which forgets that kernels write to memory used before.
            words: zeroed_blocking(queue, words)?,
        })
    }

    /// Results, counts and begins.
    fn parts(&self, chunks: usize) -> Result<[DeviceArray<u32>; 3]> {
        let counts = COUNT_WORDS + chunks * COUNT_WORDS;
        let begins = counts + chunks * BEGIN_WORDS_PER_CHUNK;
        Ok([
            self.words.slice(0..COUNT_WORDS)?,
            self.words.slice(COUNT_WORDS..counts)?,
            self.words.slice(counts..begins)?,
        ])
    }
}

/// The rules as the kernels take them.
struct Numbers {
    nnz_per_block: u32,
    share: u32,
    num_rows_stream: u32,
    reduction_size: u32,
}

impl Numbers {
    fn of(rules: &RowBlockRules, rows: usize, nnz: usize) -> Result<Self> {
        let narrow = |what: &'static str, value: usize| {
            let limit = u64::from(u32::MAX);
            u32::try_from(value).map_err(|_| {
                Error::from(csr_core::Error::TooLarge { what, value: value as u64, limit })
            })
        };
        let share = rules.share.unwrap_or(0);
        // Every row has a block, and every full share of a cut row another. A group number has 31 bits, and
        // the kernels count in 32.
        let most_blocks = rows.saturating_add(nnz.checked_div(share).unwrap_or(0)) as u64;
        let limit = u64::from(u32::MAX >> 1);
        if most_blocks > limit {
            let what = "the number of row blocks there may be";
            return Err(csr_core::Error::TooLarge { what, value: most_blocks, limit }.into());
        }
        Ok(Numbers {
            nnz_per_block: narrow("nnz_per_block", rules.nnz_per_block)?,
            share: narrow("the share of a CSR-VectorL group", share)?,
            num_rows_stream: narrow("num_rows_stream", rules.num_rows_stream)?,
            reduction_size: match rules.reduction {
                StreamReduction::Scalar => 0,
                StreamReduction::Logarithmic { group_size } => narrow("group_size", group_size)?,
            },
        })
    }
}
