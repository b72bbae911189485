//! Measuring a batch on an OpenCL device, compared with what an application without batches would do: a loop of single
//! products, and one product with the block-diagonal matrix of all problems. All three are launched without events.

use std::time::Instant;

use csr_core::batch::{AnyHostBatch, Ell, HostBatch};
use csr_core::verify::{Oracle, Summation, Verification};
use csr_core::{AnyVector, Csr, Number, RealValue, Value as _};
use rayon::prelude::*;
use sparrow::{
    Algorithm, AnyBatch, AnyBatchOperands, BatchOptions, BatchPlan, BatchedAlgorithm,
    BatchedVariant, ColumnWidth, NoEvent, PlanOptions, Problem, Queue, Rates,
};

use super::device::Instance;
use super::operands::{read_blocking, uploaded};
use super::{Budget, MeasureError, Origin, Samples, Shape, add_times, untimed_record};
use crate::batch_form::BatchForm;
use crate::record::{BatchRecord, Details, Record};

/// Single products that a loop has matrices of their own for; it goes round these.
const LOOPED: usize = 64;
/// Set-ups timed; the median counts.
const SETUPS: usize = 5;

/// What is measured.
#[derive(Clone, Debug)]
pub struct BatchSubject {
    /// "homogeneous", "mixed", "sorted", ...
    pub kind: String,
    /// How problems are stored.
    pub form: BatchForm,
    /// What runs; `None` chooses for each problem.
    pub algorithm: Option<BatchedAlgorithm>,
    /// How cut rows come together.
    pub variant: BatchedVariant,
    /// Hyper-parameters over the device table's.
    pub parameters: Vec<(String, u32)>,
    /// How long to measure.
    pub budget: Budget,
}

/// What the block-diagonal matrix is multiplied by; the best counts. First what is chosen for it. None of them copies
/// values.
const SINGLE_PRODUCTS: [Option<Algorithm>; 5] = [
    None,
    Some(Algorithm::CsrFlat),
    Some(Algorithm::CsrAdaptive),
    Some(Algorithm::CsrVector),
    Some(Algorithm::SegmentedSum),
];

/// The problems of a batch: some matrices, and which of them each problem is.
#[derive(Clone, Debug)]
pub struct BatchProblems<'a, V> {
    /// The matrices.
    pub matrices: &'a [Csr<V>],
    /// For each problem the index of its matrix.
    pub order: Vec<usize>,
}

/// Microseconds that the same products take without batches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchPeers {
    /// One single product after the other.
    pub loop_us: Option<f64>,
    /// One product with the block-diagonal matrix, by our best algorithm.
    pub block_diagonal_us: Option<f64>,
}

impl<'a, V: RealValue> BatchProblems<'a, V> {
    fn iter(&self) -> impl Iterator<Item = &'a Csr<V>> {
        self.order.iter().map(|&matrix| &self.matrices[matrix])
    }

    fn sum(&self, of: impl Fn(&Csr<V>) -> usize) -> usize {
        self.iter().map(of).sum()
    }

    fn host_batch(&self, subject: &BatchSubject) -> Result<HostBatch<V>, MeasureError> {
        let mut host = HostBatch::new();
        if subject.form == BatchForm::Pattern
            && let Some(first) = self.iter().next()
        {
            let values = first.values().repeat(self.order.len());
            host.push_pattern(first.view().pattern(), &values, self.order.len())?;
            return Ok(host);
        }
        for problem in self.iter() {
            match subject.algorithm {
                Some(BatchedAlgorithm::Coo) => host.push_coo(&problem.to_coo())?,
                Some(BatchedAlgorithm::Ell) if subject.form == BatchForm::PureEll => {
                    host.push_ell(&Ell::from_csr(problem.view())?)?;
                }
                Some(BatchedAlgorithm::Ell) => drop(host.push_as_ell(problem.view())?),
                _ => host.push_csr(problem.view())?,
            }
        }
        Ok(host)
    }

    /// Holds every problem's part of y against the oracle.
    fn judge(
        &self,
        places: &[Problem],
        x: &AnyVector,
        y: &AnyVector,
    ) -> Result<Verification, MeasureError> {
        let (one, zero) = (V::Accum::from_f64(1.0), V::Accum::from_f64(0.0));
        let (x, y) = (x.of::<V::Accum>(), y.of::<V::Accum>());
        let judge = |(problem, place): (&Csr<V>, &Problem)| {
            let x = &x[place.x as usize..][..problem.cols()];
            let y = &y[place.y as usize..][..problem.rows()];
            Oracle::new(one, problem.view(), x, zero, y)?.verify(y, Summation::Plain)
        };
        let all: Vec<_> = self.iter().zip(places).collect();
        let found = all.into_par_iter().map(judge).collect::<csr_core::Result<Vec<_>>>()?;
        Ok(found.into_iter().fold(Verification::default(), Verification::and))
    }

    /// All problems along the diagonal of one matrix.
    ///
    /// # Errors
    /// More nonzeros than 32 bits count.
    pub fn block_diagonal(&self) -> Result<Csr<V>, MeasureError> {
        let nnz = self.sum(Csr::nnz);
        let limit = u64::from(u32::MAX);
        if nnz as u64 > limit {
            let what = "the block-diagonal matrix's nonzeros (--alone leaves it out)";
            return Err(csr_core::Error::TooLarge { what, value: nnz as u64, limit }.into());
        }
        let (mut offsets, mut columns, mut values) =
            (vec![0u32], Vec::with_capacity(nnz), Vec::with_capacity(nnz));
        let (mut first_column, mut first_entry) = (0u32, 0u32);
        for problem in self.iter() {
            let pattern = problem.pattern();
            offsets.extend(pattern.offsets()[1..].iter().map(|offset| first_entry + offset));
            columns.extend(pattern.columns().iter().map(|column| first_column + column));
            values.extend_from_slice(problem.values());
            first_column += problem.cols() as u32;
            first_entry += problem.nnz() as u32;
        }
        Ok(Csr::new(first_column as usize, offsets, columns, values)?)
    }
}

