//! Stage 2 of the speculative segmented sum on the CPU (Liu and Vinter 2015, section 3.2, "checking
//! prediction stage"): what a device leaves after stage 1 is combined and stored.
//!
//! `cl/spmv/segmented_sum.cl` says what is left and why. The sums are taken in pairs of f64, so plain and
//! compensated kernels are finished by the same code and rounded once.

use std::ops::Range;

use rayon::prelude::*;

use crate::parallel;
use crate::{Accumulator, Offset, Real, RealValue, Value};

/// Where a bunch of nonzeros begins with a row of its own.
pub const NO_ROW: u32 = u32::MAX;

/// What stage 1 leaves, a bunch being a run of nonzeros that one group of items took.
#[derive(Clone, Copy, Debug)]
pub struct LeftOver<'a, T> {
    /// The row in the middle of which each bunch begins, or [`NO_ROW`]; and the row that continues after the
    /// last bunch: bunches + 1.
    pub head_rows: &'a [u32],
    /// What each bunch has of that row: `parts` numbers a bunch.
    pub heads: &'a [T],
    /// What each bunch has of a row that begins in it and continues after it: `parts` numbers a bunch.
    pub tails: &'a [T],
    /// 1, or 2 where a sum comes with its error.
    pub parts: usize,
    /// Ranges of rows whose sums lie packed at the front of their range in y, because some are empty.
    pub misplaced: &'a [[u32; 2]],
    /// Ranges of rows that are not stored yet.
    pub left: &'a [[u32; 2]],
}

/// The arrays of a product, trusted as the device trusts them.
#[derive(Clone, Copy, Debug)]
pub struct Arrays<'a, V: RealValue, O> {
    /// Row offsets: rows + 1.
    pub offsets: &'a [O],
    /// Column indices: nnz; empty where no range is `left`.
    pub columns: &'a [u32],
    /// Values: nnz; empty as well then.
    pub values: &'a [V],
    /// The vector x; empty as well then.
    pub x: &'a [V::Accum],
    /// Scales A x.
    pub alpha: V::Accum,
    /// Scales y; with 0, y is not read.
    pub beta: V::Accum,
}

/// Finishes y: rows that cross bunches are added up and stored, misplaced sums are moved, rows that were left
/// are computed. Rows of different ranges are different rows.
pub fn finish<V: RealValue, O: Offset>(
    arrays: &Arrays<'_, V, O>,
    left_over: &LeftOver<'_, V::Accum>,
    y: &mut [V::Accum],
) {
    store_chains::<V>(arrays.alpha, arrays.beta, left_over, y);
    for_each_range(left_over.misplaced, y, |range, rows| {
        spread_in_place::<V, O>(arrays.alpha, &arrays.offsets[range.start..=range.end], rows);
    });
    for_each_range(left_over.left, y, |range, rows| {
        for (row, y) in range.zip(rows) {
            *y = store::<V>(arrays.alpha, row_sum(arrays, row), arrays.beta, *y);
        }
    });
}

/// Each row that crosses bunches: the tail where it begins, and the heads after that, in their order.
fn store_chains<V: RealValue>(
    alpha: V::Accum,
    beta: V::Accum,
    left_over: &LeftOver<'_, V::Accum>,
    y: &mut [V::Accum],
) {
    let LeftOver { head_rows, heads, tails, parts, .. } = *left_over;
    let sum_at = |sums: &[V::Accum], bunch: usize| {
        let at = bunch * parts;
        let error = if parts == 2 { sums[at + 1].to_f64() } else { 0.0 };
        Pair { sum: sums[at].to_f64(), error }
    };
    let bunches = head_rows.len() - 1;
    let mut at = 1;
    while at < bunches {
        let row = head_rows[at];
        if row == NO_ROW {
            at += 1;
            continue;
        }
        let mut sum = sum_at(tails, at - 1);
        while at < bunches && head_rows[at] == row {
            sum = sum.add(sum_at(heads, at));
            at += 1;
        }
        let y = &mut y[row as usize];
        *y = store::<V>(alpha, sum, beta, *y);
    }
}

/// Moves the sums at the front of `y` to the rows that are not empty; `offsets` are one more than rows.
fn spread_in_place<V: RealValue, O: Offset>(alpha: V::Accum, offsets: &[O], y: &mut [V::Accum]) {
    let is_empty = |row: usize| offsets[row] == offsets[row + 1];
    let mut packed = (0..y.len()).filter(|&row| !is_empty(row)).count();
    // From the back, as no sum has to move towards the front.
    for row in (0..y.len()).rev() {
        if is_empty(row) {
            y[row] = alpha * V::Accum::from_f64(0.0);
        } else {
            packed -= 1;
            y[row] = y[packed];
        }
    }
}

fn row_sum<V: RealValue, O: Offset>(arrays: &Arrays<'_, V, O>, row: usize) -> Pair {
    let nonzeros = arrays.offsets[row].to_usize()..arrays.offsets[row + 1].to_usize();
    let products = arrays.columns[nonzeros.clone()].iter().zip(&arrays.values[nonzeros]);
    products.fold(Pair::default(), |sum, (&column, &value)| {
        let x = arrays.x[column as usize];
        sum.add(Pair::product(value.to_accum().to_f64(), x.to_f64()))
    })
}

