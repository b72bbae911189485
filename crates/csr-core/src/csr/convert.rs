//! Coordinate form to compressed rows and back; rows in column order, duplicates summed.

use rayon::prelude::*;

use super::group::{Symmetry, Triplets};
use crate::parallel;
use crate::{
    Coo, Csr, CsrPattern, CsrView, Occurrences, Offset, Real, Result, Value, check_narrowing,
};

/// Rows a task sorts together: enough work to be worth handing out.
const ROWS_PER_TASK: usize = 1 << 12;

impl<V: Value, O: Offset> Csr<V, O> {
    /// Sorts by row and column and adds up what repeats, in the order it stands in `coo` and in the
    /// accumulator's precision. Stored zeros stay.
    ///
    /// # Errors
    /// More entries than the offset type counts.
    pub fn from_coo(coo: Coo<V>) -> Result<Self> {
        let mut csr = Self::from_coo_keeping_duplicates(coo)?;
        csr.sort_rows();
        csr.sum_duplicates();
        Ok(csr)
    }

    /// Groups by row and changes nothing else: within a row, entries keep their order and repeat.
    ///
    /// # Errors
    /// More entries than the offset type counts.
    pub fn from_coo_keeping_duplicates(coo: Coo<V>) -> Result<Self> {
        let (rows, cols) = (coo.rows(), coo.cols());
        let (row_indices, column_indices, values) = coo.into_arrays();
        let (values, symmetry) = (Some(values), Symmetry::General);
        Triplets { rows, cols, row_indices, column_indices, values, symmetry }.into_csr()
    }

    /// Puts every row's entries in order of their columns; entries of one column keep their order.
    pub fn sort_rows(&mut self) {
        let (cols, (offsets, mut columns)) = {
            let empty = CsrPattern::new_trusted(0, vec![O::zeroed()], Vec::new());
            let pattern = std::mem::replace(&mut self.pattern, empty);
            (pattern.cols(), pattern.into_arrays())
        };
        split_by_rows(&offsets, &mut columns, &mut self.values).into_par_iter().for_each(
            |(offsets, columns, values)| {
                let base = offsets[0].to_usize();
                let mut scratch = Vec::new();
                for pair in offsets.windows(2) {
                    let range = pair[0].to_usize() - base..pair[1].to_usize() - base;
                    sort_row(&mut columns[range.clone()], &mut values[range], &mut scratch);
                }
            },
        );
        self.pattern = CsrPattern::new_trusted(cols, offsets, columns);
    }

    /// Adds up neighbours of one row that share a column. Rows must be sorted for all to be found.
    pub fn sum_duplicates(&mut self) {
        self.sum_duplicates_observed();
    }

    /// As [`Csr::sum_duplicates`]; returns what happened to the sums.
    pub(crate) fn sum_duplicates_observed(&mut self) -> Sums {
        let view = self.view();
        let repeats = |row: usize| {
            let (columns, _) = view.row(row);
            columns.windows(2).any(|pair| pair[0] == pair[1])
        };
        if !(0..self.rows()).into_par_iter().any(repeats) {
            return Sums::default();
        }
        let (rows, cols) = (self.rows(), self.cols());
        let empty = CsrPattern::new_trusted(0, vec![O::zeroed()], Vec::new());
        let (mut offsets, mut columns) = std::mem::replace(&mut self.pattern, empty).into_arrays();
        let tasks = split_by_rows(&offsets, &mut columns, &mut self.values);
        let kept: Vec<Summed> = tasks.into_par_iter().map(sum_within_rows).collect();
        // Every task left its rows packed at its own start; close the gaps between tasks.
        let (mut nnz, mut row, mut sums) = (0, 0, Sums::default());
        for Summed { lengths, sums: of_task } in kept {
            sums = sums.and(of_task, row, nnz);
            let from = offsets[row].to_usize();
            let len: usize = lengths.iter().sum();
            columns.copy_within(from..from + len, nnz);
            self.values.copy_within(from..from + len, nnz);
            for length in lengths {
                // Never more than before, so the offset type holds it.
                offsets[row] = O::try_from_usize(nnz).unwrap_or(offsets[row]);
                nnz += length;
                row += 1;
            }
        }
        offsets[rows] = O::try_from_usize(nnz).unwrap_or(offsets[rows]);
        columns.truncate(nnz);
        columns.shrink_to_fit();
        self.values.truncate(nnz);
        self.values.shrink_to_fit();
        self.pattern = CsrPattern::new_trusted(cols, offsets, columns);
        sums
    }

    /// The entries one by one, in the order they are stored.
    pub fn to_coo(&self) -> Coo<V> {
        self.view().to_coo()
    }
}

