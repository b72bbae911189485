//! The right result of C = A B, entry by entry: as for products with vectors, with an entry instead of a row.

use rayon::prelude::*;

use super::{OracleRow, Summation, Verification, oracle_row};
use crate::{Accumulator, CsrView, Error, Offset, Real, RealValue, Result};

/// The right C = A B: columns ascend in each row, and an entry whose products cancel is one.
#[derive(Clone, Debug)]
pub struct SparseOracle {
    cols: usize,
    products: u64,
    rows: Vec<Vec<(u32, OracleRow)>>,
}

impl SparseOracle {
    /// Multiplies on the host, in double-double.
    ///
    /// # Errors
    /// A has another number of columns than B has rows.
    pub fn new<V: RealValue, O: Offset>(
        a: CsrView<'_, V, O>,
        b: CsrView<'_, V, O>,
    ) -> Result<Self> {
        crate::check::check_length("A's columns", a.cols(), b.rows())?;
        let row = |row: usize| {
            let (columns, values) = a.row(row);
            let mut terms = Vec::new();
            for (&of_b, value) in columns.iter().zip(values) {
                let (columns, values) = b.row(of_b as usize);
                let of_b = columns.iter().zip(values);
                terms.extend(of_b.map(|(&column, b)| (column, value.to_f64(), b.to_f64())));
            }
            terms.sort_by_key(|term| term.0);
            let entries = terms.chunk_by(|before, after| before.0 == after.0);
            let entry = |terms: &[(u32, f64, f64)]| {
                let factors = terms.iter().map(|&(_, a, b)| (a, b));
                (terms[0].0, oracle_row(1.0, factors, 0.0, 0.0))
            };
            entries.map(entry).collect::<Vec<_>>()
        };
        let rows: Vec<_> = (0..a.rows()).into_par_iter().map(row).collect();
        let of_row = |row: &Vec<(u32, OracleRow)>| {
            row.iter().map(|(_, entry)| u64::from(entry.nonzeros)).sum::<u64>()
        };
        let products = rows.par_iter().map(of_row).sum();
        Ok(SparseOracle { cols: b.cols(), products, rows })
    }

    /// Products of an entry of A and one of B.
    pub fn products(&self) -> u64 {
        self.products
    }

    /// Entries of C.
    pub fn nnz(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// Holds a C against the oracle: its pattern exactly, and each value against what that entry may be off; the worst
    /// row is that of the worst entry.
    ///
    /// # Errors
    /// Another shape, or the first row that has other columns.
    pub fn verify<T: Accumulator + Real, O: Offset>(
        &self,
        c: CsrView<'_, T, O>,
    ) -> Result<Verification> {
        crate::check::check_length("C's rows", c.rows(), self.rows.len())?;
        crate::check::check_length("C's columns", c.cols(), self.cols)?;
        let is_right = |row: &usize| {
            c.row(*row).0.iter().copied().eq(self.rows[*row].iter().map(|(column, _)| *column))
        };
        if let Some(row) = (0..self.rows.len()).into_par_iter().find_first(|row| !is_right(row)) {
            let (found, expected) = (c.row(row).0.len() as u64, self.rows[row].len() as u64);
            return Err(Error::WrongRow { row, found, expected });
        }
        let worst_of_row = |(row, entries): (usize, &Vec<(u32, OracleRow)>)| {
            let of_entry = |((_, right), found): (&(u32, OracleRow), &T)| Verification {
                error_in_tolerance: right.error_in_tolerance::<T>(*found, Summation::Plain),
                worst_row: row,
                non_finite: usize::from(!right.is_finite::<T>()),
            };
            let of_entries = entries.iter().zip(c.row(row).1).map(of_entry);
            of_entries.fold(Verification::default(), Verification::and)
        };
        let of_rows = self.rows.par_iter().enumerate().map(worst_of_row);
        Ok(of_rows.reduce(Verification::default, Verification::and))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;

    #[test]
    fn a_product_by_hand_is_right_and_a_lost_entry_is_named() {
        // | 1 2 |   | 3 . |   | 3+2x4 2x5 |
        // | . . | x | 4 5 | = |  .     .  |
        let a = Csr::<f64>::new(2, vec![0, 2, 2], vec![1, 0], vec![2.0, 1.0]).unwrap();
        let b = Csr::<f64>::new(2, vec![0, 1, 3], vec![0, 1, 0], vec![3.0, 5.0, 4.0]).unwrap();
        let oracle = SparseOracle::new(a.view(), b.view()).unwrap();
        assert_eq!((oracle.products(), oracle.nnz()), (3, 2));
        let right = Csr::<f64>::new(2, vec![0, 2, 2], vec![0, 1], vec![11.0, 10.0]).unwrap();
        assert!(oracle.verify(right.view()).unwrap().passed());
        let wrong = Csr::<f64>::new(2, vec![0, 2, 2], vec![0, 1], vec![11.0, 10.1]).unwrap();
        assert!(!oracle.verify(wrong.view()).unwrap().passed());
        let less = Csr::<f64>::new(2, vec![0, 1, 1], vec![0], vec![11.0]).unwrap();
        let refusal = oracle.verify(less.view()).unwrap_err().to_string();
        assert_eq!(refusal, "row 0 of C = A B has 1 entry; the right one has 2, or other columns");
    }
}
