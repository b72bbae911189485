//! The entries of some rows of A, numbered through, and what comes of each: how long rows are shared among all groups.

use std::ops::Range;

use cl_kernels::spgemm_long::{
    EntriesArguments, MeasureArguments, SOURCE, SpgemmLong, StartArguments,
};
use cl_kernels::spgemm_rows::SpgemmRows;
use csr_core::{OffsetType, ValueType};

use super::lists::Patterns;
use super::programs::{Groups, groups};
use crate::arena::{Arena, bytes_of};
use crate::scratch::for_a_kernel_to_write;
use crate::{DeviceArray, Queue, Result, Scan};

/// Bytes on the device for each entry while they are numbered: what it counts for, and where it begins.
pub(super) const BYTES_PER_ENTRY: u64 = 12;

/// Entries of listed rows of A, and how many products (or parts of products) come of them.
#[derive(Debug)]
pub(super) struct Entries {
    /// Where the entries of each row begin, and their number.
    pub(super) row_starts: DeviceArray<u32>,
    /// Where what comes of each entry begins, and its number.
    pub(super) starts: DeviceArray<u64>,
    /// Entries.
    pub(super) count: u32,
    /// What comes of all of them; 0 where only the device knows.
    pub(super) total: u64,
}

impl Entries {
    /// Numbers the entries of `rows`, of which there are as many as `lengths` says, and what comes of each: a number for
    /// each entry of the row of B that it names, up to the row's limit. 8 bytes are read back.
    pub(super) fn number_blocking(
        queue: &Queue,
        patterns: Patterns<'_>,
        rows: &DeviceArray<u32>,
        lengths: &[u32],
        limits: &[u32],
    ) -> Result<Self> {
        let row_starts = starts_of(lengths);
        let count = row_starts[lengths.len()];
        let row_starts = DeviceArray::upload_blocking(queue, &row_starts)?;
        let limits = DeviceArray::upload_blocking(queue, limits)?;
        let of_entries: DeviceArray<u32> = for_a_kernel_to_write(queue, count as usize)?;
        let starts: DeviceArray<u64> = for_a_kernel_to_write(queue, count as usize + 1)?;
        let mut scan = Scan::new_blocking(queue, OffsetType::U64)?;
        let mut entries = Entries { row_starts, starts, count, total: 0 };
        entries.measure(queue, patterns, rows, &limits, &of_entries)?;
        scan.enqueue(queue, &of_entries, &entries.starts)?;
        entries.total = scan.total_blocking(queue)?;
        Ok(entries)
    }

    /// As [`Entries::number_blocking`] without limits, of `count` entries; takes [`Entries::bytes`] of `arena`. What comes
    /// of all of them is where the scan writes its total, and nothing is read back.
    pub(super) fn enqueue(
        queue: &Queue,
        patterns: Patterns<'_>,
        rows: &DeviceArray<u32>,
        count: u32,
        arena: &mut Arena,
        scan: &mut Scan,
    ) -> Result<Self> {
        let (program, _) = long_groups(queue, patterns.offset_type)?;
        let row_starts: DeviceArray<u32> = arena.take(rows.len() + 1)?;
        let limits: DeviceArray<u32> = arena.take(rows.len())?;
        let of_entries = arena.take(count as usize)?;
        let starts = arena.take(count as usize + 1)?;
        let arguments = StartArguments {
            count: rows.len() as u32,
            rows: rows.argument(),
            a_offsets: patterns.a_offsets,
            entry_starts: row_starts.argument(),
            limits: limits.argument(),
        };
        // SAFETY: the rows are A's, and there is a start and a limit for each, and one start more.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run(queue, &arguments, 1)?;
        }
        let entries = Entries { row_starts, starts, count, total: 0 };
        entries.measure(queue, patterns, rows, &limits, &of_entries)?;
        scan.enqueue(queue, &of_entries, &entries.starts)?;
        Ok(entries)
    }

    /// Bytes of an arena that [`Entries::enqueue`] takes.
    pub(super) fn bytes(rows: usize, count: u32) -> usize {
        let count = count as usize;
        bytes_of::<u32>(rows + 1)
            + bytes_of::<u32>(rows)
            + bytes_of::<u32>(count)
            + bytes_of::<u64>(count + 1)
    }

    /// Has the device find what each entry counts for.
    fn measure(
        &self,
        queue: &Queue,
        patterns: Patterns<'_>,
        rows: &DeviceArray<u32>,
        limits: &DeviceArray<u32>,
        of_entries: &DeviceArray<u32>,
    ) -> Result<()> {
        let (program, _) = long_groups(queue, patterns.offset_type)?;
        let Patterns { a_offsets, a_columns, b_begins, b_ends, .. } = patterns;
        let arguments = MeasureArguments {
            entries: self.count,
            slots: rows.len() as u32,
            rows: rows.argument(),
            entry_starts: self.row_starts.argument(),
            limits: limits.argument(),
            a_offsets,
            a_columns,
            b_begins,
            b_ends,
            lengths: of_entries.argument(),
        };
        // SAFETY: the rows are A's, with as many entries as was said, and there is a length for each.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        unsafe {
            program.run_items(queue, &arguments, self.count as usize)
        }
    }
}

