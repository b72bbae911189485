//! What becomes of any row offsets at all: the pattern's check refuses exactly those that break a rule,
//! and what passes it is cut into row blocks that cover every row once, in order, each as large as the
//! rules let it be, the same with one thread as with two.
//!
//! An input is eight bytes of rules and then either offsets as they are (little-endian words of 4 or 8
//! bytes) or runs of equal rows (a length in two bytes, and the root of how many).

use std::sync::LazyLock;

use csr_core::plan::csr_adaptive::{
    BlockKind, LengthBreak, ROWS_PER_CHUNK, RowBlockRules, RowBlocks, StreamReduction,
};
use csr_core::{Offset, PatternView};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Several chunks' worth.
const MAX_ROWS: usize = 5 * ROWS_PER_CHUNK;

/// Up to here there are columns too, so that a pattern can be had.
const MAX_COLUMNS: usize = 1 << 17;

/// Blocks that fit in memory with ease.
const MAX_SHARES: u64 = 1 << 18;

/// What a row block's entry has room for.
const LIMIT_OF_SHARES: u64 = (1 << 31) - 1;

static TWO_THREADS: LazyLock<ThreadPool> =
    LazyLock::new(|| ThreadPoolBuilder::new().num_threads(2).build().unwrap());

thread_local! {
    /// This thread itself as a pool of one: nothing waits for another thread to wake up.
    static ONE_THREAD: ThreadPool =
        ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
}

pub(crate) fn check(bytes: &[u8]) {
    let Some((head, rest)) = bytes.split_first_chunk::<8>() else { return };
    ONE_THREAD.with(|pool| assert_eq!(pool.current_num_threads(), 1));
    let flag = |bit: u8| head[0] & 1 << bit != 0;
    let nnz_per_block = usize::from(u16::from_le_bytes([head[2], head[3]]));
    let share = nnz_per_block * usize::from(head[4]) + usize::from(head[5]);
    let group_size = usize::from(u16::from_le_bytes([head[6], head[7]]));
    let rules = RowBlockRules {
        nnz_per_block,
        num_rows_stream: head[1].into(),
        share: flag(4).then_some(share),
        length_break: if flag(2) { LengthBreak::On } else { LengthBreak::Off },
        reduction: if flag(3) {
            StreamReduction::Logarithmic { group_size }
        } else {
            StreamReduction::Scalar
        },
    };
    let (is_wide, is_raw) = (flag(0), flag(1));
    let wrong = Wrong { one_column_more: flag(5), column_outside: flag(6) };
    let words: Vec<u64> = match (is_wide, is_raw) {
        (true, true) => rest.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect(),
        (false, true) => {
            rest.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word).into()).collect()
        }
        (_, false) => runs(rest),
    };
    if is_wide {
        check_offsets(&words, &rules, &wrong);
    } else {
        let narrow: Vec<u32> = words.iter().map(|&word| word as u32).collect();
        check_offsets(&narrow, &rules, &wrong);
    }
}

/// Offsets of runs of equal rows.
fn runs(rest: &[u8]) -> Vec<u64> {
    let mut offsets = vec![0];
    let mut sum = 0;
    for &[low, high, root] in rest.as_chunks::<3>().0 {
        let rows = usize::from(root).pow(2).max(1).min(MAX_ROWS + 1 - offsets.len());
        for _ in 0..rows {
            sum += u64::from(u16::from_le_bytes([low, high]));
            offsets.push(sum);
        }
    }
    offsets
}

/// What is made wrong about the columns.
struct Wrong {
    one_column_more: bool,
    column_outside: bool,
}

fn check_offsets<O: Offset>(offsets: &[O], rules: &RowBlockRules, wrong: &Wrong) {
    let last = offsets.last().map_or(0, |offset| offset.to_usize());
    let columns = vec![0; last.min(MAX_COLUMNS) + usize::from(wrong.one_column_more)];
    let cols = usize::from(!wrong.column_outside);
    let rises = offsets.first().is_some_and(|first| first.to_usize() == 0)
        && offsets.is_sorted_by(|a, b| a <= b);
    let is_right = rises && last == columns.len() && (cols > 0 || columns.is_empty());
    let pattern = PatternView::new(cols, offsets, &columns);
    assert_eq!(pattern.is_ok(), is_right, "{:?}", pattern.err());

    let blocks_of_long_rows = |row: usize| match (length(offsets, row), rules.share) {
        (length, Some(share)) if share > 0 => (length / share) as u64,
        _ => 0,
    };
    let shares = || (0..offsets.len() - 1).map(blocks_of_long_rows).map(u128::from).sum::<u128>();
    if let Ok(pattern) = pattern {
        if shares() <= MAX_SHARES.into() {
            check_blocks(offsets, rules, |rules| RowBlocks::build(pattern, rules));
        }
    } else if rises {
        // More nonzeros than there is memory for columns. The blocks themselves must fit in memory: all
        // do, or one row has more shares than are counted and is refused.
        let one_row_is_too_long = offsets.len() == 2 && shares() > LIMIT_OF_SHARES.into();
        if one_row_is_too_long || shares() <= MAX_SHARES.into() {
            check_blocks(offsets, rules, |rules| RowBlocks::from_offsets(offsets, rules));
        }
    }
}

