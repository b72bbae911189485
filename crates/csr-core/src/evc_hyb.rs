//! EVC-HYB (Guo, Gropp, Olson, "A hybrid format for better performance of sparse matrix-vector multiplication on a
//! GPU", section 2.1): rows in order of length, in two parts.
//!
//! Short rows are in strips of a multiple of `alignment` rows, each stored column by column and as wide as its longest
//! row. What is left of the rows of one length goes to the strip of the next; so a strip's first rows may be shorter
//! than the rest. Long rows, and what is left of the short ones, lie one after the other, each padded to a multiple of
//! `alignment`. Rows of one length are in order of their first column, so that neighbours read x near each other.
//!
//! A pattern does not hold values: it arranges those of a CSR matrix that has it, any number of times.

use rayon::prelude::*;

use crate::parallel;
pub use crate::plan::evc_hyb::{EvcHybOptions, Strip};
use crate::plan::evc_hyb::{EvcHybShape, RowCounts};
use crate::{Csr, CsrView, Error, Offset, PatternView, Result, Value};

/// A sparsity pattern in EVC-HYB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvcHybPattern {
    cols: usize,
    nnz: usize,
    row_order: Vec<u32>,
    row_lengths: Vec<u32>,
    shape: EvcHybShape,
    long_starts: Vec<u64>,
    columns: Vec<u32>,
}

/// What the paper's Table 3 says of a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvcHybStatistics {
    /// The index of the first row that is not in a strip.
    pub split_row: usize,
    /// Elements in strips, padding included.
    pub short_elements: usize,
    /// Elements of the other rows, padding included.
    pub long_elements: usize,
    /// Padding, as a part of the nonzeros; 0 without nonzeros.
    pub padding: f64,
}

impl EvcHybPattern {
    /// Sorts and splits a pattern.
    ///
    /// # Errors
    /// An alignment of 0, or a row with more than 2^32 - 1 nonzeros.
    pub fn new<O: Offset>(pattern: PatternView<'_, O>, options: &EvcHybOptions) -> Result<Self> {
        let alignment = options.alignment;
        if alignment == 0 {
            let (what, found, expected) = ("an aligned row of EVC-HYB", 0, 1);
            return Err(Error::Length { what, found, expected });
        }
        let longest = (0..pattern.rows()).map(|row| pattern.row_len(row)).max().unwrap_or(0);
        if longest > u32::MAX as usize {
            let (what, limit) = ("the nonzeros of a row", u64::from(u32::MAX));
            return Err(Error::TooLarge { what, value: longest as u64, limit });
        }
        let mut row_order: Vec<u32> = (0..pattern.rows() as u32).collect();
        row_order.par_sort_unstable_by_key(|&row| {
            let range = pattern.row_range(row as usize);
            (range.len(), pattern.columns()[range].first().copied(), row)
        });
        let length = |row: &u32| pattern.row_len(*row as usize);
        let row_lengths: Vec<u32> = row_order.iter().map(|row| length(row) as u32).collect();

        let boundaries = RowCounts::boundaries_of_split(longest, options);
        let counts = RowCounts::of_lengths(&row_lengths, boundaries);
        let shape = EvcHybShape::new(longest, options, &counts);
        let mut start = shape.short_elements as u64;
        let mut long_starts = vec![start];
        for length in &row_lengths[shape.split_row..] {
            start += u64::from(*length).next_multiple_of(alignment as u64);
            long_starts.push(start);
        }
        let (cols, nnz, columns) = (pattern.cols(), pattern.nnz(), Vec::new());
        let mut found =
            EvcHybPattern { cols, nnz, row_order, row_lengths, shape, long_starts, columns };
        found.columns = found.arrange(pattern, pattern.columns());
        Ok(found)
    }

