//! The product on the host: y = alpha A x + beta y, parallel over stretches of rows with about as much work each.

use rayon::prelude::*;

use crate::coo::check_length;
use crate::generate::random::{GOLDEN_GAMMA, mix};
use crate::{Accumulator, CsrView, Offset, Result, Value};

/// Nonzeros and rows of one task, together. A row is never cut, so results do not depend on tasks.
const WORK_PER_TASK: usize = 1 << 15;

/// Sums of a row that do not wait for one another.
const LANES: usize = 4;

/// Computes y = alpha A x + beta y in the accumulator type, the same on every machine ([`part_of_row`]).
///
/// With `beta` = 0, y is never read; what stood there may be NaN. `alpha` = 0 is not special: NaN in A
/// or x reaches y.
///
/// # Errors
/// x is not `cols` long, or y not `rows`.
pub fn product<V: Value, O: Offset>(
    alpha: V::Accum,
    a: CsrView<'_, V, O>,
    x: &[V::Accum],
    beta: V::Accum,
    y: &mut [V::Accum],
) -> Result<()> {
    check_length("y", y.len(), a.rows())?;
    product_of_rows(alpha, a, x, beta, 0, y)
}

/// The same for as many rows from `first_row` on as `y` has.
///
/// # Errors
/// x is not `cols` long, or there are fewer rows.
pub fn product_of_rows<V: Value, O: Offset>(
    alpha: V::Accum,
    a: CsrView<'_, V, O>,
    x: &[V::Accum],
    beta: V::Accum,
    first_row: usize,
    y: &mut [V::Accum],
) -> Result<()> {
    check_length("x", x.len(), a.cols())?;
    check_length("y", y.len(), y.len().min(a.rows().saturating_sub(first_row)))?;
    let zero = <V::Accum as num_traits::Zero>::zero();
    tasks(a.pattern().offsets().get(first_row..).unwrap_or_default(), first_row, y)
        .into_par_iter()
        .for_each(|(first_row, y)| {
            for (row, y) in y.iter_mut().enumerate() {
                let sum = part_of_row(a, x, 0, first_row + row);
                *y = if beta == zero { alpha * sum } else { alpha * sum + beta * *y };
            }
        });
    Ok(())
}

/// Cuts the rows that y has, whose offsets these are, into tasks: the first row of each, and its part of y.
fn tasks<'y, O: Offset, T>(
    offsets: &[O],
    first_row: usize,
    mut y: &'y mut [T],
) -> Vec<(usize, &'y mut [T])> {
    let rows = y.len();
    let Some(base) = offsets.first().map(|first| first.to_usize()) else { return Vec::new() };
    let work_before = |row: usize| offsets[row].to_usize() - base + row;
    let mut tasks = Vec::with_capacity(work_before(rows) / WORK_PER_TASK + 1);
    let mut begin = 0;
    while begin < rows {
        let target = work_before(begin) + WORK_PER_TASK;
        // At most as many rows as work, each of which costs something.
        let most = rows.min(begin + WORK_PER_TASK);
        let (mut low, mut high) = (begin + 1, most);
        while low < high {
            let middle = low.midpoint(high + 1);
            if work_before(middle) <= target { low = middle } else { high = middle - 1 }
        }
        let (own, rest) = y.split_at_mut(low - begin);
        tasks.push((first_row + begin, own));
        (y, begin) = (rest, low);
    }
    tasks
}

