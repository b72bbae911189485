//! Measuring operations on dense vectors, compared with empty launches.

use csr_core::verify::{Oracle, Summation};
use csr_core::{Accumulator, AnyVector, Csr, Number, OffsetType, Real, ValueType, counted};
use sparrow::{
    Accumulate, AnyArray, AnyVectors, Buffers, EmptyLaunch, NoEvent, Queue, Rates, Reduction,
    VectorOptions,
};

use super::operands::{read_blocking, uploaded};
use super::{Budget, MeasureError, Origin, Samples, Shape, add_times, summation, untimed_record};
use crate::record::{Details, VectorRecord};
use crate::{GeneratorOptions, Record};

/// What is measured.
#[derive(Clone, Debug)]
pub struct VectorSubject {
    /// What vectors hold: [`ValueType::F32`] or [`ValueType::F64`].
    pub value_type: ValueType,
    /// Elements of each vector.
    pub elements: usize,
    /// How sums are made.
    pub accumulate: Accumulate,
    /// Hyper-parameters over the device's.
    pub parameters: Vec<(String, u32)>,
    /// The seed of the vectors.
    pub seed: u64,
    /// How long to measure each operation.
    pub budget: Budget,
}

/// An operation: its name in records, and how many vectors it reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Scale,
    Axpy,
    Dot,
    Norm2,
    Reduce,
}

impl Operation {
    const ALL: [Operation; 5] =
        [Operation::Axpy, Operation::Dot, Operation::Scale, Operation::Norm2, Operation::Reduce];

    fn name(self) -> &'static str {
        match self {
            Operation::Scale => "scale",
            Operation::Axpy => "axpy",
            Operation::Dot => "dot",
            Operation::Norm2 => "nrm2",
            Operation::Reduce => "reduce",
        }
    }

    fn vectors(self) -> usize {
        match self {
            Operation::Axpy => 3,
            Operation::Scale | Operation::Dot => 2,
            Operation::Norm2 | Operation::Reduce => 1,
        }
    }

    /// Of its kernel.
    fn buffers(self) -> Buffers {
        match self {
            Operation::Axpy | Operation::Scale => Buffers::Three,
            Operation::Dot | Operation::Norm2 | Operation::Reduce => Buffers::Four,
        }
    }
}

const ALPHA: f64 = 1.7;

/// x, y, what operations write, and both operands on the host.
struct Operands {
    host_x: AnyVector,
    host_y: AnyVector,
    x: AnyArray,
    y: AnyArray,
    r: AnyArray,
    number: AnyArray,
}

/// Measures axpy, dot, scale, nrm2 and reduce on vectors of `subject.elements` random elements; every element and
/// every sum is verified. No launch makes an event, the empty one neither.
///
/// # Errors
/// The device or the library refuses; a wrong result is a record without times.
pub fn measure_vectors(
    queue: &Queue,
    subject: &VectorSubject,
    rates: &Rates,
) -> Result<Vec<Record>, MeasureError> {
    let options = VectorOptions {
        accumulate: subject.accumulate,
        parameters: subject.parameters.clone(),
        ..VectorOptions::default()
    };
    let (value_type, elements) = (subject.value_type, subject.elements);
    let mut vectors = AnyVectors::new_blocking(queue, value_type, &options)?;
    let host_x = AnyVector::random(value_type, subject.seed, elements)?;
    let host_y = AnyVector::random(value_type, subject.seed + 1, elements)?;
    let poison = AnyVector::filled(value_type, f64::NAN, elements);
    let poisoned_number = AnyVector::filled(value_type, f64::NAN, 1);
    let mut operands = Operands {
        x: uploaded(queue, &host_x)?,
        y: uploaded(queue, &host_y)?,
        r: uploaded(queue, &poison)?,
        number: uploaded(queue, &poisoned_number)?,
        host_x,
        host_y,
    };
    let mut records = Vec::new();
    for operation in Operation::ALL {
        operands.r.write_bytes_blocking(queue, poison.bytes())?;
        operands.number.write_bytes_blocking(queue, poisoned_number.bytes())?;
        let mut bare = EmptyLaunch::new_blocking(queue, Buffers::One)?;
        let mut empty = EmptyLaunch::new_blocking(queue, operation.buffers())?;
        let contenders: [&mut dyn FnMut() -> Result<(), MeasureError>; 3] = [
            &mut || enqueue(queue, &mut vectors, operation, &mut operands),
            &mut || Ok(empty.launch(queue)?),
            &mut || Ok(bare.launch(queue)?),
        ];
        let finish = || Ok(queue.finish_blocking()?);
        let [samples, launch, bare] = Samples::take_in_turn(&subject.budget, contenders, finish)?;
        // NaN before the first launch: what is verified is what was timed.
        let error = error_in_tolerance(queue, operation, &operands, subject.accumulate)?;
        let bytes = (operation.vectors() * elements * value_type.size_bytes()) as f64;
        let mut record = untimed(queue, subject, rates, operation);
        record.plan_bytes = vectors.workspace_bytes() as u64;
        record.kernel_key = vectors.kernel_key(operation.name()).unwrap_or_default();
        record.verified = error <= 1.0;
        record.error_in_tolerance = Some(error).filter(|error| error.is_finite());
        if record.verified {
            let shape = shape_of(subject);
            add_times(&mut record, &shape, bytes, &samples, rates, 0.0);
            (record.gflops, record.setup_us, record.setup_in_products) = (None, None, None);
            let launch_us = launch.median_us();
            record.details = Details::Vector(VectorRecord {
                launch_us: Some(launch_us),
                bare_launch_us: Some(bare.median_us()),
                in_launches: Some(samples.median_us() / launch_us),
                copy_fraction: record.gbytes_per_s.map(|rate| rate * 1e9 / rates.copy),
                ..vector_record(subject)
            });
        }
        records.push(record);
    }
    Ok(records)
}

