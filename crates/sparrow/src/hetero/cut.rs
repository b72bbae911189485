//! Where a matrix is cut in two.

use csr_core::{CsrView, Offset, Value};

/// A boundary between two nonzeros: those before it are the first device's, those after it the partner's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    /// The partner's first nonzero.
    pub(super) nonzero: usize,
    /// The row that the cut goes through, if it goes through one.
    pub(super) row: Option<usize>,
    /// The first row that is all the partner's. Empty rows that end where the cut is are the first device's.
    pub(super) first_row: usize,
    nnz: usize,
    is_shared: bool,
}

impl Cut {
    /// Leaves the partner `share` of the nonzeros, to the nearest multiple of `quantum` nonzeros.
    pub(super) fn new<V: Value, O: Offset>(
        a: CsrView<'_, V, O>,
        quantum: usize,
        share: f64,
    ) -> Self {
        let (nnz, rows) = (a.nnz(), a.rows());
        if share >= 1.0 {
            return Cut { nonzero: 0, row: None, first_row: 0, nnz, is_shared: true };
        }
        // At most nnz, so the conversion is exact enough.
        let before = ((1.0 - share) * nnz as f64 / quantum as f64).round() as usize;
        let nonzero = before.saturating_mul(quantum);
        let offsets = a.pattern().offsets();
        // The last row that begins at or before the cut; `rows` if the cut is the end.
        let row = offsets.partition_point(|offset| offset.to_usize() <= nonzero) - 1;
        if share <= 0.0 || nonzero >= nnz || row == rows {
            return Cut { nonzero: nnz, row: None, first_row: rows, nnz, is_shared: false };
        }
        if nonzero == 0 {
            return Cut { nonzero, row: None, first_row: 0, nnz, is_shared: true };
        }
        let is_cut = offsets[row].to_usize() < nonzero;
        let first_row = if is_cut { row + 1 } else { row };
        Cut { nonzero, row: is_cut.then_some(row), first_row, nnz, is_shared: true }
    }

    /// Whether the partner has a part.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The partner's part of the nonzeros.
    pub(super) fn share(&self) -> f64 {
        match (self.is_shared, self.nnz) {
            (false, _) => 0.0,
            (true, 0) => 1.0,
            (true, nnz) => (nnz - self.nonzero) as f64 / nnz as f64,
        }
    }

    /// The first device's tiles of `tile` nonzeros, where the partner has a part.
    pub(super) fn tiles(&self, tile: usize) -> u32 {
        // Before the end of the matrix, so there are fewer than its tiles.
        (self.nonzero / tile) as u32
    }
}

/// The least number that both divide.
pub(super) fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a.max(1), b.max(1));
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a.max(1) / divisor * b.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use csr_core::Csr;

    /// Rows of 3, 0, 0, 5, 0, 4 nonzeros.
    fn matrix() -> Csr<f64> {
        let offsets = vec![0, 3, 3, 3, 8, 8, 12];
        Csr::new(1, offsets, vec![0; 12], vec![1.0; 12]).unwrap()
    }

    fn cut(quantum: usize, share: f64) -> (usize, Option<usize>, usize) {
        let cut = Cut::new(matrix().view(), quantum, share);
        (cut.nonzero, cut.row, cut.first_row)
    }

    #[test]
    fn a_cut_lies_at_the_nearest_multiple_of_the_quantum() {
        assert_eq!(cut(4, 0.6), (4, Some(3), 4));
        assert_eq!(cut(4, 0.3), (8, None, 5));
        assert_eq!(cut(3, 0.75), (3, None, 3));
    }

    #[test]
    fn shares_of_nothing_and_of_all_are_cuts_at_the_ends() {
        assert_eq!(cut(4, 0.0), (12, None, 6));
        assert_eq!(cut(4, 0.01), (12, None, 6));
        assert_eq!(cut(4, 1.0), (0, None, 0));
        assert_eq!(cut(4, 0.99), (0, None, 0));
        let end = Cut::new(matrix().view(), 5, 0.0);
        assert!(!end.is_shared() && end.share() == 0.0);
        let all = Cut::new(matrix().view(), 5, 1.0);
        assert!(all.is_shared() && all.share() == 1.0 && all.tiles(5) == 0);
    }

    #[test]
    fn least_common_multiples() {
        assert_eq!(least_common_multiple(256, 128), 256);
        assert_eq!(least_common_multiple(384, 256), 768);
    }
}
