//! Entries in any order to compressed rows, in parallel and in little memory.
//!
//! Counting sort by row. Every task owns a range of rows, so a contiguous part of the finished arrays,
//! and reads all entries picking its own: no atomics, and each row's entries keep the order they came
//! in, whatever the number of tasks. Columns and values move one after the other so that the unsorted
//! columns are gone before the sorted values exist: with f64 values and 32-bit offsets the peak is 24
//! bytes an entry, twice the finished matrix, where moving both at once takes 28.

use rayon::prelude::*;

use crate::memory::{with_capacity, zeroed};
use crate::{Coo, Csr, CsrPattern, Error, Offset, Result, Value};

/// Which entries are left out because others imply them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symmetry {
    /// None.
    General,
    /// An entry off the diagonal stands for its mirror image too.
    Symmetric,
    /// The mirror image has the opposite sign.
    SkewSymmetric,
}

impl std::fmt::Display for Symmetry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Symmetry::General => "general",
            Symmetry::Symmetric => "symmetric",
            Symmetry::SkewSymmetric => "skew-symmetric",
        })
    }
}

/// Entries of a matrix, in any order, checked: every index is inside.
pub(crate) struct Triplets<V> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) row_indices: Vec<u32>,
    pub(crate) column_indices: Vec<u32>,
    /// `None` where every value is 1.
    pub(crate) values: Option<Vec<V>>,
    pub(crate) symmetry: Symmetry,
}

impl<V: Value> Triplets<V> {
    /// Entries with mirror images counted.
    pub(crate) fn nnz(&self) -> usize {
        let stored = self.row_indices.len();
        if self.symmetry == Symmetry::General {
            return stored;
        }
        let pairs = self.row_indices.par_iter().zip(&self.column_indices);
        stored + pairs.filter(|(row, column)| row != column).count()
    }

    /// All entries in their order, a mirror image right after its entry.
    ///
    /// # Errors
    /// No memory for the mirror images.
    pub(crate) fn into_coo(self) -> Result<Coo<V>> {
        let nnz = self.nnz();
        let Triplets { rows, cols, row_indices, column_indices, values, symmetry } = self;
        let values = values.unwrap_or_else(|| ones(row_indices.len()));
        if nnz == row_indices.len() {
            return Ok(Coo::new_trusted(rows, cols, row_indices, column_indices, values));
        }
        let mut all_rows = with_capacity("the row indices", nnz)?;
        let mut all_columns = with_capacity("the column indices", nnz)?;
        let mut all_values = with_capacity("the values", nnz)?;
        for ((&row, &column), &value) in row_indices.iter().zip(&column_indices).zip(&values) {
            all_rows.push(row);
            all_columns.push(column);
            all_values.push(value);
            if row != column {
                let negated = symmetry == Symmetry::SkewSymmetric;
                all_rows.push(column);
                all_columns.push(row);
                all_values.push(if negated { value.negated() } else { value });
            }
        }
        Ok(Coo::new_trusted(rows, cols, all_rows, all_columns, all_values))
    }

