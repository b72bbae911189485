//! Makes the copy of `csr_tiles` on the device; a word for each tile is read back, and two numbers.

use cl_kernels::csr_tiles::{CsrTiles as Parameters, SLICE_LANES};
use cl_kernels::csr_tiles_plan::{
    ColumnArguments, LaneArguments, LengthArguments, NumberArguments, PartArguments,
    RowMarkArguments, RowPartArguments, SegmentArguments, StartArguments, TileMarkArguments,
};
use csr_core::OffsetType;
use csr_core::plan::csr_tiles::{TaskRules, TileTasks};

use crate::arena::{Arena, bytes_of};
use crate::launch::LaunchSequence;
use crate::scan::Scan;
use crate::scratch::{for_a_kernel_to_write, zeroed_blocking, zeros_blocking};
use crate::sort::{Keyed, bits_of, count_of};
use crate::{AnyMatrix, DeviceArray, Queue, Result};

/// Bits of a word of marks: one a nonzero.
const WORD_BITS: usize = 32;

/// Groups that a compute unit works on at once, where each fills a quarter of its local memory.
const GROUPS_A_UNIT: u32 = 4;

/// Parts that an item of a row has in the mean, at most; and items that keep a GPU busy. More items a row read less of
/// what its neighbours have in the same tile (docs/notebook/2026-11-29-column-tiles-h200.md).
const PARTS_OF_ITEM: usize = 16;
const BUSY_ITEMS: usize = 1 << 17;

/// Arrays of a word for each segment, or one more, that the copy is made with.
const SEGMENT_ARRAYS: usize = 9;

/// Which segment each nonzero is in, for new values: 4 bytes a segment, and 2 bits a nonzero.
#[derive(Debug)]
pub(super) struct Segments {
    /// A bit for each nonzero, whether it begins one.
    pub(super) marks: DeviceArray<u32>,
    /// How many begin before each word of marks.
    pub(super) before: DeviceArray<u32>,
    /// How far each is moved.
    pub(super) moves: DeviceArray<u32>,
}

/// A pattern in tiles, in device memory.
#[derive(Debug)]
pub(super) struct Tiles {
    pub(super) rows: usize,
    pub(super) nnz: u32,
    /// Work-groups of the first kernel.
    pub(super) groups: usize,
    /// Elements of a copy of the values.
    pub(super) elements: usize,
    /// Sums of parts, those of padding among them.
    pub(super) sums: usize,
    /// Logarithm of the items that add up a row.
    pub(super) log_items: u32,
    pub(super) tasks: DeviceArray<u32>,
    /// All arrays below, which are parts of it, the words of lanes first.
    pub(super) layout: DeviceArray<u32>,
    pub(super) first_parts: DeviceArray<u32>,
    /// 16 bits each.
    pub(super) columns: DeviceArray<u16>,
    pub(super) row_parts: DeviceArray<u32>,
    pub(super) parts: DeviceArray<u32>,
    pub(super) segments: Segments,
}

/// Segments in the order of tiles.
struct Sorted {
    count: u32,
    marks: DeviceArray<u32>,
    before: DeviceArray<u32>,
    firsts: DeviceArray<u32>,
    keyed: Keyed,
    positions: DeviceArray<u32>,
    tasks: TileTasks,
    /// Memory for more arrays of a word each.
    arena: Arena,
}

impl Tiles {
    /// Makes the copy of a pattern, all but values.
    pub(super) fn make_blocking(
        queue: &Queue,
        sequence: &mut LaunchSequence<'_>,
        parameters: &Parameters,
        matrix: &AnyMatrix,
    ) -> Result<Self> {
        let rows = matrix.rows();
        let nnz = count_of("the number of nonzeros", matrix.nnz())?;
        if nnz == 0 {
            return Self::empty(queue, rows);
        }
        let mut scan = Scan::new_blocking(queue, OffsetType::U32)?;
        let sorted = Sorted::make_blocking(queue, sequence, &mut scan, parameters, matrix, nnz)?;
        Self::lay_out_blocking(queue, sequence, &mut scan, parameters, matrix, sorted)
    }

    /// Of a matrix without nonzeros: rows have no parts.
    fn empty(queue: &Queue, rows: usize) -> Result<Self> {
        let row_parts = zeroed_blocking(queue, rows + 1)?;
        let none = || zeroed_blocking(queue, 1);
        Ok(Tiles {
            rows,
            nnz: 0,
            groups: 0,
            elements: 1,
            sums: 1,
            log_items: 0,
            tasks: none()?,
            layout: row_parts.view(0, rows + 1)?,
            first_parts: row_parts.view(0, 1)?,
            columns: row_parts.view(0, 1)?,
            parts: row_parts.view(0, 1)?,
            row_parts,
            segments: Segments { marks: none()?, before: none()?, moves: none()? },
        })
    }

