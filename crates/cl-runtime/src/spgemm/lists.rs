//! Which rows each kernel of SpGEMM takes.

use std::ops::Range;

use cl_kernels::Array;
use cl_kernels::spgemm_rows::{
    CROWDED_ROWS, ClassifyArguments, ListArguments, ListOutputArguments, OutputArguments,
    ROW_CLASSES, SUMMED_ROWS, SpgemmRows, WINDOW_ROWS, WindowArguments,
};
use csr_core::OffsetType;

use super::programs::row_groups;
use super::tallies::{OutputTallies, RowTallies, Tallies};
use crate::arena::{Arena, bytes_of};
use crate::raw::Memory;
use crate::scratch::for_a_kernel_to_write;
use crate::{DeviceArray, Queue, Result};

/// Bytes of lists and classes for each row that is computed at once: two lists of a word, two classes of a byte.
pub(super) const BYTES_PER_ROW: u64 = 10;

/// Items that look at a row together, and entries of A's row that one looks at alone (`ROW_ITEMS` and `ITEM_ENTRIES` of
/// the kernel).
const ROW_ITEMS: usize = 8;
const ITEM_ENTRIES: usize = 16;

/// Groups for each compute unit that rows are shared among where an item looks at one alone.
const FEWEST_GROUPS_PER_UNIT: usize = 8;

/// Groups that look at rows, for each compute unit: a few times what it runs at once.
const GROUPS_PER_UNIT: usize = 32;

/// The patterns of A and B as kernels take them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patterns<'a> {
    pub(super) offset_type: OffsetType,
    /// Entries of a row of A in the mean, rounded down.
    pub(super) a_mean: usize,
    pub(super) a_offsets: Array<&'a Memory>,
    pub(super) a_columns: Array<&'a Memory>,
    pub(super) b_begins: Array<&'a Memory>,
    pub(super) b_ends: Array<&'a Memory>,
    pub(super) b_columns: Array<&'a Memory>,
}

/// Memory for the lists of so many rows.
#[derive(Debug)]
struct ListMemory {
    row_classes: DeviceArray<u8>,
    output_classes: DeviceArray<u8>,
    rows: DeviceArray<u32>,
    outputs: DeviceArray<u32>,
}

/// Bytes that lists of so many rows take of an arena.
pub(super) fn list_bytes(rows: usize) -> usize {
    2 * bytes_of::<u8>(rows) + 2 * bytes_of::<u32>(rows)
}

impl ListMemory {
    fn take(arena: &mut Arena, rows: usize) -> Result<Self> {
        Ok(ListMemory {
            row_classes: arena.take(rows)?,
            output_classes: arena.take(rows)?,
            rows: arena.take(rows)?,
            outputs: arena.take(rows)?,
        })
    }
}

/// Rows that are being sorted into classes: the device has not said yet how many each class has.
#[derive(Debug)]
pub(super) struct RowListing {
    rows: Range<usize>,
    memory: ListMemory,
}

impl RowListing {
    /// In memory of this arena.
    pub(super) fn take(arena: &mut Arena, rows: Range<usize>) -> Result<Self> {
        let memory = ListMemory::take(arena, rows.len())?;
        Ok(RowListing { rows, memory })
    }

