//! Matrices that differ in one thing alone, for sweeps over it: the aspect ratio of a matrix without zeros, or the
//! density of a square one (Yang, Buluç, Owens 2018, Figures 1, 4 and 7).

use super::assemble::{Rows, assemble};
use super::random::{Purpose, Random};
use crate::{Csr, Offset, Result, Value};

/// Every row has `length` nonzeros, one in each of as many equal parts of the columns.
struct Even {
    length: usize,
    cols: usize,
    seed: u64,
}

impl Rows for Even {
    type Scratch = ();

    fn length(&self, _: usize) -> usize {
        self.length
    }

    fn fill<V: Value>(&self, row: usize, _: &mut (), columns: &mut [u32], values: &mut [V]) {
        let mut positions = Random::new(self.seed, Purpose::Columns, row as u64);
        let mut numbers = Random::new(self.seed, Purpose::Values, row as u64);
        for (k, (column, value)) in columns.iter_mut().zip(values).enumerate() {
            let boundary = |k: usize| (k as u64 * self.cols as u64 / self.length as u64) as u32;
            let (begin, end) = (boundary(k), boundary(k + 1));
            *column = begin + (positions.unit() * f64::from(end - begin)) as u32;
            *value = V::from_f64(numbers.value());
        }
    }
}

/// A matrix of `rows` x `cols` whose every row has `length` nonzeros, at most `cols`, spread evenly at random; with
/// `length` = `cols` it has no zeros.
///
/// # Errors
/// More rows than nonzeros for each, or more nonzeros than the offset type counts.
pub fn even_matrix<V: Value, O: Offset>(
    rows: usize,
    cols: usize,
    length: usize,
    seed: u64,
) -> Result<Csr<V, O>> {
    assemble(rows, cols, &Even { length: length.min(cols), cols, seed })
}

#[cfg(test)]
mod tests {
    use super::even_matrix;
    use crate::Csr;

    #[test]
    fn rows_are_even_and_without_zeros_where_they_are_full() {
        let full: Csr<f32> = even_matrix(3, 70, 70, 1).unwrap();
        assert!((0..3).all(|row| full.view().row(row).0.iter().copied().eq(0..70)));
        let thin: Csr<f32> = even_matrix(50, 1000, 7, 1).unwrap();
        assert!((0..50).all(|row| thin.view().row(row).0.len() == 7));
        assert_ne!(thin.view().row(0).0, thin.view().row(1).0);
        // No row has more nonzeros than columns.
        assert_eq!(even_matrix::<f32, u32>(4, 5, 9, 1).unwrap().nnz(), 20);
    }
}
