//! Batches: many small matrices, stored one behind the other.

mod any_host;
mod ell;
mod problem;
mod range;

pub use any_host::AnyHostBatch;
pub use ell::{Ell, PADDING};
pub use problem::{Format, Lengths, Problem, check_problems};
pub use range::{Steps, StridedRange, find_ranges};

use crate::{Coo, CsrView, Error, Offset, PatternView, Result, Value};

/// Rows of a slice of sliced ELL.
const SLICE_ROWS: usize = 32;
/// Places over entries from which on ELL is sliced.
const SLICED_FROM: f64 = 1.2;
/// The most places over entries that any form of ELL may take.
const MOST_PLACES: f64 = 4.0;

/// Many small matrices on the host, each in its own format, ready to upload. x and y of the problems lie one behind
/// the other, too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostBatch<V> {
    problems: Vec<Problem>,
    offsets: Vec<u32>,
    indices: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<V>,
    x_len: u64,
    y_len: u64,
    padding: usize,
}

impl<V: Value> HostBatch<V> {
    /// A batch of no problems.
    pub fn new() -> Self {
        HostBatch {
            problems: Vec::new(),
            offsets: Vec::new(),
            indices: Vec::new(),
            columns: Vec::new(),
            values: Vec::new(),
            x_len: 0,
            y_len: 0,
            padding: 0,
        }
    }

    /// Adds a matrix in compressed rows.
    ///
    /// # Errors
    /// More nonzeros than `u32` counts.
    pub fn push_csr<O: Offset>(&mut self, matrix: CsrView<'_, V, O>) -> Result<()> {
        let problem = self.pattern_problem(matrix.pattern())?;
        self.push_pattern_arrays(matrix.pattern());
        self.values.extend_from_slice(matrix.values());
        self.push_problem(problem);
        Ok(())
    }

    /// Adds problems of one pattern, which is stored once; `values` holds the nonzeros of one after the other.
    ///
    /// # Errors
    /// More nonzeros than `u32` counts, or values that are no whole number of problems.
    pub fn push_pattern<O: Offset>(
        &mut self,
        pattern: PatternView<'_, O>,
        values: &[V],
        problems: usize,
    ) -> Result<()> {
        let expected = pattern.nnz().saturating_mul(problems);
        crate::check::check_length("the array of values", values.len(), expected)?;
        let first = self.pattern_problem(pattern)?;
        self.push_pattern_arrays(pattern);
        self.values.extend_from_slice(values);
        for number in 0..problems {
            let values = first.values + (number * pattern.nnz()) as u64;
            let (x, y) = (self.x_len, self.y_len);
            self.push_problem(Problem { values, x, y, ..first });
        }
        Ok(())
    }

    /// Adds a matrix in coordinates, sorted by rows; entries of one row keep their order.
    ///
    /// # Errors
    /// More entries than `u32` counts.
    pub fn push_coo(&mut self, matrix: &Coo<V>) -> Result<()> {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let index = self.indices.len();
        let problem = self.problem(rows, cols, matrix.nnz(), Format::Coo, index)?;
        let rows = matrix.row_indices();
        let mut order: Vec<usize> = (0..matrix.nnz()).collect();
        if !rows.is_sorted() {
            order.sort_by_key(|&entry| rows[entry]);
        }
        self.indices.extend(order.iter().map(|&entry| rows[entry]));
        self.columns.extend(order.iter().map(|&entry| matrix.column_indices()[entry]));
        self.values.extend(order.iter().map(|&entry| matrix.values()[entry]));
        self.push_problem(problem);
        Ok(())
    }

    /// Adds a matrix in ELL, as it is.
    ///
    /// # Errors
    /// More places than `u32` counts.
    pub fn push_ell(&mut self, matrix: &Ell<V>) -> Result<()> {
        let format = Format::Ell { width: matrix.width() as u32 };
        let places = matrix.columns().len();
        let problem = self.problem(matrix.rows(), matrix.cols(), places, format, 0)?;
        self.columns.extend_from_slice(matrix.columns());
        self.values.extend_from_slice(matrix.values());
        self.padding += places - matrix.nnz();
        self.push_problem(problem);
        Ok(())
    }

