//! Measuring products of a sparse matrix with itself.

use csr_core::verify::{SparseOracle, Verification};
use csr_core::{Accumulator as _, AnyCsrView, Csr, CsrView, Offset, RealValue, for_csr};
use sparrow::{AnyMatrix, AnySpgemmPlan, Queue, Rates, SpgemmOptions};

use super::operands::shape_of;
use super::{Budget, MeasureError, Origin, Samples, Shape, add_times, untimed_record};
use crate::Record;
use crate::record::{Details, SpgemmRecord};

/// Products up to which every entry is held against the oracle; beyond, C x against A (A x).
const ORACLE_PRODUCTS: u64 = 1 << 24;

/// Measures C = A A: the count, the allocation of C and its values, waited for, every time anew; and the two halves.
/// `None` where A is not square.
///
/// # Errors
/// The device or the library refuses; a wrong result is a record without times.
pub fn measure_spgemm(
    queue: &Queue,
    matrix: AnyCsrView<'_>,
    origin: &Origin,
    options: &SpgemmOptions,
    budget: &Budget,
    rates: &Rates,
) -> Result<Option<Record>, MeasureError> {
    let of_a = shape_of(matrix);
    if of_a.rows != of_a.cols {
        return Ok(None);
    }
    let a = AnyMatrix::upload_blocking(queue, matrix)?;
    let mut plan = AnySpgemmPlan::new_blocking(queue, &a, &a, options)?;
    let c = plan.multiply_blocking(queue, &a, &a)?;
    let products = plan.products();
    let found = for_csr!(matrix, a => judge(queue, a, &c, products))?;
    drop(c);
    let finish = || Ok(queue.finish_blocking()?);
    let whole = Samples::take::<MeasureError>(
        budget,
        || {
            AnySpgemmPlan::new_blocking(queue, &a, &a, options)?
                .multiply_blocking(queue, &a, &a)?;
            Ok(())
        },
        finish,
    )?;
    let count = Samples::take::<MeasureError>(
        budget,
        || Ok(AnySpgemmPlan::new_blocking(queue, &a, &a, options).map(drop)?),
        finish,
    )?;
    let fill = Samples::take::<MeasureError>(
        budget,
        || Ok(plan.multiply_blocking(queue, &a, &a).map(drop)?),
        finish,
    )?;
    let shape = Shape { nnz: plan.nnz(), ..of_a };
    let traits = queue.context().device().traits();
    let verified = found.passed();
    let details = Details::Spgemm(SpgemmRecord {
        products,
        operand_nnz: of_a.nnz as u64,
        count_us: verified.then(|| count.median_us()),
        fill_us: verified.then(|| fill.median_us()),
    });
    let mut record = Record {
        algorithm: "spgemm".to_owned(),
        params: plan.parameters(),
        device: traits.name.clone(),
        platform: traits.platform.clone(),
        driver: traits.driver.clone(),
        stream_gbytes_per_s: Some(rates.read / 1e9),
        copy_gbytes_per_s: Some(rates.copy / 1e9),
        plan_bytes: plan.plan_bytes() as u64,
        repeatable: true,
        verified,
        error_in_tolerance: Some(found.error_in_tolerance).filter(|error| error.is_finite()),
        non_finite: found.non_finite as u64,
        ..untimed_record(origin, &shape, details)
    };
    if verified {
        let bytes = matrix.size_bytes() + shape.nnz * (4 + shape.value_type.size_bytes());
        let bytes = (bytes + (shape.rows + 1) * shape.offset_type.size_bytes()) as f64;
        add_times(&mut record, &shape, bytes, &whole, rates, 0.0);
        record.gflops = Some(2.0 * products as f64 / whole.median_us() / 1e3);
    }
    Ok(Some(record))
}

/// Something is wrong that is no matter of rounding.
const WRONG: Verification =
    Verification { error_in_tolerance: f64::INFINITY, worst_row: 0, non_finite: 0 };

