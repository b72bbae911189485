//! Measuring conversions: every array that comes out is compared with the host's, bit for bit.

use std::time::Instant;

use csr_core::{Coo, Csr, CsrView, DenseShape, Layout, Offset, Value};
use sparrow::{
    CooToCsr, DenseToCsr, DeviceArray, Duplicates, Matrix, Queue, Rates, TransposedMatrix,
};

use super::device::shape_of;
use super::{Budget, MeasureError, Origin, Samples, Shape, add_times, untimed_record};
use crate::Record;
use crate::record::ConvertRecord;

/// Bytes of the largest dense matrix that is made.
const DENSE_BYTES: u64 = 1 << 30;

/// What one conversion came to.
struct Outcome {
    name: &'static str,
    samples: Samples,
    /// Bytes that must be read and written once.
    bytes: usize,
    /// Bytes kept on the device beyond what was asked for.
    kept_bytes: usize,
    is_right: bool,
    /// The host's own conversion.
    host_us: Option<f64>,
}

/// Measures each conversion: `entries` to compressed rows (duplicates summed, arrays allocated), their rows
/// to entries and to compressed columns, and where a GiB holds it, to a dense matrix and back.
///
/// # Errors
/// The device or the library refuses; a wrong result is a record without times.
pub fn measure_conversions<V: Value, O: Offset>(
    queue: &Queue,
    entries: Coo<V>,
    origin: &Origin,
    budget: Budget,
    rates: &Rates,
) -> Result<Vec<Record>, MeasureError> {
    let count = entries.nnz() as u64;
    let on_device = EntriesOnDevice::upload_blocking(queue, &entries)?;
    let start = Instant::now();
    let host = Csr::<V, O>::from_coo(entries)?;
    let host_us = micros(start);
    let mut outcomes = vec![on_device.to_csr(queue, host.view(), budget, host_us)?];
    drop(on_device);

    let matrix = Matrix::upload_blocking(queue, host.view())?;
    outcomes.push(to_coo(queue, &matrix, &host, budget)?);
    outcomes.push(to_csc(queue, &matrix, &host, budget)?);
    let elements = host.rows().saturating_mul(host.cols());
    if elements.saturating_mul(size_of::<V>()) as u64 <= DENSE_BYTES && elements > 0 {
        outcomes.extend(dense(queue, &matrix, host.view(), budget)?);
    }
    let shape = shape_of(&host);
    let record = |outcome| record_of::<V>(queue, origin, (&shape, count), outcome, rates, budget);
    Ok(outcomes.into_iter().map(record).collect())
}

fn micros(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

/// Times `convert`, which may wait or not; all of it has ended when a sample has.
fn time(
    queue: &Queue,
    budget: Budget,
    convert: impl FnMut() -> Result<(), MeasureError>,
) -> Result<Samples, MeasureError> {
    Samples::take::<MeasureError>(&budget, convert, || Ok(queue.finish_blocking()?))
}

/// Unordered entries.
struct EntriesOnDevice<V> {
    shape: (usize, usize),
    row_indices: DeviceArray<u32>,
    column_indices: DeviceArray<u32>,
    values: DeviceArray<V>,
}

impl<V: Value> EntriesOnDevice<V> {
    fn upload_blocking(queue: &Queue, entries: &Coo<V>) -> Result<Self, MeasureError> {
        Ok(EntriesOnDevice {
            shape: (entries.rows(), entries.cols()),
            row_indices: DeviceArray::upload_blocking(queue, entries.row_indices())?,
            column_indices: DeviceArray::upload_blocking(queue, entries.column_indices())?,
            values: DeviceArray::upload_blocking(queue, entries.values())?,
        })
    }

    fn to_csr<O: Offset>(
        &self,
        queue: &Queue,
        expected: CsrView<'_, V, O>,
        budget: Budget,
        host_us: f64,
    ) -> Result<Outcome, MeasureError> {
        let (rows, columns) = (&self.row_indices, &self.column_indices);
        let order = || CooToCsr::new_blocking(queue, self.shape, rows, columns, Duplicates::Sum);
        let samples = time(queue, budget, || {
            order()?.matrix_blocking::<V, O>(queue, &self.values)?;
            Ok(())
        })?;
        let order = order()?;
        let found = order.matrix_blocking::<V, O>(queue, &self.values)?;
        let of_entries = rows.size_bytes() + columns.size_bytes() + self.values.size_bytes();
        Ok(Outcome {
            name: "coo_to_csr",
            samples,
            bytes: of_entries + expected.size_bytes(),
            kept_bytes: order.size_bytes(),
            is_right: is_same(queue, &found, expected)?,
            host_us: Some(host_us),
        })
    }
}

fn to_coo<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    host: &Csr<V, O>,
    budget: Budget,
) -> Result<Outcome, MeasureError> {
    let mut row_indices = DeviceArray::upload_blocking(queue, &vec![u32::MAX; matrix.nnz()])?;
    let samples = time(queue, budget, || {
        matrix.write_row_indices(queue, &mut row_indices)?;
        Ok(())
    })?;
    let start = Instant::now();
    let expected = host.to_coo();
    let host_us = Some(micros(start));
    Ok(Outcome {
        name: "csr_to_coo",
        samples,
        bytes: matrix.offsets().size_bytes() + row_indices.size_bytes(),
        kept_bytes: 0,
        is_right: row_indices.read_blocking(queue)? == expected.row_indices(),
        host_us,
    })
}

