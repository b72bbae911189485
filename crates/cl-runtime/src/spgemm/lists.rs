//! Which rows each kernel of SpGEMM takes.

use std::ops::Range;

use cl_kernels::Array;
use cl_kernels::spgemm_rows::{
    CROWDED_ROWS, ClassifyArguments, ListArguments, OutputArguments, SUMMED_ROWS, SpgemmRows,
    WINDOW_ROWS, WindowArguments,
};
use csr_core::OffsetType;

use super::programs::{Groups, row_groups};
use super::tallies::{OutputTallies, RowTallies, Tallies};
use crate::arena::{Arena, bytes_of};
use crate::raw::Memory;
use crate::scratch::for_a_kernel_to_write;
use crate::{DeviceArray, Queue, Result};

/// Bytes of lists and classes for each row that is computed at once: two lists of a word, two classes of a byte.
pub(super) const BYTES_PER_ROW: u64 = 10;

/// Items that look at a row together (`ROW_ITEMS` of the kernel).
const ROW_ITEMS: usize = 8;

/// Groups that look at rows, for each compute unit: a few times what it runs at once.
const GROUPS_PER_UNIT: usize = 32;

/// The patterns of A and B as kernels take them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patterns<'a> {
    pub(super) offset_type: OffsetType,
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
        let arguments = ClassifyArguments {
            first_row: rows.start as u32,
            count: rows.len() as u32,
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
        let groups = rows.len().div_ceil((program.group_size() / ROW_ITEMS).max(1));
        // Each group adds to the same few words.
        let units = queue.context().device().traits().compute_units as usize;
        let groups = groups.min(units * GROUPS_PER_UNIT);
        // SAFETY: the patterns are checked ones that belong together, and there is a class for each row.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run(queue, &arguments, groups)?;
        }
        let listed = (&memory.row_classes, &memory.rows);
        list(queue, &program, rows, listed, (&of_rows, &tallies.row_cursors()?))
    }

    /// The lists, of which the device has said this.
    pub(super) fn found(self, tallies: &RowTallies) -> RowLists {
        let starts = starts(&tallies.of_classes);
        RowLists { rows: self.rows, products: tallies.products, starts, memory: self.memory }
    }
}

/// Rows of C by what may be in them.
#[derive(Debug)]
pub(super) struct RowLists {
    /// Those it holds.
    rows: Range<usize>,
    /// The products of those that are not long.
    pub(super) products: u64,
    starts: Vec<u32>,
    memory: ListMemory,
}

impl RowLists {
    /// The rows of a class, from 1 on.
    pub(super) fn of_class(&self, class: usize) -> Result<DeviceArray<u32>> {
        of_class(&self.memory.rows, &self.starts, class)
    }

    /// Whether the values of some rows are summed by another kernel than finds their columns.
    pub(super) fn has_summed(&self) -> bool {
        self.starts.last() > self.starts.get(SUMMED_ROWS)
    }

    /// Has the device sort the rows into classes by their entries, `counts`, which has one for each row of C.
    pub(super) fn enqueue_outputs(
        &self,
        queue: &Queue,
        parameters: &SpgemmRows,
        patterns: Patterns<'_>,
        counts: &DeviceArray<u32>,
        tallies: &Tallies,
    ) -> Result<()> {
        let program = row_groups(queue, patterns.offset_type, parameters)?;
        let (rows, memory) = (&self.rows, &self.memory);
        let of_rows = counts.slice(rows.clone())?;
        let outputs = tallies.outputs()?;
        let arguments = OutputArguments {
            first_row: rows.start as u32,
            count: rows.len() as u32,
            a_offsets: patterns.a_offsets,
            row_classes: memory.row_classes.argument(),
            counts: of_rows.argument(),
            classes: memory.output_classes.argument(),
            tallies: outputs.argument(),
        };
        // SAFETY: a class and a count for each row.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &arguments, rows.len())?;
        }
        let listed = (&memory.output_classes, &memory.outputs);
        list(queue, &program, rows, listed, (&outputs, &tallies.output_cursors()?))
    }

    /// The rows by their entries, of which the device has said this.
    pub(super) fn outputs(
        &self,
        queue: &Queue,
        (offset_type, parameters): (OffsetType, &SpgemmRows),
        counts: &DeviceArray<u32>,
        tallies: &OutputTallies,
    ) -> Result<OutputLists> {
        let starts = starts(&tallies.of_classes);
        let listed = of_class(&self.memory.outputs, &starts, WINDOW_ROWS)?;
        let listed = (&listed, tallies.windows as usize);
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

/// Has the device list `rows` by their classes, one class after the other, of which there are as many as `tallies`
/// says.
fn list(
    queue: &Queue,
    program: &Groups,
    rows: &Range<usize>,
    (classes, list): (&DeviceArray<u8>, &DeviceArray<u32>),
    (tallies, cursors): (&DeviceArray<u32>, &DeviceArray<u32>),
) -> Result<()> {
    let arguments = ListArguments {
        first_row: rows.start as u32,
        count: rows.len() as u32,
        classes: classes.argument(),
        tallies: tallies.argument(),
        cursors: cursors.argument(),
        list: list.argument(),
    };
    // SAFETY: a class and an index in the list for each row, and a tally and a cursor for each class.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    unsafe {
        program.run_items(queue, &arguments, rows.len())
    }
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

/// The windows of `rows` of C, so many, two words each; `counts` has the entries of each row of C.
pub(super) fn windows_of(
    queue: &Queue,
    (offset_type, parameters): (OffsetType, &SpgemmRows),
    (rows, windows): (&DeviceArray<u32>, usize),
    counts: &DeviceArray<u32>,
) -> Result<DeviceArray<u32>> {
    if rows.is_empty() {
        return rows.slice(0..0);
    }
    let list = for_a_kernel_to_write(queue, 2 * windows)?;
    let cursor = DeviceArray::upload_blocking(queue, &[0u32])?;
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
