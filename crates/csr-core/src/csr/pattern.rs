//! Where the nonzeros are: row offsets and column indices, checked once.

use std::ops::Range;

use rayon::prelude::*;

use crate::check::check_size;
use crate::{Error, Offset, Result};

/// Row offsets and column indices of a matrix, owned and checked.
///
/// Invariants, established by [`CsrPattern::new`] and trusted everywhere after: there are `rows + 1`
/// offsets, the first is 0, none is smaller than the one before, the last is the number of columns
/// stored, and every column index is below `cols`. Rows and columns fit `u32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsrPattern<O = u32> {
    cols: usize,
    offsets: Vec<O>,
    columns: Vec<u32>,
}

/// A borrowed [`CsrPattern`] under the same invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternView<'a, O = u32> {
    cols: usize,
    offsets: &'a [O],
    columns: &'a [u32],
}

impl<O: Offset> CsrPattern<O> {
    /// Checks and takes the offsets (`rows + 1` of them) and the column indices (nnz).
    ///
    /// # Errors
    /// No offsets at all, offsets that do not run from 0 to nnz without falling, a column at or beyond
    /// `cols`, or a size beyond `u32`; each with the position of the first offender.
    pub fn new(cols: usize, offsets: Vec<O>, columns: Vec<u32>) -> Result<Self> {
        PatternView::new(cols, &offsets, &columns)?;
        Ok(CsrPattern { cols, offsets, columns })
    }

    /// For callers in this crate that built the arrays by a rule that keeps the invariants.
    pub(crate) fn new_trusted(cols: usize, offsets: Vec<O>, columns: Vec<u32>) -> Self {
        debug_assert!(PatternView::new(cols, &offsets, &columns).is_ok());
        CsrPattern { cols, offsets, columns }
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        self.columns.len()
    }

    /// The `rows + 1` row offsets.
    pub fn offsets(&self) -> &[O] {
        &self.offsets
    }

    /// The column of each nonzero, row by row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Borrows the pattern.
    pub fn view(&self) -> PatternView<'_, O> {
        PatternView { cols: self.cols, offsets: &self.offsets, columns: &self.columns }
    }

    /// Offsets and columns, given back.
    pub fn into_arrays(self) -> (Vec<O>, Vec<u32>) {
        (self.offsets, self.columns)
    }
}

impl CsrPattern<u64> {
    /// With 32-bit row offsets, which count as far as the last one; columns are not copied.
    pub(crate) fn with_u32_offsets(self) -> CsrPattern<u32> {
        debug_assert!(self.nnz() as u64 <= u32::MAX_NNZ, "nonzeros that 32 bits count");
        let offsets = self.offsets.into_par_iter().map(|offset| offset as u32).collect();
        CsrPattern { cols: self.cols, offsets, columns: self.columns }
    }
}

impl<'a, O: Offset> PatternView<'a, O> {
    /// Checks borrowed offsets and column indices.
    ///
    /// # Errors
    /// As [`CsrPattern::new`].
    pub fn new(cols: usize, offsets: &'a [O], columns: &'a [u32]) -> Result<Self> {
        let Some(rows) = offsets.len().checked_sub(1) else {
            return Err(Error::Length { what: "the array of row offsets", found: 0, expected: 1 });
        };
        check_size("rows", rows)?;
        check_size("columns", cols)?;
        check_offsets(offsets, columns.len())?;
        check_columns(columns, cols)?;
        Ok(PatternView { cols, offsets, columns })
    }

    /// For arrays of a pattern that has been checked.
    pub(crate) fn new_trusted(cols: usize, offsets: &'a [O], columns: &'a [u32]) -> Self {
        PatternView { cols, offsets, columns }
    }

    /// Arrays that [`PatternView::new`] has checked before.
    #[doc(hidden)]
    pub fn of_checked(cols: usize, offsets: &'a [O], columns: &'a [u32]) -> Self {
        Self::new_trusted(cols, offsets, columns)
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        self.columns.len()
    }

