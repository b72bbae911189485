//! Which rows each kernel of SpGEMM takes.

use std::ops::Range;

use cl_kernels::Array;
use cl_kernels::spgemm_rows::{
    CROWDED_ROWS, ClassifyArguments, ListArguments, OUTPUT_CLASSES, OutputArguments, ROW_CLASSES,
    SpgemmRows, WINDOW_ROWS, WindowArguments,
};
use csr_core::Offset;

use super::programs::{Groups, row_groups};
use crate::raw::Memory;
use crate::spmv::workspace::for_a_kernel_to_write;
use crate::{DeviceArray, Queue, Result};

/// Bytes of lists and classes for each row that is computed at once: two lists of a word, two classes of a byte.
pub(super) const BYTES_PER_ROW: u64 = 10;

/// Items that look at a row together (`ROW_ITEMS` of the kernel).
const ROW_ITEMS: usize = 8;

/// The patterns of A and B as kernels take them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patterns<'a> {
    pub(super) a_offsets: Array<&'a Memory>,
    pub(super) a_columns: Array<&'a Memory>,
    pub(super) b_begins: Array<&'a Memory>,
    pub(super) b_ends: Array<&'a Memory>,
    pub(super) b_columns: Array<&'a Memory>,
}

/// Rows by class, one class behind the other.
#[derive(Debug)]
struct Lists {
    rows: DeviceArray<u32>,
    /// Where each class begins, and the number of rows.
    starts: Vec<u32>,
}

impl Lists {
    /// Lists `rows` by their classes, of each of which there are as many as `tallies` says.
    fn list(
        queue: &Queue,
        program: &Groups,
        rows: &Range<usize>,
        classes: &DeviceArray<u8>,
        tallies: &[u32],
    ) -> Result<Self> {
        let mut starts = vec![0];
        starts.extend(tallies.iter().scan(0, |sum, tally| {
            *sum += tally;
            Some(*sum)
        }));
        let mut cursors = starts[..tallies.len()].to_vec();
        cursors.resize(ROW_CLASSES, 0);
        let cursors = DeviceArray::upload_blocking(queue, &cursors)?;
        let list = for_a_kernel_to_write(queue, rows.len())?;
        let arguments = ListArguments {
            first_row: rows.start as u32,
            count: rows.len() as u32,
            classes: classes.argument(),
            cursors: cursors.argument(),
            list: list.argument(),
        };
        // SAFETY: a class and a place in the list for each row, and a cursor for each class.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &arguments, rows.len())?;
        }
        Ok(Lists { rows: list, starts })
    }

    fn of_class(&self, class: usize) -> Result<DeviceArray<u32>> {
        self.rows.slice(self.starts[class] as usize..self.starts[class + 1] as usize)
    }
}

/// Rows of C by what may be in them.
#[derive(Debug)]
pub(super) struct RowLists {
    /// Those it holds.
    pub(super) rows: Range<usize>,
    /// The products of those that are not long.
    pub(super) products: u64,
    classes: DeviceArray<u8>,
    lists: Lists,
}

impl RowLists {
    /// Sorts `rows` into classes, where long is what takes more than the number says; 44 bytes are read back.
    pub(super) fn find_blocking<O: Offset>(
        queue: &Queue,
        (parameters, long_work): (&SpgemmRows, u64),
        patterns: Patterns<'_>,
        rows: Range<usize>,
    ) -> Result<Self> {
        let program = row_groups(queue, O::TYPE, parameters)?;
        let classes = for_a_kernel_to_write(queue, rows.len())?;
        let tallies = DeviceArray::upload_blocking(queue, &[0u32; ROW_CLASSES + 2])?;
        let Patterns { a_offsets, a_columns, b_begins, b_ends, b_columns } = patterns;
        let arguments = ClassifyArguments {
            first_row: rows.start as u32,
            count: rows.len() as u32,
            long_work,
            a_offsets,
            a_columns,
            b_begins,
            b_ends,
            b_columns,
            classes: classes.argument(),
            tallies: tallies.argument(),
        };
        // SAFETY: the patterns are checked ones that belong together, and there is a class for each row.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &arguments, rows.len() * ROW_ITEMS)?;
        }
        let tallies = tallies.read_blocking(queue)?;
        let (of_classes, products) = tallies.split_at(ROW_CLASSES);
        let products = u64::from(products[0]) | u64::from(products[1]) << 32;
        let lists = Lists::list(queue, &program, &rows, &classes, of_classes)?;
        Ok(RowLists { rows, products, classes, lists })
    }

    /// The rows of a class.
    pub(super) fn of_class(&self, class: usize) -> Result<DeviceArray<u32>> {
        self.lists.of_class(class)
    }
}

/// Rows of C by how many entries they have, and the windows of the longest.
#[derive(Debug)]
pub(super) struct OutputLists {
    lists: Lists,
    windows: DeviceArray<u32>,
}

impl OutputLists {
    /// Sorts the rows of `row_lists` into classes by their entries, `counts`, which has one for each row of C; 24 bytes
    /// are read back.
    pub(super) fn find_blocking<O: Offset>(
        queue: &Queue,
        parameters: &SpgemmRows,
        patterns: Patterns<'_>,
        row_lists: &RowLists,
        counts: &DeviceArray<u32>,
    ) -> Result<Self> {
        let program = row_groups(queue, O::TYPE, parameters)?;
        let rows = row_lists.rows.clone();
        let of_rows = counts.slice(rows.clone())?;
        let classes = for_a_kernel_to_write(queue, rows.len())?;
        let tallies = DeviceArray::upload_blocking(queue, &[0u32; OUTPUT_CLASSES + 1])?;
        let arguments = OutputArguments {
            first_row: rows.start as u32,
            count: rows.len() as u32,
            a_offsets: patterns.a_offsets,
            row_classes: row_lists.classes.argument(),
            counts: of_rows.argument(),
            classes: classes.argument(),
            tallies: tallies.argument(),
        };
        // SAFETY: a class and a count for each row.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &arguments, rows.len())?;
        }
        let tallies = tallies.read_blocking(queue)?;
        let lists = Lists::list(queue, &program, &rows, &classes, &tallies[..OUTPUT_CLASSES])?;
        let listed = (&lists.of_class(WINDOW_ROWS)?, tallies[OUTPUT_CLASSES] as usize);
        let windows = windows_of::<O>(queue, parameters, listed, counts)?;
        Ok(OutputLists { lists, windows })
    }

    /// The rows of a class that are summed whole.
    pub(super) fn rows(&self, class: usize) -> Result<DeviceArray<u32>> {
        self.lists.of_class(class)
    }

    /// The windows of those that are summed in windows: row and window, two words each.
    pub(super) fn windows(&self) -> &DeviceArray<u32> {
        &self.windows
    }

    /// The rows that are summed in windows and have many entries of A.
    pub(super) fn crowded(&self) -> Result<DeviceArray<u32>> {
        self.lists.of_class(CROWDED_ROWS)
    }
}

/// The windows of `rows` of C, so many, two words each; `counts` has the entries of each row of C.
pub(super) fn windows_of<O: Offset>(
    queue: &Queue,
    parameters: &SpgemmRows,
    (rows, windows): (&DeviceArray<u32>, usize),
    counts: &DeviceArray<u32>,
) -> Result<DeviceArray<u32>> {
    let list = for_a_kernel_to_write(queue, 2 * windows)?;
    if !rows.is_empty() {
        let program = row_groups(queue, O::TYPE, parameters)?;
        let cursor = DeviceArray::upload_blocking(queue, &[0u32])?;
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
    }
    Ok(list)
}
