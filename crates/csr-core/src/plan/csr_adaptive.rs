//! Row blocks of CSR-Adaptive (Daga and Greathouse, "Structural Agnostic SpMV", HiPC 2015, section III).
//!
//! The rows are cut, top to bottom, into blocks that one work-group each can sum. Greedily, a block
//! takes the next row as long as
//!
//! - its nonzeros stay within `nnz_per_block`,
//! - it does not come to hold both a row above 128 and a row below 32 nonzeros ([`LengthBreak`],
//!   section III-A1: the logarithmic reduction fares badly on mixed lengths), and
//! - it does not cross a multiple of [`ROWS_PER_CHUNK`] rows.
//!
//! The last rule is ours: chunks are independent, so they are cut in parallel, on the host as on the
//! device, with a result that depends on neither. It costs at most one block more a chunk.
//!
//! A row above `nnz_per_block` is a block of its own; one above `share` is as many blocks as it has
//! shares of that length (CSR-VectorL). What each block will do is settled here, divisions included.

use rayon::prelude::*;

use crate::{Error, Offset, PatternView, Result};

/// Rows that are cut independently of all others.
pub const ROWS_PER_CHUNK: usize = 4096;

/// One row block as the kernel reads it: first row, flag, and group number in 64 bits (Figure 6).
///
/// The flag is the published barrier's and always 0 here: it changes from launch to launch, so it lives
/// in the workspace, and plans stay immutable. The group number of a CSR-VectorL block is its share of
/// the row; a CSR-Stream block keeps there the log2 of the items that reduce each of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct RowBlock(u64);

impl RowBlock {
    const ROW_SHIFT: u32 = 32;
    const GROUP_MASK: u64 = (1 << 31) - 1;

    fn new(row: usize, group: u64) -> Self {
        debug_assert!(row <= u32::MAX as usize && group <= Self::GROUP_MASK);
        RowBlock((row as u64) << Self::ROW_SHIFT | group)
    }

    /// The block's first row.
    pub fn row(self) -> usize {
        (self.0 >> Self::ROW_SHIFT) as usize
    }

    /// The share of a CSR-VectorL block, the log2 of items a row of a CSR-Stream block, else 0.
    pub fn group(self) -> u64 {
        self.0 & Self::GROUP_MASK
    }
}

/// Whether a block ends where rows above 128 nonzeros are next to rows below 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthBreak {
    /// No block holds both.
    On,
    /// Lengths do not matter.
    Off,
}

/// How the rows of a CSR-Stream block are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamReduction {
    /// One item loops over a row.
    Scalar,
    /// As many items a row as a group of this size has to give, to the power of two below.
    Logarithmic {
        /// Items of a work-group.
        group_size: usize,
    },
}

/// How rows are cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowBlockRules {
    /// The most nonzeros of a block of several rows (the paper's NNZ_PER_WG).
    pub nnz_per_block: usize,
    /// The fewest rows that take CSR-Stream: 2 or more.
    pub num_rows_stream: usize,
    /// Nonzeros of one CSR-VectorL group; `None` leaves every row whole.
    pub share: Option<usize>,
    /// Whether unlike lengths end a block.
    pub length_break: LengthBreak,
    /// How CSR-Stream reduces.
    pub reduction: StreamReduction,
}

/// A row is long, or short, for [`LengthBreak`].
const LONG_ROW: usize = 128;
const SHORT_ROW: usize = 32;

/// What a block does, as [`RowBlocks::kind`] tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Products to local memory, then row by row.
    Stream,
    /// The whole group on one row after another.
    Vector,
    /// One share of a row that several groups sum.
    VectorL,
}

/// The row blocks of a pattern: a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowBlocks {
    rules: RowBlockRules,
    /// One entry a block, and a last one that holds the number of rows.
    entries: Vec<RowBlock>,
    cut_rows: usize,
}

impl RowBlocks {
    /// Cuts the rows of `pattern` by `rules`; parallel, with the same result on any number of cores.
    ///
    /// # Errors
    /// Rules that no kernel can follow, or a row of more than 2^31 shares.
    pub fn build<O: Offset>(pattern: PatternView<'_, O>, rules: RowBlockRules) -> Result<Self> {
        Self::from_offsets(pattern.offsets(), rules)
    }

