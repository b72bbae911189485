//! Small problems for batches: of the sizes that Anzt et al. (2017) publish of their 32 matrices, and of order 1,024
//! with controlled density.

use crate::{Csr, Result, random_vector};

/// Orders of the published matrices.
const ORDERS: [f64; 2] = [11.0, 1015.0];
/// Mean nonzeros of their rows.
const MEANS: [f64; 2] = [3.0, 66.0];
/// Their most nonzeros.
const MOST_NONZEROS: f64 = 38_352.0;
/// The order of problems of controlled density.
const ORDER: usize = 1024;

/// The `number`-th problem drawn from the ranges of the published 32: order, mean row and how unequal rows are.
///
/// # Errors
/// None in practice: the ranges fit every type.
pub fn drawn_problem(number: u64, seed: u64) -> Result<Csr<f64>> {
    // Between -1 and 1: order, mean, inequality.
    let drawn = random_vector::<f64>(seed.wrapping_mul(1009).wrapping_add(number), 3);
    let between =
        |range: [f64; 2], at: f64| range[0] * (range[1] / range[0]).powf((at + 1.0) / 2.0);
    let order = between(ORDERS, drawn[0]).round();
    let mean = between(MEANS, drawn[1]).min(order).min(MOST_NONZEROS / order);
    let spread = (drawn[2] + 1.0) / 2.0;
    let order = order as usize;
    let weights = random_vector::<f64>(seed ^ number, order);
    let lengths = weights.iter().map(|weight| {
        // A few rows have most where the spread is near 1.
        let weight = (1.0 - spread) + spread * 4.0 * ((weight + 1.0) / 2.0).powi(3);
        ((mean * weight).round() as usize).clamp(1, order)
    });
    from_lengths(order, &lengths.collect::<Vec<_>>(), seed)
}

/// A problem of order 1,024 with `mean` nonzeros a row: the same in each, or heaped in as few rows as hold them.
///
/// # Errors
/// None in practice: the sizes fit every type.
pub fn dense_problem(mean: usize, is_heaped: bool, seed: u64) -> Result<Csr<f64>> {
    let mut lengths = vec![mean.min(ORDER); ORDER];
    if is_heaped {
        lengths.fill(0);
        let every = ORDER / mean.clamp(1, ORDER);
        lengths.iter_mut().step_by(every).take(mean).for_each(|length| *length = ORDER);
    }
    from_lengths(ORDER, &lengths, seed)
}

/// Columns of a row lie evenly, shifted from row to row.
fn from_lengths(order: usize, lengths: &[usize], seed: u64) -> Result<Csr<f64>> {
    let mut offsets = vec![0u32];
    let mut columns = Vec::new();
    for (row, &length) in lengths.iter().enumerate() {
        let first = row * 37 % order;
        let mut its: Vec<u32> =
            (0..length).map(|k| ((first + k * order / length) % order) as u32).collect();
        its.sort_unstable();
        columns.extend(its);
        offsets.push(columns.len() as u32);
    }
    let values = random_vector(seed, columns.len());
    Csr::new(order, offsets, columns, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_problems_keep_the_published_ranges() {
        let problems: Vec<_> = (0..32).map(|number| drawn_problem(number, 1).unwrap()).collect();
        for problem in &problems {
            let (order, nnz) = (problem.rows(), problem.nnz());
            assert!((11..=1015).contains(&order) && nnz >= order && nnz <= 48_000, "{order} {nnz}");
        }
        assert!(problems.iter().any(|problem| problem.rows() < 60));
        assert!(problems.iter().any(|problem| problem.rows() > 600));
        assert_eq!(drawn_problem(5, 1).unwrap(), problems[5]);
    }

    #[test]
    fn density_is_what_was_asked_for_balanced_or_heaped() {
        for mean in [1, 4, 64] {
            let balanced = dense_problem(mean, false, 1).unwrap();
            let heaped = dense_problem(mean, true, 1).unwrap();
            assert_eq!((balanced.nnz(), heaped.nnz()), (1024 * mean, 1024 * mean));
            let rows = |problem: &Csr<f64>| {
                (0..1024).filter(|&row| problem.view().pattern().row_len(row) > 0).count()
            };
            assert_eq!((rows(&balanced), rows(&heaped)), (1024, mean));
        }
    }
}