    /// The parts of rows and lanes, and columns.
    fn lay_out_blocking(
        queue: &Queue,
        sequence: &mut LaunchSequence<'_>,
        scan: &mut Scan,
        parameters: &Parameters,
        matrix: &AnyMatrix,
        sorted: Sorted,
    ) -> Result<Self> {
        let Sorted { count, marks, before, firsts, keyed, positions, tasks, mut arena } = sorted;
        let (rows, nnz, segments) = (matrix.rows(), matrix.nnz() as u32, count as usize);
        let (offsets, columns) = (matrix.offsets().argument(), matrix.columns().argument());
        let tile_table = DeviceArray::upload_blocking(queue, tasks.padding.as_flattened())?;
        let (by_tile, by_row) = (arena.take(segments)?, arena.take(segments)?);
        let moves = for_a_kernel_to_write::<u32>(queue, segments)?;
        let counting = PartArguments {
            segments: count,
            firsts: firsts.argument(),
            tiles: keyed.keys.argument(),
            numbers: keyed.numbers.argument(),
            positions: positions.argument(),
            tile_table: tile_table.argument(),
            by_tile: by_tile.argument(),
            by_row: by_row.argument(),
            moves: moves.argument(),
        };
        let of_segments = sequence.groups(segments);
        // SAFETY: a number for each segment, and two words for each tile.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&counting, of_segments)?
        };
        let (tile_parts, segment_parts) =
            (arena.take::<u32>(segments + 1)?, arena.take::<u32>(segments + 1)?);
        scan.run(queue, &by_tile, &tile_parts)?;
        scan.run(queue, &by_row, &segment_parts)?;
        let parts = scan.total_blocking(queue)? as usize;

        let slices = tasks.slices as usize;
        let elements = slices * parameters.slice_nnz() as usize;
        let lanes = slices * SLICE_LANES as usize;
        let words = [lanes, slices, rows + 1, parts].map(bytes_of::<u32>);
        let bytes = words.iter().sum::<usize>() + bytes_of::<u16>(elements);
        let mut arena = Arena::of(zeros_blocking::<u8>(queue, bytes)?);
        let layout = arena.all()?;
        let words = arena.take::<u32>(lanes)?;
        let flat = tasks.tasks.as_flattened();
        let made = Tiles {
            rows,
            nnz,
            groups: tasks.tasks.len(),
            elements,
            sums: parts + tasks.padded as usize,
            log_items: log_items(rows, parts),
            tasks: DeviceArray::upload_blocking(queue, flat)?,
            layout,
            first_parts: arena.take(slices)?,
            columns: arena.take(elements)?,
            row_parts: arena.take(rows + 1)?,
            parts: arena.take(parts)?,
            segments: Segments { marks, before, moves },
        };
        let Segments { marks, before, moves } = &made.segments;
        let numbering = NumberArguments {
            segments: count,
            tiles: keyed.keys.argument(),
            numbers: keyed.numbers.argument(),
            positions: positions.argument(),
            tile_table: tile_table.argument(),
            tile_parts: tile_parts.argument(),
            segment_parts: segment_parts.argument(),
            parts: made.parts.argument(),
            words: words.argument(),
            first_parts: made.first_parts.argument(),
        };
        let of_lanes = LaneArguments { slices: tasks.slices, words: words.argument() };
        let of_rows = RowPartArguments {
            rows: rows as u32,
            offsets,
            marks: marks.argument(),
            before: before.argument(),
            segment_parts: segment_parts.argument(),
            row_parts: made.row_parts.argument(),
        };
        let of_columns = ColumnArguments {
            nnz,
            columns,
            marks: marks.argument(),
            before: before.argument(),
            moves: moves.argument(),
            target: made.columns.argument(),
        };
        let (slice_groups, row_groups) = (sequence.groups(slices), sequence.groups(rows + 1));
        let nonzero_groups = sequence.groups(nnz as usize);
        // SAFETY: words, slices, rows and parts have what the counts above say, and padding was counted with them.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&numbering, of_segments)?;
            sequence.run(&of_lanes, slice_groups)?;
            sequence.run(&of_rows, row_groups)?;
            sequence.run(&of_columns, nonzero_groups)?;
        }
        Ok(made)
    }

    /// Where in the layout an array begins, in 32-bit words.
    pub(super) fn offset_of<T: bytemuck::Pod>(&self, array: &DeviceArray<T>) -> u64 {
        let start_bytes = array.argument().start * size_of::<T>() as u64;
        start_bytes / size_of::<u32>() as u64 - self.layout.argument().start
    }

    pub(super) fn size_bytes(&self) -> usize {
        let Segments { marks, before, moves } = &self.segments;
        [&self.tasks, &self.layout, marks, before, moves]
            .map(|array| array.size_bytes())
            .iter()
            .sum()
    }
}

