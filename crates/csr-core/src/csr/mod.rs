//! Compressed sparse rows: row offsets and column indices (the pattern), and values.
//!
//! The matrix
//!
//! ```text
//!     | 5 . 1 |          offsets  0 2 2 4
//!     | . . . |          columns  0 2 1 2
//!     | . 7 3 |          values   5 1 7 3
//! ```
//!
//! has row `i` in `offsets[i]..offsets[i + 1]`. Columns within a row may stand in any order and repeat;
//! repeated columns add up in every product.

mod convert;
mod group;
mod pattern;
mod transpose;

use crate::check::check_length;
use crate::{Error, Offset, Result, Value};

pub(crate) use group::{Symmetry, Triplets};
pub use pattern::{CsrPattern, PatternView};
pub use transpose::Transposed;

/// A sparse matrix in compressed rows that owns its arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<V, O = u32> {
    pattern: CsrPattern<O>,
    values: Vec<V>,
}

/// A borrowed, checked [`Csr`]: what products, plans and uploads take.
#[derive(Clone, Copy, Debug)]
pub struct CsrView<'a, V, O = u32> {
    pattern: PatternView<'a, O>,
    values: &'a [V],
}

impl<V: Value, O: Offset> Csr<V, O> {
    /// Checks the arrays of a matrix with `offsets.len() - 1` rows and takes them.
    ///
    /// # Errors
    /// As [`CsrPattern::new`]; or `values` is not nnz long.
    pub fn new(cols: usize, offsets: Vec<O>, columns: Vec<u32>, values: Vec<V>) -> Result<Self> {
        Self::from_pattern(CsrPattern::new(cols, offsets, columns)?, values)
    }

    /// Joins a checked pattern with values, one for each of its nonzeros.
    ///
    /// # Errors
    /// `values` is not nnz long.
    pub fn from_pattern(pattern: CsrPattern<O>, values: Vec<V>) -> Result<Self> {
        check_length("the array of values", values.len(), pattern.nnz())?;
        Ok(Csr { pattern, values })
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.pattern.rows()
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.pattern.cols()
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// Offsets and columns.
    pub fn pattern(&self) -> &CsrPattern<O> {
        &self.pattern
    }

    /// The value of each nonzero, row by row.
    pub fn values(&self) -> &[V] {
        &self.values
    }

    /// The values, to be changed in place; the pattern stays.
    pub fn values_mut(&mut self) -> &mut [V] {
        &mut self.values
    }

    /// Borrows the whole matrix.
    pub fn view(&self) -> CsrView<'_, V, O> {
        CsrView { pattern: self.pattern.view(), values: &self.values }
    }

    /// Bytes of the three arrays.
    pub fn size_bytes(&self) -> usize {
        self.view().size_bytes()
    }

    /// Pattern and values, given back.
    pub fn into_parts(self) -> (CsrPattern<O>, Vec<V>) {
        (self.pattern, self.values)
    }
}

impl<V: Value> Csr<V, u64> {
    /// With 32-bit row offsets; columns and values are not copied.
    ///
    /// # Errors
    /// More nonzeros than 32 bits count.
    pub fn with_u32_offsets(self) -> Result<Csr<V, u32>> {
        let nnz = self.nnz() as u64;
        if nnz > u32::MAX_NNZ {
            let (what, limit) = ("the number of nonzeros", u32::MAX_NNZ);
            return Err(Error::TooLarge { what, value: nnz, limit });
        }
        Ok(Csr { pattern: self.pattern.with_u32_offsets(), values: self.values })
    }
}

impl<'a, V: Value, O: Offset> CsrView<'a, V, O> {
    /// Checks borrowed arrays of a matrix with `offsets.len() - 1` rows.
    ///
    /// # Errors
    /// As [`CsrPattern::new`]; or `values` is not nnz long.
    pub fn new(cols: usize, offsets: &'a [O], columns: &'a [u32], values: &'a [V]) -> Result<Self> {
        let pattern = PatternView::new(cols, offsets, columns)?;
        check_length("the array of values", values.len(), pattern.nnz())?;
        Ok(CsrView { pattern, values })
    }

    /// Joins a checked pattern with values, one for each of its nonzeros.
    ///
    /// # Errors
    /// `values` is not nnz long.
    pub fn from_pattern(pattern: PatternView<'a, O>, values: &'a [V]) -> Result<Self> {
        check_length("the array of values", values.len(), pattern.nnz())?;
        Ok(CsrView { pattern, values })
    }

    /// Pattern and values that were one matrix before.
    #[doc(hidden)]
    pub fn of_checked(pattern: PatternView<'a, O>, values: &'a [V]) -> Self {
        debug_assert_eq!(values.len(), pattern.nnz(), "one value a nonzero");
        CsrView { pattern, values }
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.pattern.rows()
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.pattern.cols()
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// Offsets and columns.
    pub fn pattern(&self) -> PatternView<'a, O> {
        self.pattern
    }

    /// The value of each nonzero, row by row.
    pub fn values(&self) -> &'a [V] {
        self.values
    }

    /// Bytes of the three arrays.
    pub fn size_bytes(&self) -> usize {
        self.pattern.size_bytes() + size_of_val(self.values)
    }

    /// The columns and values of one row.
    pub fn row(&self, row: usize) -> (&'a [u32], &'a [V]) {
        let range = self.pattern.row_range(row);
        (&self.pattern.columns()[range.clone()], &self.values[range])
    }
}
