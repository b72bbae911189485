//! Builds a matrix row by row, in parallel, from two rules: how long a row is and what stands in it.
//!
//! Rows are cut into tasks of fixed size, so the result never depends on the number of threads. The
//! number of nonzeros is known, and refused where it is too large, before columns are allocated.

use crate::check::check_size;
use crate::memory::{with_capacity, zeroed};
use crate::parallel;
use crate::{Csr, CsrPattern, Error, Offset, Result, Value};

/// Rows a task fills: few enough that long rows spread over the threads.
const ROWS_PER_TASK: usize = 1 << 10;

/// What a matrix is made of. Rows are asked for in any order and by many threads.
pub(super) trait Rows: Sync {
    /// What one task keeps between its rows, which it fills in ascending order.
    type Scratch: Default;

    /// The number of nonzeros of a row.
    fn length(&self, row: usize) -> usize;

    /// Writes the columns (distinct, ascending, below cols) and values of a row, each `length(row)`
    /// long.
    fn fill<V: Value>(
        &self,
        row: usize,
        scratch: &mut Self::Scratch,
        columns: &mut [u32],
        values: &mut [V],
    );
}

/// Generates every row of a matrix of `rows` by `cols`.
pub(super) fn assemble<V: Value, O: Offset>(
    rows: usize,
    cols: usize,
    source: &impl Rows,
) -> Result<Csr<V, O>> {
    check_size("rows", rows)?;
    check_size("columns", cols)?;
    let offsets: Vec<O> = offsets(rows, source)?;
    let nnz = offsets[rows].to_usize();
    let mut columns = zeroed::<u32>("the column indices", nnz)?;
    let mut values = zeroed::<V>("the values", nnz)?;
    parallel::for_each(&mut split(&offsets, &mut columns, &mut values), |task| {
        let mut scratch = Default::default();
        let base = offsets[task.first].to_usize();
        for row in task.first..task.last {
            let range = offsets[row].to_usize() - base..offsets[row + 1].to_usize() - base;
            let columns = &mut task.columns[range.clone()];
            source.fill(row, &mut scratch, columns, &mut task.values[range]);
            debug_assert!(columns.is_sorted_by(|a, b| a < b), "row {row}: {columns:?}");
        }
    });
    Csr::from_pattern(CsrPattern::new_trusted(cols, offsets, columns), values)
}

fn offsets<O: Offset>(rows: usize, source: &impl Rows) -> Result<Vec<O>> {
    let mut lengths = zeroed::<u32>("the row lengths", rows)?;
    parallel::for_each_chunk(&mut lengths, ROWS_PER_TASK, |first, lengths| {
        for (at, length) in lengths.iter_mut().enumerate() {
            *length = source.length(first + at) as u32;
        }
    });
    let nnz: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    let too_large =
        || Error::TooLarge { what: "the number of nonzeros", value: nnz, limit: O::MAX_NNZ };
    let mut offsets = with_capacity("the row offsets", rows + 1)?;
    offsets.push(O::zeroed());
    let mut sum = 0;
    if nnz > O::MAX_NNZ {
        return Err(too_large());
    }
    for length in lengths {
        sum += length as usize;
        offsets.push(O::try_from_usize(sum).ok_or_else(too_large)?);
    }
    Ok(offsets)
}

struct Task<'a, V> {
    first: usize,
    last: usize,
    columns: &'a mut [u32],
    values: &'a mut [V],
}

fn split<'a, V, O: Offset>(
    offsets: &[O],
    mut columns: &'a mut [u32],
    mut values: &'a mut [V],
) -> Vec<Task<'a, V>> {
    let rows = offsets.len() - 1;
    let mut tasks = Vec::with_capacity(rows.div_ceil(ROWS_PER_TASK));
    for first in (0..rows).step_by(ROWS_PER_TASK) {
        let last = (first + ROWS_PER_TASK).min(rows);
        let nnz = offsets[last].to_usize() - offsets[first].to_usize();
        let (columns_here, columns_rest) = columns.split_at_mut(nnz);
        let (values_here, values_rest) = values.split_at_mut(nnz);
        tasks.push(Task { first, last, columns: columns_here, values: values_here });
        (columns, values) = (columns_rest, values_rest);
    }
    tasks
}
