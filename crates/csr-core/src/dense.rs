//! Dense matrices: where their elements lie, and the product of a sparse matrix with one on the host.

use rayon::prelude::*;

use crate::check::check_length;
use crate::{CsrView, Error, Offset, Result, Value};

/// Which neighbours lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layout {
    /// Elements of a row.
    RowMajor,
    /// Elements of a column.
    ColumnMajor,
}

impl Layout {
    /// The word in records: "row" or "column".
    pub fn name(self) -> &'static str {
        match self {
            Layout::RowMajor => "row",
            Layout::ColumnMajor => "column",
        }
    }
}

/// Where the elements of a dense matrix lie in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DenseShape {
    rows: usize,
    cols: usize,
    layout: Layout,
    leading: usize,
}

impl DenseShape {
    /// `rows` x `cols` elements; rows (of a row-major matrix) or columns begin `leading` elements apart, which may be
    /// more than they are long: what lies between belongs to somebody else.
    ///
    /// # Errors
    /// A leading dimension smaller than a row or column is long, or more elements than 64 bits count.
    pub fn new(rows: usize, cols: usize, layout: Layout, leading: usize) -> Result<Self> {
        let (what, length) = match layout {
            Layout::RowMajor => ("the leading dimension of a row-major matrix", cols),
            Layout::ColumnMajor => ("the leading dimension of a column-major matrix", rows),
        };
        if leading < length {
            return Err(Error::TooSmall { what, value: leading as u64, limit: length as u64 });
        }
        let shape = DenseShape { rows, cols, layout, leading };
        let (lines, _) = shape.lines();
        if (leading as u64).checked_mul(lines as u64).is_none() {
            let limit = if lines == 0 { u64::MAX } else { u64::MAX / lines as u64 };
            return Err(Error::TooLarge { what, value: leading as u64, limit });
        }
        Ok(shape)
    }

