//! Measuring a chip's two kinds of cores: each alone, one after the other in the two stages of
//! `segmented_sum`, and both at once on one product.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use csr_core::verify::Oracle;
use csr_core::{AnyCsrView, AnyVector, CsrView, Offset, RealValue, Value as _, for_csr};
use sparrow::{
    HeteroPlan, LEARNING_PRODUCTS, Matrix, Operands, Partner, PlanOptions, Queue, Rates, Share,
};

use super::device::{Instance, options_of};
use super::host::HostStream;
use super::operands::{shape_of, shared_array};
use super::{
    MeasureError, Origin, Samples, Subject, add_times, bytes_once, summation, untimed_spmv,
};
use crate::record::{Details, Hetero, Record};

/// Products whose stages are timed one by one.
const STAGED: usize = 11;

/// Bytes a second of the host's threads and of a device, each alone and both at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChipRates {
    /// The device alone.
    pub device: Rates,
    /// The partner alone.
    pub partner: Rates,
    /// Both reading at once, together.
    pub together: f64,
}

impl ChipRates {
    /// Measures what a device and the host's threads read at once; `device` and `partner` are their rates
    /// alone.
    ///
    /// # Errors
    /// The driver's own failure.
    pub fn measure_blocking(
        queue: &Queue,
        device: Rates,
        partner: Rates,
    ) -> Result<Self, MeasureError> {
        let stream = HostStream::new();
        let (stops, reads) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                let (start, mut bytes) = (Instant::now(), 0);
                while !stops.load(Ordering::Relaxed) {
                    stream.read();
                    bytes += stream.bytes();
                    reads.store(true, Ordering::Relaxed);
                }
                bytes as f64 / start.elapsed().as_secs_f64()
            });
            while !reads.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let at_once = Rates::measure_blocking(queue);
            stops.store(true, Ordering::Relaxed);
            // The thread only reads and counts.
            let host = host.join().unwrap_or(0.0);
            let at_once = at_once?;
            Ok(ChipRates { device, partner, together: at_once.read + host })
        })
    }

    /// The device's rates, with the rate of both at once as that of reading: a shared product's limit.
    fn of_both(&self) -> Rates {
        Rates { read: self.together.max(self.device.best()), copy: self.device.copy }
    }
}

/// Adds to a record of one device alone what compares it with others.
pub fn as_hetero(record: Record) -> Record {
    let hetero = alone(&record);
    record.with_details(Details::Hetero(hetero))
}

/// What compares a record of one device alone with others, without stages.
fn alone(record: &Record) -> Hetero {
    Hetero {
        devices: vec![record.device.clone()],
        share: 0.0,
        stage1_us: None,
        stage2_us: None,
        dirty_tile_share: None,
        svm_bytes: 0,
        copied_bytes: 0,
        single_us: None,
        evc_hyb: record.evc_hyb().cloned(),
    }
}

