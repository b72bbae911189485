//! Matrices that differ in one thing alone, for sweeps over it: the aspect ratio of a matrix without zeros, the
//! density of a square one (Yang, Buluç, Owens 2018, Figures 1, 4 and 7), or the order of one with random rows (Guo,
//! Gropp, Olson, Figure 15).

use super::assemble::{Rows, assemble};
use super::random::{Purpose, Random};
use crate::{Csr, Offset, Result, Value};

/// Every row has nonzeros in each of as many equal parts of the columns: `length` of them, or if lengths are drawn, 1 to
/// as many.
struct Parts {
    length: usize,
    is_drawn: bool,
    cols: usize,
    seed: u64,
}

impl Rows for Parts {
    type Scratch = ();

    fn length(&self, row: usize) -> usize {
        match self.is_drawn {
            true => {
                let drawn = Random::new(self.seed, Purpose::Lengths, row as u64).unit();
                ((drawn * self.length as f64) as usize + 1).min(self.length)
            }
            false => self.length,
        }
    }

    fn fill<V: Value>(&self, row: usize, _: &mut (), columns: &mut [u32], values: &mut [V]) {
        let mut positions = Random::new(self.seed, Purpose::Columns, row as u64);
        let mut numbers = Random::new(self.seed, Purpose::Values, row as u64);
        let length = columns.len() as u64;
        for (k, (column, value)) in columns.iter_mut().zip(values).enumerate() {
            let boundary = |k: usize| (k as u64 * self.cols as u64 / length) as u32;
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
    assemble(rows, cols, &Parts { length: length.min(cols), is_drawn: false, cols, seed })
}

/// As [`even_matrix`], but rows have 1 to `longest` nonzeros, each length as likely.
///
/// # Errors
/// As [`even_matrix`].
pub fn uneven_matrix<V: Value, O: Offset>(
    rows: usize,
    cols: usize,
    longest: usize,
    seed: u64,
) -> Result<Csr<V, O>> {
    assemble(rows, cols, &Parts { length: longest.min(cols), is_drawn: true, cols, seed })
}

#[cfg(test)]
mod tests {
    use super::{even_matrix, uneven_matrix};
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

    #[test]
    fn uneven_rows_have_every_length_up_to_the_longest() {
        let matrix: Csr<f32> = uneven_matrix(400, 100, 5, 1).unwrap();
        let mut counts = [0; 6];
        (0..400).for_each(|row| counts[matrix.view().row(row).0.len()] += 1);
        assert_eq!(counts[0], 0);
        assert!(counts[1..].iter().all(|count| *count > 40), "{counts:?}");
    }
}