impl Sorted {
    /// Finds segments and sorts them by tiles.
    fn make_blocking(
        queue: &Queue,
        sequence: &mut LaunchSequence<'_>,
        scan: &mut Scan,
        parameters: &Parameters,
        matrix: &AnyMatrix,
        nnz: u32,
    ) -> Result<Self> {
        let (offsets, columns) = (matrix.offsets().argument(), matrix.columns().argument());
        let words = (nnz as usize).div_ceil(WORD_BITS);
        let bytes = [words, words + 1].map(bytes_of::<u32>).iter().sum();
        let mut arena = Arena::of(zeros_blocking(queue, bytes)?);
        let (marks, before) = (arena.take(words)?, arena.take(words + 1)?);
        let counts = for_a_kernel_to_write::<u32>(queue, words)?;
        let rows =
            RowMarkArguments { rows: matrix.rows() as u32, offsets, marks: marks.argument() };
        let tiles =
            TileMarkArguments { nnz, columns, marks: marks.argument(), counts: counts.argument() };
        let (row_groups, word_groups) = (sequence.groups(matrix.rows()), sequence.groups(words));
        // SAFETY: a bit for each nonzero, and a count for each word of bits.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&rows, row_groups)?;
            sequence.run(&tiles, word_groups)?;
        }
        scan.run(queue, &counts, &before)?;
        let segments = scan.total_blocking(queue)? as usize;
        let tile_count = matrix.cols().div_ceil(parameters.tile_columns as usize);
        let bytes = SEGMENT_ARRAYS * bytes_of::<u32>(segments + 1);
        let mut arena = Arena::new(queue, bytes + 2 * bytes_of::<u32>(tile_count + 1))?;
        let mut words = || arena.take::<u32>(segments);
        let (firsts, lengths) = (words()?, words()?);
        let (keys, numbers) = (words()?.into_any(), words()?);
        let keyed = Keyed { keys, numbers };
        let listing = SegmentArguments {
            nnz,
            columns,
            marks: marks.argument(),
            before: before.argument(),
            firsts: firsts.argument(),
            tiles: keyed.keys.argument(),
            numbers: keyed.numbers.argument(),
        };
        // SAFETY: as many segments as were counted.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&listing, word_groups)?
        };
        let keyed = keyed.sort(queue, bits_of(tile_count - 1))?;
        let positions = arena.take::<u32>(segments + 1)?;
        let tile_segments = arena.take::<u32>(tile_count + 1)?;
        let starts = arena.take::<u32>(tile_count + 1)?;
        let measuring = LengthArguments {
            nnz,
            segments: segments as u32,
            tile_count: tile_count as u32,
            firsts: firsts.argument(),
            tiles: keyed.keys.argument(),
            numbers: keyed.numbers.argument(),
            lengths: lengths.argument(),
            tile_segments: tile_segments.argument(),
        };
        let starting = StartArguments {
            tile_count: tile_count as u32,
            tile_segments: tile_segments.argument(),
            positions: positions.argument(),
            starts: starts.argument(),
        };
        let (segment_groups, tile_groups) =
            (sequence.groups(segments), sequence.groups(tile_count + 1));
        // SAFETY: a length for each segment, and a start for each tile and their end.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            sequence.run(&measuring, segment_groups)?;
            scan.run(queue, &lengths, &positions)?;
            sequence.run(&starting, tile_groups)?;
        }
        let units = queue.context().device().traits().compute_units;
        let rules = TaskRules {
            slice_nnz: parameters.slice_nnz(),
            least_slices: parameters.group_size / SLICE_LANES,
            groups: units.saturating_mul(GROUPS_A_UNIT),
        };
        let tasks = TileTasks::new(&starts.read_blocking(queue)?, rules)?;
        let count = segments as u32;
        Ok(Sorted { count, marks, before, firsts, keyed, positions, tasks, arena })
    }
}

/// Logarithm of the items that add up a row of so many parts in the mean.
fn log_items(rows: usize, parts: usize) -> u32 {
    let mean = parts.div_ceil(rows.max(1));
    let enough = |log: u32| {
        let items = 1 << log;
        items >= mean || items * PARTS_OF_ITEM >= mean && items * rows >= BUSY_ITEMS
    };
    (0..SLICE_LANES.ilog2()).find(|&log| enough(log)).unwrap_or(SLICE_LANES.ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_have_more_items_each_and_many_have_one() {
        assert_eq!(log_items(36, 36 * 300), 5);
        assert_eq!(log_items(4_284, 4_284 * 130), 5);
        assert_eq!(log_items(66_463, 66_463 * 7), 1);
        assert_eq!(log_items(268_096, 268_096 * 21), 1);
        assert_eq!(log_items(862_664, 862_664 * 5), 0);
        assert_eq!(log_items(500, 500), 0);
    }
}
