//! The graph whose edges are the nonzeros of a matrix.

use crate::{CsrPattern, Offset, PatternView};

/// Of a square matrix the graph of A + A^T, a vertex a row; of any other the bipartite one, with a vertex for each row and,
/// after those, for each column.
pub(super) struct Graph<'a, O> {
    pattern: PatternView<'a, O>,
    /// `None` where the pattern is its own.
    transposed: Option<CsrPattern<O>>,
    is_bipartite: bool,
}

impl<'a, O: Offset> Graph<'a, O> {
    pub(super) fn of(pattern: PatternView<'a, O>) -> Self {
        let transposed = pattern.transpose().pattern;
        let is_bipartite = pattern.rows() != pattern.cols();
        let is_own = !is_bipartite && transposed.view() == pattern;
        Graph { pattern, transposed: (!is_own).then_some(transposed), is_bipartite }
    }

    /// How many there are: below 2^33.
    pub(super) fn vertices(&self) -> usize {
        self.pattern.rows() + if self.is_bipartite { self.pattern.cols() } else { 0 }
    }

    /// Entries of a vertex's row and, where those are others, of its column.
    pub(super) fn degree(&self, vertex: usize) -> usize {
        let [of_row, of_column] = self.entries(vertex);
        of_row.len() + of_column.len()
    }

    /// The vertices at the other ends of a vertex's edges; some may come twice, and itself may be among them.
    pub(super) fn neighbours(&self, vertex: usize) -> impl Iterator<Item = usize> {
        let [of_row, of_column] = self.entries(vertex);
        let first_column = if self.is_bipartite { self.pattern.rows() } else { 0 };
        let of_row = of_row.iter().map(move |column| *column as usize + first_column);
        of_row.chain(of_column.iter().map(|row| *row as usize))
    }

    /// The columns of a vertex's row, and the rows of its column.
    fn entries(&self, vertex: usize) -> [&[u32]; 2] {
        let rows = self.pattern.rows();
        let of_row = match vertex < rows {
            true => &self.pattern.columns()[self.pattern.row_range(vertex)],
            false => &[],
        };
        let column = if self.is_bipartite { vertex.checked_sub(rows) } else { Some(vertex) };
        let of_column = match (&self.transposed, column) {
            (Some(transposed), Some(column)) => {
                &transposed.columns()[transposed.view().row_range(column)]
            }
            _ => &[],
        };
        [of_row, of_column]
    }
}
