//! Measuring products with a dense matrix.

use std::time::Instant;

use csr_core::verify::{Oracle, Summation};
use csr_core::{Csr, DenseShape, Layout, Offset, Value};
use sparrow::{
    Accumulate, DenseMatrix, DenseProduct, DeviceArray, Matrix, Queue, Rates, SpmmAlgorithm,
    SpmmOptions, SpmmPlan, Variant, Workspace,
};

use super::device::shape_of;
use super::{
    Budget, MeasureError, Origin, Samples, Shape, Subject, add_times, bytes_once, untimed_record,
};
use crate::Record;
use crate::record::SpmmRecord;

/// What is measured besides the matrix.
#[derive(Clone, Debug)]
pub struct SpmmSubject {
    /// What runs, one after the other on the same B; `None` chooses for matrix and device.
    pub algorithms: Vec<Option<SpmmAlgorithm>>,
    /// Columns of B and C.
    pub columns: usize,
    /// How B lies.
    pub layout_b: Layout,
    /// How C lies.
    pub layout_c: Layout,
    /// Hyper-parameters over the device table's.
    pub parameters: Vec<(String, u32)>,
    /// Whether to measure the dense product beside them, with A's zeros written out; B and C are row-major then.
    pub beside_dense: bool,
    /// How long to measure each.
    pub budget: Budget,
}

/// The name of the dense product in records.
const DENSE_PRODUCT: &str = "dense_product";

/// One algorithm's record without times, its times, and the C it left.
struct Timed<V: Value> {
    record: Record,
    samples: Samples,
    setup_us: f64,
    c: Vec<V::Accum>,
}

/// Measures each algorithm on `matrix`, C = A B with a random B; every element of every C is verified.
///
/// # Errors
/// The device or the library refuses; a wrong result is a record without times.
pub fn measure_spmm<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    origin: &Origin,
    subject: &SpmmSubject,
    rates: &Rates,
) -> Result<Vec<Record>, MeasureError> {
    let b_shape = DenseShape::packed(matrix.cols(), subject.columns, subject.layout_b)?;
    let c_shape = DenseShape::packed(matrix.rows(), subject.columns, subject.layout_c)?;
    let b: Vec<V::Accum> = csr_core::random_vector(origin.making.seed, b_shape.span());
    let on_device = Matrix::upload_blocking(queue, matrix.view())?;
    let b_on_device = DeviceArray::upload_blocking(queue, &b)?;
    let mut timed = Vec::new();
    for algorithm in &subject.algorithms {
        let shapes = (b_shape, c_shape);
        timed.push(time(
            queue,
            matrix,
            &on_device,
            origin,
            subject,
            *algorithm,
            shapes,
            &b_on_device,
            rates,
        )?);
    }
    if subject.beside_dense {
        timed.push(time_dense(queue, matrix, &on_device, origin, subject, &b_on_device, rates)?);
    }

    let (one, zero) = (V::Accum::from_f64(1.0), V::Accum::from_f64(0.0));
    let before = vec![zero; matrix.rows()];
    let mut errors = vec![0.0f64; timed.len()];
    for column in 0..subject.columns {
        let oracle = Oracle::new(one, matrix.view(), &b_shape.column(&b, column)?, zero, &before)?;
        for (timed, error) in timed.iter().zip(&mut errors) {
            let found = oracle.verify(&c_shape.column(&timed.c, column)?, Summation::Plain)?;
            *error = error.max(found.error_in_tolerance);
        }
    }
    let shape = shape_of(matrix);
    let bytes = spmm_bytes(&shape, subject.columns);
    let finish = |(Timed { mut record, samples, setup_us, .. }, error): (Timed<V>, f64)| {
        record.verified = error <= 1.0;
        record.error_in_tolerance = Some(error).filter(|error| error.is_finite());
        if record.verified {
            add_times(&mut record, &shape, bytes, &samples, rates, setup_us);
            // Two operations for each nonzero and column.
            record.gflops = record.gflops.map(|gflops| gflops * subject.columns as f64);
        }
        record
    };
    Ok(timed.into_iter().zip(errors).map(finish).collect())
}

/// Bytes that must move once: A, B and C.
fn spmm_bytes(shape: &Shape, columns: usize) -> f64 {
    let accumulator = shape.value_type.accumulator().size_bytes() as f64;
    let vectors = (shape.rows as f64 + shape.cols as f64) * accumulator;
    bytes_once(shape) - vectors + vectors * columns as f64
}