    /// Arranges what goes with the nonzeros of a CSR pattern; padding is 0.
    fn arrange<O: Offset, T: bytemuck::Zeroable + Copy + Send + Sync>(
        &self,
        pattern: PatternView<'_, O>,
        of_nonzeros: &[T],
    ) -> Vec<T> {
        let of_row = |index: usize| &of_nonzeros[pattern.row_range(self.row_order[index] as usize)];
        let mut arranged = vec![T::zeroed(); self.elements()];
        let (short, mut long) = arranged.split_at_mut(self.shape.short_elements);
        let mut rest = short;
        for strip in &self.shape.strips {
            let (own, after) = rest.split_at_mut(strip.rows * strip.width);
            rest = after;
            if own.is_empty() {
                continue;
            }
            parallel::for_each_chunk(own, strip.rows, |first, column| {
                let k = first / strip.rows;
                for (r, element) in column.iter_mut().enumerate() {
                    *element = of_row(strip.first + r).get(k).copied().unwrap_or(T::zeroed());
                }
            });
        }
        let split_row = self.split_row();
        let mut rows = Vec::with_capacity(self.long_starts.len() - 1);
        for bounds in self.long_starts.windows(2) {
            let (own, after) = long.split_at_mut((bounds[1] - bounds[0]) as usize);
            long = after;
            rows.push(own);
        }
        parallel::for_each_chunk(&mut rows, 64, |first, rows| {
            for (number, own) in rows.iter_mut().enumerate() {
                let row = of_row(split_row + first + number);
                own[..row.len()].copy_from_slice(row);
            }
        });
        arranged
    }

    /// The values of a matrix that has the pattern, arranged; padding is 0. Nothing is sorted.
    ///
    /// # Errors
    /// A matrix whose rows are not as long as the pattern's.
    pub fn arrange_values<V: Value, O: Offset>(&self, matrix: CsrView<'_, V, O>) -> Result<Vec<V>> {
        let pattern = matrix.pattern();
        if pattern.rows() != self.rows() {
            let (what, found) = ("the array of rows", pattern.rows());
            return Err(Error::Length { what, found, expected: self.rows() });
        }
        for (row, length) in self.row_order.iter().zip(&self.row_lengths) {
            let (found, expected) = (pattern.row_len(*row as usize), *length as usize);
            if found != expected {
                return Err(Error::Length { what: "a row of the matrix", found, expected });
            }
        }
        Ok(self.arrange(pattern, matrix.values()))
    }

    /// The matrix that `values` belong to, as it was: rows in their order, bit for bit.
    ///
    /// # Errors
    /// Values of another number than [`EvcHybPattern::elements`], or more nonzeros than `O` counts.
    pub fn to_csr<V: Value, O: Offset>(&self, values: &[V]) -> Result<Csr<V, O>> {
        let (found, expected) = (values.len(), self.elements());
        if found != expected {
            return Err(Error::Length { what: "the values of EVC-HYB", found, expected });
        }
        let mut lengths = vec![0; self.rows()];
        let mut indices = vec![0; self.rows()];
        for (index, (row, length)) in self.row_order.iter().zip(&self.row_lengths).enumerate() {
            lengths[*row as usize] = *length as usize;
            indices[*row as usize] = index;
        }
        let mut end = 0;
        let mut offsets = Vec::with_capacity(self.rows() + 1);
        for length in std::iter::once(&0).chain(&lengths) {
            end += length;
            let what = "the number of nonzeros";
            let too_large = Error::TooLarge { what, value: end as u64, limit: O::MAX_NNZ };
            offsets.push(O::try_from_usize(end).ok_or(too_large)?);
        }
        let at = indices
            .iter()
            .zip(&lengths)
            .flat_map(|(index, length)| self.element_indices(*index, *length));
        let (columns, values) = at.map(|at| (self.columns[at], values[at])).unzip();
        Csr::new(self.cols, offsets, columns, values)
    }

    /// Where the `length` elements of the row at `index` are.
    fn element_indices(&self, index: usize, length: usize) -> impl Iterator<Item = usize> + use<> {
        let (start, stride) = match index.checked_sub(self.split_row()) {
            Some(long) => (self.long_starts[long] as usize, 1),
            None => {
                let strips = &self.shape.strips;
                let strip = strips.partition_point(|strip| strip.first <= index) - 1;
                let Strip { first, rows, start, .. } = strips[strip];
                (start + index - first, rows)
            }
        };
        (0..length).map(move |k| start + k * stride)
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.row_order.len()
    }

