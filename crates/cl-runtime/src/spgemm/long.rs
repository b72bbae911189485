//! The columns of long rows of C, at which all groups work together (`cl/spgemm/spgemm_long.cl`).

use cl_kernels::Array;
use cl_kernels::spgemm_long::{CountArguments, FillArguments, MarkArguments, TileArguments};
use csr_core::Offset;

use super::entries::{Entries, batches, lengths_blocking, long_groups};
use super::lists::Patterns;
use crate::raw::Memory;
use crate::spmv::workspace::{for_a_kernel_to_write, zeroed_blocking};
use crate::{DeviceArray, Queue, Result, Scan};

/// Rows of C as a bit for each column, and where the columns of each window of them go.
#[derive(Debug)]
pub(super) struct LongRows {
    rows: DeviceArray<u32>,
    bitmap: DeviceArray<u32>,
    /// Where the columns of each window of each row begin, from the first row's first, and their number.
    places: DeviceArray<u64>,
    row_tiles: usize,
}

/// Finds the columns of `rows` of C, which has `cols`, in batches that keep to `scratch_bytes` or are one row, and hands
/// each to `each`, with its products. Returns how many batches there were.
pub(super) fn find_blocking<O: Offset>(
    queue: &Queue,
    patterns: Patterns<'_>,
    (rows, cols): (&DeviceArray<u32>, usize),
    scratch_bytes: u64,
    mut each: impl FnMut(LongRows, u64) -> Result<()>,
) -> Result<usize> {
    if rows.is_empty() {
        return Ok(0);
    }
    let lengths = lengths_blocking::<O>(queue, patterns, rows)?;
    let (_, parameters) = long_groups::<O>(queue)?;
    let tile = parameters.tile_words as usize;
    let row_tiles = cols.div_ceil(32 * tile).max(1);
    let batches = batches(&lengths, (4 * row_tiles * tile + 8 * row_tiles) as u64, scratch_bytes);
    let count = batches.len();
    for batch in batches {
        let listed = rows.slice(batch.clone())?;
        let (found, products) =
            LongRows::find_blocking::<O>(queue, patterns, listed, &lengths[batch], row_tiles)?;
        each(found, products)?;
    }
    Ok(count)
}

impl LongRows {
    fn find_blocking<O: Offset>(
        queue: &Queue,
        patterns: Patterns<'_>,
        rows: DeviceArray<u32>,
        lengths: &[u32],
        row_tiles: usize,
    ) -> Result<(Self, u64)> {
        let (program, parameters) = long_groups::<O>(queue)?;
        let no_limits = vec![u32::MAX; rows.len()];
        let entries = Entries::number_blocking::<O>(queue, patterns, &rows, lengths, &no_limits)?;
        let row_words = row_tiles * parameters.tile_words as usize;
        let tiles = row_tiles * rows.len();
        let bitmap = zeroed_blocking(queue, row_words * rows.len())?;
        let counts: DeviceArray<u32> = for_a_kernel_to_write(queue, tiles)?;
        let places: DeviceArray<u64> = for_a_kernel_to_write(queue, tiles + 1)?;
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
        Scan::<u64>::new_blocking(queue)?.enqueue(queue, &counts, &places)?;
        Ok((LongRows { rows, bitmap, places, row_tiles }, entries.total))
    }

    /// Writes the number of entries of each row to its place in `counts`.
    pub(super) fn count<O: Offset>(&self, queue: &Queue, counts: &DeviceArray<u32>) -> Result<()> {
        let (program, _) = long_groups::<O>(queue)?;
        let arguments = CountArguments {
            count: self.rows.len() as u32,
            row_tiles: self.row_tiles as u32,
            rows: self.rows.argument(),
            places: self.places.argument(),
            counts: counts.argument(),
        };
        // SAFETY: C has a count for each row, and each window of each row has a place.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &arguments, self.rows.len())
        }
    }

    /// Writes the columns of each row to its place in C.
    pub(super) fn fill<O: Offset>(
        &self,
        queue: &Queue,
        c_offsets: Array<&Memory>,
        c_columns: Array<&Memory>,
    ) -> Result<()> {
        let (program, _) = long_groups::<O>(queue)?;
        let arguments = FillArguments {
            row_tiles: self.row_tiles as u32,
            rows: self.rows.argument(),
            places: self.places.argument(),
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
        self.bitmap.size_bytes() + self.places.size_bytes()
    }
}
