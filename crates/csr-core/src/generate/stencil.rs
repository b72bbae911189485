//! Finite differences on regular grids: Poisson's equation and convection-diffusion.
//!
//! Unknowns are the inner points of a grid with Dirichlet boundaries, eliminated; points are numbered
//! with the last direction fastest, so a row's neighbours in lexicographic order have ascending columns.

use super::assemble::Rows;
use crate::Value;

/// The number of points in each direction, slowest first; flat grids have 1 in the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid(pub(super) [usize; 3]);

impl Grid {
    /// `scale` times the points in about the same proportions: the slowest direction takes up what
    /// rounding of the others leaves. No direction falls below 2 points.
    pub(super) fn scaled(self, scale: f64) -> Self {
        let dimensions = self.0.iter().filter(|&&n| n > 1).count();
        let slowest = 3 - dimensions;
        let factor = scale.powf(1.0 / dimensions as f64);
        let mut n = self.0.map(|n| if n > 1 { rounded(n as f64 * factor).max(2) } else { 1 });
        n[slowest] = 1;
        let layer = Grid(n).points() as f64;
        n[slowest] = rounded(self.points() as f64 * scale / layer).max(2);
        Grid(n)
    }

    pub(super) fn points(self) -> usize {
        self.0.iter().product()
    }

    pub(super) fn coordinates(self, point: usize) -> [usize; 3] {
        let [_, n1, n2] = self.0;
        [point / (n1 * n2), point / n2 % n1, point % n2]
    }

    /// The point `offset` away, if the grid has it.
    pub(super) fn neighbour(self, at: [usize; 3], offset: [i8; 3]) -> Option<usize> {
        let mut point = 0;
        for d in 0..3 {
            let coordinate = at[d].wrapping_add_signed(offset[d].into());
            if coordinate >= self.0[d] {
                return None;
            }
            point = point * self.0[d] + coordinate;
        }
        Some(point)
    }
}

fn rounded(value: f64) -> usize {
    value.round() as usize
}

/// The offsets to a point's neighbours in each direction, the point itself included, that `keep`
/// accepts by the number of directions in which they differ.
pub(super) fn neighbourhood(flat: bool, keep: impl Fn(usize) -> bool) -> Vec<[i8; 3]> {
    let slowest = if flat { 0..=0 } else { -1..=1 };
    slowest
        .flat_map(|i| (-1..=1).flat_map(move |j| (-1..=1).map(move |k| [i, j, k])))
        .filter(|offset: &[i8; 3]| keep(offset.iter().filter(|&&d| d != 0).count()))
        .collect()
}

/// A stencil on a grid: one coefficient for each point and neighbour.
pub(super) struct Stencil<F> {
    pub(super) grid: Grid,
    /// In lexicographic order.
    pub(super) offsets: Vec<[i8; 3]>,
    /// The coefficient of a point (first) for the neighbour at an offset (second).
    pub(super) coefficient: F,
}

impl<F: Fn([usize; 3], [i8; 3]) -> f64 + Sync> Rows for Stencil<F> {
    type Scratch = ();

    fn length(&self, row: usize) -> usize {
        let at = self.grid.coordinates(row);
        self.offsets.iter().filter(|&&offset| self.grid.neighbour(at, offset).is_some()).count()
    }

    fn fill<V: Value>(&self, row: usize, (): &mut (), columns: &mut [u32], values: &mut [V]) {
        let at = self.grid.coordinates(row);
        let present = self
            .offsets
            .iter()
            .filter_map(|&offset| Some((offset, self.grid.neighbour(at, offset)?)));
        for ((offset, point), (column, value)) in present.zip(columns.iter_mut().zip(values)) {
            *column = point as u32;
            *value = V::from_f64((self.coefficient)(at, offset));
        }
    }
}

/// Minus the Laplacian by the stencil of `offsets`, times the grid width squared (times 6 in the
/// nine-point formula): `weights` by the number of directions in which a neighbour differs.
pub(super) fn poisson(
    grid: Grid,
    weights: [f64; 4],
) -> Stencil<impl Fn([usize; 3], [i8; 3]) -> f64 + Sync> {
    let distance = |offset: [i8; 3]| offset.iter().filter(|&&d| d != 0).count();
    Stencil {
        grid,
        offsets: neighbourhood(grid.0[0] == 1, |distance| weights[distance] != 0.0),
        coefficient: move |_, offset| weights[distance(offset)],
    }
}

/// Diffusion of this strength against a wind of speed up to 2 over a square of side 2.
const DIFFUSION: f64 = 1.0 / 200.0;