    /// Adds a matrix in the form of ELL that suits it, and says which: sliced where ELL would take more than 1.2
    /// places an entry, as it is where slices would take more than 4, and left in compressed rows where both would.
    ///
    /// # Errors
    /// More nonzeros than `u32` counts.
    pub fn push_as_ell<O: Offset>(&mut self, matrix: CsrView<'_, V, O>) -> Result<Format> {
        let length = |row| matrix.pattern().row_len(row);
        let longest = |rows: std::ops::Range<usize>| rows.map(length).max().unwrap_or(0);
        let rows = matrix.rows();
        let slices = (0..rows).step_by(SLICE_ROWS).map(|row| row..rows.min(row + SLICE_ROWS));
        let widths: Vec<usize> = slices.map(longest).collect();
        let sliced: usize = widths.iter().map(|width| width * SLICE_ROWS).sum();
        let whole = longest(0..rows).saturating_mul(rows);
        let allows = |places: usize, most: f64| places as f64 <= most * matrix.nnz() as f64;
        if allows(whole, SLICED_FROM) {
            self.push_ell(&Ell::from_csr(matrix)?)?;
        } else if allows(sliced, MOST_PLACES) {
            self.push_sliced(matrix, &widths, sliced)?;
        } else if allows(whole, MOST_PLACES) {
            self.push_ell(&Ell::from_csr(matrix)?)?;
        } else {
            self.push_csr(matrix)?;
        }
        Ok(self.problems[self.problems.len() - 1].format)
    }

    fn push_sliced<O: Offset>(
        &mut self,
        matrix: CsrView<'_, V, O>,
        widths: &[usize],
        places: usize,
    ) -> Result<()> {
        let index = self.indices.len();
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let problem = self.problem(rows, cols, places, Format::SlicedEll, index)?;
        let first = self.columns.len();
        self.columns.resize(first + places, PADDING);
        self.values.resize(self.values.len() + places, V::from_f64(0.0));
        let first_value = self.values.len() - places;
        let mut start = 0;
        self.indices.push(0);
        for (slice, width) in widths.iter().enumerate() {
            for row in slice * SLICE_ROWS..rows.min((slice + 1) * SLICE_ROWS) {
                let (columns, values) = matrix.row(row);
                for (k, (&column, &value)) in columns.iter().zip(values).enumerate() {
                    let place = start + k * SLICE_ROWS + row % SLICE_ROWS;
                    self.columns[first + place] = column;
                    self.values[first_value + place] = value;
                }
            }
            start += width * SLICE_ROWS;
            self.indices.push(start as u32);
        }
        self.padding += places - matrix.nnz();
        self.push_problem(problem);
        Ok(())
    }

    fn pattern_problem<O: Offset>(&self, pattern: PatternView<'_, O>) -> Result<Problem> {
        let index = self.offsets.len();
        self.problem(pattern.rows(), pattern.cols(), pattern.nnz(), Format::Csr, index)
    }

    fn push_pattern_arrays<O: Offset>(&mut self, pattern: PatternView<'_, O>) {
        // Fits: the problem was counted in 32 bits.
        self.offsets.extend(pattern.offsets().iter().map(|offset| offset.to_usize() as u32));
        self.columns.extend_from_slice(pattern.columns());
    }

    /// The next problem.
    fn problem(
        &self,
        rows: usize,
        cols: usize,
        entries: usize,
        format: Format,
        index: usize,
    ) -> Result<Problem> {
        let what = "the number of entries of a problem";
        let limit = u64::from(u32::MAX);
        let entries = u32::try_from(entries).map_err(|_| Error::TooLarge {
            what,
            value: entries as u64,
            limit,
        })?;
        Ok(Problem {
            rows: rows as u32,
            cols: cols as u32,
            entries,
            format,
            index: index as u64,
            columns: self.columns.len() as u64,
            values: self.values.len() as u64,
            x: self.x_len,
            y: self.y_len,
        })
    }

    fn push_problem(&mut self, problem: Problem) {
        self.x_len += u64::from(problem.cols);
        self.y_len += u64::from(problem.rows);
        self.problems.push(problem);
    }

    /// The problems, in the order in which they were added.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Row offsets of the problems in compressed rows, each from 0 on.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Row indices of the problems in coordinates, and slice starts.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Column indices; [`PADDING`] in places without an entry.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Values.
    pub fn values(&self) -> &[V] {
        &self.values
    }

    /// Elements of all x together.
    pub fn x_len(&self) -> usize {
        self.x_len as usize
    }

    /// Elements of all y together.
    pub fn y_len(&self) -> usize {
        self.y_len as usize
    }

    /// Places that hold no entry.
    pub fn padding(&self) -> usize {
        self.padding
    }

