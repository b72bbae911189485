//! The columns of long rows of C, at which all groups work together (`cl/spgemm/spgemm_long.cl`).

use cl_kernels::Array;
use cl_kernels::spgemm_long::{CountArguments, FillArguments, MarkArguments, TileArguments};
use csr_core::OffsetType;

use super::entries::{Entries, batches, lengths_blocking, long_groups};
use super::lists::Patterns;
use crate::raw::Memory;
use crate::scratch::{for_a_kernel_to_write, zeroed_blocking};
use crate::{DeviceArray, Queue, Result, Scan};

/// Rows of C as a bit for each column, and where the columns of each window of them go.
#[derive(Debug)]
pub(super) struct LongRows {
    /// Of the matrices.
    offset_type: OffsetType,
    rows: DeviceArray<u32>,
    bitmap: DeviceArray<u32>,
    /// Where the columns of each window of each row begin, from the first row's first, and their number.
    window_offsets: DeviceArray<u64>,
    row_tiles: usize,
}

/// Finds the columns of `rows` of C, which has `cols`, in batches that keep to `scratch_bytes` or are one row, and hands
/// each to `each`, with its products. Returns how many batches there were.
pub(super) fn find_blocking(
    queue: &Queue,
    patterns: Patterns<'_>,
    (rows, cols): (&DeviceArray<u32>, usize),
    scratch_bytes: u64,
    mut each: impl FnMut(LongRows, u64) -> Result<()>,
) -> Result<usize> {
    if rows.is_empty() {
        return Ok(0);
    }
    let lengths = lengths_blocking(queue, patterns, rows)?;
    let (_, parameters) = long_groups(queue, patterns.offset_type)?;
    let tile = parameters.tile_words as usize;
    let row_tiles = cols.div_ceil(32 * tile).max(1);
    let batches = batches(&lengths, (4 * row_tiles * tile + 8 * row_tiles) as u64, scratch_bytes);
    let count = batches.len();
    for batch in batches {
        let listed = rows.slice(batch.clone())?;
        let (found, products) =
            LongRows::find_blocking(queue, patterns, listed, &lengths[batch], row_tiles)?;
        each(found, products)?;
    }
    Ok(count)
}

impl LongRows {
    fn find_blocking(
        queue: &Queue,
        patterns: Patterns<'_>,
        rows: DeviceArray<u32>,
        lengths: &[u32],
        row_tiles: usize,
    ) -> Result<(Self, u64)> {
        let offset_type = patterns.offset_type;
        let (program, parameters) = long_groups(queue, offset_type)?;
        let no_limits = vec![u32::MAX; rows.len()];
        let entries = Entries::number_blocking(queue, patterns, &rows, lengths, &no_limits)?;
        let row_words = row_tiles * parameters.tile_words as usize;
        let tiles = row_tiles * rows.len();
        let bitmap = zeroed_blocking(queue, row_words * rows.len())?;
        let counts: DeviceArray<u32> = for_a_kernel_to_write(queue, tiles)?;
        let window_offsets: DeviceArray<u64> = for_a_kernel_to_write(queue, tiles + 1)?;
        let Patterns { a_offsets, a_columns, b_begins, b_columns, .. } = patterns;
        let mark = MarkArguments {
            products: entries.total,
            entries: entries.count,
            slots: rows.len() as u32,
            row_words: row_words as u32,
            rows: rows.argument(),
            entry_starts: entries.row_starts.argument(),
            starts: entries.starts.argument(),
            a_offsets,
            a_columns,
            b_begins,
            b_columns,
            bitmap: bitmap.argument(),
        };
        let count = TileArguments { bitmap: bitmap.argument(), counts: counts.argument() };
        let groups = (entries.total as usize).div_ceil(parameters.chunk());
        // SAFETY: products are numbered as the entries of these rows say, and each row has a bit for each column.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run(queue, &mark, groups)?;
            program.run(queue, &count, tiles)?;
        }
        Scan::new_blocking(queue, OffsetType::U64)?.enqueue(queue, &counts, &window_offsets)?;
        Ok((LongRows { offset_type, rows, bitmap, window_offsets, row_tiles }, entries.total))
    }

    /// Writes the number of entries of each row to its index in `counts`.
    pub(super) fn count(&self, queue: &Queue, counts: &DeviceArray<u32>) -> Result<()> {
        let (program, _) = long_groups(queue, self.offset_type)?;
        let arguments = CountArguments {
            count: self.rows.len() as u32,
            row_tiles: self.row_tiles as u32,
            rows: self.rows.argument(),
            window_offsets: self.window_offsets.argument(),
            counts: counts.argument(),
        };
        // SAFETY: C has a count for each row, and each window of each row has an offset.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &arguments, self.rows.len())
        }
    }

    /// Writes the columns of each row to its offset in C.
    pub(super) fn fill(
        &self,
        queue: &Queue,
        c_offsets: Array<&Memory>,
        c_columns: Array<&Memory>,
    ) -> Result<()> {
        let (program, _) = long_groups(queue, self.offset_type)?;
        let arguments = FillArguments {
            row_tiles: self.row_tiles as u32,
            rows: self.rows.argument(),
            window_offsets: self.window_offsets.argument(),
            bitmap: self.bitmap.argument(),
            c_offsets,
            c_columns,
        };
        // SAFETY: C has as many entries in these rows as they have bits.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run(queue, &arguments, self.row_tiles * self.rows.len())
        }
    }

    /// Bytes on the device, the list of rows not counted.
    pub(super) fn size_bytes(&self) -> usize {
        self.bitmap.size_bytes() + self.window_offsets.size_bytes()
    }
}
