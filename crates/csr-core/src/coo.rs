//! Coordinate form: one (row, column, value) a nonzero, in any order, duplicates allowed.

use crate::check::{check_length, check_size};
use crate::{Error, Real, Result, Value};

/// A sparse matrix as it comes out of a file or an assembly loop.
///
/// Entries may stand in any order and repeat; what repeats is summed when the matrix becomes a
/// [`Csr`](crate::Csr). Rows and columns count from 0 and are checked on construction.
#[derive(Clone, Debug, PartialEq)]
pub struct Coo<V> {
    rows: usize,
    cols: usize,
    row_indices: Vec<u32>,
    column_indices: Vec<u32>,
    values: Vec<V>,
}

impl<V: Value> Coo<V> {
    /// Takes the three arrays of a matrix of `rows` by `cols`, each nnz long.
    ///
    /// # Errors
    /// Arrays of different length, an index outside the matrix, or a size beyond `u32`.
    pub fn new(
        rows: usize,
        cols: usize,
        row_indices: Vec<u32>,
        column_indices: Vec<u32>,
        values: Vec<V>,
    ) -> Result<Self> {
        check_size("rows", rows)?;
        check_size("columns", cols)?;
        let nnz = row_indices.len();
        check_length("the array of column indices", column_indices.len(), nnz)?;
        check_length("the array of values", values.len(), nnz)?;
        if let Some(entry) = row_indices.iter().position(|&row| row as usize >= rows) {
            return Err(Error::Row { row: row_indices[entry], entry, rows });
        }
        if let Some(entry) = column_indices.iter().position(|&column| column as usize >= cols) {
            return Err(Error::Column { column: column_indices[entry], entry, cols });
        }
        Ok(Coo { rows, cols, row_indices, column_indices, values })
    }

    /// For callers in this crate that built the arrays by a rule that keeps indices inside.
    pub(crate) fn new_trusted(
        rows: usize,
        cols: usize,
        row_indices: Vec<u32>,
        column_indices: Vec<u32>,
        values: Vec<V>,
    ) -> Self {
        debug_assert!(row_indices.iter().all(|&row| (row as usize) < rows));
        debug_assert!(column_indices.iter().all(|&column| (column as usize) < cols));
        Coo { rows, cols, row_indices, column_indices, values }
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Stored entries, duplicates counted apart.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// The row of each entry.
    pub fn row_indices(&self) -> &[u32] {
        &self.row_indices
    }

    /// The column of each entry.
    pub fn column_indices(&self) -> &[u32] {
        &self.column_indices
    }

    /// The value of each entry.
    pub fn values(&self) -> &[V] {
        &self.values
    }

    /// Rows, columns and values, given back.
    pub fn into_arrays(self) -> (Vec<u32>, Vec<u32>, Vec<V>) {
        (self.row_indices, self.column_indices, self.values)
    }
}

impl<V: Real> Coo<V> {
    /// The same entries with values of another type, rounded to nearest; what is beyond the type becomes infinite.
    pub fn map_values<W: Value>(&self) -> Coo<W> {
        let values = self.values.iter().map(|value| W::from_f64(value.to_f64())).collect();
        let (row_indices, column_indices) = (self.row_indices.clone(), self.column_indices.clone());
        Coo::new_trusted(self.rows, self.cols, row_indices, column_indices, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_outside_the_matrix_is_named() {
        let error = Coo::new(2, 3, vec![0, 2], vec![0, 0], vec![1.0f32, 2.0]).unwrap_err();
        assert_eq!(error.to_string(), "row 2 of entry 1 is outside 0..2");
        let error = Coo::new(2, 3, vec![0, 1], vec![0, 3], vec![1.0f32, 2.0]).unwrap_err();
        assert_eq!(error.to_string(), "column 3 of entry 1 is outside 0..3");
    }

    #[test]
    fn arrays_of_different_length_are_refused() {
        let error = Coo::new(2, 2, vec![0, 1], vec![0], vec![1.0f64, 2.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the array of column indices has 1 element where 2 are needed"
        );
    }
}