impl<V: Real, O: Offset> Csr<V, O> {
    /// The same matrix with values of another type, rounded to nearest; what is beyond the type becomes infinite, which
    /// [`Csr::narrowed`] refuses.
    pub fn map_values<W: Value>(&self) -> Csr<W, O> {
        let values =
            parallel::collect(W::zeroed(), self.nnz(), |at| W::from_f64(self.values[at].to_f64()));
        Csr { pattern: self.pattern.clone(), values }
    }
}

impl<O: Offset> Csr<f64, O> {
    /// The same matrix with values of another type, rounded to nearest.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow) with row and column, from 1, of the first finite value that is beyond
    /// the type.
    pub fn narrowed<W: Value>(&self) -> Result<Csr<W, O>> {
        let pattern = self.pattern.view();
        check_narrowing(&self.values, W::TYPE, |entry| pattern.place(entry))?;
        Ok(self.map_values())
    }
}

impl<V: Value, O: Offset> CsrView<'_, V, O> {
    /// The entries one by one, in the order they are stored.
    pub fn to_coo(&self) -> Coo<V> {
        let row_indices = (0..self.rows())
            .flat_map(|row| std::iter::repeat_n(row as u32, self.pattern().row_len(row)))
            .collect();
        Coo::new_trusted(
            self.rows(),
            self.cols(),
            row_indices,
            self.pattern().columns().to_vec(),
            self.values().to_vec(),
        )
    }
}

type RowSlices<'a, V, O> = (&'a [O], &'a mut [u32], &'a mut [V]);

/// Cuts columns and values at every [`ROWS_PER_TASK`] rows, with the offsets that belong to each cut.
fn split_by_rows<'a, V, O: Offset>(
    offsets: &'a [O],
    mut columns: &'a mut [u32],
    mut values: &'a mut [V],
) -> Vec<RowSlices<'a, V, O>> {
    let rows = offsets.len() - 1;
    let mut slices = Vec::with_capacity(rows.div_ceil(ROWS_PER_TASK));
    for first in (0..rows).step_by(ROWS_PER_TASK) {
        let last = (first + ROWS_PER_TASK).min(rows);
        let nnz = offsets[last].to_usize() - offsets[first].to_usize();
        let (columns_here, columns_rest) = columns.split_at_mut(nnz);
        let (values_here, values_rest) = values.split_at_mut(nnz);
        slices.push((&offsets[first..=last], columns_here, values_here));
        (columns, values) = (columns_rest, values_rest);
    }
    slices
}

/// What happened to the sums of entries that share row and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Row and column of the first sum that is not finite although all that was added up is.
    pub(crate) overflow: Option<(usize, u32)>,
    /// Finite sums that were rounded, by the index of the entry that they became.
    pub(crate) inexact: Occurrences,
}

impl Sums {
    /// With those of a later part, which counts rows from `row` and entries from `entry`.
    fn and(self, later: Sums, row: usize, entry: usize) -> Sums {
        let overflow = later.overflow.map(|(in_part, column)| (row + in_part, column));
        let Occurrences { count, first } = later.inexact;
        let inexact = Occurrences { count, first: first.map(|index| index + entry as u64) };
        Sums { overflow: self.overflow.or(overflow), inexact: self.inexact.and(inexact) }
    }
}

/// What summing left of the rows of one task.
struct Summed {
    /// Their new lengths.
    lengths: Vec<usize>,
    /// Rows and entries counted from the task's first.
    sums: Sums,
}

/// Packs the rows of one task at its start, neighbours of one column summed.
fn sum_within_rows<V: Value, O: Offset>((offsets, columns, values): RowSlices<'_, V, O>) -> Summed {
    let base = offsets[0].to_usize();
    let (mut to, mut sums) = (0, Sums::default());
    let sum_row = |(row, pair): (usize, &[O])| {
        let start = to;
        let mut from = pair[0].to_usize() - base;
        let end = pair[1].to_usize() - base;
        while from < end {
            let column = columns[from];
            let equal = columns[from..end].iter().take_while(|&&other| other == column).count();
            let (sum, fate) = summed(&values[from..from + equal]);
            (columns[to], values[to]) = (column, sum);
            match fate {
                Fate::Exact => {}
                Fate::Rounded => sums.inexact.add(to as u64),
                Fate::Overflowed => sums.overflow = sums.overflow.or(Some((row, column))),
            }
            from += equal;
            to += 1;
        }
        to - start
    };
    let lengths = offsets.windows(2).enumerate().map(sum_row).collect();
    Summed { lengths, sums }
}

/// What a sum lost.
enum Fate {
    /// Nothing; or NaN or infinity took part.
    Exact,
    /// Its last digits.
    Rounded,
    /// All: it is not finite, although all that was added up is.
    Overflowed,
}

