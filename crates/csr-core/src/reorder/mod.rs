//! Rows and columns of a matrix in another order, in which neighbouring rows gather the same part of x.
//!
//! [`Reordering`] says how an order is found, [`Reordering::order`] finds it, and [`Reordered`] is the pattern in it.
//! Everything here is a pure function of the pattern.

mod apply;
mod clusters;
mod cuthill_mckee;
mod graph;

use crate::{Error, Offset, PatternView, Result};

pub use apply::Reordered;

/// How the rows and columns of a matrix are put in another order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reordering {
    /// They stay as they are.
    #[default]
    None,
    /// Reverse Cuthill-McKee (E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", 1969; A. George,
    /// J. Liu, "An implementation of a pseudoperipheral node finder", 1979): breadth first through the graph of A + A^T, so
    /// that nonzeros come near the diagonal. For square matrices; best where neighbours are neighbours in space.
    Rcm,
    /// Clusters of rows that share columns, and of the columns that they share, found by merging what modularity gains by
    /// most, without a partitioner (J. Arai et al., "Rabbit Order: just-in-time parallel reordering for fast graph
    /// analysis", 2016). For any shape; best where some rows have very many nonzeros, as in graphs of people and pages.
    Clusters,
}

/// An order of a matrix's rows and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixOrder {
    /// The row at each index: each row once.
    pub rows: Vec<u32>,
    /// The column at each index; `None` where columns are in the order of rows.
    pub columns: Option<Vec<u32>>,
}

impl MatrixOrder {
    /// The column at each index.
    pub fn columns(&self) -> &[u32] {
        self.columns.as_deref().unwrap_or(&self.rows)
    }
}

impl Reordering {
    /// All that change something.
    pub const CHANGING: [Reordering; 2] = [Reordering::Rcm, Reordering::Clusters];

    /// The spelling in `--reordering` and records.
    pub fn name(self) -> &'static str {
        match self {
            Reordering::None => "none",
            Reordering::Rcm => "rcm",
            Reordering::Clusters => "clusters",
        }
    }

    /// Finds the order; `None` where rows and columns stay as they are. Of a square matrix columns are in the order of
    /// rows.
    ///
    /// # Errors
    /// [`Reordering::Rcm`] of a matrix that is not square; [`Reordering::Clusters`] of one with 2^32 rows and columns
    /// together that is not, or no memory for the clusters.
    pub fn order<O: Offset>(self, pattern: PatternView<'_, O>) -> Result<Option<MatrixOrder>> {
        let (rows, cols) = (pattern.rows(), pattern.cols());
        match self {
            Reordering::None => Ok(None),
            Reordering::Rcm if rows != cols => {
                Err(Error::NotSquare { what: "reverse Cuthill-McKee", rows, cols })
            }
            Reordering::Rcm => {
                Ok(Some(MatrixOrder { rows: cuthill_mckee::row_order(pattern), columns: None }))
            }
            Reordering::Clusters => clusters::order(pattern).map(Some),
        }
    }
}

impl std::fmt::Display for Reordering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Reordering {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Reordering::None, Reordering::Rcm, Reordering::Clusters];
        all.into_iter()
            .find(|one| one.name() == text)
            .ok_or_else(|| format!("reordering \"{text}\" is none of none, rcm, clusters"))
    }
}

#[cfg(test)]
mod tests;