fn length<O: Offset>(offsets: &[O], row: usize) -> usize {
    offsets[row + 1].to_usize() - offsets[row].to_usize()
}

fn check_blocks<O: Offset>(
    offsets: &[O],
    rules: &RowBlockRules,
    build: impl Fn(RowBlockRules) -> csr_core::Result<RowBlocks> + Sync,
) {
    let built = || build(*rules).map_err(|error| error.to_string());
    let one = built();
    if rules.check().is_ok() {
        assert_eq!(TWO_THREADS.install(built), one, "the number of threads shows");
    }
    let blocks = match one {
        Ok(blocks) => blocks,
        Err(refusal) => {
            let shares_of = |share| {
                (0..offsets.len() - 1).map(move |row| length(offsets, row).div_ceil(share) as u64)
            };
            let too_long = rules.share.is_some_and(|share| {
                share > 0 && shares_of(share).any(|shares| shares > LIMIT_OF_SHARES)
            });
            assert!(rules.check().is_err() || too_long, "refused without a reason: {refusal}");
            return;
        }
    };
    assert!(rules.check().is_ok());
    assert_eq!(blocks.rules(), rules);
    let (entries, rows) = (blocks.entries(), offsets.len() - 1);
    assert_eq!(entries.len(), blocks.count() + 1);
    let (mut block, mut row, mut cut_rows) = (0, 0, 0);
    while block < blocks.count() {
        assert_eq!(entries[block].row(), row, "block {block} leaves rows out or repeats them");
        if blocks.kind(block) == BlockKind::VectorL {
            block += check_shares(&blocks, block, length(offsets, row));
            (row, cut_rows) = (row + 1, cut_rows + 1);
        } else {
            check_block(&blocks, block, offsets);
            (block, row) = (block + 1, row + blocks.rows_of(block));
        }
    }
    assert_eq!(row, rows, "rows are left over");
    assert_eq!(entries[blocks.count()].row(), rows);
    assert_eq!(blocks.cut_rows(), cut_rows);
}

/// The shares of one row are numbered, and the last of them ends it. Returns how many there are.
fn check_shares(blocks: &RowBlocks, first: usize, length: usize) -> usize {
    let shares = length.div_ceil(blocks.rules().share.unwrap());
    assert!(shares >= 2, "a row of {length} nonzeros is cut for nothing");
    for share in 0..shares {
        let entry = blocks.entries()[first + share];
        assert_eq!(blocks.kind(first + share), BlockKind::VectorL);
        assert_eq!((entry.row(), entry.group()), (blocks.entries()[first].row(), share as u64));
    }
    assert_eq!(blocks.rows_of(first + shares - 1), 1);
    shares
}

/// A block of whole rows keeps to the rules, and one more row would have broken them.
fn check_block<O: Offset>(blocks: &RowBlocks, block: usize, offsets: &[O]) {
    let rules = blocks.rules();
    let (first, rows) = (blocks.entries()[block].row(), blocks.rows_of(block));
    let end = first + rows;
    let fits = |end: usize| {
        let lengths = || (first..end).map(|row| length(offsets, row));
        let mixed = lengths().any(|length| length > 128) && lengths().any(|length| length < 32);
        lengths().sum::<usize>() <= rules.nnz_per_block
            && !(mixed && rules.length_break == LengthBreak::On)
    };
    assert!(rows >= 1 && end < offsets.len());
    assert_eq!(first / ROWS_PER_CHUNK, (end - 1) / ROWS_PER_CHUNK, "a block crosses chunks");
    assert!(rows == 1 || fits(end), "block {block} breaks a rule");
    assert!(rows > 1 || rules.share.is_none_or(|share| length(offsets, first) <= share));
    let could_grow = end % ROWS_PER_CHUNK != 0 && end + 1 < offsets.len();
    assert!(!could_grow || !fits(end + 1), "block {block} stops short of a row that fits");

    let is_stream = rows >= rules.num_rows_stream;
    assert_eq!(blocks.kind(block), if is_stream { BlockKind::Stream } else { BlockKind::Vector });
    let group = blocks.entries()[block].group();
    match rules.reduction {
        StreamReduction::Logarithmic { group_size } if is_stream => {
            assert!(rows << group <= group_size.max(rows), "more items than the group has");
            assert!(rows << (group + 1) > group_size, "items are left over");
        }
        _ => assert_eq!(group, 0),
    }
}