/// The sum of one value or more, added one after the other in the accumulator's precision.
fn summed<V: Value>(values: &[V]) -> (V, Fate) {
    let &[first, ref others @ ..] = values else { return (V::zeroed(), Fate::Exact) };
    if others.is_empty() {
        return (first, Fate::Exact);
    }
    let mut sum = first.to_accum();
    let mut are_finite = first.norm().is_finite();
    // What additions rounded off: Knuth's two-sum has it exactly.
    let mut lost = V::Accum::from_f64(0.0);
    for value in others {
        let (before, added) = (sum, value.to_accum());
        sum += added;
        let taken = sum - before;
        lost += (before - (sum - taken)) + (added - taken);
        are_finite &= value.norm().is_finite();
    }
    let result = V::from_accum(sum);
    let fate = match (are_finite, result.norm().is_finite()) {
        (false, _) => Fate::Exact,
        (true, false) => Fate::Overflowed,
        (true, true) if lost != V::Accum::from_f64(0.0) || result.to_accum() != sum => {
            Fate::Rounded
        }
        (true, true) => Fate::Exact,
    };
    (result, fate)
}

fn sort_row<V: Value>(columns: &mut [u32], values: &mut [V], scratch: &mut Vec<(u32, V)>) {
    if columns.is_sorted() {
        return;
    }
    scratch.clear();
    scratch.extend(columns.iter().copied().zip(values.iter().copied()));
    scratch.sort_by_key(|&(column, _)| column);
    for ((column, value), &(sorted_column, sorted_value)) in
        columns.iter_mut().zip(values).zip(scratch.iter())
    {
        *column = sorted_column;
        *value = sorted_value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unordered() -> Coo<f64> {
        Coo::new(3, 3, vec![2, 0, 2, 0, 2], vec![2, 2, 1, 0, 2], vec![1.0, 2.0, 7.0, 5.0, 2.0])
            .unwrap()
    }

    #[test]
    fn coo_in_any_order_becomes_sorted_rows_with_duplicates_summed() {
        let csr: Csr<f64, u32> = Csr::from_coo(unordered()).unwrap();
        assert_eq!(csr.pattern().offsets(), [0, 2, 2, 4]);
        assert_eq!(csr.pattern().columns(), [0, 2, 1, 2]);
        assert_eq!(csr.values(), [5.0, 2.0, 7.0, 3.0]);
    }

    #[test]
    fn duplicates_can_be_kept_in_their_order() {
        let csr: Csr<f64, u64> = Csr::from_coo_keeping_duplicates(unordered()).unwrap();
        assert_eq!(csr.pattern().offsets(), [0, 2, 2, 5]);
        assert_eq!(csr.pattern().columns(), [2, 0, 2, 1, 2]);
        assert_eq!(csr.values(), [2.0, 5.0, 1.0, 7.0, 2.0]);
    }

    #[test]
    fn csr_to_coo_and_back_is_the_same_matrix() {
        let csr: Csr<f64, u32> = Csr::from_coo(unordered()).unwrap();
        assert_eq!(Csr::from_coo(csr.to_coo()).unwrap(), csr);
    }

    #[test]
    fn duplicates_of_many_tasks_are_summed_and_the_gaps_between_tasks_closed() {
        let rows = 2 * ROWS_PER_TASK + 5;
        let row_indices = (0..rows as u32).flat_map(|row| [row; 4]).collect();
        let column_indices = (0..rows as u32).flat_map(|row| [row, 0, row, 0]).collect();
        let values = (0..rows).flat_map(|row| [row as f64, 1.0, 0.5, 2.0]).collect();
        let coo = Coo::new(rows, rows, row_indices, column_indices, values).unwrap();
        let csr: Csr<f64, u32> = Csr::from_coo(coo).unwrap();
        assert_eq!(csr.view().row(0), (&[0][..], &[3.5][..]));
        for row in 1..rows {
            let expected = (&[0, row as u32][..], &[3.0, row as f64 + 0.5][..]);
            assert_eq!(csr.view().row(row), expected, "row {row}");
        }
    }

    #[test]
    fn values_beyond_a_narrower_type_are_refused_by_row_and_column_from_1() {
        let values = vec![1.0, f64::NEG_INFINITY, -1e39];
        let csr: Csr<f64, u32> = Csr::new(2, vec![0, 1, 3], vec![0, 0, 1], values).unwrap();
        assert_eq!(csr.narrowed::<half::bf16>().unwrap_err().to_string(), {
            "row 2, column 2: -1e39 is beyond the largest bf16, 3.3895313892515355e38"
        });
        assert_eq!(csr.map_values::<f32>().values()[2], f32::NEG_INFINITY);
        assert_eq!(csr.narrowed::<f64>().unwrap(), csr);
    }

    #[test]
    fn sixteen_bit_duplicates_are_summed_in_f32() {
        let third = half::f16::from_f64(1.0 / 3.0);
        let coo = Coo::new(1, 1, vec![0; 3], vec![0; 3], vec![third; 3]).unwrap();
        let csr: Csr<half::f16, u32> = Csr::from_coo(coo).unwrap();
        assert_eq!(csr.values(), [half::f16::from_f32(third.to_f32() * 3.0)]);
    }
}