    /// Without gaps.
    ///
    /// # Errors
    /// More elements than 64 bits count.
    pub fn packed(rows: usize, cols: usize, layout: Layout) -> Result<Self> {
        let leading = if layout == Layout::RowMajor { cols } else { rows };
        Self::new(rows, cols, layout, leading)
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Which neighbours lie side by side.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Elements from the beginning of one row or column to that of the next.
    pub fn leading(&self) -> usize {
        self.leading
    }

    /// Elements from the first to the last, gaps between included: what the array must have.
    pub fn span(&self) -> usize {
        match self.lines() {
            (0, _) | (_, 0) => 0,
            (lines, length) => (lines - 1) * self.leading + length,
        }
    }

    /// Where an element of the matrix lies.
    pub fn at(&self, row: usize, col: usize) -> usize {
        match self.layout {
            Layout::RowMajor => row * self.leading + col,
            Layout::ColumnMajor => col * self.leading + row,
        }
    }

    /// The elements of a column, one after the other.
    ///
    /// # Errors
    /// No such column, or fewer elements than the shape spans.
    pub fn column<T: Copy>(&self, elements: &[T], col: usize) -> Result<Vec<T>> {
        check_length("the array", elements.len(), elements.len().max(self.span()))?;
        if col >= self.cols {
            let limit = self.cols.saturating_sub(1) as u64;
            return Err(Error::TooLarge { what: "the column", value: col as u64, limit });
        }
        Ok((0..self.rows).map(|row| elements[self.at(row, col)]).collect())
    }

    /// Rows, or columns, that lie apart, and elements of each.
    fn lines(&self) -> (usize, usize) {
        match self.layout {
            Layout::RowMajor => (self.rows, self.cols),
            Layout::ColumnMajor => (self.cols, self.rows),
        }
    }
}

/// Computes C = alpha A B + beta C in the accumulator type; each element's products are summed in the order in which
/// A stores its row. `b` and `c` lie as their shapes say; what lies in gaps is neither read nor written.
///
/// With `beta` = 0, C is never read. `alpha` = 0 is not special: NaN in A or B reaches C.
///
/// # Errors
/// Shapes that do not fit A or each other, or arrays shorter than their shapes span.
pub fn dense_product<V: Value, O: Offset>(
    alpha: V::Accum,
    a: CsrView<'_, V, O>,
    (b_shape, b): (DenseShape, &[V::Accum]),
    beta: V::Accum,
    (c_shape, c): (DenseShape, &mut [V::Accum]),
) -> Result<()> {
    check_length("a column of B", b_shape.rows(), a.cols())?;
    check_length("a column of C", c_shape.rows(), a.rows())?;
    check_length("a row of C", c_shape.cols(), b_shape.cols())?;
    check_length("B", b.len(), b.len().max(b_shape.span()))?;
    check_length("C", c.len(), c.len().max(c_shape.span()))?;
    let zero = <V::Accum as num_traits::Zero>::zero();
    let element = |row: usize, col: usize, c: &mut V::Accum| {
        let (columns, values) = a.row(row);
        let mut sum = zero;
        for (&column, &value) in columns.iter().zip(values) {
            sum += value.to_accum() * b[b_shape.at(column as usize, col)];
        }
        *c = if beta == zero { alpha * sum } else { alpha * sum + beta * *c };
    };
    if c_shape.span() == 0 {
        return Ok(());
    }
    let (_, length) = c_shape.lines();
    let lines = c[..c_shape.span()].par_chunks_mut(c_shape.leading()).enumerate();
    lines.for_each(|(line, elements)| {
        for (at, c) in elements[..length].iter_mut().enumerate() {
            match c_shape.layout() {
                Layout::RowMajor => element(line, at, c),
                Layout::ColumnMajor => element(at, line, c),
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, product, random_vector};

    const LAYOUTS: [Layout; 2] = [Layout::RowMajor, Layout::ColumnMajor];

    fn drawn() -> Csr<f64> {
        // | 5 . 1 |
        // | . . . |
        // | . 7 3 |
        // | 2 . . |
        Csr::new(3, vec![0, 2, 2, 4, 5], vec![0, 2, 1, 2, 0], vec![5.0, 1.0, 7.0, 3.0, 2.0])
            .unwrap()
    }

    #[test]
    fn each_column_is_a_product_with_a_vector_in_every_layout_and_gaps_are_left_alone() {
        let a = drawn();
        for (b_layout, c_layout) in LAYOUTS.iter().flat_map(|b| LAYOUTS.map(|c| (*b, c))) {
            let b_shape = DenseShape::new(3, 5, b_layout, 7).unwrap();
            let c_shape = DenseShape::new(4, 5, c_layout, 6).unwrap();
            let b: Vec<f64> = random_vector(1, b_shape.span());
            let before: Vec<f64> = random_vector(2, c_shape.span());
            let mut c = before.clone();
            dense_product(2.0, a.view(), (b_shape, &b), 0.5, (c_shape, &mut c)).unwrap();
            let mut belongs = vec![false; c.len()];
            for col in 0..5 {
                let mut y = c_shape.column(&before, col).unwrap();
                let x = b_shape.column(&b, col).unwrap();
                product(2.0, a.view(), &x, 0.5, &mut y).unwrap();
                assert_eq!(c_shape.column(&c, col).unwrap(), y);
                (0..4).for_each(|row| belongs[c_shape.at(row, col)] = true);
            }
            for (at, belongs) in belongs.into_iter().enumerate() {
                assert!(belongs || c[at] == before[at], "gap at {at} was written");
            }
        }
    }

    #[test]
    fn beta_zero_never_reads_c() {
        let shape = DenseShape::packed(3, 2, Layout::RowMajor).unwrap();
        let c_shape = DenseShape::packed(4, 2, Layout::RowMajor).unwrap();
        let mut c = [f64::NAN; 8];
        dense_product(1.0, drawn().view(), (shape, &[1.0; 6]), 0.0, (c_shape, &mut c)).unwrap();
        assert_eq!(c, [6.0, 6.0, 0.0, 0.0, 10.0, 10.0, 2.0, 2.0]);
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused_by_name() {
        let refusal = |rows, cols, layout, leading| {
            DenseShape::new(rows, cols, layout, leading).unwrap_err().to_string()
        };
        assert_eq!(
            refusal(3, 5, Layout::RowMajor, 4),
            "the leading dimension of a row-major matrix is 4, below the limit of 5"
        );
        assert_eq!(
            refusal(9, 5, Layout::ColumnMajor, 8),
            "the leading dimension of a column-major matrix is 8, below the limit of 9"
        );
        assert!(refusal(1 << 40, 3, Layout::RowMajor, 1 << 40).contains("above the limit"));
        let packed = |rows, cols| DenseShape::packed(rows, cols, Layout::RowMajor).unwrap();
        let mut c = [0.0; 8];
        let mut error = |b_shape: DenseShape, c_shape: DenseShape, b: &[f64]| {
            let product = dense_product(1.0, drawn().view(), (b_shape, b), 0.0, (c_shape, &mut c));
            product.unwrap_err().to_string()
        };
        assert_eq!(
            error(packed(4, 2), packed(4, 2), &[1.0; 8]),
            "a column of B has 4 elements where 3 are needed"
        );
        assert_eq!(
            error(packed(3, 2), packed(4, 1), &[1.0; 6]),
            "a row of C has 1 element where 2 are needed"
        );
        assert_eq!(
            error(packed(3, 2), packed(4, 2), &[1.0; 5]),
            "B has 5 elements where 6 are needed"
        );
        let error = packed(3, 2).column(&[1.0; 6], 2).unwrap_err().to_string();
        assert_eq!(error, "the column is 2, above the limit of 1");
        let error = packed(3, 2).column(&[1.0; 5], 1).unwrap_err().to_string();
        assert_eq!(error, "the array has 5 elements where 6 are needed");
    }

    #[test]
    fn matrices_without_elements_are_products_too() {
        let empty = DenseShape::new(3, 0, Layout::RowMajor, 0).unwrap();
        let c_shape = DenseShape::new(4, 0, Layout::RowMajor, 0).unwrap();
        assert_eq!((empty.span(), c_shape.span()), (0, 0));
        dense_product(1.0, drawn().view(), (empty, &[]), 0.0, (c_shape, &mut [])).unwrap();
    }
}