/// Times the same products one after the other, each launched for itself.
///
/// # Errors
/// The device or the library refuses.
pub fn measure_batch_loop<V: RealValue>(
    queue: &Queue,
    problems: &BatchProblems<'_, V>,
    budget: &Budget,
) -> Result<BatchPeers, MeasureError> {
    let singles = problems.iter().take(LOOPED).map(|problem| {
        let x = AnyVector::random(V::TYPE, 1, problem.cols())?;
        Instance::new(queue, problem.view().into(), &x, &PlanOptions::default())
    });
    let mut singles = singles.collect::<Result<Vec<_>, _>>()?;
    if singles.is_empty() {
        return Ok(BatchPeers::default());
    }
    let count = singles.len();
    let looped = Samples::take::<MeasureError>(
        budget,
        || (0..problems.order.len()).try_for_each(|turn| singles[turn % count].launch(queue)),
        || Ok(queue.finish_blocking()?),
    )?;
    Ok(BatchPeers { loop_us: Some(looped.median_us()), block_diagonal_us: None })
}

/// Times the same products without batches.
///
/// # Errors
/// The device or the library refuses.
pub fn measure_batch_peers<V: RealValue>(
    queue: &Queue,
    problems: &BatchProblems<'_, V>,
    budget: &Budget,
) -> Result<BatchPeers, MeasureError> {
    let looped = measure_batch_loop(queue, problems, budget)?;
    if looped.loop_us.is_none() {
        return Ok(looped);
    }
    let matrix = problems.block_diagonal()?;
    let x = AnyVector::random(V::TYPE, 1, matrix.cols())?;
    let mut best = f64::INFINITY;
    for algorithm in SINGLE_PRODUCTS {
        let options = PlanOptions { algorithm, ..PlanOptions::default() };
        let mut instance = Instance::new(queue, matrix.view().into(), &x, &options)?;
        let samples = Samples::take::<MeasureError>(
            budget,
            || instance.launch(queue),
            || Ok(queue.finish_blocking()?),
        )?;
        best = best.min(samples.median_us());
    }
    Ok(BatchPeers { block_diagonal_us: Some(best), ..looped })
}

/// Measures one batch: every problem verified, with its set-up.
///
/// # Errors
/// The device or the library refuses; a wrong result is a record without times.
pub fn measure_batch<V: RealValue>(
    queue: &Queue,
    problems: &BatchProblems<'_, V>,
    origin: &Origin,
    subject: &BatchSubject,
    rates: &Rates,
    peers: BatchPeers,
) -> Result<Record, MeasureError> {
    let host = problems.host_batch(subject)?;
    let x = AnyVector::random(V::TYPE, origin.generator.seed, host.x_len())?;
    let timed = Timed::take(queue, (&host).into(), &x, host.y_len(), subject)?;
    let found = problems.judge(host.problems(), &x, &timed.y)?;
    let shape = Shape {
        rows: problems.sum(Csr::rows),
        cols: problems.sum(Csr::cols),
        nnz: problems.sum(Csr::nnz),
        value_type: V::TYPE,
        offset_type: sparrow::OffsetType::U32,
    };
    timed.record(queue, &shape, found, (origin, subject, rates), (peers, host.padding()))
}

/// A batch on the device with its plan, how long launches took, and the y that they left.
struct Timed {
    batch: AnyBatch,
    plan: BatchPlan,
    options: BatchOptions,
    samples: Samples,
    y: AnyVector,
    /// Problems that ELL left to others.
    not_ell: usize,
}