/// The sum of one row's products from its nonzero `skipped` on; x is `cols` long.
///
/// Every fourth product goes to the same of four sums, in the order in which they are stored; what is left behind the
/// last four is added at the end.
pub fn part_of_row<V: Value, O: Offset>(
    a: CsrView<'_, V, O>,
    x: &[V::Accum],
    skipped: usize,
    row: usize,
) -> V::Accum {
    let (columns, values) = a.row(row);
    let columns = columns.get(skipped..).unwrap_or_default();
    let values = values.get(skipped..).unwrap_or_default();
    let product = |(&column, &value): (&u32, &V)| value.to_accum() * x[column as usize];
    let zero = <V::Accum as num_traits::Zero>::zero();
    let mut sums = [zero; LANES];
    let (columns_of_four, columns) = columns.as_chunks::<LANES>();
    let (values_of_four, values) = values.as_chunks::<LANES>();
    for four in columns_of_four.iter().zip(values_of_four) {
        for (sum, pair) in sums.iter_mut().zip(four.0.iter().zip(four.1)) {
            *sum += product(pair);
        }
    }
    let rest = columns.iter().zip(values).map(product).fold(zero, |sum, product| sum + product);
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// A vector of `len` numbers between -1 and 1, the same for the same `seed` on every machine.
///
/// SplitMix64 of seed and position: any element can be made alone.
pub fn random_vector<T: Accumulator>(seed: u64, len: usize) -> Vec<T> {
    let element = |at: usize| {
        let z = seed.wrapping_mul(GOLDEN_GAMMA).wrapping_add(at as u64);
        let z = mix(z.wrapping_mul(GOLDEN_GAMMA));
        // The upper 53 bits as a number in [0, 1), then stretched over [-1, 1).
        T::from_f64((z >> 11) as f64 * (2.0 / (1u64 << 53) as f64) - 1.0)
    };
    (0..len).into_par_iter().map(element).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;

    fn drawn() -> Csr<f64> {
        // | 5 . 1 |
        // | . . . |
        // | . 7 3 |
        Csr::new(3, vec![0, 2, 2, 4], vec![0, 2, 1, 2], vec![5.0, 1.0, 7.0, 3.0]).unwrap()
    }

    #[test]
    fn drawn_matrix_times_drawn_vector() {
        let mut y = [10.0, 20.0, 30.0];
        product(2.0, drawn().view(), &[1.0, 2.0, 3.0], 0.5, &mut y).unwrap();
        assert_eq!(y, [2.0 * 8.0 + 5.0, 10.0, 2.0 * 23.0 + 15.0]);
    }

    #[test]
    fn beta_zero_never_reads_y() {
        let mut y = [f64::NAN; 3];
        product(1.0, drawn().view(), &[1.0, 2.0, 3.0], 0.0, &mut y).unwrap();
        assert_eq!(y, [8.0, 0.0, 23.0]);
    }

    #[test]
    fn alpha_zero_lets_nan_through() {
        let mut y = [0.0; 3];
        product(0.0, drawn().view(), &[f64::NAN, 2.0, 3.0], 0.0, &mut y).unwrap();
        assert!(y[0].is_nan());
        assert_eq!(y[1..], [0.0, 0.0]);
    }

    #[test]
    fn tasks_have_all_rows_once_and_about_equal_work() {
        // Empty rows, short ones, and one of more work than a task's.
        let lengths = (0..100_000).map(|row| match row {
            0..20_000 => 0,
            50_000 => 100_000,
            _ => row % 7,
        });
        let mut offsets = vec![0u32];
        offsets.extend(lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        let mut y: Vec<u32> = (10..100_000).collect();
        let mut next = 10;
        for (first_row, own) in tasks(&offsets[10..], 10, &mut y) {
            assert!(own.iter().enumerate().all(|(at, row)| *row as usize == next + at));
            assert_eq!(first_row, next);
            next += own.len();
            let work = (offsets[next] - offsets[first_row]) as usize + own.len();
            assert!(work <= WORK_PER_TASK || own.len() == 1, "rows from {first_row} on: {work}");
            let has_room = |next_row: usize| {
                let of_next = (offsets[next_row + 1] - offsets[next_row]) as usize + 1;
                work + of_next <= WORK_PER_TASK
            };
            assert!(next == 100_000 || !has_room(next), "rows from {first_row} on: {work}");
        }
        assert_eq!(next, 100_000);
    }

    #[test]
    fn a_row_is_summed_from_any_nonzero_on() {
        let columns: Vec<u32> = (0..13).collect();
        let values: Vec<f64> = (1..=13).map(f64::from).collect();
        let a = Csr::new(13, vec![0u32, 13], columns, values).unwrap();
        for skipped in 0..=14 {
            let rest: f64 = (1..=13).skip(skipped).map(f64::from).sum();
            assert_eq!(part_of_row(a.view(), &[1.0; 13], skipped, 0), rest);
        }
    }

    #[test]
    fn vectors_of_another_length_are_refused() {
        let mut y = [0.0; 3];
        let error = product(1.0, drawn().view(), &[1.0; 2], 0.0, &mut y).unwrap_err();
        assert_eq!(error.to_string(), "x has 2 elements where 3 are needed");
    }

    #[test]
    fn random_vectors_repeat_and_stay_within_one() {
        let vector: Vec<f64> = random_vector(1, 1000);
        assert_eq!(vector, random_vector::<f64>(1, 1000));
        assert_ne!(vector, random_vector::<f64>(2, 1000));
        assert!(vector.iter().all(|element| (-1.0..1.0).contains(element)));
        let mean = vector.iter().sum::<f64>() / 1000.0;
        assert!(mean.abs() < 0.1, "{mean}");
    }
}
