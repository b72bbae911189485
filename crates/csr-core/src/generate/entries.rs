//! Entries in no order: what conversions are measured on.

use rayon::prelude::*;

use super::random::{Purpose, Random};
use crate::{Coo, Result, Value};

/// `nnz` entries of a matrix of `rows` x `cols`, uniform over it and in no order; some rows and columns come more than
/// once.
///
/// # Errors
/// Entries of a matrix without rows or columns, or sizes beyond `u32`.
pub fn scattered_entries(rows: usize, cols: usize, nnz: usize, seed: u64) -> Result<Coo<f64>> {
    let entry = |at: usize| {
        let mut random = Random::new(seed, Purpose::Edges, at as u64);
        let mut below = |size: usize| (random.unit() * size as f64) as u32;
        (below(rows), below(cols), random.value())
    };
    let entries = (0..nnz).into_par_iter().map(entry);
    let (row_indices, (column_indices, values)): (Vec<_>, (Vec<_>, Vec<_>)) =
        entries.map(|(row, column, value)| (row, (column, value))).unzip();
    Coo::new(rows, cols, row_indices, column_indices, values)
}

/// The same entries in another order, which depends on `seed` alone.
pub fn shuffled<V: Value>(entries: &Coo<V>, seed: u64) -> Coo<V> {
    let mut random = Random::new(seed, Purpose::Lengths, 0);
    let mut order: Vec<u32> = (0..entries.nnz() as u32).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, (random.unit() * (last + 1) as f64) as usize);
    }
    let gather = |from: &[u32]| order.par_iter().map(|&at| from[at as usize]).collect();
    Coo::new_trusted(
        entries.rows(),
        entries.cols(),
        gather(entries.row_indices()),
        gather(entries.column_indices()),
        order.par_iter().map(|&at| entries.values()[at as usize]).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;

    #[test]
    fn shuffled_entries_are_the_same_matrix_in_another_order() {
        let entries = scattered_entries(40, 30, 500, 7).unwrap();
        assert!(!entries.row_indices().is_sorted());
        // Without duplicates, whose sums depend on the order.
        let matrix: Csr<f64, u32> = Csr::from_coo(entries).unwrap();
        let other = shuffled(&matrix.to_coo(), 3);
        assert_ne!(other, matrix.to_coo());
        assert_eq!(Csr::from_coo(other).unwrap(), matrix);
    }

    #[test]
    fn entries_of_a_matrix_without_rows_are_refused() {
        assert!(scattered_entries(0, 5, 1, 1).is_err());
        assert_eq!(scattered_entries(0, 5, 0, 1).unwrap().nnz(), 0);
    }
}