    /// As [`RowBlocks::build`], from row offsets that a pattern's check has passed.
    ///
    /// # Errors
    /// As [`RowBlocks::build`].
    pub fn from_offsets<O: Offset>(offsets: &[O], rules: RowBlockRules) -> Result<Self> {
        rules.check()?;
        let rows = offsets.len().saturating_sub(1);
        let chunks: Vec<Chunk> = (0..rows.div_ceil(ROWS_PER_CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let first = chunk * ROWS_PER_CHUNK;
                cut_chunk(offsets, first, (first + ROWS_PER_CHUNK).min(rows), &rules)
            })
            .collect::<Result<_>>()?;
        let mut entries =
            Vec::with_capacity(chunks.iter().map(|c| c.entries.len()).sum::<usize>() + 1);
        for chunk in &chunks {
            entries.extend_from_slice(&chunk.entries);
        }
        entries.push(RowBlock::new(rows, 0));
        let cut_rows = chunks.iter().map(|chunk| chunk.cut_rows).sum();
        Ok(RowBlocks { rules, entries, cut_rows })
    }

    /// The rules it was built by.
    pub fn rules(&self) -> &RowBlockRules {
        &self.rules
    }

    /// One entry a block, and a last one that holds the number of rows: what the kernel reads.
    pub fn entries(&self) -> &[RowBlock] {
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

    /// Bytes of the entries.
    pub fn size_bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }

    /// Rows that begin in block `block`; a share after the first of its row begins none, and the rows
    /// count to the last share.
    pub fn rows_of(&self, block: usize) -> usize {
        self.entries[block + 1].row() - self.entries[block].row()
    }

    /// What block `block` does.
    pub fn kind(&self, block: usize) -> BlockKind {
        let rows = self.rows_of(block);
        if rows >= self.rules.num_rows_stream {
            BlockKind::Stream
        } else if rows > 0 && self.entries[block].group() == 0 {
            BlockKind::Vector
        } else {
            BlockKind::VectorL
        }
    }
}

impl RowBlockRules {
    /// Refuses rules that no kernel can follow.
    ///
    /// # Errors
    /// The first rule that is broken, with its limit.
    pub fn check(&self) -> Result<()> {
        let refuse = |what, value: usize, limit: u64| {
            Err(Error::TooSmall { what, value: value as u64, limit })
        };
        if self.nnz_per_block == 0 {
            return refuse("nnz_per_block", self.nnz_per_block, 1);
        }
        if self.num_rows_stream < 2 {
            return refuse("num_rows_stream", self.num_rows_stream, 2);
        }
        match self.share {
            Some(share) if share < self.nnz_per_block => {
                refuse("the share of a CSR-VectorL group", share, self.nnz_per_block as u64)
            }
            _ => Ok(()),
        }
    }

    /// The log2 of items that reduce each row of a CSR-Stream block of `rows`.
    fn log2_items(&self, rows: usize) -> u64 {
        match self.reduction {
            StreamReduction::Scalar => 0,
            StreamReduction::Logarithmic { group_size } => {
                (group_size / rows).checked_ilog2().unwrap_or(0).into()
            }
        }
    }
}

/// The blocks of one chunk of rows.
struct Chunk {
    entries: Vec<RowBlock>,
    cut_rows: usize,
}

fn cut_chunk<O: Offset>(
    offsets: &[O],
    first: usize,
    last: usize,
    rules: &RowBlockRules,
) -> Result<Chunk> {
    let mut chunk = Chunk { entries: Vec::new(), cut_rows: 0 };
    let mut row = first;
    while row < last {
        let end = block_end(&offsets[row..=last], rules) + row;
        let nnz = offsets[end].to_usize() - offsets[row].to_usize();
        match rules.share {
            Some(share) if nnz > share => {
                let shares = nnz.div_ceil(share) as u64;
                let limit = RowBlock::GROUP_MASK;
                if shares > limit {
                    let what = "the number of shares of one row";
                    return Err(Error::TooLarge { what, value: shares, limit });
                }
                chunk.entries.extend((0..shares).map(|group| RowBlock::new(row, group)));
                chunk.cut_rows += 1;
            }
            _ => {
                let rows = end - row;
                let stream = rows >= rules.num_rows_stream;
                let group = if stream { rules.log2_items(rows) } else { 0 };
                chunk.entries.push(RowBlock::new(row, group));
            }
        }
        row = end;
    }
    Ok(chunk)
}

/// Rows of the block that begins with the first of `offsets`, at least one: everything but the first
/// row must keep to the rules.
fn block_end<O: Offset>(offsets: &[O], rules: &RowBlockRules) -> usize {
    let start = offsets[0].to_usize();
    let (mut has_long, mut has_short) = (false, false);
    let mut before = start;
    for (rows, end) in offsets[1..].iter().enumerate() {
        let end = end.to_usize();
        let length = end - before;
        has_long |= length > LONG_ROW;
        has_short |= length < SHORT_ROW;
        let mixed = has_long && has_short && rules.length_break == LengthBreak::On;
        if rows > 0 && (end - start > rules.nnz_per_block || mixed) {
            return rows;
        }
        before = end;
    }
    offsets.len() - 1
}

#[cfg(test)]
mod tests;