/// Times the two stages of `segmented_sum`, and adds them to its record.
///
/// # Errors
/// The device or the library refuses.
pub fn add_stages(
    queue: &Queue,
    matrix: AnyCsrView<'_>,
    origin: &Origin,
    subject: &Subject,
    record: Record,
) -> Result<Record, MeasureError> {
    if !record.verified {
        return Ok(as_hetero(record));
    }
    let (seed, cols) = (origin.generator.seed, matrix.pattern().cols());
    let x = AnyVector::random(matrix.value_type(), seed, cols)?;
    let mut instance = Instance::new(queue, matrix, &x, &options_of(subject))?;
    let mut stages = Vec::with_capacity(STAGED);
    for _ in 0..=STAGED {
        stages.push(instance.launch_blocking(queue)?);
    }
    // The first one warms up.
    let stages = &stages[1..];
    let median = |time: fn(&sparrow::Stages) -> Duration| {
        let mut times: Vec<f64> = stages.iter().map(|s| time(s).as_secs_f64() * 1e6).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let hetero = Hetero {
        stage1_us: Some(median(|stages| stages.stage1)),
        stage2_us: Some(median(|stages| stages.stage2)),
        dirty_tile_share: Some(stages[0].dirty_tiles as f64 / stages[0].tiles.max(1) as f64),
        svm_bytes: stages[0].shared_bytes as u64,
        copied_bytes: stages[0].copied_bytes as u64,
        ..alone(&record)
    };
    Ok(record.with_details(Details::Hetero(hetero)))
}

/// Measures one product by a device and its partner at once: at a fixed share, or at one that is learnt first.
/// What both are compared with is the faster of the device alone, product by product, and the host's
/// `host_us`.
///
/// # Errors
/// The device or the library refuses; a wrong result is a record without times.
pub fn measure_both(
    devices: (&Queue, Partner<'_>),
    matrix: AnyCsrView<'_>,
    origin: &Origin,
    subject: &Subject,
    chip: (&ChipRates, Option<f64>),
    host_us: Option<f64>,
) -> Result<Record, MeasureError> {
    for_csr!(matrix, matrix => both(devices, matrix, origin, subject, chip, host_us))
}

fn both<V: RealValue, O: Offset>(
    (queue, partner): (&Queue, Partner<'_>),
    matrix: CsrView<'_, V, O>,
    origin: &Origin,
    subject: &Subject,
    (rates, share): (&ChipRates, Option<f64>),
    host_us: Option<f64>,
) -> Result<Record, MeasureError> {
    let shape = shape_of(matrix);
    let zero = V::Accum::from_f64(0.0);
    let one = V::Accum::from_f64(1.0);
    let a = Matrix::upload_blocking(queue, matrix)?;
    let x = AnyVector::random(V::TYPE, origin.generator.seed, matrix.cols())?;
    let x_there = shared_array(queue, &x)?.into_typed()?;
    let poison = AnyVector::filled(V::TYPE, f64::NAN, matrix.rows());
    let mut y = shared_array(queue, &poison)?.into_typed()?;
    let learnt = Share::Learnt { device: rates.device.best(), partner: rates.partner.best() };
    let share = share.map_or(learnt, Share::Fixed);
    let options = PlanOptions { parameters: subject.parameters.clone(), ..PlanOptions::default() };
    // The first device alone, by the same calls: each product is waited for.
    let alone = Share::Fixed(0.0);
    let mut plan = HeteroPlan::new_blocking(queue, &a, partner, alone, &options)?;
    let alone = Samples::take::<MeasureError>(
        &subject.budget,
        || {
            let product =
                Operands { alpha: one.into(), a: &a, x: &x_there, beta: zero.into(), y: &mut y };
            // SAFETY: the operands are this function's own, and what was enqueued before lies in `queue`.
            #[expect(unsafe_code, reason = "the host reaches the operands where they lie")]
            unsafe {
                plan.product_blocking(queue, product, &[])?
            };
            Ok(())
        },
        || Ok(()),
    )?;
    let single_us = alone.median_us().min(host_us.unwrap_or(f64::INFINITY));
    let start = Instant::now();
    let mut plan = HeteroPlan::new_blocking(queue, &a, partner, share, &options)?;
    let setup_us = start.elapsed().as_secs_f64() * 1e6;
    let mut last = None;
    let mut product = || -> Result<(), MeasureError> {
        let product =
            Operands { alpha: one.into(), a: &a, x: &x_there, beta: zero.into(), y: &mut y };
        // SAFETY: as above.
        #[expect(unsafe_code, reason = "the host reaches the operands where they lie")]
        let done = unsafe { plan.product_blocking(queue, product, &[])? };
        last = Some(done);
        Ok(())
    };
    for _ in 0..LEARNING_PRODUCTS {
        product()?;
    }
    let samples = Samples::take::<MeasureError>(&subject.budget, product, || Ok(()))?;
    let y = y.read_blocking(queue)?;
    let oracle = Oracle::of_any(matrix.into(), &x)?;
    let found = oracle.verify(&y, summation(subject.accumulate))?;
    let traits = queue.context().device().traits();
    let last = last.unwrap_or_default();
    let hetero = Hetero {
        devices: vec![traits.name.clone(), plan.partner_name()],
        share: last.share,
        stage1_us: None,
        stage2_us: None,
        dirty_tile_share: None,
        svm_bytes: last.shared_bytes as u64,
        copied_bytes: last.copied_bytes as u64,
        single_us: Some(single_us),
        evc_hyb: None,
    };
    let mut record = Record {
        algorithm: "hetero".to_owned(),
        device: traits.name.clone(),
        platform: traits.platform.clone(),
        driver: traits.driver.clone(),
        stream_gbytes_per_s: Some(rates.together / 1e9),
        copy_gbytes_per_s: Some(rates.device.copy / 1e9),
        plan_bytes: plan.workspace_bytes() as u64,
        repeatable: plan.is_repeatable(),
        verified: found.passed(),
        error_in_tolerance: Some(found.error_in_tolerance).filter(|error| error.is_finite()),
        non_finite: found.non_finite as u64,
        ..untimed_spmv(origin, &shape, subject, Details::Hetero(hetero))
    };
    if found.passed() {
        add_times(&mut record, &shape, bytes_once(&shape), &samples, &rates.of_both(), setup_us);
    }
    Ok(record)
}