/// alpha sum + beta y, rounded once. With beta = 0, y takes no part.
fn store<V: RealValue>(alpha: V::Accum, sum: Pair, beta: V::Accum, y: V::Accum) -> V::Accum {
    let scaled = sum.times(alpha.to_f64());
    let result = if beta.to_f64() == 0.0 {
        scaled
    } else {
        scaled.add(Pair::product(beta.to_f64(), y.to_f64()))
    };
    V::Accum::from_f64(result.rounded())
}

/// Calls `work` with each range and its rows of y, in parallel. The ranges do not overlap.
fn for_each_range<T: Accumulator>(
    ranges: &[[u32; 2]],
    y: &mut [T],
    work: impl Fn(Range<usize>, &mut [T]) + Sync,
) {
    let mut sorted: Vec<Range<usize>> =
        ranges.iter().map(|&[begin, end]| begin as usize..end as usize).collect();
    sorted.par_sort_unstable_by_key(|range| range.start);
    let mut rest = y;
    let mut first = 0;
    let mut tasks = Vec::with_capacity(sorted.len());
    for range in sorted {
        let (_, from) = rest.split_at_mut(range.start - first);
        let (rows, after) = from.split_at_mut(range.len());
        first = range.end;
        rest = after;
        tasks.push((range, rows));
    }
    parallel::for_each_chunk(&mut tasks, 64, |_, tasks| {
        tasks.iter_mut().for_each(|(range, rows)| work(range.clone(), rows));
    });
}

/// An unevaluated sum of a rounded number and its error, as the kernels' compensated accumulator
/// (`cl/item/accumulate.h`).
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    sum: f64,
    error: f64,
}

impl Pair {
    fn product(a: f64, b: f64) -> Self {
        let sum = a * b;
        Pair { sum, error: a.mul_add(b, -sum) }
    }

    fn add(self, other: Self) -> Self {
        let sum = self.sum + other.sum;
        let of_other = sum - self.sum;
        let error = (self.sum - (sum - of_other)) + (other.sum - of_other);
        Pair { sum, error: error + (self.error + other.error) }
    }

    fn times(self, factor: f64) -> Self {
        let product = Self::product(self.sum, factor);
        Pair { sum: product.sum, error: self.error.mul_add(factor, product.error) }
    }

    /// The error of an infinite sum is NaN and says nothing.
    fn rounded(self) -> f64 {
        if self.sum.is_infinite() { self.sum } else { self.sum + self.error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve rows, the third and the tenth empty.
    const OFFSETS: [u32; 13] = [0, 2, 4, 4, 6, 8, 10, 12, 14, 16, 16, 18, 20];

    fn arrays<'a>(columns: &'a [u32], values: &'a [f64], x: &'a [f64]) -> Arrays<'a, f64, u32> {
        Arrays { offsets: &OFFSETS, columns, values, x, alpha: 2.0, beta: 0.0 }
    }

    #[test]
    fn misplaced_sums_go_to_the_rows_that_are_not_empty() {
        let mut y = [f64::NAN; 12];
        y[1..4].copy_from_slice(&[1.0, 2.0, 3.0]);
        y[8..10].copy_from_slice(&[4.0, 5.0]);
        let left_over = LeftOver {
            head_rows: &[NO_ROW, NO_ROW],
            heads: &[0.0],
            tails: &[0.0],
            parts: 1,
            misplaced: &[[8, 11], [1, 5]],
            left: &[],
        };
        finish(&arrays(&[], &[], &[]), &left_over, &mut y);
        assert_eq!(y[1..5], [1.0, 0.0, 2.0, 3.0]);
        assert_eq!(y[8..11], [4.0, 0.0, 5.0]);
        assert!(y[0].is_nan() && y[5].is_nan() && y[11].is_nan());
    }

    #[test]
    fn a_row_that_crosses_bunches_is_its_tail_and_all_its_heads() {
        let mut y = [1.0; 12];
        let left_over = LeftOver {
            head_rows: &[NO_ROW, 3, 3, NO_ROW, 7, 9],
            heads: &[90.0, 1.0, 2.0, 91.0, 4.0],
            tails: &[8.0, 92.0, 93.0, 16.0, 94.0],
            parts: 1,
            misplaced: &[],
            left: &[],
        };
        let arrays = Arrays { beta: 0.5, ..arrays(&[], &[], &[]) };
        finish(&arrays, &left_over, &mut y);
        assert_eq!(y[3], 2.0 * 11.0 + 0.5);
        assert_eq!(y[7], 2.0 * 20.0 + 0.5);
        // What continues after the last bunch is not this product's to store.
        assert_eq!(y[9], 1.0);
    }

    #[test]
    fn rows_that_were_left_are_computed_and_infinities_stay_what_they_are() {
        let columns: Vec<u32> = (0..20).map(|at| at % 2).collect();
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let mut y = [f64::NAN; 12];
        let left_over = LeftOver {
            head_rows: &[NO_ROW, NO_ROW],
            heads: &[0.0],
            tails: &[0.0],
            parts: 1,
            misplaced: &[],
            left: &[[9, 12], [0, 3]],
        };
        finish(&arrays(&columns, &values, &[1.0, f64::INFINITY]), &left_over, &mut y);
        assert_eq!(y[..3], [f64::INFINITY, f64::INFINITY, 0.0]);
        assert_eq!(y[9..], [0.0, f64::INFINITY, f64::INFINITY]);
        assert!(y[3..9].iter().all(|y| y.is_nan()));
    }
}
