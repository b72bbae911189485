//! Coordinate form to compressed rows and back; rows in column order, duplicates summed.

use rayon::prelude::*;

use crate::{Coo, Csr, CsrPattern, CsrView, Error, Offset, Result, Value};

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
        let offsets = offsets_of(&coo)?;
        let (row_indices, column_indices, values) = coo.into_arrays();
        if row_indices.par_windows(2).all(|pair| pair[0] <= pair[1]) {
            let pattern = CsrPattern::new_trusted(cols, offsets, column_indices);
            return Csr::from_pattern(pattern, values);
        }
        let mut next: Vec<usize> = offsets[..rows].iter().map(|o| o.to_usize()).collect();
        let mut columns = vec![0u32; column_indices.len()];
        let mut sorted = vec![V::from_f64(0.0); values.len()];
        for ((&row, &column), &value) in row_indices.iter().zip(&column_indices).zip(&values) {
            let at = &mut next[row as usize];
            columns[*at] = column;
            sorted[*at] = value;
            *at += 1;
        }
        Csr::from_pattern(CsrPattern::new_trusted(cols, offsets, columns), sorted)
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
        let view = self.view();
        let pattern = view.pattern();
        let repeats = |row: usize| {
            let (columns, _) = view.row(row);
            columns.windows(2).any(|pair| pair[0] == pair[1])
        };
        if !(0..self.rows()).into_par_iter().any(repeats) {
            return;
        }
        let mut offsets = Vec::with_capacity(self.rows() + 1);
        let mut columns: Vec<u32> = Vec::with_capacity(self.nnz());
        let mut values = Vec::with_capacity(self.nnz());
        offsets.push(O::zeroed());
        for row in 0..self.rows() {
            let (row_columns, row_values) = view.row(row);
            let mut entries = row_columns.iter().zip(row_values).peekable();
            while let Some((&column, &value)) = entries.next() {
                let mut sum = value.to_accum();
                let mut repeated = false;
                while let Some((_, &more)) = entries.next_if(|(next, _)| **next == column) {
                    sum += more.to_accum();
                    repeated = true;
                }
                columns.push(column);
                values.push(if repeated { V::from_accum(sum) } else { value });
            }
            // Never more than before, so the offset type holds it.
            offsets.push(O::try_from_usize(columns.len()).unwrap_or(O::zeroed()));
        }
        let pattern = CsrPattern::new_trusted(pattern.cols(), offsets, columns);
        *self = Csr { pattern, values };
    }

    /// The entries one by one, in the order they are stored.
    pub fn to_coo(&self) -> Coo<V> {
        self.view().to_coo()
    }

    /// The same matrix with values of another type, rounded to nearest.
    pub fn map_values<W: Value>(&self) -> Csr<W, O> {
        let values = self.values.par_iter().map(|value| W::from_f64(value.to_f64())).collect();
        Csr { pattern: self.pattern.clone(), values }
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

/// Counts the entries of each row and adds them up.
fn offsets_of<V: Value, O: Offset>(coo: &Coo<V>) -> Result<Vec<O>> {
    let nnz = coo.nnz();
    if O::try_from_usize(nnz).is_none() {
        let what = "the number of nonzeros";
        return Err(Error::TooLarge { what, value: nnz as u64, limit: O::MAX_NNZ });
    }
    let mut counts = vec![0usize; coo.rows() + 1];
    for &row in coo.row_indices() {
        counts[row as usize + 1] += 1;
    }
    let mut sum = 0;
    Ok(counts
        .into_iter()
        .map(|count| {
            sum += count;
            // At most nnz, which was checked above.
            O::try_from_usize(sum).unwrap_or(O::zeroed())
        })
        .collect())
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
    fn sixteen_bit_duplicates_are_summed_in_f32() {
        let third = half::f16::from_f64(1.0 / 3.0);
        let coo = Coo::new(1, 1, vec![0; 3], vec![0; 3], vec![third; 3]).unwrap();
        let csr: Csr<half::f16, u32> = Csr::from_coo(coo).unwrap();
        assert_eq!(csr.values(), [half::f16::from_f32(third.to_f32() * 3.0)]);
    }
}