    /// Has the device sort the rows into classes, where long is what takes more than the number says, and list them. C
    /// has a count for each of its rows: those without products are counted here.
    pub(super) fn enqueue(
        &self,
        queue: &Queue,
        (parameters, long_work): (&SpgemmRows, u64),
        patterns: Patterns<'_>,
        counts: &DeviceArray<u32>,
        tallies: &Tallies,
    ) -> Result<()> {
        let program = row_groups(queue, patterns.offset_type, parameters)?;
        let (rows, memory) = (&self.rows, &self.memory);
        let of_rows = tallies.rows()?;
        let Patterns { a_offsets, a_columns, b_begins, b_ends, b_columns, .. } = patterns;
        let units = queue.context().device().traits().compute_units as usize;
        let group_rows = rows_at_once(program.group_size(), rows.len(), patterns.a_mean, units);
        let arguments = ClassifyArguments {
            first_row: rows.start as u32,
            count: rows.len() as u32,
            group_rows: group_rows as u32,
            long_work,
            a_offsets,
            a_columns,
            b_begins,
            b_ends,
            b_columns,
            counts: counts.argument(),
            classes: memory.row_classes.argument(),
            tallies: of_rows.argument(),
        };
        // Each group adds to the same few words.
        let groups = rows.len().div_ceil(group_rows).min(units * GROUPS_PER_UNIT);
        // SAFETY: the patterns are checked ones that belong together, and there is a class for each row.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run(queue, &arguments, groups)?;
        }
        let cursors = tallies.row_cursors()?;
        let list = ListArguments {
            first_row: rows.start as u32,
            count: rows.len() as u32,
            classes: memory.row_classes.argument(),
            tallies: of_rows.argument(),
            cursors: cursors.argument(),
            list: memory.rows.argument(),
        };
        // SAFETY: a class and an index in the list for each row, and a tally and a cursor for each class.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &list, rows.len())
        }
    }

    /// The lists, of which the device has said this.
    pub(super) fn found(self, tallies: &RowTallies) -> RowLists {
        let starts = starts(&tallies.of_classes);
        RowLists {
            rows: self.rows,
            products: tallies.products,
            long_entries: tallies.long_entries,
            starts,
            memory: self.memory,
        }
    }
}

/// Rows of C by what may be in them.
#[derive(Debug)]
pub(super) struct RowLists {
    /// Those it holds.
    rows: Range<usize>,
    /// The products of those that are not long.
    pub(super) products: u64,
    /// Entries of A in those that are.
    pub(super) long_entries: u64,
    starts: Vec<u32>,
    memory: ListMemory,
}

impl RowLists {
    /// The rows of a class, from 1 on.
    pub(super) fn of_class(&self, class: usize) -> Result<DeviceArray<u32>> {
        of_class(&self.memory.rows, &self.starts, class)
    }

    /// The rows whose values are summed by another kernel than finds their columns.
    pub(super) fn summed(&self) -> Result<DeviceArray<u32>> {
        let end = self.starts[ROW_CLASSES] as usize;
        self.memory.rows.slice(self.starts[SUMMED_ROWS] as usize..end)
    }

    /// Has the device sort the rows whose values another kernel sums into classes by their entries, `counts`, which has
    /// one for each row of C.
    pub(super) fn enqueue_outputs(
        &self,
        queue: &Queue,
        parameters: &SpgemmRows,
        patterns: Patterns<'_>,
        counts: &DeviceArray<u32>,
        tallies: &Tallies,
    ) -> Result<()> {
        let program = row_groups(queue, patterns.offset_type, parameters)?;
        let memory = &self.memory;
        let rows = self.summed()?;
        let (outputs, cursors) = (tallies.outputs()?, tallies.output_cursors()?);
        let count = rows.len() as u32;
        let arguments = OutputArguments {
            count,
            rows: rows.argument(),
            a_offsets: patterns.a_offsets,
            counts: counts.argument(),
            classes: memory.output_classes.argument(),
            tallies: outputs.argument(),
        };
        let list = ListOutputArguments {
            count,
            rows: rows.argument(),
            classes: memory.output_classes.argument(),
            tallies: outputs.argument(),
            cursors: cursors.argument(),
            list: memory.outputs.argument(),
        };
        // SAFETY: the listed rows are A's and C's, and there is a class and an index in the list for each.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &arguments, rows.len())?;
            program.run_items(queue, &list, rows.len())
        }
    }

    /// The rows by their entries, of which the device has said this.
    pub(super) fn outputs(
        &self,
        queue: &Queue,
        (offset_type, parameters): (OffsetType, &SpgemmRows),
        counts: &DeviceArray<u32>,
        (tallies, cursor): (&OutputTallies, &DeviceArray<u32>),
    ) -> Result<OutputLists> {
        let starts = starts(&tallies.of_classes);
        let listed = of_class(&self.memory.outputs, &starts, WINDOW_ROWS)?;
        let listed = (&listed, tallies.windows as usize, cursor);
        let windows = windows_of(queue, (offset_type, parameters), listed, counts)?;
        let rows = self.memory.outputs.slice(0..self.rows.len())?;
        Ok(OutputLists { rows, starts, windows })
    }
}