    /// The `rows + 1` row offsets.
    pub fn offsets(&self) -> &'a [O] {
        self.offsets
    }

    /// The column of each nonzero, row by row.
    pub fn columns(&self) -> &'a [u32] {
        self.columns
    }

    /// Where the nonzeros of one row stand in `columns`.
    pub fn row_range(&self, row: usize) -> Range<usize> {
        self.offsets[row].to_usize()..self.offsets[row + 1].to_usize()
    }

    /// Row and column of an entry, from 1, in words: as a file counts them.
    pub fn place(&self, entry: usize) -> String {
        let row = self.offsets.partition_point(|offset| offset.to_usize() <= entry);
        format!("row {row}, column {}", u64::from(self.columns[entry]) + 1)
    }

    /// The number of nonzeros of one row.
    pub fn row_len(&self, row: usize) -> usize {
        self.row_range(row).len()
    }

    /// Bytes of the two arrays.
    pub fn size_bytes(&self) -> usize {
        size_of_val(self.offsets) + size_of_val(self.columns)
    }
}

/// Entries each task of a parallel check looks at.
const CHECK_CHUNK: usize = 1 << 16;

fn check_offsets<O: Offset>(offsets: &[O], nnz: usize) -> Result<()> {
    let refuse = |index: usize, rule: String| {
        Err(Error::RowOffset { index, found: offsets[index].to_usize() as u64, rule })
    };
    if offsets[0].to_usize() != 0 {
        return refuse(0, "the first must be 0".to_owned());
    }
    let rows = offsets.len() - 1;
    let falling = (0..rows.div_ceil(CHECK_CHUNK)).into_par_iter().find_map_first(|chunk| {
        let first = chunk * CHECK_CHUNK;
        let last = (first + CHECK_CHUNK).min(rows);
        (first..last).find(|&row| offsets[row + 1] < offsets[row])
    });
    if let Some(row) = falling {
        let before = offsets[row].to_usize();
        return refuse(row + 1, format!("the one before it is {before}"));
    }
    if offsets[rows].to_usize() != nnz {
        return refuse(rows, format!("the last must be the number of nonzeros, {nnz}"));
    }
    Ok(())
}

fn check_columns(columns: &[u32], cols: usize) -> Result<()> {
    let outside = columns.par_chunks(CHECK_CHUNK).enumerate().find_map_first(|(chunk, columns)| {
        let within = columns.iter().position(|&column| column as usize >= cols)?;
        Some(chunk * CHECK_CHUNK + within)
    });
    match outside {
        Some(entry) => Err(Error::Column { column: columns[entry], entry, cols }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(cols: usize, offsets: Vec<u32>, columns: Vec<u32>) -> String {
        CsrPattern::new(cols, offsets, columns).unwrap_err().to_string()
    }

    #[test]
    fn every_broken_invariant_is_named_with_its_index() {
        assert_eq!(
            refusal(3, vec![], vec![]),
            "the array of row offsets has 0 elements where 1 is needed"
        );
        assert_eq!(
            refusal(3, vec![1, 2], vec![0, 1]),
            "row offset 0 is 1 where the first must be 0"
        );
        assert_eq!(
            refusal(3, vec![0, 2, 1], vec![0, 1]),
            "row offset 2 is 1 where the one before it is 2"
        );
        assert_eq!(
            refusal(3, vec![0, 1], vec![0, 1]),
            "row offset 1 is 1 where the last must be the number of nonzeros, 2"
        );
        assert_eq!(refusal(2, vec![0, 2], vec![1, 2]), "column 2 of entry 1 is outside 0..2");
    }

    #[test]
    fn empty_shapes_are_patterns() {
        assert_eq!(CsrPattern::<u32>::new(5, vec![0], vec![]).unwrap().rows(), 0);
        assert_eq!(CsrPattern::<u64>::new(0, vec![0, 0, 0], vec![]).unwrap().rows(), 2);
    }

    #[test]
    fn the_first_offender_is_reported_whatever_the_threads() {
        let mut columns = vec![0u32; 300_000];
        columns[70_001] = 9;
        columns[299_999] = 9;
        let offsets = vec![0u64, 300_000];
        let error = PatternView::new(9, &offsets, &columns).unwrap_err();
        assert_eq!(error.to_string(), "column 9 of entry 70001 is outside 0..9");
    }
}
