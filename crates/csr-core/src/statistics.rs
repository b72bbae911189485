//! What the lengths of a matrix' rows say: the figures that choose an algorithm and explain its time.

use rayon::prelude::*;

use crate::{Offset, PatternView};

/// Rows a task looks at; partial figures are whole numbers, so their sum has no order.
const ROWS_PER_TASK: usize = 1 << 14;

/// Row lengths of a matrix in summary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RowStatistics {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Stored entries.
    pub nnz: usize,
    /// Nonzeros of the shortest row; 0 without rows.
    pub shortest: usize,
    /// Nonzeros of the longest row; 0 without rows.
    pub longest: usize,
    /// Nonzeros a row; 0 without rows.
    pub mean: f64,
    /// Nonzeros of the middle row in order of length, the lower of two; 0 without rows.
    pub median: usize,
    /// Standard deviation of the rows' nonzeros around their mean.
    pub standard_deviation: f64,
    /// Rows without a nonzero.
    pub empty_rows: usize,
    /// Share, 0 to 1, of the nonzeros that lie in rows of more than [`RowStatistics::LONG_ROW`].
    pub long_row_share: f64,
    /// Rows by length: bin 0 counts empty rows, bin `k` rows of 2^(k-1) to 2^k - 1 nonzeros. The last
    /// bin is not empty; without rows there is none.
    pub histogram: Vec<usize>,
}

impl RowStatistics {
    /// Rows above this many nonzeros count as long.
    pub const LONG_ROW: usize = 128;

    /// Looks at every row once, in parallel; the figures do not depend on the number of threads.
    pub fn of<O: Offset>(pattern: PatternView<'_, O>) -> Self {
        let rows = pattern.rows();
        let tally = (0..rows.div_ceil(ROWS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let first = task * ROWS_PER_TASK;
                let mut tally = Tally::default();
                for row in first..(first + ROWS_PER_TASK).min(rows) {
                    tally.add(pattern.row_len(row));
                }
                tally
            })
            .reduce(Tally::default, Tally::merge);
        let nnz = pattern.nnz();
        let used_bins = tally.histogram.iter().rposition(|&count| count > 0).map_or(0, |k| k + 1);
        let histogram = tally.histogram[..used_bins].to_vec();
        RowStatistics {
            rows,
            cols: pattern.cols(),
            nnz,
            shortest: if rows == 0 { 0 } else { tally.shortest },
            longest: tally.longest,
            mean: share(nnz as f64, rows),
            median: median(pattern, &histogram),
            standard_deviation: tally.standard_deviation(rows, nnz),
            empty_rows: histogram.first().copied().unwrap_or(0),
            long_row_share: share(tally.long_nnz as f64, nnz),
            histogram,
        }
    }
}

/// What the choice of an algorithm asks of row lengths: one pass over the offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowLengths {
    /// Nonzeros of the longest row; 0 without rows.
    pub longest: u64,
    /// What [`RowLengths::BUNDLE`] neighbouring rows take in step: the sum, over bundles, of the longest row's
    /// nonzeros times the rows. As many as there are nonzeros where rows are even.
    pub in_step: u64,
    /// Rows that are longer or shorter than the row before; the first of each bundle is compared with none.
    pub changes: u64,
}

impl RowLengths {
    /// Rows in step: those of a warp, and about those of a CPU's vectors that are under way together.
    pub const BUNDLE: usize = 32;

    /// Looks at every row once, in parallel; `offsets` are rows + 1 and never fall. Of offsets that do, which are not
    /// checked yet where an application has them on the device, the result means nothing.
    pub fn of<O: Offset>(offsets: &[O]) -> Self {
        let rows = offsets.len().saturating_sub(1);
        let length =
            |row: usize| offsets[row + 1].to_usize().wrapping_sub(offsets[row].to_usize()) as u64;
        (0..rows.div_ceil(ROWS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let end = ((task + 1) * ROWS_PER_TASK).min(rows);
                let bundles = (task * ROWS_PER_TASK..end).step_by(Self::BUNDLE);
                bundles.fold(RowLengths::default(), |lengths, first| {
                    let count = Self::BUNDLE.min(rows - first);
                    let rows = first..first + count;
                    let longest = rows.clone().map(length).max().unwrap_or(0);
                    let changes =
                        rows.skip(1).filter(|&row| length(row) != length(row - 1)).count();
                    let (in_step, changes) = (longest.wrapping_mul(count as u64), changes as u64);
                    lengths.merge(RowLengths { longest, in_step, changes })
                })
            })
            .reduce(RowLengths::default, RowLengths::merge)
    }

    fn merge(self, other: Self) -> Self {
        RowLengths {
            longest: self.longest.max(other.longest),
            in_step: self.in_step.wrapping_add(other.in_step),
            changes: self.changes + other.changes,
        }
    }
}

fn share(part: f64, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part / whole as f64 }
}

fn bin(length: usize) -> usize {
    (usize::BITS - length.leading_zeros()) as usize
}

