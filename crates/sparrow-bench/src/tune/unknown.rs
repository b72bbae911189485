//! What is assumed of a candidate on a matrix on which it was not tried: that it does no better there than on the
//! matrices most like it.
//!
//! Time is up before everything was tried everywhere. To leave out what is not known everywhere, candidates or
//! matrices, would leave too little to make rules from; to take the worst for granted makes no rule reach beyond a gap.

use cl_kernels::Features;

use super::cuts::FIGURES;

/// By how many of the matrices most like it an unknown loss is judged: by the largest on them.
const NEIGHBOURS: usize = 3;

/// What is not known loses so much more: of two that seem alike, the one that was tried is taken.
const DOUBT: f64 = 0.05;

/// The losses of one candidate on each of the matrices, those that are not known assumed; infinite where it is known on
/// none.
pub(super) fn assume(matrices: &[Features], losses: &[Option<f64>]) -> Vec<f64> {
    let known: Vec<(&Features, f64)> =
        matrices.iter().zip(losses).filter_map(|(matrix, loss)| Some((matrix, (*loss)?))).collect();
    let assumed = |matrix: &Features| {
        let mut near: Vec<(f64, f64)> =
            known.iter().map(|(other, loss)| (distance(matrix, other), *loss)).collect();
        near.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let worst = near.iter().take(NEIGHBOURS).map(|(_, loss)| *loss).max_by(f64::total_cmp);
        worst.map_or(f64::INFINITY, |loss| loss + DOUBT)
    };
    let each = matrices.iter().zip(losses);
    each.map(|(matrix, loss)| loss.unwrap_or_else(|| assumed(matrix))).collect()
}

/// How unlike two matrices are: the squares of the logarithms between their figures.
fn distance(one: &Features, other: &Features) -> f64 {
    let log = |of: &Features, figure| of.get(figure).max(1e-4).ln();
    FIGURES.into_iter().map(|figure| (log(one, figure) - log(other, figure)).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use cl_kernels::MatrixShape;
    use csr_core::ValueType;

    use super::*;

    fn matrix(mean_row: u64) -> Features {
        let (rows, nnz) = (1000, 1000 * mean_row);
        let shape = MatrixShape { rows, nnz, longest_row: mean_row, in_step: nnz, changes: 0 };
        Features::of(&shape, ValueType::F32, 8, 1 << 20)
    }

    #[test]
    fn what_is_unknown_loses_more_than_on_any_of_the_matrices_most_like_it() {
        let matrices = [2, 3, 4, 5, 100, 200].map(matrix);
        let losses = [Some(0.1), None, Some(0.3), Some(0.2), Some(2.0), Some(3.0)];
        let assumed = assume(&matrices, &losses);
        assert!((assumed[1] - (0.3 + DOUBT)).abs() < 1e-12, "{assumed:?}");
        assert_eq!(assumed[4], 2.0);
    }

    #[test]
    fn what_fails_on_like_matrices_or_was_tried_nowhere_is_not_taken() {
        let matrices = [2, 3, 100, 101, 102].map(matrix);
        let failing = [Some(f64::INFINITY), None, Some(0.0), Some(0.0), Some(0.0)];
        assert_eq!(assume(&matrices, &failing)[1], f64::INFINITY);
        assert!(assume(&matrices, &[None; 5]).iter().all(|loss| loss.is_infinite()));
    }
}