/// How far C is off at most, as a multiple of what it may be; infinite where its pattern is wrong.
fn judge<V: RealValue, O: Offset>(
    queue: &Queue,
    a: CsrView<'_, V, O>,
    c: &AnyMatrix,
    products: u64,
) -> Result<Verification, MeasureError> {
    let offsets: Vec<O> = c.offsets().typed()?.read_blocking(queue)?;
    let columns = c.columns().typed()?.read_blocking(queue)?;
    let values: Vec<V> = c.values().typed()?.read_blocking(queue)?;
    let values: Vec<V::Accum> = values.into_iter().map(V::to_accum).collect();
    let Ok(c) = Csr::new(c.cols(), offsets, columns, values) else { return Ok(WRONG) };
    if products <= ORACLE_PRODUCTS {
        let oracle = SparseOracle::new(a, a)?;
        return Ok(oracle.verify(c.view()).unwrap_or(WRONG));
    }
    Ok(judge_image(a, c.view()))
}

/// The error of C x compared with A (A x) in f64, row by row, as a multiple of what the errors of C's entries and of
/// these sums may add up to; infinite where columns do not ascend. A row with NaN or infinity must be so on both sides.
fn judge_image<V: RealValue, O: Offset>(
    a: CsrView<'_, V, O>,
    c: CsrView<'_, V::Accum, O>,
) -> Verification {
    let x: Vec<f64> = csr_core::random_vector(1, a.cols());
    let same = |value: f64| value;
    let right = image(a, &image(a, &x, same), same);
    let found = image(c, &x, same);
    let magnitudes = x.iter().map(|x| x.abs()).collect::<Vec<_>>();
    let magnitudes = image(a, &image(a, &magnitudes, f64::abs), f64::abs);
    let longest = (0..a.rows()).map(|row| a.row(row).0.len()).max().unwrap_or(0);
    let of_row = |row: usize| {
        let (of_a, of_c) = (a.row(row).0.len(), c.row(row).0);
        if !of_c.is_sorted_by(|before, after| before < after) {
            return Verification { worst_row: row, ..WRONG };
        }
        if !(right[row].is_finite() && magnitudes[row].is_finite()) {
            // Which of them a sum becomes depends on its order.
            let error_in_tolerance = if found[row].is_finite() { f64::INFINITY } else { 0.0 };
            return Verification { error_in_tolerance, worst_row: row, non_finite: 1 };
        }
        let rounding = 2.0 * (of_a + 2) as f64 * V::Accum::EPSILON
            + 2.0 * (of_c.len() + of_a + longest + 4) as f64 * f64::EPSILON;
        let tolerance =
            rounding * magnitudes[row] + (of_c.len() + 2) as f64 * V::Accum::SMALLEST_NORMAL;
        let error = (found[row] - right[row]).abs() / tolerance;
        let error_in_tolerance = if error.is_nan() { f64::INFINITY } else { error };
        Verification { error_in_tolerance, worst_row: row, non_finite: 0 }
    };
    (0..a.rows()).map(of_row).fold(Verification::default(), Verification::and)
}

/// The matrix of each value's `of`, times x, in f64.
fn image<V: RealValue, O: Offset>(
    matrix: CsrView<'_, V, O>,
    x: &[f64],
    of: fn(f64) -> f64,
) -> Vec<f64> {
    let row = |row| {
        let (columns, values) = matrix.row(row);
        let terms = columns.iter().zip(values);
        terms.map(|(&column, value)| of(value.to_f64()) * x[column as usize]).sum()
    };
    (0..matrix.rows()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use csr_core::Csr;

    use super::judge_image;

    #[test]
    fn a_wrong_entry_of_a_large_product_is_found() {
        let a = Csr::<f64>::new(2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 3.0]).unwrap();
        let square = |value| Csr::new(2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 8.0, value]);
        let passed = |value| judge_image(a.view(), square(value).unwrap().view()).passed();
        assert!(passed(9.0));
        assert!(!passed(9.000001));
        assert!(!passed(f64::NAN));
    }

    #[test]
    fn a_large_product_with_infinity_is_right_where_both_sides_have_it_and_says_so() {
        let inf = f64::INFINITY;
        let a = Csr::<f64>::new(2, vec![0, 1, 2], vec![0, 1], vec![2.0, inf]).unwrap();
        let judge = |values: [f64; 2]| {
            let c = Csr::<f64>::new(2, vec![0, 1, 2], vec![0, 1], values.to_vec()).unwrap();
            let found = judge_image(a.view(), c.view());
            (found.passed(), found.non_finite)
        };
        assert_eq!(judge([4.0, inf]), (true, 1));
        assert_eq!(judge([4.0, 9.0]), (false, 1));
        assert_eq!(judge([5.0, inf]), (false, 1));
    }
}