    /// Whether 16 bits hold every column index, and [`PADDING`] besides.
    pub fn has_short_columns(&self) -> bool {
        self.problems.iter().all(|problem| match problem.format {
            Format::Csr | Format::Coo => problem.cols <= 1 << 16,
            Format::Ell { .. } | Format::SlicedEll => problem.cols < 1 << 16,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;

    fn matrix(lengths: &[usize], cols: usize) -> Csr<f64> {
        let mut offsets = vec![0];
        let mut columns = Vec::new();
        for &length in lengths {
            columns.extend((0..length).map(|k| (k % cols) as u32));
            offsets.push(columns.len() as u32);
        }
        let values = (0..columns.len()).map(|k| k as f64).collect();
        Csr::new(cols, offsets, columns, values).unwrap()
    }

    #[test]
    fn problems_lie_one_behind_the_other() {
        let mut batch = HostBatch::new();
        batch.push_csr(matrix(&[2, 1], 3).view()).unwrap();
        batch.push_coo(&matrix(&[0, 1], 4).to_coo()).unwrap();
        batch.push_csr(matrix(&[1], 5).view()).unwrap();
        let starts: Vec<_> =
            batch.problems().iter().map(|p| (p.index, p.columns, p.x, p.y)).collect();
        assert_eq!(starts, [(0, 0, 0, 0), (0, 3, 3, 2), (3, 4, 7, 4)]);
        assert_eq!((batch.x_len(), batch.y_len()), (12, 5));
        assert_eq!(batch.offsets(), [0, 2, 3, 0, 1]);
        assert_eq!(batch.indices(), [1]);
        let lengths = Lengths { offsets: 5, indices: 1, columns: 5, values: 5 };
        check_problems(batch.problems(), lengths).unwrap();
    }

    #[test]
    fn coordinates_are_sorted_by_rows() {
        let coo = Coo::new(2, 2, vec![1, 0, 1], vec![0, 1, 1], vec![1.0, 2.0, 3.0]).unwrap();
        let mut batch = HostBatch::new();
        batch.push_coo(&coo).unwrap();
        assert_eq!(batch.indices(), [0, 1, 1]);
        assert_eq!(batch.values(), [2.0, 1.0, 3.0]);
    }

    #[test]
    fn a_pattern_with_many_values_is_stored_once() {
        let one = matrix(&[2, 1], 3);
        let mut batch = HostBatch::new();
        batch.push_pattern(one.view().pattern(), &[1.0f64; 6], 2).unwrap();
        assert_eq!((batch.columns().len(), batch.values().len()), (3, 6));
        assert_eq!(batch.problems()[1].values, 3);
        assert_eq!(batch.problems()[1].columns, 0);
        assert!(batch.push_pattern(one.view().pattern(), &[1.0; 5], 2).is_err());
    }

    #[test]
    fn ell_is_sliced_where_it_pads_and_left_where_slices_do_too() {
        let mut batch = HostBatch::new();
        let formats =
            [vec![3; 64], [vec![3; 32], vec![9; 32]].concat(), [vec![1; 31], vec![200]].concat()]
                .map(|lengths| batch.push_as_ell(matrix(&lengths, 300).view()).unwrap());
        assert_eq!(formats, [Format::Ell { width: 3 }, Format::SlicedEll, Format::Csr]);
        assert_eq!(batch.indices(), [0, 96, 384]);
        assert_eq!(batch.padding(), 0);
    }

    #[test]
    fn padding_is_counted_and_few_rows_are_not_sliced() {
        let mut batch = HostBatch::new();
        let uneven = [vec![3; 31], vec![4; 33]].concat();
        // A slice of 32 rows would have 64 places for the four entries; ELL has six.
        let formats = [uneven, vec![1, 1, 2]]
            .map(|lengths| batch.push_as_ell(matrix(&lengths, 300).view()).unwrap());
        assert_eq!(formats, [Format::Ell { width: 4 }, Format::Ell { width: 2 }]);
        assert_eq!(batch.padding(), 31 + 2);
    }

    #[test]
    fn sixteen_bits_hold_columns_and_padding() {
        let mut batch = HostBatch::<f32>::new();
        let wide = Csr::<f32>::new(1 << 16, vec![0, 1], vec![65535], vec![1.0]).unwrap();
        batch.push_csr(wide.view()).unwrap();
        assert!(batch.has_short_columns());
        batch.push_ell(&Ell::from_csr(wide.view()).unwrap()).unwrap();
        assert!(!batch.has_short_columns());
    }
}
