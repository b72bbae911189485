//! Measuring a product on an OpenCL device.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use csr_core::verify::Oracle;
use csr_core::{AnyCsrView, AnyVector, Number};
use sparrow::{
    AnyArray, AnyMatrix, AnyOperands, AnyPlan, NoEvent, PlanOptions, Queue, Rates, Reordering,
    Stages, Variant, VectorOrder, Workspace, default_tables,
};

use super::operands::{read_blocking, shape_of, shared_array, uploaded};
use super::{
    MeasureError, Origin, Samples, Subject, add_times, bytes_once, summation, untimed_spmv,
};
use crate::Record;
use crate::record::{Details, EvcHybRecord, ReorderedRecord, SpmvRecord};

/// Set-ups timed, as many as fit the time; the median counts.
const SETUPS: RangeInclusive<usize> = 3..=15;
const SETUP_TIME: Duration = Duration::from_millis(100);

/// A matrix on the device with everything one launch needs; cold runs rotate over several.
pub(super) struct Instance {
    pub(super) matrix: AnyMatrix,
    pub(super) plan: AnyPlan,
    workspace: Workspace,
    pub(super) x: AnyArray,
    pub(super) y: AnyArray,
}

/// y = A x, with beta = 0.
pub(super) fn product<'a>(
    a: &'a AnyMatrix,
    x: &'a AnyArray,
    y: &'a mut AnyArray,
) -> AnyOperands<'a> {
    let number = |value| Number::of(a.value_type(), value).into();
    AnyOperands { alpha: number(1.0), a, x, beta: number(0.0), y }
}

impl Instance {
    pub(super) fn new(
        queue: &Queue,
        matrix: AnyCsrView<'_>,
        x: &AnyVector,
        options: &PlanOptions,
    ) -> Result<Self, MeasureError> {
        // The CPU's stage goes to the arrays where they lie.
        let array = match options.variant {
            Variant::Cpu => shared_array,
            _ => uploaded,
        };
        let poison = AnyVector::filled(matrix.value_type(), f64::NAN, matrix.pattern().rows());
        let on_device = AnyMatrix::upload_blocking(queue, matrix)?;
        let plan = AnyPlan::new_blocking(queue, &on_device, options)?;
        let x = match (options.order, plan.row_order()) {
            (VectorOrder::Symmetric, Some(rows)) => {
                let rows = rows.read_blocking(queue)?;
                array(queue, &x.gathered(rows.iter().map(|&row| row as usize)))?
            }
            _ => array(queue, x)?,
        };
        Ok(Instance {
            workspace: plan.workspace_blocking(queue)?,
            matrix: on_device,
            plan,
            x,
            y: array(queue, &poison)?,
        })
    }

    /// y as the matrix has its rows.
    pub(super) fn y_blocking(
        &self,
        queue: &Queue,
        order: VectorOrder,
    ) -> Result<AnyVector, MeasureError> {
        let y = read_blocking(queue, &self.y, self.matrix.value_type())?;
        let Some(rows) = self.plan.row_order().filter(|_| order != VectorOrder::Original) else {
            return Ok(y);
        };
        let mut index_of_row = vec![0; y.len()];
        for (index, row) in rows.read_blocking(queue)?.into_iter().enumerate() {
            index_of_row[row as usize] = index;
        }
        Ok(y.gathered(index_of_row.into_iter()))
    }

    /// y = A x, with beta = 0, each stage timed.
    pub(super) fn launch_blocking(&mut self, queue: &Queue) -> Result<Stages, MeasureError> {
        let product = product(&self.matrix, &self.x, &mut self.y);
        // SAFETY: the operands are this instance's own, and what was enqueued before lies in `queue`.
        #[expect(unsafe_code, reason = "stage 2 on the CPU reaches the operands where they lie")]
        let stages = unsafe {
            self.plan.launch_in_place_blocking(queue, &mut self.workspace, product, &[])?
        };
        Ok(stages)
    }

    /// y = A x, with beta = 0.
    pub(super) fn launch(&mut self, queue: &Queue) -> Result<(), MeasureError> {
        if self.plan.variant() == Variant::Cpu.name() {
            self.launch_blocking(queue)?;
            return Ok(());
        }
        let product = product(&self.matrix, &self.x, &mut self.y);
        self.plan.launch(queue, &mut self.workspace, product, NoEvent)?;
        Ok(())
    }
}

