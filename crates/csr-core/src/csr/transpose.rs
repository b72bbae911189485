//! The transposed matrix, and where each of its values came from.

use crate::{Csr, CsrPattern, CsrView, Offset, PatternView, Value};

/// A transposed pattern, with the source of each of its entries so that new values need no new sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transposed<O> {
    /// Offsets and columns of the transposed matrix; columns ascend within a row.
    pub pattern: CsrPattern<O>,
    /// For each entry of the transposed matrix, its position in the original: nnz long.
    pub sources: Vec<O>,
}

impl<O: Offset> PatternView<'_, O> {
    /// Transposes by counting: linear in rows + cols + nnz, stable, one pass over the entries.
    pub fn transpose(&self) -> Transposed<O> {
        let mut next = vec![0usize; self.cols() + 1];
        for &column in self.columns() {
            next[column as usize + 1] += 1;
        }
        for column in 0..self.cols() {
            next[column + 1] += next[column];
        }
        // nnz fits the offset type in the original, so it does here.
        let narrow = |value: usize| O::try_from_usize(value).unwrap_or(O::zeroed());
        let offsets: Vec<O> = next.iter().map(|&offset| narrow(offset)).collect();
        let mut columns = vec![0u32; self.nnz()];
        let mut sources = vec![O::zeroed(); self.nnz()];
        for row in 0..self.rows() {
            for source in self.row_range(row) {
                let at = &mut next[self.columns()[source] as usize];
                columns[*at] = row as u32;
                sources[*at] = narrow(source);
                *at += 1;
            }
        }
        Transposed { pattern: CsrPattern::new_trusted(self.rows(), offsets, columns), sources }
    }
}

impl<V: Value, O: Offset> CsrView<'_, V, O> {
    /// The transposed matrix; its rows are sorted by column.
    pub fn transpose(&self) -> Csr<V, O> {
        let Transposed { pattern, sources } = self.pattern().transpose();
        let values = sources.iter().map(|source| self.values()[source.to_usize()]).collect();
        Csr { pattern, values }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Coo, Csr};

    #[test]
    fn transposing_a_rectangle_swaps_rows_and_columns() {
        let coo = Coo::new(2, 3, vec![0, 0, 1], vec![2, 0, 2], vec![1.0f32, 5.0, 7.0]).unwrap();
        let csr: Csr<f32, u32> = Csr::from_coo(coo).unwrap();
        let transposed = csr.view().transpose();
        assert_eq!((transposed.rows(), transposed.cols()), (3, 2));
        assert_eq!(transposed.pattern().offsets(), [0, 1, 1, 3]);
        assert_eq!(transposed.pattern().columns(), [0, 0, 1]);
        assert_eq!(transposed.values(), [5.0, 1.0, 7.0]);
        assert_eq!(transposed.view().transpose(), csr);
    }
}
