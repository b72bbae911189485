//! Whether a matrix is its own transpose.

use crate::{Csr, CsrView, Offset, RealValue};

/// An entry whose mirror image is absent or has another value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asymmetry {
    /// The entry's row, from 0.
    pub row: usize,
    /// Its column, from 0.
    pub column: usize,
    /// Its value.
    pub value: f64,
    /// The value in that column's row and that row's column; `None` where nothing is stored there.
    pub mirrored: Option<f64>,
}

impl<V: RealValue, O: Offset> CsrView<'_, V, O> {
    /// An entry that keeps a square matrix from being symmetric, in pattern or value, or `None` where it is symmetric.
    /// One pass over the entries, and an offset a row; rows in disorder and entries that repeat are put in
    /// order first, in a copy. An entry of value 0 counts as absent where its mirror image is not stored.
    pub fn asymmetry(&self) -> Option<Asymmetry> {
        let in_order = |row: usize| self.row(row).0.windows(2).all(|pair| pair[0] < pair[1]);
        if (0..self.rows()).all(in_order) {
            return first_asymmetry(self);
        }
        let in_order = Csr::<f64, u64>::from_coo(self.to_coo().map_values());
        // That many entries are counted in 64 bits.
        first_asymmetry(&in_order.ok()?.view())
    }
}

/// Rows are visited from the first to the last, so the mirror images of what a row holds are visited in its order: each
/// row has one next entry that can be asked for.
fn first_asymmetry<V: RealValue, O: Offset>(matrix: &CsrView<'_, V, O>) -> Option<Asymmetry> {
    let value = |at: usize| matrix.values()[at].to_f64();
    let columns = matrix.pattern().columns();
    let mut next: Vec<usize> =
        (0..matrix.rows()).map(|row| matrix.pattern().row_range(row).start).collect();
    for row in 0..matrix.rows() {
        for at in matrix.pattern().row_range(row) {
            let column = columns[at] as usize;
            let end = matrix.pattern().row_range(column).end;
            // What the other row holds before this one's image has none of its own.
            while next[column] < end && (columns[next[column]] as usize) < row {
                let (alone, at) = (columns[next[column]] as usize, next[column]);
                if value(at) != 0.0 {
                    let value = value(at);
                    return Some(Asymmetry { row: column, column: alone, value, mirrored: None });
                }
                next[column] += 1;
            }
            let image = next[column];
            let is_stored = image < end && columns[image] as usize == row;
            let mirrored = is_stored.then(|| value(image));
            let (here, there) = (value(at), mirrored.unwrap_or(0.0));
            if here != there && !(here.is_nan() && there.is_nan()) {
                return Some(Asymmetry { row, column, value: here, mirrored });
            }
            next[column] += usize::from(is_stored);
        }
    }
    // Images that nothing asked for.
    (0..matrix.rows()).find_map(|row| {
        let rest = next[row]..matrix.pattern().row_range(row).end;
        let at = rest.into_iter().find(|&at| value(at) != 0.0)?;
        Some(Asymmetry { row, column: columns[at] as usize, value: value(at), mirrored: None })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[&[f64]]) -> Option<Asymmetry> {
        let (mut offsets, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
        for row in rows {
            for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                columns.push(column as u32);
                values.push(value);
            }
            offsets.push(columns.len() as u32);
        }
        Csr::new(rows.len(), offsets, columns, values).unwrap().view().asymmetry()
    }

    #[test]
    fn what_equals_its_transpose_is_symmetric() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[&[0.0, 0.0], &[0.0, 0.0]]), None);
        assert_eq!(of(&[&[1.0, 2.0, 0.0], &[2.0, 0.0, 3.0], &[0.0, 3.0, 4.0]]), None);
        assert_eq!(of(&[&[f64::NAN, f64::NAN], &[f64::NAN, 1.0]]), None);
    }

    #[test]
    fn an_entry_that_is_alone_or_differs_is_named() {
        let alone = |row, column, value| Some(Asymmetry { row, column, value, mirrored: None });
        assert_eq!(of(&[&[2.0, 1.0], &[0.0, 3.0]]), alone(0, 1, 1.0));
        assert_eq!(of(&[&[2.0, 0.0], &[1.0, 3.0]]), alone(1, 0, 1.0));
        assert_eq!(of(&[&[0.0, 0.0], &[1.0, 0.0]]), alone(1, 0, 1.0));
        assert_eq!(of(&[&[0.0, 0.0, 5.0], &[0.0, 0.0, 0.0], &[0.0, 1.0, 0.0]]), alone(0, 2, 5.0));
        let other = Asymmetry { row: 0, column: 1, value: 1.0, mirrored: Some(1.5) };
        assert_eq!(of(&[&[2.0, 1.0], &[1.5, 3.0]]), Some(other));
    }

    #[test]
    fn order_repetition_and_stored_zeros_do_not_matter() {
        // [[1, 2], [2, 0]], the 2 of the first row in two parts, in disorder.
        let parts =
            Csr::<f64>::new(2, vec![0, 3, 4], vec![1, 0, 1, 0], vec![0.5, 1.0, 1.5, 2.0]).unwrap();
        assert_eq!(parts.view().asymmetry(), None);
        let zero = Csr::<f64>::new(2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 0.0, 1.0]).unwrap();
        assert_eq!(zero.view().asymmetry(), None);
        let below = Csr::<f64>::new(2, vec![0, 1, 3], vec![0, 0, 1], vec![1.0, 0.0, 1.0]).unwrap();
        assert_eq!(below.view().asymmetry(), None);
    }
}
