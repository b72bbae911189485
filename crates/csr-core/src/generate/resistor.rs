//! A resistor network with supply rails: nodal analysis of a power grid.
//!
//! Nodes form a mesh of resistors; a quarter of them also hang on the supply rail and an eighth on the
//! ground rail. The rails are unknowns of their own after a source's inner resistance, so two rows and
//! two columns are nearly dense while the rest is a five-point mesh: circuits look like this. The matrix
//! of conductances is symmetric positive definite.

use rayon::prelude::*;

use super::assemble::Rows;
use super::random::{Purpose, Random};
use super::stencil::Grid;
use crate::Value;

const RAILS: usize = 2;

/// One in this many nodes hangs on each rail.
const NODES_PER_TAP: [u64; RAILS] = [4, 8];

/// Conductance between a rail and the reference outside the network.
const SOURCE_CONDUCTANCE: f64 = 10.0;

/// The resistors of a node in ascending order of what they lead to, without the rails.
const MESH: [[i8; 3]; 4] = [[0, -1, 0], [0, 0, -1], [0, 0, 1], [0, 1, 0]];

pub(super) struct Network {
    mesh: Grid,
    seed: u64,
    taps: [usize; RAILS],
}

impl Network {
    pub(super) fn new(mesh: Grid, seed: u64) -> Self {
        let mut network = Network { mesh, seed, taps: [0; RAILS] };
        network.taps = std::array::from_fn(|rail| {
            let taps = (0..mesh.points()).into_par_iter();
            taps.filter(|&node| network.tap(node, rail).is_some()).count()
        });
        network
    }

    /// Mesh nodes, then the rails.
    pub(super) fn unknowns(&self) -> usize {
        self.mesh.points() + RAILS
    }

    /// The conductance between a node and a rail, where there is a resistor.
    fn tap(&self, node: usize, rail: usize) -> Option<f64> {
        let mut random = Random::new(self.seed, Purpose::Columns, (RAILS * node + rail) as u64);
        random.bits().is_multiple_of(NODES_PER_TAP[rail]).then(|| conductance(&mut random))
    }

    /// The conductance of one of a node's mesh resistors and the node at its other end. Both ends draw
    /// it from the lower one's stream.
    fn mesh_resistor(&self, node: usize, offset: [i8; 3]) -> Option<(usize, f64)> {
        let other = self.mesh.neighbour(self.mesh.coordinates(node), offset)?;
        let direction = usize::from(offset[1] != 0);
        let edge = 2 * node.min(other) + direction;
        let mut random = Random::new(self.seed, Purpose::Edges, edge as u64);
        Some((other, conductance(&mut random)))
    }

    fn mesh_row(&self, node: usize) -> impl Iterator<Item = (usize, f64)> {
        let mesh = MESH.into_iter().filter_map(move |offset| self.mesh_resistor(node, offset));
        let rails = (0..RAILS)
            .filter_map(move |rail| Some((self.mesh.points() + rail, self.tap(node, rail)?)));
        mesh.chain(rails)
    }
}

impl Rows for Network {
    type Scratch = ();

    fn length(&self, row: usize) -> usize {
        match row.checked_sub(self.mesh.points()) {
            Some(rail) => self.taps[rail] + 1,
            None => self.mesh_row(row).count() + 1,
        }
    }

    fn fill<V: Value>(&self, row: usize, (): &mut (), columns: &mut [u32], values: &mut [V]) {
        let mut diagonal = 0.0;
        let mut at = 0;
        let mut diagonal_at = None;
        let mut push = |column: usize, value: f64| {
            columns[at] = column as u32;
            values[at] = V::from_f64(value);
            at += 1;
        };
        if let Some(rail) = row.checked_sub(self.mesh.points()) {
            for node in 0..self.mesh.points() {
                if let Some(conductance) = self.tap(node, rail) {
                    push(node, -conductance);
                    diagonal += conductance;
                }
            }
            push(row, diagonal + SOURCE_CONDUCTANCE);
            return;
        }
        for (index, (other, conductance)) in self.mesh_row(row).enumerate() {
            if other > row && diagonal_at.is_none() {
                diagonal_at = Some(index);
                push(row, 0.0);
            }
            push(other, -conductance);
            diagonal += conductance;
        }
        let diagonal_at = diagonal_at.unwrap_or(columns.len() - 1);
        columns[diagonal_at] = row as u32;
        values[diagonal_at] = V::from_f64(diagonal);
    }
}

/// Between a tenth and one.
fn conductance(random: &mut Random) -> f64 {
    0.1 + 0.9 * random.unit()
}

#[cfg(test)]
mod tests {
    use super::super::assemble::assemble;
    use super::*;
    use crate::Csr;

    fn network() -> Csr<f64> {
        let network = Network::new(Grid([1, 30, 40]), 5);
        assemble(network.unknowns(), network.unknowns(), &network).unwrap()
    }

    #[test]
    fn conductances_are_symmetric_and_currents_add_up() {
        let matrix = network();
        assert_eq!(matrix.view().transpose(), matrix);
        for row in 0..matrix.rows() {
            let sum: f64 = matrix.view().row(row).1.iter().sum();
            let source = if row < 1200 { 0.0 } else { SOURCE_CONDUCTANCE };
            assert!((sum - source).abs() < 1e-10, "row {row} sums to {sum}");
        }
    }

    #[test]
    fn the_rails_are_the_long_rows() {
        let matrix = network();
        let supply = matrix.view().pattern().row_len(1200);
        let ground = matrix.view().pattern().row_len(1201);
        assert!((250..350).contains(&supply), "{supply}");
        assert!((110..190).contains(&ground), "{ground}");
        assert!((0..1200).all(|row| matrix.view().pattern().row_len(row) <= 7));
    }
}
