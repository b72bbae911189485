//! The Bratu problem on a grid: the pattern of its Jacobian, with the places of the diagonal.

use sparrow::Csr;

/// -Laplace u - lambda exp(u) = 0 in the unit cube, u = 0 on its boundary, on `edge` points a direction inside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem {
    pub(crate) edge: usize,
    pub(crate) lambda: f64,
}

impl Problem {
    pub(crate) fn rows(&self) -> usize {
        self.edge.pow(3)
    }

    /// What stands before exp(u) once the equations are multiplied by the square of the grid's width.
    pub(crate) fn source(&self) -> f64 {
        self.lambda / ((self.edge + 1) as f64).powi(2)
    }

    /// The seven-point Laplacian, which is the Jacobian but for its diagonal, and where the diagonal lies among the
    /// values.
    pub(crate) fn laplacian(&self) -> Result<(Csr<f64>, Vec<u32>), sparrow::Error> {
        let (edge, face, rows) = (self.edge, self.edge.pow(2), self.rows());
        let (mut offsets, mut columns) = (Vec::with_capacity(rows + 1), Vec::new());
        let (mut values, mut diagonal) = (Vec::new(), Vec::with_capacity(rows));
        columns.reserve_exact(7 * rows);
        values.reserve_exact(7 * rows);
        offsets.push(0u32);
        for row in 0..rows {
            let (x, y, z) = (row % edge, row / edge % edge, row / face);
            let neighbours = [
                (z > 0, row.wrapping_sub(face)),
                (y > 0, row.wrapping_sub(edge)),
                (x > 0, row.wrapping_sub(1)),
                (true, row),
                (x + 1 < edge, row + 1),
                (y + 1 < edge, row + edge),
                (z + 1 < edge, row + face),
            ];
            for (_, column) in neighbours.into_iter().filter(|(is_there, _)| *is_there) {
                if column == row {
                    diagonal.push(columns.len() as u32);
                }
                columns.push(column as u32);
                values.push(if column == row { 6.0 } else { -1.0 });
            }
            offsets.push(columns.len() as u32);
        }
        Ok((Csr::new(rows, offsets, columns, values)?, diagonal))
    }
}
