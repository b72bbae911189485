//! Measuring conversions: every array that comes out is compared with the host's, bit for bit; NaN matches NaN.

use std::time::Instant;

use bytemuck::Pod;
use csr_core::{
    AnyCsrView, AnyValues, Coo, Csr, CsrView, DenseShape, Layout, RealValue, counted, for_offsets,
    for_values,
};
use sparrow::{
    AnyArray, AnyCooToCsr, AnyDenseToCsr, AnyMatrix, AnyTransposedMatrix, DeviceArray, Duplicates,
    Queue, Rates,
};

use super::operands::shape_of;
use super::{Budget, MeasureError, Origin, Samples, Shape, add_times, untimed_record};
use crate::Record;
use crate::record::{ConvertRecord, Details};

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
/// to entries and to compressed columns, and where a GiB holds it, to a dense matrix and back. Also returns what was
/// left out, and why.
///
/// # Errors
/// The device or the library refuses; a wrong result is a record without times.
pub fn measure_conversions<V: RealValue>(
    queue: &Queue,
    entries: Coo<V>,
    origin: &Origin,
    budget: Budget,
    rates: &Rates,
) -> Result<(Vec<Record>, Option<String>), MeasureError> {
    let count = entries.nnz() as u64;
    let on_device = EntriesOnDevice::upload_blocking(queue, &entries)?;
    let start = Instant::now();
    // The device sorts at most 2^32 - 1 entries, which 32-bit offsets count.
    let host = Csr::<V, u32>::from_coo(entries)?;
    let host_us = micros(start);
    let view = AnyCsrView::from(host.view());
    let mut outcomes = vec![on_device.to_csr(queue, view, budget, host_us)?];
    drop(on_device);

    let matrix = AnyMatrix::upload_blocking(queue, view)?;
    outcomes.push(to_coo(queue, &matrix, budget, || host.to_coo().into_arrays().0)?);
    outcomes.push(to_csc(queue, &matrix, budget, || host.view().transpose())?);
    let elements = host.rows().saturating_mul(host.cols());
    let dense_bytes = elements.saturating_mul(size_of::<V>()) as u64;
    let (rows, cols) = (host.rows(), host.cols());
    let left_out = match dense_bytes {
        0 => Some(format!("conversion to a dense matrix: {rows} x {cols} has no elements")),
        1..=DENSE_BYTES => None,
        _ => Some(format!(
            "conversion to a dense matrix: {rows} x {cols} takes {}, and {DENSE_BYTES} are the limit",
            counted(dense_bytes, "byte")
        )),
    };
    if left_out.is_none() {
        let shape = DenseShape::packed(host.rows(), host.cols(), Layout::RowMajor)?;
        let poison = vec![V::from_f64(f64::NAN); shape.span()];
        let target = DeviceArray::upload_blocking(queue, &poison)?.into_any();
        let (zero, elements) = (V::from_f64(0.0), written_out(host.view(), shape));
        let host_dense = HostDense {
            shape,
            elements: elements.as_slice().into(),
            nonzeros: host.values().iter().filter(|value| **value != zero).count(),
        };
        outcomes.extend(dense(queue, (&matrix, view), target, &host_dense, budget)?);
    }
    let shape = shape_of(view);
    let non_finite = host.values().iter().filter(|value| !value.norm().is_finite()).count() as u64;
    let record = |outcome| Record {
        non_finite,
        ..record_of(queue, origin, (&shape, count), outcome, rates)
    };
    Ok((outcomes.into_iter().map(record).collect(), left_out))
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
struct EntriesOnDevice {
    shape: (usize, usize),
    row_indices: DeviceArray<u32>,
    column_indices: DeviceArray<u32>,
    values: AnyArray,
}

impl EntriesOnDevice {
    fn upload_blocking<V: RealValue>(
        queue: &Queue,
        entries: &Coo<V>,
    ) -> Result<Self, MeasureError> {
        Ok(EntriesOnDevice {
            shape: (entries.rows(), entries.cols()),
            row_indices: DeviceArray::upload_blocking(queue, entries.row_indices())?,
            column_indices: DeviceArray::upload_blocking(queue, entries.column_indices())?,
            values: DeviceArray::upload_blocking(queue, entries.values())?.into_any(),
        })
    }

    fn to_csr(
        &self,
        queue: &Queue,
        expected: AnyCsrView<'_>,
        budget: Budget,
        host_us: f64,
    ) -> Result<Outcome, MeasureError> {
        let (rows, columns) = (&self.row_indices, &self.column_indices);
        let order = || AnyCooToCsr::new_blocking(queue, self.shape, rows, columns, Duplicates::Sum);
        let offset_type = expected.offset_type();
        let samples = time(queue, budget, || {
            order()?.matrix_blocking(queue, offset_type, &self.values)?;
            Ok(())
        })?;
        let order = order()?;
        let found = order.matrix_blocking(queue, offset_type, &self.values)?;
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

/// Compared with the host's way to the row of each nonzero.
fn to_coo(
    queue: &Queue,
    matrix: &AnyMatrix,
    budget: Budget,
    on_host: impl FnOnce() -> Vec<u32>,
) -> Result<Outcome, MeasureError> {
    let mut row_indices = DeviceArray::upload_blocking(queue, &vec![u32::MAX; matrix.nnz()])?;
    let samples = time(queue, budget, || {
        matrix.write_row_indices(queue, &mut row_indices)?;
        Ok(())
    })?;
    let start = Instant::now();
    let expected = on_host();
    let host_us = Some(micros(start));
    Ok(Outcome {
        name: "csr_to_coo",
        samples,
        bytes: matrix.offsets().size_bytes() + row_indices.size_bytes(),
        kept_bytes: 0,
        is_right: row_indices.read_blocking(queue)? == expected,
        host_us,
    })
}

/// Compared with the host's way to the transposed matrix.
fn to_csc<V: RealValue>(
    queue: &Queue,
    matrix: &AnyMatrix,
    budget: Budget,
    on_host: impl FnOnce() -> Csr<V, u32>,
) -> Result<Outcome, MeasureError> {
    let samples = time(queue, budget, || {
        AnyTransposedMatrix::on_device_blocking(queue, matrix)?;
        Ok(())
    })?;
    let start = Instant::now();
    let expected = on_host();
    let host_us = Some(micros(start));
    let found = AnyTransposedMatrix::on_device_blocking(queue, matrix)?;
    Ok(Outcome {
        name: "csr_to_csc",
        samples,
        bytes: matrix.size_bytes() + expected.size_bytes(),
        kept_bytes: found.sources().size_bytes(),
        is_right: is_same(queue, found.matrix(), expected.view().into())?,
        host_us,
    })
}

/// A matrix with its zeros, as the host has written it out.
struct HostDense<'a> {
    shape: DenseShape,
    elements: AnyValues<'a>,
    /// Stored values that are not 0.
    nonzeros: usize,
}

/// All elements of a matrix.
fn written_out<V: RealValue>(matrix: CsrView<'_, V, u32>, shape: DenseShape) -> Vec<V> {
    let mut elements = vec![V::from_f64(0.0); shape.span()];
    for row in 0..matrix.rows() {
        let (columns, values) = matrix.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            elements[shape.at(row, column as usize)] = value;
        }
    }
    elements
}

/// To a dense matrix in `target`, which holds NaN, and back.
fn dense(
    queue: &Queue,
    (matrix, host): (&AnyMatrix, AnyCsrView<'_>),
    mut target: AnyArray,
    expected: &HostDense<'_>,
    budget: Budget,
) -> Result<[Outcome; 2], MeasureError> {
    let shape = expected.shape;
    let samples = time(queue, budget, || {
        matrix.write_dense(queue, shape, &mut target)?;
        Ok(())
    })?;
    let bytes = target.size_bytes() + matrix.size_bytes();
    let to_dense = Outcome {
        name: "csr_to_dense",
        samples,
        bytes,
        kept_bytes: 0,
        is_right: holds_values(queue, &target, expected.elements)?,
        host_us: None,
    };
    let offset_type = host.offset_type();
    let count = || AnyDenseToCsr::new_blocking(queue, (shape, &target), offset_type, 0.0);
    let samples = time(queue, budget, || {
        count()?.matrix_blocking(queue, &target)?;
        Ok(())
    })?;
    let counted = count()?;
    let found = counted.matrix_blocking(queue, &target)?;
    // Stored zeros do not come back.
    let is_right = if expected.nonzeros < matrix.nnz() {
        found.nnz() == expected.nonzeros
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

/// Whether a matrix of the device is that of the host.
fn is_same(
    queue: &Queue,
    found: &AnyMatrix,
    expected: AnyCsrView<'_>,
) -> Result<bool, MeasureError> {
    let pattern = expected.pattern();
    Ok(for_offsets!(pattern.offsets(), offsets => holds(queue, found.offsets(), offsets))?
        && holds(queue, found.columns(), pattern.columns())?
        && holds_values(queue, found.values(), expected.values())?)
}

/// Whether an array of the device holds these values.
fn holds_values(
    queue: &Queue,
    array: &AnyArray,
    expected: AnyValues<'_>,
) -> Result<bool, MeasureError> {
    for_values!(expected, values => holds(queue, array, values))
}

/// Whether an array of the device holds these elements.
fn holds<T: Pod + PartialEq>(
    queue: &Queue,
    array: &AnyArray,
    expected: &[T],
) -> Result<bool, MeasureError> {
    let found = array.typed::<T>()?.read_blocking(queue)?;
    // Only NaN differs from itself.
    #[expect(clippy::eq_op, reason = "that is the question")]
    let is_same = |(a, b): (&T, &T)| a == b || (a != a && b != b);
    Ok(found.len() == expected.len() && found.iter().zip(expected).all(is_same))
}

fn record_of(
    queue: &Queue,
    origin: &Origin,
    (shape, entries): (&Shape, u64),
    outcome: Outcome,
    rates: &Rates,
) -> Record {
    let traits = queue.context().device().traits();
    let details = Details::Convert(ConvertRecord { entries, host_us: outcome.host_us });
    let mut record = Record {
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
        ..untimed_record(origin, shape, details)
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