    /// Groups by row and changes nothing else: within a row, entries keep their order and repeat. A
    /// mirror image stands right after its entry.
    ///
    /// # Errors
    /// More entries than the offset type counts, or no memory for the row offsets.
    pub(crate) fn into_csr<O: Offset>(self) -> Result<Csr<V, O>> {
        let nnz = self.nnz();
        if O::try_from_usize(nnz).is_none() {
            let what = "the number of nonzeros";
            return Err(Error::TooLarge { what, value: nnz as u64, limit: O::MAX_NNZ });
        }
        let Triplets { rows, cols, row_indices, column_indices, values, symmetry } = self;
        let mirrored = symmetry != Symmetry::General;
        let mut offsets = zeroed::<O>("the row offsets", rows + 1)?;
        count_rows(&mut offsets, &row_indices, mirrored.then_some(&column_indices));
        if !mirrored && row_indices.par_windows(2).all(|pair| pair[0] <= pair[1]) {
            drop(row_indices);
            let pattern = CsrPattern::new_trusted(cols, offsets, column_indices);
            let values = values.unwrap_or_else(|| ones(nnz));
            return Csr::from_pattern(pattern, values);
        }

        let mut columns = zeroed("the column indices", nnz)?;
        let pairs = || row_indices.iter().copied().zip(column_indices.iter().copied());
        scatter(&mut offsets, &mut columns, |slots: &mut RowSlots<'_, O, u32>| {
            for (row, column) in pairs() {
                slots.put(row, column);
                if mirrored && row != column {
                    slots.put(column, row);
                }
            }
        });
        let Some(values) = values else {
            let pattern = CsrPattern::new_trusted(cols, offsets, columns);
            return Csr::from_pattern(pattern, ones(nnz));
        };
        let mut sorted;
        if mirrored {
            sorted = zeroed("the values", nnz)?;
            let negated = symmetry == Symmetry::SkewSymmetric;
            scatter(&mut offsets, &mut sorted, |slots: &mut RowSlots<'_, O, V>| {
                for ((row, column), &value) in pairs().zip(&values) {
                    slots.put(row, value);
                    if row != column {
                        slots.put(column, if negated { value.negated() } else { value });
                    }
                }
            });
        } else {
            drop(column_indices);
            sorted = zeroed("the values", nnz)?;
            scatter(&mut offsets, &mut sorted, |slots: &mut RowSlots<'_, O, V>| {
                for (&row, &value) in row_indices.iter().zip(&values) {
                    slots.put(row, value);
                }
            });
        }
        Csr::from_pattern(CsrPattern::new_trusted(cols, offsets, columns), sorted)
    }
}

fn ones<V: Value>(len: usize) -> Vec<V> {
    vec![V::from_f64(1.0); len]
}

fn add_one<O: Offset>(offset: &mut O) {
    // Counts and indices never pass nnz, which fits.
    *offset = O::try_from_usize(offset.to_usize() + 1).unwrap_or(*offset);
}

/// Fills `offsets` (rows + 1 zeros) with where each row starts.
fn count_rows<O: Offset>(offsets: &mut [O], row_indices: &[u32], mirrors: Option<&Vec<u32>>) {
    let rows = offsets.len() - 1;
    let rows_per_task = rows.div_ceil(rayon::current_num_threads()).max(1);
    offsets[..rows].par_chunks_mut(rows_per_task).enumerate().for_each(|(task, counts)| {
        let first_row = (task * rows_per_task) as u32;
        let mut count = |row: u32| {
            if let Some(count) = counts.get_mut(row.wrapping_sub(first_row) as usize) {
                add_one(count);
            }
        };
        match mirrors {
            None => row_indices.iter().for_each(|&row| count(row)),
            Some(mirrors) => row_indices.iter().zip(mirrors).for_each(|(&row, &mirror)| {
                count(row);
                if row != mirror {
                    count(mirror);
                }
            }),
        }
    });
    let mut sum = 0;
    for offset in offsets {
        let count = offset.to_usize();
        *offset = O::try_from_usize(sum).unwrap_or(*offset);
        sum += count;
    }
}

/// A range of rows, and the part of a finished array that belongs to it.
struct RowSlots<'a, O, T> {
    first_row: u32,
    first_entry: usize,
    /// For each row of the range, where its next entry goes.
    next: &'a mut [O],
    entries: &'a mut [T],
}

impl<O: Offset, T> RowSlots<'_, O, T> {
    /// Puts the entry where it belongs if its row is in this range.
    #[inline(always)]
    fn put(&mut self, row: u32, entry: T) {
        if let Some(next) = self.next.get_mut(row.wrapping_sub(self.first_row) as usize) {
            self.entries[next.to_usize() - self.first_entry] = entry;
            add_one(next);
        }
    }
}