/// -eps Laplace(u) + w . grad(u) with the recirculating wind w = (2y(1 - x^2), -2x(1 - y^2)) on
/// (-1, 1)^2, first-order upwind, times h^2 / eps: an M-matrix that is not symmetric.
///
/// The problem is example 3.1.4 of H. Elman, D. Silvester, A. Wathen, "Finite Elements and Fast
/// Iterative Solvers".
pub(super) fn convection(grid: Grid) -> Stencil<impl Fn([usize; 3], [i8; 3]) -> f64 + Sync> {
    let [_, n1, n2] = grid.0;
    let h = 2.0 / (n2 + 1) as f64;
    let coefficient = move |at: [usize; 3], offset: [i8; 3]| {
        let y = 2.0 * (at[1] + 1) as f64 / (n1 + 1) as f64 - 1.0;
        let x = (at[2] + 1) as f64 * h - 1.0;
        let wind = [-2.0 * x * (1.0 - y * y), 2.0 * y * (1.0 - x * x)];
        let peclet = wind.map(|w| w * h / DIFFUSION);
        let [_, j, k] = offset.map(f64::from);
        match offset {
            [0, 0, 0] => 4.0 + peclet[0].abs() + peclet[1].abs(),
            // Only what the wind carries in depends on the neighbour it comes from.
            _ => -1.0 - (-peclet[0] * j - peclet[1] * k).max(0.0),
        }
    };
    Stencil { grid, offsets: neighbourhood(true, |distance| distance <= 1), coefficient }
}

#[cfg(test)]
mod tests {
    use super::super::assemble::assemble;
    use super::*;
    use crate::Csr;

    #[test]
    fn poisson5_on_a_small_grid_is_the_textbook_matrix() {
        let stencil = poisson(Grid([1, 2, 3]), [4.0, -1.0, 0.0, 0.0]);
        let matrix: Csr<f64> = assemble(6, 6, &stencil).unwrap();
        assert_eq!(matrix.view().row(0), (&[0, 1, 3][..], &[4.0, -1.0, -1.0][..]));
        assert_eq!(matrix.view().row(4), (&[1, 3, 4, 5][..], &[-1.0, -1.0, 4.0, -1.0][..]));
    }

    #[test]
    fn poisson9_is_exact_on_cubic_polynomials() {
        // Minus the Laplacian of x^3 + y^2 is -(6x + 2), times 6 h^2 with h = 1.
        let stencil = poisson(Grid([1, 5, 5]), [20.0, -4.0, -1.0, 0.0]);
        let matrix: Csr<f64> = assemble(25, 25, &stencil).unwrap();
        let u = |p: usize| ((p % 5) as f64).powi(3) + ((p / 5) as f64).powi(2);
        let (columns, values) = matrix.view().row(12);
        let sum: f64 = columns.iter().zip(values).map(|(&c, v)| v * u(c as usize)).sum();
        assert!((sum + 6.0 * (6.0 * 2.0 + 2.0)).abs() < 1e-12, "{sum}");
    }

    #[test]
    fn convection_is_a_weakly_dominant_m_matrix_and_not_symmetric() {
        let grid = Grid([1, 12, 12]);
        let matrix: Csr<f64> = assemble(144, 144, &convection(grid)).unwrap();
        for row in 0..144 {
            let (columns, values) = matrix.view().row(row);
            let mut sum = 0.0;
            for (&column, &value) in columns.iter().zip(values) {
                assert_eq!(value > 0.0, column as usize == row);
                sum += value;
            }
            assert!(sum > -1e-12, "row {row} sums to {sum}");
            // Inside, a constant has no gradient and no Laplacian.
            assert!(columns.len() < 5 || sum.abs() < 1e-12, "row {row} sums to {sum}");
        }
        assert_ne!(matrix.view().transpose(), matrix);
    }

    #[test]
    fn the_wind_carries_linear_fields_in_its_own_direction() {
        // Differences are exact on u = x and u = y: the row sums to h^2 / eps times the wind.
        let (n, h) = (11, 2.0 / 12.0);
        let matrix: Csr<f64> = assemble(n * n, n * n, &convection(Grid([1, n, n]))).unwrap();
        let position = |index: usize| (index + 1) as f64 * h - 1.0;
        let (j, k) = (7, 2);
        let (y, x) = (position(j), position(k));
        let (columns, values) = matrix.view().row(j * n + k);
        let entries = || columns.iter().map(|&column| column as usize).zip(values);
        let along_x: f64 = entries().map(|(column, value)| value * position(column % n)).sum();
        let along_y: f64 = entries().map(|(column, value)| value * position(column / n)).sum();
        let factor = h * h / DIFFUSION;
        assert!((along_x - factor * 2.0 * y * (1.0 - x * x)).abs() < 1e-12, "{along_x}");
        assert!((along_y + factor * 2.0 * x * (1.0 - y * y)).abs() < 1e-12, "{along_y}");
    }

    #[test]
    fn grids_scale_their_points() {
        assert_eq!(Grid([160, 160, 160]).scaled(1.0), Grid([160, 160, 160]));
        for scale in [0.001, 0.037, 0.5, 3.0] {
            for grid in [Grid([1, 700, 700]), Grid([60, 14, 14])] {
                let ratio = grid.scaled(scale).points() as f64 / (grid.points() as f64 * scale);
                assert!((ratio - 1.0).abs() < 0.12, "{grid:?} at {scale}: {ratio}");
            }
        }
    }
}