/// Rows of C by how many entries they have, and the windows of the longest.
#[derive(Debug)]
pub(super) struct OutputLists {
    rows: DeviceArray<u32>,
    starts: Vec<u32>,
    windows: DeviceArray<u32>,
}

impl OutputLists {
    /// The rows of a class that are summed whole.
    pub(super) fn rows(&self, class: usize) -> Result<DeviceArray<u32>> {
        of_class(&self.rows, &self.starts, class)
    }

    /// The windows of those that are summed in windows: row and window, two words each.
    pub(super) fn windows(&self) -> &DeviceArray<u32> {
        &self.windows
    }

    /// The rows that are summed in windows and have many entries of A.
    pub(super) fn crowded(&self) -> Result<DeviceArray<u32>> {
        self.rows(CROWDED_ROWS)
    }
}

/// Rows that a group looks at at once: where they are short, an item each, or fewer where there are few groups then.
fn rows_at_once(group_size: usize, rows: usize, mean_entries: usize, units: usize) -> usize {
    let fewest = (group_size / ROW_ITEMS).max(1);
    if mean_entries > ITEM_ENTRIES {
        return fewest;
    }
    (rows / (units * FEWEST_GROUPS_PER_UNIT).max(1)).clamp(fewest, group_size)
}

/// Where each class begins in a list without the first one, and the list's length.
fn starts(tallies: &[u32]) -> Vec<u32> {
    let mut starts = vec![0, 0];
    starts.extend(tallies[1..].iter().scan(0, |sum, tally| {
        *sum += tally;
        Some(*sum)
    }));
    starts
}

fn of_class(list: &DeviceArray<u32>, starts: &[u32], class: usize) -> Result<DeviceArray<u32>> {
    list.slice(starts[class] as usize..starts[class + 1] as usize)
}

/// The windows of `rows` of C, so many, two words each; `counts` has the entries of each row of C, and `cursor`, a word, is
/// 0 before.
pub(super) fn windows_of(
    queue: &Queue,
    (offset_type, parameters): (OffsetType, &SpgemmRows),
    (rows, windows, cursor): (&DeviceArray<u32>, usize, &DeviceArray<u32>),
    counts: &DeviceArray<u32>,
) -> Result<DeviceArray<u32>> {
    if rows.is_empty() {
        return rows.slice(0..0);
    }
    let list = for_a_kernel_to_write(queue, 2 * windows)?;
    let program = row_groups(queue, offset_type, parameters)?;
    let arguments = WindowArguments {
        count: rows.len() as u32,
        rows: rows.argument(),
        counts: counts.argument(),
        cursor: cursor.argument(),
        windows: list.argument(),
    };
    // SAFETY: two words for each window of each row.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    unsafe {
        program.run_items(queue, &arguments, rows.len())?;
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::rows_at_once;

    #[test]
    fn an_item_looks_at_a_row_alone_where_rows_are_short_and_many() {
        assert_eq!(rows_at_once(256, 1_000_000, 3, 132), 256);
        assert_eq!(rows_at_once(256, 100_000, 16, 132), 94);
        assert_eq!(rows_at_once(256, 1_000, 3, 132), 32);
        assert_eq!(rows_at_once(256, 1_000_000, 17, 132), 32);
        assert_eq!(rows_at_once(1, 0, 0, 0), 1);
    }
}
