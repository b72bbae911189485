//! Linear elasticity of a cantilever: trilinear hexahedra, three displacements a node.
//!
//! The beam is a box of unit cubes, clamped at one end and free elsewhere. The clamped nodes are
//! eliminated, which leaves a symmetric positive definite matrix. Young's modulus is 1 and Poisson's
//! ratio 0.3: other materials and sizes only multiply the matrix by a constant.

use super::assemble::Rows;
use super::stencil::Grid;
use crate::Value;

const YOUNGS_MODULUS: f64 = 1.0;
const POISSONS_RATIO: f64 = 0.3;

/// Corners of a hexahedron; corner `c` is at `(c >> 2 & 1, c >> 1 & 1, c & 1)`.
const CORNERS: usize = 8;

/// What cancels on paper leaves less than this; it is stored as zero.
const ROUNDING: f64 = 1e-14;

type ElementStiffness = [[f64; 3 * CORNERS]; 3 * CORNERS];

/// Where the beam's first layer of elements ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Support {
    /// One more layer of elements before the first nodes hangs on clamped nodes.
    Clamped,
    /// Nothing holds the beam: rigid motions cost no energy. Tests compare with this.
    #[cfg(test)]
    Free,
}

/// The stiffness matrix of a beam whose free nodes form a grid, its axis the slowest direction.
pub(super) struct Elasticity {
    nodes: Grid,
    support: Support,
    element: ElementStiffness,
}

impl Elasticity {
    pub(super) fn new(nodes: Grid, support: Support) -> Self {
        Elasticity { nodes, support, element: element_stiffness() }
    }

    pub(super) fn unknowns(&self) -> usize {
        3 * self.nodes.points()
    }

    /// The elements around a node, each by the corner that the node is.
    fn corners_of(&self, at: [usize; 3]) -> impl Iterator<Item = usize> {
        let clamped = self.support == Support::Clamped;
        let n = self.nodes.0;
        (0..CORNERS).filter(move |&corner| {
            (0..3).all(|d| match bit(corner, d) {
                // The node is the near corner of an element that reaches to the next node.
                0 => at[d] + 1 < n[d],
                _ => at[d] > 0 || (d == 0 && clamped),
            })
        })
    }
}

impl Rows for Elasticity {
    type Scratch = ();

    fn length(&self, row: usize) -> usize {
        let at = self.nodes.coordinates(row / 3);
        let reach =
            |d: usize| 1 + usize::from(at[d] > 0) + usize::from(at[d] + 1 < self.nodes.0[d]);
        3 * (0..3).map(reach).product::<usize>()
    }

    fn fill<V: Value>(&self, row: usize, (): &mut (), columns: &mut [u32], values: &mut [V]) {
        let at = self.nodes.coordinates(row / 3);
        // Indexed by the neighbour's offset plus one in each direction, and its displacement.
        let mut sums = [[0.0; 3]; 27];
        for corner in self.corners_of(at) {
            let stiffness = &self.element[3 * corner + row % 3];
            for other in 0..CORNERS {
                let along = |d: usize| 1 + bit(other, d) - bit(corner, d);
                let sum = &mut sums[9 * along(0) + 3 * along(1) + along(2)];
                for (k, sum) in sum.iter_mut().enumerate() {
                    *sum += stiffness[3 * other + k];
                }
            }
        }
        let mut entries = columns.iter_mut().zip(values);
        for (index, sums) in sums.iter().enumerate() {
            let offset = [index / 9, index / 3 % 3, index % 3].map(|delta| delta as i8 - 1);
            let Some(node) = self.nodes.neighbour(at, offset) else {
                continue;
            };
            for ((k, &sum), (column, value)) in sums.iter().enumerate().zip(&mut entries) {
                *column = (3 * node + k) as u32;
                *value = V::from_f64(if sum.abs() < ROUNDING { 0.0 } else { sum });
            }
        }
    }
}

fn bit(corner: usize, direction: usize) -> usize {
    corner >> (2 - direction) & 1
}

/// The 24 x 24 stiffness of a unit cube by 2 x 2 x 2 Gauss points.
///
/// With the gradients g of the shape functions and Lame's constants, corner a's displacement i and corner
/// b's displacement j: the integral of lambda g_a[i] g_b[j] + mu g_a[j] g_b[i]
/// + (i = j) mu g_a . g_b.
fn element_stiffness() -> ElementStiffness {
    let (e, nu) = (YOUNGS_MODULUS, POISSONS_RATIO);
    let lambda = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
    let mu = e / (2.0 * (1.0 + nu));
    let gauss = [0.5 - 0.5 / 3f64.sqrt(), 0.5 + 0.5 / 3f64.sqrt()];
    let weight = 0.125;
    let mut stiffness = [[0.0; 3 * CORNERS]; 3 * CORNERS];
    for point in 0..CORNERS {
        let x = [0, 1, 2].map(|d| gauss[bit(point, d)]);
        let gradients: [[f64; 3]; CORNERS] =
            std::array::from_fn(|corner| shape_gradient(corner, x));
        for (row, sums) in stiffness.iter_mut().enumerate() {
            for (column, sum) in sums.iter_mut().enumerate() {
                // The upper half for both, so that the matrix is symmetric to the last bit.
                let (row, column) = (row.min(column), row.max(column));
                let (a, i) = (gradients[row / 3], row % 3);
                let (b, j) = (gradients[column / 3], column % 3);
                let mut energy = lambda * a[i] * b[j] + mu * a[j] * b[i];
                if i == j {
                    energy += mu * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
                }
                *sum += weight * energy;
            }
        }
    }
    stiffness
}