impl Timed {
    fn take(
        queue: &Queue,
        host: AnyHostBatch<'_>,
        x: &AnyVector,
        y_len: usize,
        subject: &BatchSubject,
    ) -> Result<Self, MeasureError> {
        let width = match subject.form {
            BatchForm::AsGiven | BatchForm::PureEll => ColumnWidth::U32,
            BatchForm::Short | BatchForm::Pattern => ColumnWidth::Automatic,
        };
        let value_type = host.values().value_type();
        let batch = AnyBatch::upload_blocking(queue, host, width)?;
        let device_x = uploaded(queue, x)?;
        let mut device_y = uploaded(queue, &AnyVector::filled(value_type, f64::NAN, y_len))?;
        // ELL leaves problems that it would pad too much to others, all of them perhaps.
        let is_not_ell = |problem: &&Problem| !BatchedAlgorithm::Ell.reads(problem.format);
        let not_ell = match subject.algorithm {
            Some(BatchedAlgorithm::Ell) => host.problems().iter().filter(is_not_ell).count(),
            _ => 0,
        };
        let has_none = not_ell > 0 && not_ell == host.problems().len();
        let options = BatchOptions {
            algorithm: subject.algorithm.filter(|_| !has_none),
            variant: subject.variant,
            parameters: subject.parameters.clone(),
            ..BatchOptions::default()
        };
        let plan = BatchPlan::new_blocking(queue, &batch, &options)?;
        let mut workspace = plan.workspace_blocking(queue)?;
        let number = |value| Number::of(value_type, value).into();
        let samples = Samples::take::<MeasureError>(
            &subject.budget,
            || {
                let (alpha, beta, y) = (number(1.0), number(0.0), &mut device_y);
                let product = AnyBatchOperands { alpha, a: &batch, x: &device_x, beta, y };
                plan.launch(queue, &mut workspace, product, NoEvent)?;
                Ok(())
            },
            || Ok(queue.finish_blocking()?),
        )?;
        // y held NaN before the first launch: what is verified is what was timed.
        let y = read_blocking(queue, &device_y, value_type)?;
        Ok(Timed { batch, plan, options, samples, y, not_ell })
    }

    fn record(
        &self,
        queue: &Queue,
        shape: &Shape,
        found: Verification,
        (origin, subject, rates): (&Origin, &BatchSubject, &Rates),
        (peers, padding): (BatchPeers, usize),
    ) -> Result<Record, MeasureError> {
        let Timed { batch, plan, options, samples, .. } = self;
        let traits = queue.context().device().traits();
        let algorithm = match (options.algorithm, plan.algorithms()) {
            (Some(asked), _) => asked.name(),
            (None, [(only, _)]) => only.name(),
            (None, _) => "batched",
        };
        let details = Details::Batch(BatchRecord {
            batch_size: batch.problems().len() as u64,
            batch_kind: subject.kind.clone(),
            batch_form: subject.form.name().to_owned(),
            batch_bytes: batch.size_bytes() as u64,
            padding: padding as u64,
            not_ell: self.not_ell as u64,
            loop_us: peers.loop_us,
            block_diagonal_us: peers.block_diagonal_us,
        });
        let mut record = Record {
            algorithm: algorithm.to_owned(),
            variant: subject.variant.name().to_owned(),
            params: plan.parameters(),
            kernel_key: plan.key().to_string(),
            device: traits.name.clone(),
            platform: traits.platform.clone(),
            driver: traits.driver.clone(),
            stream_gbytes_per_s: Some(rates.read / 1e9),
            copy_gbytes_per_s: Some(rates.copy / 1e9),
            plan_bytes: plan.plan_bytes() as u64,
            repeatable: plan.is_repeatable(),
            verified: found.passed(),
            error_in_tolerance: Some(found.error_in_tolerance).filter(|error| error.is_finite()),
            non_finite: found.non_finite as u64,
            ..untimed_record(origin, shape, details)
        };
        if found.passed() {
            let mut setups = (0..SETUPS).map(|_| -> Result<f64, MeasureError> {
                let start = Instant::now();
                let plan = BatchPlan::new_blocking(queue, batch, options)?;
                let _workspace = plan.workspace_blocking(queue)?;
                Ok(start.elapsed().as_secs_f64() * 1e6)
            });
            let mut setups = setups.by_ref().collect::<Result<Vec<_>, _>>()?;
            setups.sort_by(f64::total_cmp);
            let setup_us = setups[SETUPS / 2];
            // What this form of the batch moves, padding and a pattern that is stored once included.
            let vectors = (shape.rows + shape.cols) * shape.value_type.accumulator().size_bytes();
            let bytes = (batch.size_bytes() + vectors) as f64;
            add_times(&mut record, shape, bytes, samples, rates, setup_us);
        }
        Ok(record)
    }
}
