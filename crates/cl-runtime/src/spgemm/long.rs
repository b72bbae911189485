//! The columns of long rows of C, at which all groups work together (`cl/spgemm/spgemm_long.cl`).

use cl_kernels::Array;
use cl_kernels::spgemm_long::{
    CountArguments, FillArguments, MarkArguments, SpgemmLong, TileArguments,
};
use csr_core::OffsetType;

use super::entries::{BYTES_PER_ENTRY, Entries, batches, lengths_blocking, long_groups};
use super::lists::Patterns;
use crate::arena::{Arena, bytes_of};
use crate::kept_memory::BorrowedMemory;
use crate::raw::Memory;
use crate::scratch::zeroed_blocking;
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
    /// What they are in, where it is the context's: the last field, so that they are gone when it goes back.
    memory: Option<BorrowedMemory>,
}

/// Groups for each compute unit where only the device knows how many products there are.
const GROUPS_PER_UNIT: usize = 16;

/// Words of a row's bitmap in windows, and these.
fn row_size(cols: usize, parameters: &SpgemmLong) -> (usize, usize) {
    let tile = parameters.tile_words as usize;
    let row_tiles = cols.div_ceil(32 * tile).max(1);
    (row_tiles * tile, row_tiles)
}

/// Whether `rows` of C, with so many entries of A, can be found together in `scratch_bytes`.
pub(super) fn is_one_batch(
    queue: &Queue,
    patterns: Patterns<'_>,
    (rows, cols): (&DeviceArray<u32>, usize),
    entries: u64,
    scratch_bytes: u64,
) -> Result<bool> {
    let (_, parameters) = long_groups(queue, patterns.offset_type)?;
    let (words, tiles) = row_size(cols, &parameters);
    let of_row = (4 * words + 8 * tiles) as u64;
    let of_entries = entries.saturating_mul(BYTES_PER_ENTRY);
    let bytes = of_row.saturating_mul(rows.len() as u64).saturating_add(of_entries);
    Ok(u32::try_from(entries).is_ok() && bytes <= scratch_bytes)
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
    let (words, tiles) = row_size(cols, &parameters);
    let batches = batches(&lengths, (4 * words + 8 * tiles) as u64, scratch_bytes);
    let count = batches.len();
    for batch in batches {
        let listed = rows.slice(batch.clone())?;
        let (found, products) =
            LongRows::find_blocking(queue, patterns, (listed, cols), &lengths[batch])?;
        each(found, products)?;
    }
    Ok(count)
}

impl LongRows {
    /// Of rows whose entries of A have these numbers, and how many products they have.
    fn find_blocking(
        queue: &Queue,
        patterns: Patterns<'_>,
        (rows, cols): (DeviceArray<u32>, usize),
        lengths: &[u32],
    ) -> Result<(Self, u64)> {
        let (_, parameters) = long_groups(queue, patterns.offset_type)?;
        let no_limits = vec![u32::MAX; rows.len()];
        let entries = Entries::number_blocking(queue, patterns, &rows, lengths, &no_limits)?;
        let mut arena = Arena::new(queue, Self::bytes(rows.len(), cols, &parameters))?;
        let mut scan = Scan::new_blocking(queue, OffsetType::U64)?;
        let groups = (entries.total as usize).div_ceil(parameters.chunk());
        let of_rows = (rows, cols);
        let found =
            Self::mark(queue, patterns, of_rows, (&entries, groups), &mut arena, &mut scan)?;
        Ok((found, entries.total))
    }

    /// Of `rows` with so many entries of A together, in memory of the context's. Nothing is waited for or read back: the
    /// number of their products is written to `total`.
    pub(super) fn enqueue(
        queue: &Queue,
        patterns: Patterns<'_>,
        (rows, cols): (&DeviceArray<u32>, usize),
        entries: u32,
        total: DeviceArray<u64>,
    ) -> Result<Self> {
        let (_, parameters) = long_groups(queue, patterns.offset_type)?;
        let of_scan = crate::scan::default_parameters(queue);
        let bytes = Entries::bytes(rows.len(), entries)
            + Self::bytes(rows.len(), cols, &parameters)
            + bytes_of::<u64>(of_scan.tile())
            + bytes_of::<u64>(1);
        let memory = queue.context().kept_memory().borrow(queue, bytes)?;
        let mut arena = memory.arena()?;
        let sums: DeviceArray<u64> = arena.take(of_scan.tile())?;
        let scan = |total| {
            let sums = sums.slice(0..sums.len())?;
            Scan::in_memory_blocking(queue, OffsetType::U64, of_scan, (sums, total))
        };
        let of_windows = arena.take(1)?;
        let entries =
            Entries::enqueue(queue, patterns, rows, entries, &mut arena, &mut scan(total)?)?;
        let units = queue.context().device().traits().compute_units as usize;
        let of_rows = (rows.slice(0..rows.len())?, cols);
        let entries = (&entries, units * GROUPS_PER_UNIT);
        let mut scan = scan(of_windows)?;
        let found = Self::mark(queue, patterns, of_rows, entries, &mut arena, &mut scan)?;
        Ok(LongRows { memory: Some(memory), ..found })
    }

    /// Bytes of an arena for bitmaps and windows.
    fn bytes(rows: usize, cols: usize, parameters: &SpgemmLong) -> usize {
        let (words, tiles) = row_size(cols, parameters);
        bytes_of::<u32>(words * rows)
            + bytes_of::<u32>(tiles * rows)
            + bytes_of::<u64>(tiles * rows + 1)
    }

    /// Sets the bits of the products of these entries, in so many groups, and counts those of each window.
    fn mark(
        queue: &Queue,
        patterns: Patterns<'_>,
        (rows, cols): (DeviceArray<u32>, usize),
        (entries, groups): (&Entries, usize),
        arena: &mut Arena,
        scan: &mut Scan,
    ) -> Result<Self> {
        let offset_type = patterns.offset_type;
        let (program, parameters) = long_groups(queue, offset_type)?;
        let (row_words, row_tiles) = row_size(cols, &parameters);
        let tiles = row_tiles * rows.len();
        let mut bitmap: DeviceArray<u32> = arena.take(row_words * rows.len())?;
        if queue.context().device().traits().is_written_by_host() {
            // Where a part of a buffer is written by the host, Oclgrind forgets the rest.
            bitmap = zeroed_blocking(queue, bitmap.len())?;
        } else if let Some(filled) = bitmap.fill(queue, 0)? {
            queue.settle_blocking(&filled)?;
        }
        let counts: DeviceArray<u32> = arena.take(tiles)?;
        let window_offsets: DeviceArray<u64> = arena.take(tiles + 1)?;
        let Patterns { a_offsets, a_columns, b_begins, b_columns, .. } = patterns;
        let mark = MarkArguments {
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
        // SAFETY: products are numbered as the entries of these rows say, and each row has a bit for each column.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run(queue, &mark, groups)?;
            program.run(queue, &count, tiles)?;
        }
        scan.enqueue(queue, &counts, &window_offsets)?;
        Ok(LongRows { offset_type, rows, bitmap, window_offsets, row_tiles, memory: None })
    }

    /// Says whether every command that uses these has ended.
    pub(super) fn set_idle(&mut self, is_idle: bool) {
        if let Some(memory) = &mut self.memory {
            memory.set_idle(is_idle);
        }
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
        let apart = self.bitmap.size_bytes() + self.window_offsets.size_bytes();
        self.memory.as_ref().map_or(apart, BorrowedMemory::size_bytes)
    }
}
