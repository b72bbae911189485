//! Measuring products of a sparse matrix with itself.

use csr_core::verify::SparseOracle;
use csr_core::{Accumulator, Csr, CsrView, Offset};
use sparrow::{
    Accumulate, Matrix, Products, Queue, Rates, SpgemmOptions, SpgemmPlan, Value, Variant,
    VectorOrder,
};

use super::device::shape_of;
use super::{Budget, MeasureError, Origin, Samples, Shape, Subject, add_times, untimed_record};
use crate::Record;
use crate::record::SpgemmRecord;

/// Products up to which every entry is held against the oracle; beyond, C x against A (A x).
const ORACLE_PRODUCTS: u64 = 1 << 24;

/// Measures C = A A: the count, the allocation of C and its values, waited for, every time anew; and the two halves.
/// `None` where A is not square.
///
/// # Errors
/// The device or the library refuses; a wrong result is a record without times.
pub fn measure_spgemm<V: Accumulator, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    origin: &Origin,
    options: &SpgemmOptions,
    budget: &Budget,
    rates: &Rates,
) -> Result<Option<Record>, MeasureError> {
    if matrix.rows() != matrix.cols() {
        return Ok(None);
    }
    let a = Matrix::upload_blocking(queue, matrix.view())?;
    let mut plan = SpgemmPlan::new_blocking(queue, &a, &a, options)?;
    let c = plan.multiply_blocking(queue, &a, &a)?;
    let error = error_in_tolerance(queue, matrix, &c, plan.products())?;
    drop(c);
    let finish = || Ok(queue.finish_blocking()?);
    let whole = Samples::take::<MeasureError>(
        budget,
        || {
            SpgemmPlan::new_blocking(queue, &a, &a, options)?.multiply_blocking(queue, &a, &a)?;
            Ok(())
        },
        finish,
    )?;
    let count = Samples::take::<MeasureError>(
        budget,
        || Ok(SpgemmPlan::new_blocking(queue, &a, &a, options).map(drop)?),
        finish,
    )?;
    let fill = Samples::take::<MeasureError>(
        budget,
        || Ok(plan.multiply_blocking(queue, &a, &a).map(drop)?),
        finish,
    )?;
    let shape = Shape { nnz: plan.nnz(), ..shape_of(matrix) };
    let traits = queue.context().device().traits();
    let mut record = Record {
        op: "spgemm".to_owned(),
        algorithm: "spgemm".to_owned(),
        params: plan.parameters(),
        device: traits.name.clone(),
        platform: traits.platform.clone(),
        driver: traits.driver.clone(),
        stream_gbytes_per_s: Some(rates.read / 1e9),
        copy_gbytes_per_s: Some(rates.copy / 1e9),
        plan_bytes: plan.plan_bytes() as u64,
        repeatable: true,
        verified: error <= 1.0,
        error_in_tolerance: Some(error).filter(|error| error.is_finite()),
        spgemm: Some(SpgemmRecord {
            products: plan.products(),
            operand_nnz: matrix.nnz() as u64,
            count_us: None,
            fill_us: None,
        }),
        ..untimed_record::<V>(origin, &shape, &plain_subject(budget))
    };
    if record.verified {
        let bytes = matrix.size_bytes() + shape.nnz * (4 + V::TYPE.size_bytes());
        let bytes = (bytes + (shape.rows + 1) * O::TYPE.size_bytes()) as f64;
        add_times(&mut record, &shape, bytes, &whole, rates, 0.0);
        record.gflops = Some(2.0 * plan.products() as f64 / whole.median_us() / 1e3);
        if let Some(spgemm) = &mut record.spgemm {
            spgemm.count_us = Some(count.median_us());
            spgemm.fill_us = Some(fill.median_us());
        }
    }
    Ok(Some(record))
}

/// How far C is off at most, as a multiple of what it may be; infinite where its pattern is wrong.
fn error_in_tolerance<V: Accumulator, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    c: &Matrix<V, O>,
    products: u64,
) -> Result<f64, MeasureError> {
    let offsets = c.offsets().read_blocking(queue)?;
    let columns = c.columns().read_blocking(queue)?;
    let values = c.values().read_blocking(queue)?;
    let Ok(c) = Csr::new(c.cols(), offsets, columns, values) else { return Ok(f64::INFINITY) };
    if products <= ORACLE_PRODUCTS {
        let oracle = SparseOracle::new(matrix.view(), matrix.view())?;
        let found = oracle.verify(c.view());
        return Ok(found.map_or(f64::INFINITY, |found| found.error_in_tolerance));
    }
    Ok(error_of_image(matrix.view(), c.view()))
}

/// The error of C x beside A (A x) in f64, row by row, as a multiple of what the errors of C's entries and of these
/// sums may add up to; infinite where columns do not ascend.
fn error_of_image<V: Accumulator, O: Offset>(a: CsrView<'_, V, O>, c: CsrView<'_, V, O>) -> f64 {
    let x: Vec<f64> = csr_core::random_vector(1, a.cols());
    let image = |matrix: CsrView<'_, V, O>, x: &[f64], of: fn(f64) -> f64| -> Vec<f64> {
        let row = |row| {
            let (columns, values) = matrix.row(row);
            let terms = columns.iter().zip(values);
            terms.map(|(&column, value)| of(Value::to_f64(*value)) * x[column as usize]).sum()
        };
        (0..matrix.rows()).map(row).collect()
    };
    let same = |value: f64| value;
    let right = image(a, &image(a, &x, same), same);
    let found = image(c, &x, same);
    let magnitudes = x.iter().map(|x| x.abs()).collect::<Vec<_>>();
    let magnitudes = image(a, &image(a, &magnitudes, f64::abs), f64::abs);
    let longest = (0..a.rows()).map(|row| a.row(row).0.len()).max().unwrap_or(0);
    let error = |row: usize| {
        let (of_a, of_c) = (a.row(row).0.len(), c.row(row).0);
        if !of_c.is_sorted_by(|before, after| before < after) {
            return f64::INFINITY;
        }
        let rounding = 2.0 * (of_a + 2) as f64 * V::EPSILON
            + 2.0 * (of_c.len() + of_a + longest + 4) as f64 * f64::EPSILON;
        let tolerance = rounding * magnitudes[row] + (of_c.len() + 2) as f64 * V::SMALLEST_NORMAL;
        let error = (found[row] - right[row]).abs() / tolerance;
        // The suite's matrices hold numbers alone.
        if error.is_nan() { f64::INFINITY } else { error }
    };
    (0..a.rows()).map(error).fold(0.0, f64::max)
}

/// What the fields that every record has are taken from.
fn plain_subject(budget: &Budget) -> Subject {
    Subject {
        algorithm: None,
        variant: Variant::default(),
        accumulate: Accumulate::Plain,
        parameters: Vec::new(),
        order: VectorOrder::default(),
        products: Products::default(),
        is_cold: false,
        budget: *budget,
    }
}

#[cfg(test)]
mod tests {
    use csr_core::Csr;

    use super::error_of_image;

    #[test]
    fn a_wrong_entry_of_a_large_product_is_found() {
        let a = Csr::<f64>::new(2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 3.0]).unwrap();
        let square = |value| Csr::new(2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 8.0, value]);
        assert!(error_of_image(a.view(), square(9.0).unwrap().view()) <= 1.0);
        assert!(error_of_image(a.view(), square(9.000001).unwrap().view()) > 1.0);
        assert!(error_of_image(a.view(), square(f64::NAN).unwrap().view()) > 1.0);
    }
}
