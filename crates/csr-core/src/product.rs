//! The product on the host: y = alpha A x + beta y, parallel over rows.

use crate::check::check_length;
use crate::generate::random::{GOLDEN_GAMMA, mix};
use crate::parallel;
use crate::{Accumulator, AnyPatternView, CsrView, Offset, Result, Value, for_pattern};

/// Rows of one task. Fixed, so that results never depend on the number of cores.
const ROWS_PER_TASK: usize = 1024;

/// Computes y = alpha A x + beta y in the accumulator type, each row summed in the order it is stored.
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
    V::multiply_rows(Rows {
        alpha,
        beta,
        pattern: a.pattern().into(),
        values: a.values(),
        x,
        first_row,
        y,
    });
    Ok(())
}

/// Rows of a checked matrix from `first_row` on, x, and what their part of y becomes: alpha A x + beta y.
pub struct Rows<'a, V: Value> {
    alpha: V::Accum,
    beta: V::Accum,
    pattern: AnyPatternView<'a>,
    values: &'a [V],
    x: &'a [V::Accum],
    first_row: usize,
    y: &'a mut [V::Accum],
}

pub(crate) fn multiply_rows<V: Value>(rows: Rows<'_, V>) {
    let Rows { alpha, beta, pattern, values, x, first_row, y } = rows;
    let zero = <V::Accum as num_traits::Zero>::zero();
    for_pattern!(pattern, pattern => {
        let a = CsrView::of_checked(pattern, values);
        parallel::for_each_chunk(y, ROWS_PER_TASK, |first, y| {
            for (row, y) in y.iter_mut().enumerate() {
                let sum = part_of_row(a, x, 0, first_row + first + row);
                *y = if beta == zero { alpha * sum } else { alpha * sum + beta * *y };
            }
        });
    });
}

/// The sum of one row's products from its nonzero `skipped` on, in the order they are stored; x is `cols`
/// long.
#[inline]
pub fn part_of_row<V: Value, O: Offset>(
    a: CsrView<'_, V, O>,
    x: &[V::Accum],
    skipped: usize,
    row: usize,
) -> V::Accum {
    let (columns, values) = a.row(row);
    let mut sum = <V::Accum as num_traits::Zero>::zero();
    for (&column, &value) in columns.iter().zip(values).skip(skipped) {
        sum += value.to_accum() * x[column as usize];
    }
    sum
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
    parallel::collect(T::zeroed(), len, element)
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