#[expect(clippy::too_many_arguments, reason = "what one measurement is made of")]
fn time<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    on_device: &Matrix<V, O>,
    origin: &Origin,
    subject: &SpmmSubject,
    algorithm: Option<SpmmAlgorithm>,
    (b_shape, c_shape): (DenseShape, DenseShape),
    b: &DeviceArray<V::Accum>,
    rates: &Rates,
) -> Result<Timed<V>, MeasureError> {
    let options =
        SpmmOptions { algorithm, parameters: subject.parameters.clone(), ..SpmmOptions::default() };
    type PlanOf<V, O> = SpmmPlan<V, O, <V as Value>::Accum>;
    let set_up = || -> Result<(PlanOf<V, O>, Workspace), MeasureError> {
        let plan = SpmmPlan::new_blocking(queue, on_device, b_shape, c_shape, &options)?;
        let workspace = plan.workspace_blocking(queue)?;
        Ok((plan, workspace))
    };
    let (plan, mut workspace) = set_up()?;
    let start = Instant::now();
    drop(set_up()?);
    let setup_us = start.elapsed().as_secs_f64() * 1e6;
    let poison = vec![V::Accum::from_f64(f64::NAN); c_shape.span()];
    let mut c = DeviceArray::upload_blocking(queue, &poison)?;
    let (one, zero) = (V::Accum::from_f64(1.0), V::Accum::from_f64(0.0));
    let samples = Samples::take::<MeasureError>(
        &subject.budget,
        || {
            let product =
                DenseProduct { alpha: one.into(), a: on_device, b, beta: zero.into(), c: &mut c };
            plan.launch(queue, &mut workspace, product, &[])?;
            Ok(())
        },
        || Ok(queue.finish_blocking()?),
    )?;
    let record = Record {
        // The choice's records say what was chosen in their parameters' key.
        algorithm: algorithm.map_or("spmm", SpmmAlgorithm::name).to_owned(),
        params: plan.parameters(),
        kernel_key: plan.key().to_string(),
        plan_bytes: (plan.plan_bytes() + plan.workspace_bytes()) as u64,
        repeatable: plan.is_repeatable(),
        spmm: Some(SpmmRecord {
            columns: subject.columns as u64,
            layout_b: subject.layout_b.name().to_owned(),
            layout_c: subject.layout_c.name().to_owned(),
            chosen: plan.algorithm_name().to_owned(),
            mean_inode: plan.mean_inode(),
        }),
        ..device_record(queue, matrix, origin, subject, rates)
    };
    // C held NaN before the first launch: what is verified is what was timed.
    Ok(Timed { record, samples, setup_us, c: c.read_blocking(queue)? })
}

/// Times the dense product; writing out the zeros is its set-up.
fn time_dense<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    on_device: &Matrix<V, O>,
    origin: &Origin,
    subject: &SpmmSubject,
    b: &DeviceArray<V::Accum>,
    rates: &Rates,
) -> Result<Timed<V>, MeasureError> {
    let start = Instant::now();
    let mut dense = DenseMatrix::write_out_blocking(queue, on_device)?;
    let setup_us = start.elapsed().as_secs_f64() * 1e6;
    let poison = vec![V::Accum::from_f64(f64::NAN); matrix.rows() * subject.columns];
    let mut c = DeviceArray::upload_blocking(queue, &poison)?;
    let samples = Samples::take::<MeasureError>(
        &subject.budget,
        || Ok(dense.launch(queue, b, &mut c, subject.columns)?),
        || Ok(queue.finish_blocking()?),
    )?;
    let row_major = Layout::RowMajor.name().to_owned();
    let record = Record {
        algorithm: DENSE_PRODUCT.to_owned(),
        plan_bytes: dense.size_bytes() as u64,
        repeatable: true,
        spmm: Some(SpmmRecord {
            columns: subject.columns as u64,
            layout_b: row_major.clone(),
            layout_c: row_major,
            chosen: DENSE_PRODUCT.to_owned(),
            mean_inode: 1.0,
        }),
        ..device_record(queue, matrix, origin, subject, rates)
    };
    Ok(Timed { record, samples, setup_us, c: c.read_blocking(queue)? })
}

/// A record of this device and these rates, without an algorithm and times.
fn device_record<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    origin: &Origin,
    subject: &SpmmSubject,
    rates: &Rates,
) -> Record {
    let traits = queue.context().device().traits();
    Record {
        op: "spmm".to_owned(),
        device: traits.name.clone(),
        platform: traits.platform.clone(),
        driver: traits.driver.clone(),
        stream_gbytes_per_s: Some(rates.read / 1e9),
        copy_gbytes_per_s: Some(rates.copy / 1e9),
        ..untimed_record::<V>(origin, &shape_of(matrix), &plain_subject(subject))
    }
}

/// What the fields that every record has are taken from.
fn plain_subject(subject: &SpmmSubject) -> Subject {
    Subject {
        algorithm: None,
        variant: Variant::default(),
        accumulate: Accumulate::Plain,
        parameters: Vec::new(),
        order: sparrow::VectorOrder::default(),
        products: sparrow::Products::default(),
        is_cold: false,
        budget: subject.budget,
    }
}