fn enqueue(
    queue: &Queue,
    vectors: &mut AnyVectors,
    operation: Operation,
    operands: &mut Operands,
) -> Result<(), MeasureError> {
    let Operands { x, y, r, number, .. } = operands;
    let alpha = || Number::of(vectors.value_type(), ALPHA).into();
    match operation {
        Operation::Scale => vectors.scale(queue, (alpha(), x), r, NoEvent)?,
        Operation::Axpy => vectors.axpy(queue, (alpha(), x), y, r, NoEvent)?,
        Operation::Dot => vectors.dot(queue, x, y, number, NoEvent)?,
        Operation::Norm2 => vectors.reduce(queue, Reduction::Norm2, x, number, NoEvent)?,
        Operation::Reduce => vectors.reduce(queue, Reduction::Sum, x, number, NoEvent)?,
    };
    Ok(())
}

/// The largest error as a multiple of what it may be: none in r but for rounding once, and the bound of a row of a
/// product in sums.
fn error_in_tolerance(
    queue: &Queue,
    operation: Operation,
    operands: &Operands,
    accumulate: Accumulate,
) -> Result<f64, MeasureError> {
    let Operands { host_x, host_y, r, number, .. } = operands;
    let value_type = host_x.value_type();
    let found = match operation {
        Operation::Scale | Operation::Axpy => read_blocking(queue, r, value_type)?,
        _ => read_blocking(queue, number, value_type)?,
    };
    match value_type {
        ValueType::F64 => error_of::<f64>(operation, (host_x, host_y), &found, accumulate),
        _ => error_of::<f32>(operation, (host_x, host_y), &found, accumulate),
    }
}

/// The same of what was found: r, or the sum.
fn error_of<T: Accumulator + Real>(
    operation: Operation,
    (host_x, host_y): (&AnyVector, &AnyVector),
    found: &AnyVector,
    accumulate: Accumulate,
) -> Result<f64, MeasureError> {
    let (host_x, host_y, found) = (host_x.of::<T>(), host_y.of::<T>(), found.of::<T>());
    let alpha = T::from_f64(ALPHA);
    let elementwise = |expected: &dyn Fn(T, T) -> T| -> Result<f64, MeasureError> {
        let right = host_x.iter().zip(host_y).map(|(&x, &y)| expected(x, y));
        let is_right = found.iter().zip(right).all(|(&found, right)| found == right);
        Ok(if is_right { 0.0 } else { f64::INFINITY })
    };
    let ones;
    let times: &[T] = match operation {
        Operation::Scale => return elementwise(&|x, _| alpha * x),
        Operation::Axpy => return elementwise(&|x, y| alpha.multiplied_added(x, y)),
        Operation::Dot => host_y,
        Operation::Norm2 => host_x,
        Operation::Reduce => {
            ones = vec![T::one(); host_x.len()];
            &ones
        }
    };
    let found = found[0];
    let (columns, length) = ((0..host_x.len() as u32).collect(), host_x.len());
    let row = Csr::<T>::new(length, vec![0, length as u32], columns, host_x.to_vec())?;
    let oracle = Oracle::new(T::one(), row.view(), times, T::zero(), &[T::zero()])?;
    if operation == Operation::Norm2 {
        let right = oracle.value(0).sqrt();
        let terms = match summation(accumulate) {
            Summation::Plain => length as f64 + 2.0,
            Summation::Compensated => 2.0,
        };
        let may_be_off = terms * T::EPSILON * right + T::SMALLEST_NORMAL;
        let error = (found.to_f64() - right).abs() / may_be_off;
        return Ok(if error.is_nan() { f64::INFINITY } else { error });
    }
    Ok(oracle.verify(&[found], summation(accumulate))?.error_in_tolerance)
}

/// What the fields that every record has are taken from: nothing is stored but the vectors.
fn shape_of(subject: &VectorSubject) -> Shape {
    let (value_type, offset_type) = (subject.value_type, OffsetType::U64);
    Shape { rows: subject.elements, cols: 1, nnz: 0, value_type, offset_type }
}

fn vector_record(subject: &VectorSubject) -> VectorRecord {
    VectorRecord {
        elements: subject.elements as u64,
        launch_us: None,
        bare_launch_us: None,
        in_launches: None,
        copy_fraction: None,
    }
}

fn untimed(queue: &Queue, subject: &VectorSubject, rates: &Rates, operation: Operation) -> Record {
    let traits = queue.context().device().traits();
    let generator = GeneratorOptions { scale: 1.0, seed: subject.seed };
    let name = counted(subject.elements, "element");
    let origin = Origin { name, source: "assembled", generator };
    let texts: Vec<_> =
        subject.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Record {
        algorithm: operation.name().to_owned(),
        params: texts.join(","),
        device: traits.name.clone(),
        platform: traits.platform.clone(),
        driver: traits.driver.clone(),
        stream_gbytes_per_s: Some(rates.read / 1e9),
        copy_gbytes_per_s: Some(rates.copy / 1e9),
        repeatable: true,
        accumulate: subject.accumulate.to_string(),
        ..untimed_record(&origin, &shape_of(subject), Details::Vector(vector_record(subject)))
    }
}