    /// The rows, in order of length.
    pub fn row_order(&self) -> &[u32] {
        &self.row_order
    }

    /// The nonzeros of each row, in order of length: what lies after them is padding.
    pub fn row_lengths(&self) -> &[u32] {
        &self.row_lengths
    }

    /// Where rows lie.
    pub fn shape(&self) -> &EvcHybShape {
        &self.shape
    }

    /// Where each row from [`EvcHybPattern::split_row`] on begins, and where the last ends.
    pub fn long_starts(&self) -> &[u64] {
        &self.long_starts
    }

    /// The column of each element; of padding, 0.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The columns as indices of the rows of the same number: those of a product whose x is in order of length too.
    /// Padding may be any column.
    ///
    /// # Errors
    /// A matrix that is not square.
    pub fn renumbered_columns(&self) -> Result<Vec<u32>> {
        if self.cols != self.rows() {
            let (what, found) = ("a matrix whose columns are renumbered as its rows", self.cols);
            return Err(Error::Length { what, found, expected: self.rows() });
        }
        let mut indices = vec![0; self.rows()];
        for (index, row) in self.row_order.iter().enumerate() {
            indices[*row as usize] = index as u32;
        }
        Ok(parallel::collect(0, self.columns.len(), |at| indices[self.columns[at] as usize]))
    }

    /// The index of the first row that is not in a strip.
    pub fn split_row(&self) -> usize {
        self.shape.split_row
    }

    /// Elements of both parts, padding included.
    pub fn elements(&self) -> usize {
        self.long_starts[self.long_starts.len() - 1] as usize
    }

    /// How the matrix was split, and what padding it took.
    pub fn statistics(&self) -> EvcHybStatistics {
        EvcHybStatistics::new(&self.shape, self.elements(), self.nnz)
    }
}

impl EvcHybStatistics {
    /// Of a pattern that is not converted.
    pub fn of<O: Offset>(pattern: PatternView<'_, O>, options: &EvcHybOptions) -> Self {
        let mut lengths: Vec<u32> =
            (0..pattern.rows()).map(|row| pattern.row_len(row) as u32).collect();
        lengths.par_sort_unstable();
        let longest = lengths.last().map_or(0, |length| *length as usize);
        let boundaries = RowCounts::boundaries_of_split(longest, options);
        let shape =
            EvcHybShape::new(longest, options, &RowCounts::of_lengths(&lengths, boundaries));
        let padded = |length: &u32| (*length as usize).next_multiple_of(options.alignment);
        let long_elements: usize = lengths[shape.split_row..].iter().map(padded).sum();
        Self::new(&shape, shape.short_elements + long_elements, pattern.nnz())
    }