/// Runs `fill` once for each of several ranges of rows with about as many entries; `fill` puts every
/// entry of the matrix. `offsets` are the same afterwards as before.
fn scatter<O: Offset, T: Send>(
    offsets: &mut [O],
    entries: &mut [T],
    fill: impl Fn(&mut RowSlots<'_, O, T>) + Sync,
) {
    let (rows, nnz) = (offsets.len() - 1, entries.len());
    let tasks = rayon::current_num_threads();
    let mut ranges = Vec::with_capacity(tasks);
    let (mut next, mut rest) = (&mut offsets[..rows], entries);
    let (mut first_row, mut first_entry) = (0, 0);
    for task in 1..=tasks {
        let share = (nnz as u128 * task as u128 / tasks as u128) as usize;
        let last = task == tasks;
        let rows_here = if last {
            next.len()
        } else {
            next.partition_point(|offset| offset.to_usize() < share)
        };
        let (next_here, next_rest) = next.split_at_mut(rows_here);
        let end = next_rest.first().map_or(nnz, |offset| offset.to_usize());
        let (entries_here, entries_rest) = rest.split_at_mut(end - first_entry);
        ranges.push(RowSlots { first_row, first_entry, next: next_here, entries: entries_here });
        first_row += rows_here as u32;
        first_entry = end;
        (next, rest) = (next_rest, entries_rest);
    }
    ranges.into_par_iter().with_max_len(1).for_each(|mut slots| fill(&mut slots));
    // Every row's next index now is its end, the start of the row after it.
    offsets.copy_within(..rows, 1);
    offsets[0] = O::zeroed();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triplets(symmetry: Symmetry) -> Triplets<f64> {
        Triplets {
            rows: 4,
            cols: 4,
            row_indices: vec![3, 1, 3, 1, 3],
            column_indices: vec![0, 0, 1, 0, 2],
            values: Some(vec![1.0, 2.0, 3.0, 4.0, 5.0]),
            symmetry,
        }
    }

    fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    #[test]
    fn rows_keep_the_order_of_their_entries_whatever_the_threads() {
        for threads in [1, 2, 3, 7] {
            let csr: Csr<f64, u32> =
                in_pool(threads, || triplets(Symmetry::General).into_csr().unwrap());
            assert_eq!(csr.pattern().offsets(), [0, 0, 2, 2, 5]);
            assert_eq!(csr.pattern().columns(), [0, 0, 0, 1, 2]);
            assert_eq!(csr.values(), [2.0, 4.0, 1.0, 3.0, 5.0]);
        }
    }

    #[test]
    fn mirror_images_are_counted_placed_and_signed() {
        for threads in [1, 2, 5] {
            let csr: Csr<f64, u64> =
                in_pool(threads, || triplets(Symmetry::SkewSymmetric).into_csr().unwrap());
            assert_eq!(csr.pattern().offsets(), [0, 3, 6, 7, 10]);
            assert_eq!(csr.pattern().columns(), [3, 1, 1, 0, 3, 0, 3, 0, 1, 2]);
            assert_eq!(csr.values(), [-1.0, -2.0, -4.0, 2.0, -3.0, 4.0, -5.0, 1.0, 3.0, 5.0]);
        }
        let mut diagonal = triplets(Symmetry::Symmetric);
        diagonal.column_indices[0] = 3;
        let csr: Csr<f64, u32> = diagonal.into_csr().unwrap();
        assert_eq!(csr.nnz(), 9);
        assert_eq!(csr.view().row(2).1, [5.0]);
    }

    #[test]
    fn entries_without_values_are_ones() {
        let pattern = Triplets { values: None, ..triplets(Symmetry::Symmetric) };
        let csr: Csr<f64, u32> = pattern.into_csr().unwrap();
        assert_eq!(csr.values(), [1.0; 10]);
    }
}
