//! Row blocks on the device: uploaded, or cut there from row offsets that are there already.

use cl_kernels::csr_adaptive_plan::{
    CountArguments, CsrAdaptivePlan, RESULT_WORDS, SOURCE, START_WORDS_PER_CHUNK, TOTAL_WORDS,
    WriteArguments,
};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::plan::csr_adaptive::{
    LengthBreak, ROWS_PER_CHUNK, RowBlock, RowBlockRules, RowBlocks, StreamReduction,
};
use csr_core::{Offset, ValueType};

use crate::launch::{Size, launch};
use crate::{Context, DeviceArray, Error, Queue, Result};

/// Row blocks of a pattern, in device memory.
#[derive(Debug)]
pub struct DeviceRowBlocks {
    rules: RowBlockRules,
    entries: DeviceArray<RowBlock>,
    cut_rows: usize,
}

impl DeviceRowBlocks {
    /// Copies row blocks that were cut on the host.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn upload_blocking(queue: &Queue, row_blocks: &RowBlocks) -> Result<Self> {
        Ok(DeviceRowBlocks {
            rules: *row_blocks.rules(),
            entries: DeviceArray::upload_blocking(queue, row_blocks.entries())?,
            cut_rows: row_blocks.cut_rows(),
        })
    }

    /// Cuts the rows of a matrix of `nnz` nonzeros on the device, into the blocks that
    /// [`RowBlocks::build`] would cut. Reads 12 bytes back.
    ///
    /// # Errors
    /// Rules that no kernel can follow, more blocks than can be counted, or the driver's own failure.
    pub fn cut_blocking<O: Offset>(
        queue: &Queue,
        offsets: &DeviceArray<O>,
        nnz: usize,
        rules: RowBlockRules,
    ) -> Result<Self> {
        rules.check()?;
        let context = queue.context();
        let rows = offsets.len().saturating_sub(1);
        let numbers = Numbers::of(&rules, rows, nnz)?;
        if rows == 0 {
            return Self::upload_blocking(queue, &RowBlocks::from_offsets(&[O::zeroed()], rules)?);
        }
        let parameters = CsrAdaptivePlan::default_for(context.device().traits());
        parameters.check(context.device().traits())?;
        let key =
            KernelKey::new(SOURCE, ValueType::F32, O::TYPE, Accumulate::Plain, false, &parameters);
        let program = context.program(&key)?;
        let chunks = rows.div_ceil(ROWS_PER_CHUNK);
        let size = Size { groups: chunks, group_size: parameters.group_size as usize };

        let scratch = PlanScratch::take_blocking(queue, chunks)?;
        let [totals, results, places, starts] = scratch.parts(chunks)?;
        let count = CountArguments {
            rows: rows as u32,
            offsets: offsets.argument(),
            nnz_per_block: numbers.nnz_per_block,
            share: numbers.share,
            breaks_lengths: u32::from(rules.length_break == LengthBreak::On),
            zero: 0,
            starts: starts.argument(),
            places: places.argument(),
            totals: totals.argument(),
            results: results.argument(),
        };
        // SAFETY: the scratch arrays are as long as `chunks` demands, and the offsets are a pattern's.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let done =
            unsafe { launch(queue, &mut program.kernel("count_row_blocks")?, &count, size, &[])? };
        queue.settle_blocking(&done)?;
        let counted = results.read_blocking(queue)?;
        let (blocks, cut_rows, has_too_many) = (counted[0], counted[1], counted[2] != 0);
        if has_too_many {
            let what = "the number of row blocks of 4096 rows";
            let limit = u64::from(u32::MAX >> 1);
            return Err(csr_core::Error::TooLarge { what, value: limit + 1, limit }.into());
        }

        let entries = DeviceArray::<RowBlock>::allocate(context, blocks as usize + 1)?;
        let write = WriteArguments {
            rows: rows as u32,
            offsets: offsets.argument(),
            num_rows_stream: numbers.num_rows_stream,
            share: numbers.share,
            reduction_size: numbers.reduction_size,
            starts: starts.argument(),
            places: places.argument(),
            count: blocks,
            row_blocks: entries.argument(),
        };
        // SAFETY: `entries` is as long as was counted.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let written =
            unsafe { launch(queue, &mut program.kernel("write_row_blocks")?, &write, size, &[])? };
        // Launches may follow on other queues.
        written.wait()?;
        scratch.give_back(context);
        Ok(DeviceRowBlocks { rules, entries, cut_rows: cut_rows as usize })
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
}

/// Memory that cutting scribbles on, kept by the context from one plan to the next: half a byte a row.
#[derive(Debug)]
pub(crate) struct PlanScratch {
    words: DeviceArray<u32>,
}

impl PlanScratch {
    /// Scratch for at least `chunks` chunks: the context's, or new. Its totals are 0; whoever fails on the
    /// way does not give it back.
    fn take_blocking(queue: &Queue, chunks: usize) -> Result<Self> {
        let words = TOTAL_WORDS + RESULT_WORDS + chunks * (1 + START_WORDS_PER_CHUNK);
        match queue.context().take_plan_scratch() {
            Some(scratch) if scratch.words.len() >= words => Ok(scratch),
            _ => Ok(PlanScratch { words: DeviceArray::upload_blocking(queue, &vec![0; words])? }),
        }
    }

    fn give_back(self, context: &Context) {
        context.keep_plan_scratch(self);
    }

    /// Totals, results, places and starts.
    fn parts(&self, chunks: usize) -> Result<[DeviceArray<u32>; 4]> {
        let lengths = [TOTAL_WORDS, RESULT_WORDS, chunks, chunks * START_WORDS_PER_CHUNK];
        let mut first = 0;
        let mut part = |length: usize| {
            first += length;
            self.words.slice(first - length..first)
        };
        let [totals, results, places, starts] = lengths;
        Ok([part(totals)?, part(results)?, part(places)?, part(starts)?])
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
        // Every row has a block, and every full share of a cut row another.
        let most_blocks = rows.saturating_add(nnz.checked_div(share).unwrap_or(0));
        narrow("the number of row blocks", most_blocks)?;
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