fn to_csc<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    host: &Csr<V, O>,
    budget: Budget,
) -> Result<Outcome, MeasureError> {
    let samples = time(queue, budget, || {
        TransposedMatrix::on_device_blocking(queue, matrix)?;
        Ok(())
    })?;
    let start = Instant::now();
    let expected = host.view().transpose();
    let host_us = Some(micros(start));
    let found = TransposedMatrix::on_device_blocking(queue, matrix)?;
    Ok(Outcome {
        name: "csr_to_csc",
        samples,
        bytes: matrix.size_bytes() + expected.size_bytes(),
        kept_bytes: found.sources().size_bytes(),
        is_right: is_same(queue, found.matrix(), expected.view())?,
        host_us,
    })
}

fn dense<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    host: CsrView<'_, V, O>,
    budget: Budget,
) -> Result<[Outcome; 2], MeasureError> {
    let shape = DenseShape::packed(host.rows(), host.cols(), Layout::RowMajor)?;
    let poison = vec![V::from_f64(f64::NAN); shape.span()];
    let mut dense = DeviceArray::upload_blocking(queue, &poison)?;
    let samples = time(queue, budget, || {
        matrix.write_dense(queue, shape, &mut dense)?;
        Ok(())
    })?;
    let mut expected = vec![V::from_f64(0.0); shape.span()];
    for row in 0..host.rows() {
        let (columns, values) = host.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            expected[shape.at(row, column as usize)] = value;
        }
    }
    let bytes = dense.size_bytes() + matrix.size_bytes();
    let to_dense = Outcome {
        name: "csr_to_dense",
        samples,
        bytes,
        kept_bytes: 0,
        is_right: dense.read_blocking(queue)? == expected,
        host_us: None,
    };
    let tolerance = V::Accum::from_f64(0.0);
    let count = || DenseToCsr::<V, O>::new_blocking(queue, shape, &dense, tolerance);
    let samples = time(queue, budget, || {
        count()?.matrix_blocking(queue, &dense)?;
        Ok(())
    })?;
    let counted = count()?;
    let found = counted.matrix_blocking(queue, &dense)?;
    // Stored zeros do not come back.
    let zero = V::from_f64(0.0);
    let has_zeros = host.values().contains(&zero);
    let is_right = if has_zeros {
        found.nnz() == host.values().iter().filter(|value| **value != zero).count()
    } else {
        is_same(queue, &found, host)?
    };
    let to_csr = Outcome {
        name: "dense_to_csr",
        samples,
        bytes,
        kept_bytes: counted.size_bytes(),
        is_right,
        host_us: None,
    };
    Ok([to_dense, to_csr])
}

fn is_same<V: Value, O: Offset>(
    queue: &Queue,
    found: &Matrix<V, O>,
    expected: CsrView<'_, V, O>,
) -> Result<bool, MeasureError> {
    Ok(found.offsets().read_blocking(queue)? == expected.pattern().offsets()
        && found.columns().read_blocking(queue)? == expected.pattern().columns()
        && found.values().read_blocking(queue)? == expected.values())
}

fn record_of<V: Value>(
    queue: &Queue,
    origin: &Origin,
    (shape, entries): (&Shape, u64),
    outcome: Outcome,
    rates: &Rates,
    budget: Budget,
) -> Record {
    let traits = queue.context().device().traits();
    let subject = super::Subject {
        algorithm: None,
        variant: sparrow::Variant::Full,
        accumulate: sparrow::Accumulate::Plain,
        parameters: Vec::new(),
        order: sparrow::VectorOrder::Original,
        products: sparrow::Products::Many,
        is_cold: false,
        budget,
    };
    let mut record = Record {
        op: "convert".to_owned(),
        algorithm: outcome.name.to_owned(),
        device: traits.name.clone(),
        platform: traits.platform.clone(),
        driver: traits.driver.clone(),
        stream_gbytes_per_s: Some(rates.read / 1e9),
        copy_gbytes_per_s: Some(rates.copy / 1e9),
        plan_bytes: outcome.kept_bytes as u64,
        repeatable: true,
        verified: outcome.is_right,
        error_in_tolerance: outcome.is_right.then_some(0.0),
        convert: Some(ConvertRecord { entries, host_us: outcome.host_us }),
        ..untimed_record::<V>(origin, shape, &subject)
    };
    if record.verified {
        add_times(&mut record, shape, outcome.bytes as f64, &outcome.samples, rates, 0.0);
        // Nothing is multiplied, and nothing prepared.
        record.gflops = None;
        record.setup_us = None;
        record.setup_in_products = None;
    }
    record
}
