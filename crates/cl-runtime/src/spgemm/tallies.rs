//! What kernels count while C's entries are: words that are read back twice, all of a phase at once.

use std::ops::Range;

use cl_kernels::row_lengths;
use cl_kernels::spgemm_rows::{OUTPUT_CLASSES, ROW_CLASSES};
use csr_core::RowLengths;

use crate::arena::Arena;
use crate::row_lengths::of_words;
use crate::{DeviceArray, Queue, Result};

/// Entries of B, and its rows, that do not ascend: two words each.
const DESCENTS: Range<usize> = 0..4;
/// Rows of each class, and two words each: products of those that are not long, and entries of A of those that are.
const ROWS: Range<usize> = after(DESCENTS, ROW_CLASSES + 4);
/// Rows of C of each class, and windows.
const OUTPUTS: Range<usize> = after(ROWS, OUTPUT_CLASSES + 1);
/// What rules ask of C's rows.
const LENGTHS: Range<usize> = after(OUTPUTS, row_lengths::WORDS);
/// Entries of C: two words, at a multiple of two.
const TOTAL: Range<usize> = LENGTHS.end.next_multiple_of(2)..LENGTHS.end.next_multiple_of(2) + 2;
/// Products of long rows, where all are done together: two words.
const LONG_PRODUCTS: Range<usize> = after(TOTAL, 2);
/// Where the next row of each class goes, in both lists, and the next window.
const ROW_CURSORS: Range<usize> = after(LONG_PRODUCTS, ROW_CLASSES);
const OUTPUT_CURSORS: Range<usize> = after(ROW_CURSORS, ROW_CLASSES);
const WINDOW_CURSOR: Range<usize> = after(OUTPUT_CURSORS, 1);

const fn after(before: Range<usize>, words: usize) -> Range<usize> {
    before.end..before.end + words
}

/// The words on the device.
#[derive(Debug)]
pub(super) struct Tallies(DeviceArray<u32>);

/// What was found of rows of C before its columns are looked for.
pub(super) struct RowTallies {
    pub(super) descents: [u32; 4],
    pub(super) of_classes: [u32; ROW_CLASSES],
    /// But for those of long rows.
    pub(super) products: u64,
    /// Entries of A in long rows.
    pub(super) long_entries: u64,
}

/// What was found of rows of C whose entries are counted.
pub(super) struct OutputTallies {
    pub(super) of_classes: [u32; OUTPUT_CLASSES],
    pub(super) windows: u32,
    pub(super) lengths: RowLengths,
    /// Entries of C.
    pub(super) total: u64,
    /// Of long rows, where [`Tallies::long_products`] says.
    pub(super) long_products: u64,
}

impl Tallies {
    /// Words.
    const WORDS: usize = WINDOW_CURSOR.end;

    /// Bytes that they take of an arena.
    pub(super) const BYTES: usize = (Self::WORDS * 4).next_multiple_of(128);

    /// All 0, in this arena, of which they take [`Tallies::BYTES`]; in memory of their own on Oclgrind, which forgets what
    /// is in the rest where a part is written from here.
    pub(super) fn new_blocking(queue: &Queue, arena: &mut Arena) -> Result<Self> {
        let mut words = arena.take(Self::WORDS)?;
        if queue.context().device().traits().is_oclgrind() {
            words = DeviceArray::upload_blocking(queue, &[0; Self::WORDS])?;
        } else if let Some(filled) = words.fill(queue, 0u32)? {
            queue.settle_blocking(&filled)?;
        }
        Ok(Tallies(words))
    }

    /// Sets all words to 0.
    pub(super) fn clear_blocking(&mut self, queue: &Queue) -> Result<()> {
        self.0.write_blocking(queue, &[0; Self::WORDS])
    }

    pub(super) fn descents(&self) -> Result<DeviceArray<u32>> {
        self.0.slice(DESCENTS)
    }

    pub(super) fn rows(&self) -> Result<DeviceArray<u32>> {
        self.0.slice(ROWS)
    }

    /// Two words of the products of [`Tallies::rows`].
    pub(super) fn products(&self) -> Result<DeviceArray<u32>> {
        self.0.slice(ROWS.end - 4..ROWS.end - 2)
    }

    pub(super) fn row_cursors(&self) -> Result<DeviceArray<u32>> {
        self.0.slice(ROW_CURSORS)
    }

    pub(super) fn outputs(&self) -> Result<DeviceArray<u32>> {
        self.0.slice(OUTPUTS)
    }

    pub(super) fn output_cursors(&self) -> Result<DeviceArray<u32>> {
        self.0.slice(OUTPUT_CURSORS)
    }

    pub(super) fn window_cursor(&self) -> Result<DeviceArray<u32>> {
        self.0.slice(WINDOW_CURSOR)
    }

    /// The products of long rows: 0, or what a kernel has written there.
    pub(super) fn long_products(&self) -> Result<DeviceArray<u64>> {
        self.0.view(LONG_PRODUCTS.start * size_of::<u32>(), 1)
    }

    pub(super) fn lengths(&self) -> Result<DeviceArray<u32>> {
        self.0.slice(LENGTHS)
    }

    pub(super) fn total(&self) -> Result<DeviceArray<u64>> {
        self.0.view(TOTAL.start * size_of::<u32>(), 1)
    }

    /// Reads back what is known before columns are looked for: 72 bytes.
    pub(super) fn read_rows_blocking(&self, queue: &Queue) -> Result<RowTallies> {
        let mut words = [0; ROWS.end];
        self.0.read_into_blocking(queue, &mut words)?;
        let mut descents = [0; DESCENTS.end];
        descents.copy_from_slice(&words[DESCENTS]);
        let (classes, sums) = words[ROWS].split_at(ROW_CLASSES);
        let mut of_classes = [0; ROW_CLASSES];
        of_classes.copy_from_slice(classes);
        Ok(RowTallies {
            descents,
            of_classes,
            products: wide(&sums[..2]),
            long_entries: wide(&sums[2..]),
        })
    }

    /// Reads back what is known of C's rows: 56 bytes.
    pub(super) fn read_outputs_blocking(&self, queue: &Queue) -> Result<OutputTallies> {
        let mut words = [0; LONG_PRODUCTS.end - OUTPUTS.start];
        self.0.slice(OUTPUTS.start..LONG_PRODUCTS.end)?.read_into_blocking(queue, &mut words)?;
        let part = |of: Range<usize>| &words[of.start - OUTPUTS.start..of.end - OUTPUTS.start];
        let (classes, windows) = part(OUTPUTS).split_at(OUTPUT_CLASSES);
        let mut of_classes = [0; OUTPUT_CLASSES];
        of_classes.copy_from_slice(classes);
        Ok(OutputTallies {
            of_classes,
            windows: windows[0],
            lengths: of_words(part(LENGTHS)),
            total: wide(part(TOTAL)),
            long_products: wide(part(LONG_PRODUCTS)),
        })
    }
}

/// A number of two words.
fn wide(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}