/// The gradient at `x` in the unit cube of the trilinear function that is 1 at `corner`.
fn shape_gradient(corner: usize, x: [f64; 3]) -> [f64; 3] {
    let factor = |d: usize| if bit(corner, d) == 1 { x[d] } else { 1.0 - x[d] };
    let slope = |d: usize| if bit(corner, d) == 1 { 1.0 } else { -1.0 };
    [
        slope(0) * factor(1) * factor(2),
        factor(0) * slope(1) * factor(2),
        factor(0) * factor(1) * slope(2),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::assemble::assemble;
    use super::*;
    use crate::Csr;

    const NODES: Grid = Grid([4, 3, 3]);

    fn matrix(support: Support) -> Csr<f64> {
        let problem = Elasticity::new(NODES, support);
        assemble(problem.unknowns(), problem.unknowns(), &problem).unwrap()
    }

    fn product(matrix: &Csr<f64>, x: &[f64]) -> Vec<f64> {
        let row = |row| {
            let (columns, values) = matrix.view().row(row);
            columns.iter().zip(values).map(|(&column, value)| value * x[column as usize]).sum()
        };
        (0..matrix.rows()).map(row).collect()
    }

    /// Displacements of a function of the node's position.
    fn field(displacement: impl Fn([f64; 3]) -> [f64; 3]) -> Vec<f64> {
        let at = |node| NODES.coordinates(node).map(|c| c as f64);
        (0..NODES.points()).flat_map(|node| displacement(at(node))).collect()
    }

    #[test]
    fn the_stiffness_is_symmetric() {
        for support in [Support::Clamped, Support::Free] {
            let matrix = matrix(support);
            assert_eq!(matrix.view().transpose(), matrix);
        }
    }

    #[test]
    fn rigid_motions_of_a_free_beam_cost_no_force_and_of_a_clamped_one_do() {
        let motions = [
            field(|_| [1.0, 0.0, 0.0]),
            field(|_| [0.0, 1.0, 0.0]),
            field(|_| [0.0, 0.0, 1.0]),
            field(|[x, y, _]| [-y, x, 0.0]),
            field(|[x, _, z]| [z, 0.0, -x]),
            field(|[_, y, z]| [0.0, -z, y]),
        ];
        for motion in motions {
            let force = product(&matrix(Support::Free), &motion);
            assert!(force.iter().all(|f| f.abs() < 1e-13), "{force:?}");
            let force = product(&matrix(Support::Clamped), &motion);
            assert!(force.iter().any(|f| f.abs() > 1e-2));
        }
    }

    #[test]
    fn a_stretched_free_beam_pulls_with_youngs_modulus_at_its_ends() {
        // Uniaxial stress: strain 1 along the beam, -nu across; the end of 2 x 2 faces carries E x 4.
        let pull = field(|[x, y, z]| [x, -POISSONS_RATIO * y, -POISSONS_RATIO * z]);
        let force = product(&matrix(Support::Free), &pull);
        let end: f64 = force[force.len() - 27..].iter().step_by(3).sum();
        assert!((end - 4.0 * YOUNGS_MODULUS).abs() < 1e-12, "{end}");
        let inside = &force[27..54];
        assert!(inside.iter().all(|f| f.abs() < 1e-12), "{inside:?}");
    }

    #[test]
    fn the_clamped_matrix_is_positive_definite() {
        let matrix = matrix(Support::Clamped);
        let n = matrix.rows();
        let mut factor = vec![vec![0.0; n]; n];
        for (row, factor) in factor.iter_mut().enumerate() {
            let (columns, values) = matrix.view().row(row);
            for (&column, &value) in columns.iter().zip(values) {
                factor[column as usize] = value;
            }
        }
        // Cholesky's factorisation succeeds on positive definite matrices and on no others.
        for k in 0..n {
            let dot = |i: usize, j: usize, factor: &[Vec<f64>]| -> f64 {
                (0..k).map(|m| factor[i][m] * factor[j][m]).sum()
            };
            let pivot = factor[k][k] - dot(k, k, &factor);
            assert!(pivot > 1e-6, "pivot {k} is {pivot}");
            factor[k][k] = pivot.sqrt();
            for i in k + 1..n {
                factor[i][k] = (factor[i][k] - dot(i, k, &factor)) / factor[k][k];
            }
        }
    }
}
