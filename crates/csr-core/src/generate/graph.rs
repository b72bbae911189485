//! R-MAT graphs: each edge falls down a quadtree of the adjacency matrix by fixed odds.
//!
//! D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: a recursive model for graph mining", 2004, with the
//! odds of the Graph 500 benchmark. An entry counts how many edges share it.

use rayon::prelude::*;

use super::random::{Purpose, Random};
use crate::{Coo, Csr, Error, Offset, Result, Value};

/// Odds of the upper left, upper right and lower left quarter; the rest goes to the lower right.
const ODDS: [f64; 3] = [0.57, 0.19, 0.19];

const EDGES_PER_VERTEX: usize = 16;

/// A directed graph of `vertices` and 16 edges a vertex, loops allowed, repeated edges added up.
pub(super) fn rmat<V: Value, O: Offset>(vertices: usize, seed: u64) -> Result<Csr<V, O>> {
    let edges = vertices * EDGES_PER_VERTEX;
    if O::try_from_usize(edges).is_none() {
        let what = "the number of edges before equal ones are summed";
        return Err(Error::TooLarge { what, value: edges as u64, limit: O::MAX_NNZ });
    }
    let (rows, columns): (Vec<u32>, Vec<u32>) =
        (0..edges).into_par_iter().map(|edge| draw_edge(vertices, edge, seed)).unzip();
    let values = vec![V::from_f64(1.0); edges];
    Csr::from_coo(Coo::new_trusted(vertices, vertices, rows, columns, values))
}

fn draw_edge(vertices: usize, edge: usize, seed: u64) -> (u32, u32) {
    let mut random = Random::new(seed, Purpose::Edges, edge as u64);
    let levels = usize::BITS - vertices.saturating_sub(1).leading_zeros();
    // Where the number of vertices is no power of two, edges outside are thrown again.
    loop {
        let (mut row, mut column) = (0, 0);
        for _ in 0..levels {
            let throw = random.unit();
            let below = throw >= ODDS[0] + ODDS[1];
            let right = throw >= ODDS[0] && (!below || throw >= ODDS[0] + ODDS[1] + ODDS[2]);
            row = row << 1 | usize::from(below);
            column = column << 1 | usize::from(right);
        }
        if row < vertices && column < vertices {
            return (row as u32, column as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_get_their_odds_and_no_edge_is_lost() {
        let matrix: Csr<f64> = rmat(1 << 10, 3).unwrap();
        let mut weight = [[0.0; 2]; 2];
        for row in 0..1 << 10 {
            let (columns, values) = matrix.view().row(row);
            for (&column, &value) in columns.iter().zip(values) {
                weight[row >> 9][column as usize >> 9] += value;
            }
        }
        let edges = (EDGES_PER_VERTEX << 10) as f64;
        assert_eq!(weight.as_flattened().iter().sum::<f64>(), edges);
        for (weight, odds) in weight.as_flattened().iter().zip([0.57, 0.19, 0.19, 0.05]) {
            assert!((weight / edges - odds).abs() < 0.02, "{weight} for {odds}");
        }
    }

    #[test]
    fn repeated_edges_are_summed() {
        let matrix: Csr<f32> = rmat(100, 3).unwrap();
        assert!(matrix.nnz() < 1600);
        assert!(matrix.values().iter().any(|&value| value > 1.0));
    }
}