    /// Of rows that lie so, in `elements` with padding, `nnz` without.
    pub fn new(shape: &EvcHybShape, elements: usize, nnz: usize) -> Self {
        EvcHybStatistics {
            split_row: shape.split_row,
            short_elements: shape.short_elements,
            long_elements: elements - shape.short_elements,
            padding: (elements - nnz) as f64 / nnz.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows of these lengths, in as many columns as the longest has and some.
    fn matrix(lengths: &[usize]) -> Csr<f64> {
        let cols = lengths.iter().max().unwrap_or(&0) + 5;
        let (mut offsets, mut columns) = (vec![0u32], Vec::new());
        for (row, length) in lengths.iter().enumerate() {
            columns.extend((0..*length).map(|k| (k + row % 5) as u32));
            offsets.push(columns.len() as u32);
        }
        let values = crate::random_vector(1, columns.len());
        Csr::new(cols, offsets, columns, values).unwrap()
    }

    /// The format's padding, from the lengths alone: of N rows that are at most i long, N mod `alignment` get an
    /// element more in the strip of i + 1; those left at the end are long rows, and what they got is taken back.
    fn padding(lengths: &[usize], options: &EvcHybOptions) -> usize {
        let EvcHybOptions { longest_short_row, alignment } = *options;
        let longest =
            longest_short_row.map(|most| most.min(lengths.iter().copied().max().unwrap_or(0)));
        let mut sorted = lengths.to_vec();
        sorted.sort_unstable();
        let up_to = |most: usize| sorted.partition_point(|length| *length <= most);
        let of_long = |length: &usize| length.next_multiple_of(alignment) - length;
        let Some(longest) = longest else { return sorted.iter().map(of_long).sum() };
        let carried: usize = (0..longest).map(|most| up_to(most) % alignment).sum();
        let split = up_to(longest) - up_to(longest) % alignment;
        let back: usize = sorted[split..up_to(longest)].iter().map(|length| longest - length).sum();
        carried - back + sorted[split..].iter().map(of_long).sum::<usize>()
    }

    proptest! {
        #[test]
        fn padding_is_the_closed_formula_and_the_way_back_is_exact(
            lengths in prop::collection::vec(prop_oneof![4 => 0usize..9, 1 => 0usize..40], 0..300),
            longest_short_row in prop::option::of(0usize..20),
            alignment in 1usize..9,
        ) {
            let options = EvcHybOptions { longest_short_row, alignment };
            let matrix = matrix(&lengths);
            let found = EvcHybPattern::new(matrix.view().pattern(), &options).unwrap();
            prop_assert_eq!(found.elements() - matrix.nnz(), padding(&lengths, &options));
            let unconverted = EvcHybStatistics::of(matrix.view().pattern(), &options);
            prop_assert_eq!(unconverted, found.statistics());
            let values = found.arrange_values(matrix.view()).unwrap();
            prop_assert_eq!(found.to_csr::<f64, u32>(&values).unwrap(), matrix.clone());
            prop_assert!(found.shape().strips.iter().all(|strip| strip.rows % alignment == 0));
            prop_assert!(found.row_lengths().is_sorted());
        }
    }

    #[test]
    fn rows_of_one_length_are_in_order_of_their_first_column() {
        let columns = vec![7, 3, 5, 3];
        let matrix = Csr::<f32>::new(8, vec![0u32, 1, 2, 3, 4], columns, vec![1.0; 4]).unwrap();
        let pattern =
            EvcHybPattern::new(matrix.view().pattern(), &EvcHybOptions::default()).unwrap();
        assert_eq!(pattern.row_order(), [1, 3, 2, 0]);
    }

    #[test]
    fn new_values_need_no_sorting_and_another_pattern_is_refused() {
        let first = matrix(&[3, 0, 40, 3, 7]);
        let pattern =
            EvcHybPattern::new(first.view().pattern(), &EvcHybOptions::default()).unwrap();
        let mut second = first.clone();
        second.values_mut().iter_mut().for_each(|value| *value *= 2.0);
        let (one, two) =
            (pattern.arrange_values(first.view()), pattern.arrange_values(second.view()));
        let doubled: Vec<f64> = one.unwrap().iter().map(|value| 2.0 * value).collect();
        assert_eq!(two.unwrap(), doubled);
        let error = pattern.arrange_values(matrix(&[3, 1, 40, 3, 7]).view()).unwrap_err();
        assert_eq!(error.to_string(), "a row of the matrix has 1 element where 0 are needed");
    }

    #[test]
    fn the_papers_split_of_pwtk_is_a_multiple_of_32() {
        // 217,918 rows, of which 30 do not fill a strip (Table 3: row 217,888).
        let lengths = vec![2; 217_918];
        let matrix = matrix(&lengths);
        let pattern =
            EvcHybPattern::new(matrix.view().pattern(), &EvcHybOptions::default()).unwrap();
        let statistics = pattern.statistics();
        assert_eq!((statistics.split_row, statistics.long_elements), (217_888, 30 * 32));
    }
}
