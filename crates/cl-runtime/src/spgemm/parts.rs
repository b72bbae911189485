//! The values of crowded rows of C, whose products are sorted by windows (`cl/spgemm/spgemm_parts.cl`).

use std::ops::Range;

use cl_kernels::spgemm_parts::{FillArguments, SOURCE, WriteArguments};
use cl_kernels::spgemm_rows::SpgemmRows;

use super::Spgemm;
use super::entries::{Entries, batches, lengths_blocking, starts_of};
use super::fill::Filled;
use super::lists::{OutputLists, Patterns, windows_of};
use super::programs::{Groups, groups};
use crate::scratch::for_a_kernel_to_write;
use crate::sort::{KeyType, Keyed};
use crate::{DeviceArray, Queue, Result};

/// Bytes on the device for each part while they are sorted: window and number twice, two words of where it comes from,
/// and the sort's own.
const BYTES_PER_PART: u64 = 32;

/// Parts that are sorted at once, whatever memory they may take.
const LEAST_PARTS: u64 = 256;

/// Rows of C that are summed together: what comes of their entries of A, and their windows.
struct Crowd {
    rows: DeviceArray<u32>,
    entries: Entries,
    window_starts: DeviceArray<u32>,
    windows: usize,
}

impl Spgemm {
    /// The values of crowded rows, whose columns are there.
    pub(super) fn fill_crowded(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        filled: Filled<'_>,
        lists: &OutputLists,
    ) -> Result<()> {
        let rows = lists.crowded()?;
        if rows.is_empty() {
            return Ok(());
        }
        let most_items = SpgemmRows::most_items(queue.context().device().traits());
        let kernel = self.parameters.part_kernel(most_items);
        let program = groups(queue, SOURCE, self.program_types(), &kernel, kernel.group_size)?;
        let lengths = lengths_blocking(queue, patterns, &rows)?;
        let of_c = Patterns { a_offsets: filled.c_offsets, ..patterns };
        let windows = lengths_blocking(queue, of_c, &rows)?;
        let windows: Vec<_> =
            windows.into_iter().map(|entries| entries.div_ceil(kernel.outputs)).collect();
        for batch in batches(&lengths, 4, self.scratch_bytes) {
            let rows = rows.slice(batch.clone())?;
            let (lengths, windows) = (&lengths[batch.clone()], &windows[batch]);
            let entries = Entries::number_blocking(queue, patterns, &rows, lengths, windows)?;
            let looks =
                |(&entries, &windows): (&u32, &u32)| u64::from(entries) * u64::from(windows);
            let looks: u64 = lengths.iter().zip(windows).map(looks).sum();
            let starts = starts_of(windows);
            let windows = starts[rows.len()] as usize;
            if looks / u64::from(self.parameters.crowded_looks) < entries.total {
                let row_program = (patterns.offset_type, &self.parameters);
                let cursor = DeviceArray::upload_blocking(queue, &[0u32])?;
                let tasks = (&rows, windows, &cursor);
                let tasks = windows_of(queue, row_program, tasks, &self.counts)?;
                self.fill_windows(queue, patterns, filled, &tasks)?;
                continue;
            }
            let window_starts = DeviceArray::upload_blocking(queue, &starts)?;
            let crowd = Crowd { rows, entries, window_starts, windows };
            let each = (self.scratch_bytes / BYTES_PER_PART).clamp(LEAST_PARTS, u32::MAX.into());
            let mut first = 0;
            while first < crowd.entries.total {
                let beyond = crowd.entries.total.min(first + each);
                crowd.fill(queue, &program, patterns, filled, first..beyond)?;
                first = beyond;
                // The next parts take the memory of these.
                queue.finish_blocking()?;
            }
        }
        Ok(())
    }
}

impl Crowd {
    /// Adds these parts to C's values, which the first of all begin.
    fn fill(
        &self,
        queue: &Queue,
        program: &Groups,
        patterns: Patterns<'_>,
        filled: Filled<'_>,
        parts: Range<u64>,
    ) -> Result<()> {
        let count = (parts.end - parts.start) as usize;
        let keyed = Keyed::allocate(queue, KeyType::U32, count)?;
        let sources: DeviceArray<u32> = for_a_kernel_to_write(queue, 2 * count)?;
        let Patterns { a_offsets, a_columns, b_begins, b_ends, b_columns, .. } = patterns;
        let Filled { a_values, b_values, c_offsets, c_columns, c_values } = filled;
        let (slots, rows) = (self.rows.len() as u32, self.rows.argument());
        let window_starts = self.window_starts.argument();
        let write = WriteArguments {
            first_part: parts.start,
            count: count as u32,
            entries: self.entries.count,
            slots,
            rows,
            entry_starts: self.entries.row_starts.argument(),
            window_starts,
            starts: self.entries.starts.argument(),
            a_offsets,
            a_columns,
            b_begins,
            b_ends,
            b_columns,
            c_offsets,
            c_columns,
            windows: keyed.keys.argument(),
            numbers: keyed.numbers.argument(),
            sources: sources.argument(),
        };
        // SAFETY: parts are numbered as the entries of these rows say, and C's columns were written before in this queue.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &write, count)?;
        }
        let sorted = keyed.sort(queue, usize::BITS - (self.windows - 1).leading_zeros())?;
        let fill = FillArguments {
            count: count as u32,
            has_sums: u32::from(parts.start > 0),
            slots,
            rows,
            window_starts,
            windows: sorted.keys.argument(),
            numbers: sorted.numbers.argument(),
            sources: sources.argument(),
            a_offsets,
            a_columns,
            a_values,
            b_begins,
            b_ends,
            b_columns,
            b_values,
            c_offsets,
            c_columns,
            c_values,
        };
        // SAFETY: the same, and each part belongs to one of the windows.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run(queue, &fill, self.windows)
        }
    }
}
