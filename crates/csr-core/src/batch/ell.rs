//! ELL: every row filled up to one length, entries of neighbouring rows side by side.

use crate::check::{check_length, check_size};
use crate::{CsrView, Error, Offset, Result, Value};

/// The column of what fills a row up; it is never multiplied.
pub const PADDING: u32 = u32::MAX;

/// A sparse matrix of `rows` by `cols` with room for `width` entries in each row. Entry `k` of row `i` stands at
/// `k * rows + i`; where its column is [`PADDING`] there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Ell<V> {
    rows: usize,
    cols: usize,
    width: usize,
    columns: Vec<u32>,
    values: Vec<V>,
}

impl<V: Value> Ell<V> {
    /// Takes the arrays of a matrix, `rows * width` long each.
    ///
    /// # Errors
    /// Arrays of another length, a column that is neither inside the matrix nor [`PADDING`], or a size beyond
    /// `u32`.
    pub fn new(
        rows: usize,
        cols: usize,
        width: usize,
        columns: Vec<u32>,
        values: Vec<V>,
    ) -> Result<Self> {
        check_size("rows", rows)?;
        check_size("columns", cols)?;
        let slots = rows.saturating_mul(width);
        check_size("slots of an ELL matrix", slots)?;
        check_length("the array of column indices", columns.len(), slots)?;
        check_length("the array of values", values.len(), slots)?;
        let outside = |&column: &u32| column != PADDING && column as usize >= cols;
        if let Some(entry) = columns.iter().position(outside) {
            return Err(Error::Column { column: columns[entry], entry, cols });
        }
        Ok(Ell { rows, cols, width, columns, values })
    }

    /// The same matrix in ELL; its longest row is the width.
    ///
    /// # Errors
    /// More slots than `u32` counts.
    pub fn from_csr<O: Offset>(matrix: CsrView<'_, V, O>) -> Result<Self> {
        let rows = matrix.rows();
        let width = (0..rows).map(|row| matrix.pattern().row_len(row)).max().unwrap_or(0);
        check_size("slots of an ELL matrix", rows.saturating_mul(width))?;
        let mut columns = vec![PADDING; rows * width];
        let mut values = vec![V::from_f64(0.0); rows * width];
        for row in 0..rows {
            let (its_columns, its_values) = matrix.row(row);
            for (k, (&column, &value)) in its_columns.iter().zip(its_values).enumerate() {
                columns[k * rows + row] = column;
                values[k * rows + row] = value;
            }
        }
        Ok(Ell { rows, cols: matrix.cols(), width, columns, values })
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Places of each row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The columns: `rows * width`.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The values: `rows * width`.
    pub fn values(&self) -> &[V] {
        &self.values
    }

    /// Places that hold an entry.
    pub fn nnz(&self) -> usize {
        self.columns.iter().filter(|&&column| column != PADDING).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;

    #[test]
    fn rows_are_filled_up_with_what_is_no_column() {
        let csr = Csr::<f64>::new(3, vec![0, 2, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0]).unwrap();
        let ell = Ell::from_csr(csr.view()).unwrap();
        assert_eq!((ell.rows(), ell.cols(), ell.width(), ell.nnz()), (3, 3, 2, 3));
        assert_eq!(ell.columns(), [0, PADDING, 1, 2, PADDING, PADDING]);
        assert_eq!(ell.values(), [1.0, 0.0, 3.0, 2.0, 0.0, 0.0]);
    }

    #[test]
    fn a_column_outside_is_named_and_padding_is_none() {
        assert!(Ell::new(1, 2, 2, vec![1, PADDING], vec![1.0f32, 0.0]).is_ok());
        let error = Ell::new(1, 2, 2, vec![1, 2], vec![1.0f32, 0.0]).unwrap_err();
        assert_eq!(error.to_string(), "column 2 of entry 1 is outside 0..2");
        let error = Ell::new(2, 2, 2, vec![0; 3], vec![1.0f32; 4]).unwrap_err();
        assert!(error.to_string().contains("3 elements where 4 are needed"), "{error}");
    }
}