/// Measures one algorithm on `matrix`: verified, with its set-up.
///
/// # Errors
/// The device or the library refuses; a wrong result is a record without times.
pub fn measure_on_device(
    queue: &Queue,
    matrix: AnyCsrView<'_>,
    origin: &Origin,
    subject: &Subject,
    rates: &Rates,
) -> Result<Record, MeasureError> {
    let shape = shape_of(matrix);
    let options = options_of(subject);
    let x = AnyVector::random(shape.value_type, origin.generator.seed, shape.cols)?;
    // y held NaN before the first launch: what is verified is what was timed.
    let (instance, samples) = time(queue, matrix, &x, subject, &options)?;
    let y = instance.y_blocking(queue, options.order)?;
    let found = Oracle::of_any(matrix, &x)?.verify_any(&y, summation(subject.accumulate))?;

    let plan = &instance.plan;
    let traits = queue.context().device().traits();
    // On a reordered copy its vectors are in the order of that.
    let own_order = match options.reordering {
        Reordering::None => options.order,
        _ => VectorOrder::Original,
    };
    let evc_hyb = plan.evc_hyb_statistics().map(|found| EvcHybRecord {
        vector_order: own_order.to_string(),
        split_row: found.split_row as u64,
        short_elements: found.short_elements as u64,
        long_elements: found.long_elements as u64,
        padding_percent: 100.0 * found.padding,
    });
    let details = SpmvRecord {
        choice: Some(plan.choice().to_string()),
        measured_products: Some(plan.measured_products()).filter(|&products| products > 0),
        evc_hyb,
        reordered: (options.reordering != Reordering::None).then(|| {
            Box::new(ReorderedRecord {
                reordering: options.reordering.to_string(),
                reordered_vectors: options.order.to_string(),
            })
        }),
        ..SpmvRecord::default()
    };
    let mut record = Record {
        algorithm: plan.algorithm().to_string(),
        variant: plan.variant().to_owned(),
        params: plan.parameters().to_owned(),
        kernel_key: plan.key().to_string(),
        device: traits.name.clone(),
        platform: traits.platform.clone(),
        driver: traits.driver.clone(),
        stream_gbytes_per_s: Some(rates.read / 1e9),
        copy_gbytes_per_s: Some(rates.copy / 1e9),
        plan_bytes: (plan.plan_bytes() + plan.workspace_bytes()) as u64,
        repeatable: plan.is_repeatable(),
        verified: found.passed(),
        error_in_tolerance: Some(found.error_in_tolerance).filter(|error| error.is_finite()),
        non_finite: found.non_finite as u64,
        ..untimed_spmv(origin, &shape, subject, Details::Spmv(details))
    };
    if found.passed() {
        let setup_us = setup_us(queue, &instance.matrix, &options)?;
        add_times(&mut record, &shape, bytes_once(&shape), &samples, rates, setup_us);
    }
    Ok(record)
}

/// Times launches of one algorithm; returns what the last launch ran on, too.
pub(super) fn time(
    queue: &Queue,
    matrix: AnyCsrView<'_>,
    x: &AnyVector,
    subject: &Subject,
    options: &PlanOptions,
) -> Result<(Instance, Samples), MeasureError> {
    let device = queue.context().device().traits();
    let cache_bytes = default_tables().cache_bytes(device) as usize;
    let copies = match subject.is_cold {
        true => (4 * cache_bytes).div_ceil(matrix.size_bytes().max(1)).clamp(2, 64),
        false => 1,
    };
    let mut instances = vec![Instance::new(queue, matrix, x, options)?];
    // What was timed for the first is not timed again for its copies.
    let choice = options.choice.clone().or_else(|| match options.algorithm {
        Some(_) => None,
        None => Some(instances[0].plan.choice().clone()),
    });
    let same = PlanOptions { choice, ..options.clone() };
    for _ in 1..copies {
        instances.push(Instance::new(queue, matrix, x, &same)?);
    }
    let mut turn = 0;
    let samples = Samples::take::<MeasureError>(
        &subject.budget,
        || {
            turn = (turn + 1) % copies;
            instances[turn].launch(queue)
        },
        || Ok(queue.finish_blocking()?),
    )?;
    Ok((instances.swap_remove(turn), samples))
}

/// What a plan is asked for.
pub(super) fn options_of(subject: &Subject) -> PlanOptions {
    PlanOptions {
        algorithm: subject.algorithm,
        variant: subject.variant,
        accumulate: subject.accumulate,
        reordering: subject.reordering,
        order: subject.order,
        reuse: subject.reuse,
        choice: subject.choice.clone(),
        measuring: subject.measuring,
        parameters: subject.parameters.clone(),
        ..PlanOptions::default()
    }
}

/// Wall time from the matrix on the device and the program built until a launch is ready.
fn setup_us(queue: &Queue, matrix: &AnyMatrix, options: &PlanOptions) -> Result<f64, MeasureError> {
    let begin = Instant::now();
    let mut times = Vec::with_capacity(*SETUPS.end());
    while times.len() < *SETUPS.start()
        || times.len() < *SETUPS.end() && begin.elapsed() < SETUP_TIME
    {
        let start = Instant::now();
        let plan = AnyPlan::new_blocking(queue, matrix, options)?;
        let workspace = plan.workspace_blocking(queue)?;
        // What they began and did not wait for belongs to it.
        queue.finish_blocking()?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
        drop(workspace);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