/// How many entries each of `rows` of A has; read back.
pub(super) fn lengths_blocking(
    queue: &Queue,
    patterns: Patterns<'_>,
    rows: &DeviceArray<u32>,
) -> Result<Vec<u32>> {
    let (program, _) = long_groups(queue, patterns.offset_type)?;
    let counts = for_a_kernel_to_write(queue, rows.len())?;
    let arguments = EntriesArguments {
        count: rows.len() as u32,
        rows: rows.argument(),
        a_offsets: patterns.a_offsets,
        counts: counts.argument(),
    };
    // SAFETY: the rows are A's, and there is a count for each.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    unsafe {
        program.run_items(queue, &arguments, rows.len())?;
    }
    counts.read_blocking(queue)
}

/// Batches of neighbouring rows that take up to `bytes` bytes, `of_row` each and more for each entry; a row at least.
pub(super) fn batches(lengths: &[u32], of_row: u64, bytes: u64) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let (mut entries, mut taken) = (0, 0);
    for (row, &length) in lengths.iter().enumerate() {
        let more = of_row + BYTES_PER_ENTRY * u64::from(length);
        let fits = bytes.saturating_sub(taken) >= more;
        match batches.last_mut() {
            // Entries of a batch are counted in 32 bits.
            Some(batch) if fits && entries + u64::from(length) <= u32::MAX.into() => {
                batch.end = row + 1;
                (entries, taken) = (entries + u64::from(length), taken + more);
            }
            _ => {
                batches.push(row..row + 1);
                (entries, taken) = (length.into(), more);
            }
        }
    }
    batches
}

/// Where each of neighbouring runs of these lengths begins, and the sum of all.
pub(super) fn starts_of(lengths: &[u32]) -> Vec<u32> {
    let mut starts = vec![0];
    starts.extend(lengths.iter().scan(0, |sum: &mut u32, length| {
        *sum += length;
        Some(*sum)
    }));
    starts
}

/// The program of long rows, and its parameters.
pub(super) fn long_groups(queue: &Queue, offset_type: OffsetType) -> Result<(Groups, SpgemmLong)> {
    let parameters =
        SpgemmLong::for_groups(SpgemmRows::most_items(queue.context().device().traits()));
    let types = (ValueType::F32, offset_type);
    Ok((groups(queue, SOURCE, types, &parameters, parameters.group_size)?, parameters))
}

#[cfg(test)]
mod tests {
    use super::{batches, starts_of};

    #[test]
    fn batches_cover_all_rows_and_keep_to_the_limit() {
        assert_eq!(batches(&[1, 2, 3, 4], 10, 100), [0..2, 2..3, 3..4]);
        assert_eq!(batches(&[1, 2], 10, 0), [0..1, 1..2]);
        assert_eq!(batches(&[u32::MAX, 1], 0, u64::MAX), [0..1, 1..2]);
        assert_eq!(batches(&[], 1, 1), []);
        assert_eq!(starts_of(&[3, 0, 4]), [0, 3, 3, 7]);
    }
}