#[derive(Clone)]
struct Tally {
    shortest: usize,
    longest: usize,
    squares: u128,
    long_nnz: usize,
    histogram: [usize; usize::BITS as usize + 1],
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            shortest: usize::MAX,
            longest: 0,
            squares: 0,
            long_nnz: 0,
            histogram: [0; usize::BITS as usize + 1],
        }
    }
}

impl Tally {
    fn add(&mut self, length: usize) {
        self.shortest = self.shortest.min(length);
        self.longest = self.longest.max(length);
        self.squares += (length as u128).pow(2);
        self.long_nnz += if length > RowStatistics::LONG_ROW { length } else { 0 };
        self.histogram[bin(length)] += 1;
    }

    fn merge(mut self, other: Tally) -> Tally {
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        self.squares += other.squares;
        self.long_nnz += other.long_nnz;
        for (count, more) in self.histogram.iter_mut().zip(other.histogram) {
            *count += more;
        }
        self
    }

    /// From whole numbers: rows^2 variance = rows sum(length^2) - nnz^2, without cancellation.
    fn standard_deviation(&self, rows: usize, nnz: usize) -> f64 {
        let scaled = rows as u128 * self.squares - (nnz as u128).pow(2);
        share((scaled as f64).sqrt(), rows)
    }
}

/// Selects among the rows of the bin in which the middle row falls.
fn median<O: Offset>(pattern: PatternView<'_, O>, histogram: &[usize]) -> usize {
    let mut middle = pattern.rows().saturating_sub(1) / 2;
    for (k, &count) in histogram.iter().enumerate() {
        if middle < count {
            let mut lengths: Vec<usize> = (0..pattern.rows())
                .into_par_iter()
                .map(|row| pattern.row_len(row))
                .filter(|&length| bin(length) == k)
                .collect();
            return *lengths.select_nth_unstable(middle).1;
        }
        middle -= count;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CsrPattern;

    fn statistics(lengths: &[usize]) -> RowStatistics {
        let mut offsets = vec![0u32];
        offsets.extend(lengths.iter().scan(0, |sum, &length| {
            *sum += length as u32;
            Some(*sum)
        }));
        let nnz: usize = lengths.iter().sum();
        let pattern = CsrPattern::new(7, offsets, vec![0; nnz]).unwrap();
        RowStatistics::of(pattern.view())
    }

    #[test]
    fn figures_of_a_small_matrix_are_exact() {
        let found = statistics(&[3, 0, 4, 200, 3]);
        assert_eq!((found.rows, found.cols, found.nnz), (5, 7, 210));
        assert_eq!((found.shortest, found.median, found.longest), (0, 3, 200));
        assert_eq!((found.mean, found.empty_rows), (42.0, 1));
        assert!((found.standard_deviation - 6242.8f64.sqrt()).abs() < 1e-12);
        assert_eq!(found.long_row_share, 200.0 / 210.0);
        assert_eq!(found.histogram, [1, 0, 2, 1, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn rows_in_step_take_what_the_longest_of_their_bundle_takes_and_changes_are_within_it() {
        let lengths = |lengths: &[u32]| {
            let sums = lengths.iter().scan(0, |sum, &length| {
                *sum += length;
                Some(*sum)
            });
            RowLengths::of(&[0].into_iter().chain(sums).collect::<Vec<u32>>())
        };
        assert_eq!(lengths(&[]), RowLengths::default());
        assert_eq!(lengths(&[3, 0, 7]), RowLengths { longest: 7, in_step: 21, changes: 2 });
        // Two bundles, the second of one row; and as many as tasks need.
        let mut rows = vec![2; 32];
        rows.push(100);
        assert_eq!(lengths(&rows), RowLengths { longest: 100, in_step: 164, changes: 0 });
        rows.extend([100, 3]);
        assert_eq!(lengths(&rows).changes, 1);
        let even = RowLengths { longest: 5, in_step: 500_000, changes: 0 };
        assert_eq!(lengths(&[5; 100_000]), even);
    }

    #[test]
    fn only_rows_above_128_are_long() {
        assert_eq!(statistics(&[128]).long_row_share, 0.0);
        assert_eq!(statistics(&[129]).long_row_share, 1.0);
    }

    #[test]
    fn equal_rows_have_no_deviation_and_no_rows_have_no_figures() {
        assert_eq!(statistics(&[39; 1000]).standard_deviation, 0.0);
        let none = statistics(&[]);
        assert_eq!((none.shortest, none.median, none.mean), (0, 0, 0.0));
        assert!(none.histogram.is_empty());
    }

    #[test]
    fn the_median_is_the_lower_of_two_and_crosses_tasks() {
        assert_eq!(statistics(&[9, 1, 5, 3]).median, 3);
        let lengths: Vec<usize> = (0..40_001).map(|row| row * 7919 % 40_001 % 100).collect();
        let mut sorted = lengths.clone();
        sorted.sort_unstable();
        assert_eq!(statistics(&lengths).median, sorted[20_000]);
    }
}
