//! What kernels count while C's entries are: words that are read back twice, all of a phase at once.

use std::ops::Range;

use cl_kernels::row_lengths;
use cl_kernels::spgemm_rows::{OUTPUT_CLASSES, ROW_CLASSES};
use csr_core::RowLengths;

use crate::row_lengths::of_words;
use crate::{DeviceArray, Queue, Result};

/// Entries of B, and its rows, that do not ascend: two words each.
const DESCENTS: Range<usize> = 0..4;
/// Rows of each class, and two words of their products.
const ROWS: Range<usize> = after(DESCENTS, ROW_CLASSES + 2);
/// Rows of C of each class, and windows.
const OUTPUTS: Range<usize> = after(ROWS, OUTPUT_CLASSES + 1);
/// What rules ask of C's rows.
const LENGTHS: Range<usize> = after(OUTPUTS, row_lengths::WORDS);
/// Entries of C: two words, at a multiple of two.
const TOTAL: Range<usize> = LENGTHS.end.next_multiple_of(2)..LENGTHS.end.next_multiple_of(2) + 2;
/// Where the next row of each class goes, in both lists.
const ROW_CURSORS: Range<usize> = after(TOTAL, ROW_CLASSES);
const OUTPUT_CURSORS: Range<usize> = after(ROW_CURSORS, ROW_CLASSES);

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
}

/// What was found of rows of C whose entries are counted.
pub(super) struct OutputTallies {
    pub(super) of_classes: [u32; OUTPUT_CLASSES],
    pub(super) windows: u32,
    pub(super) lengths: RowLengths,
    /// Entries of C.
    pub(super) total: u64,
}

impl Tallies {
    /// Words.
    pub(super) const WORDS: usize = OUTPUT_CURSORS.end;

    /// All 0, in memory of their own: Oclgrind forgets what is in the rest where a part is written from here.
    pub(super) fn new_blocking(queue: &Queue) -> Result<Self> {
        Ok(Tallies(DeviceArray::upload_blocking(queue, &[0; Self::WORDS])?))
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
        self.0.slice(ROWS.end - 2..ROWS.end)
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

    pub(super) fn lengths(&self) -> Result<DeviceArray<u32>> {
        self.0.slice(LENGTHS)
    }

    pub(super) fn total(&self) -> Result<DeviceArray<u64>> {
        self.0.view(TOTAL.start * size_of::<u32>(), 1)
    }

    /// Reads back what is known before columns are looked for: 60 bytes.
    pub(super) fn read_rows_blocking(&self, queue: &Queue) -> Result<RowTallies> {
        let mut words = [0; ROWS.end];
        self.0.read_into_blocking(queue, &mut words)?;
        let mut descents = [0; DESCENTS.end];
        descents.copy_from_slice(&words[DESCENTS]);
        let (classes, products) = words[ROWS].split_at(ROW_CLASSES);
        let mut of_classes = [0; ROW_CLASSES];
        of_classes.copy_from_slice(classes);
        Ok(RowTallies { descents, of_classes, products: wide(products) })
    }

    /// Reads back what is known of C's rows: 48 bytes.
    pub(super) fn read_outputs_blocking(&self, queue: &Queue) -> Result<OutputTallies> {
        let mut words = [0; TOTAL.end - OUTPUTS.start];
        self.0.slice(OUTPUTS.start..TOTAL.end)?.read_into_blocking(queue, &mut words)?;
        let part = |of: Range<usize>| &words[of.start - OUTPUTS.start..of.end - OUTPUTS.start];
        let (classes, windows) = part(OUTPUTS).split_at(OUTPUT_CLASSES);
        let mut of_classes = [0; OUTPUT_CLASSES];
        of_classes.copy_from_slice(classes);
        Ok(OutputTallies {
            of_classes,
            windows: windows[0],
            lengths: of_words(part(LENGTHS)),
            total: wide(part(TOTAL)),
        })
    }
}

/// A number of two words.
fn wide(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}
