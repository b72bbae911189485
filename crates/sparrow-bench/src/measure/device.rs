//! Measuring a product on an OpenCL device.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use csr_core::verify::Oracle;
use csr_core::{Csr, Offset, Value};
use sparrow::{
    Algorithm, DeviceArray, Matrix, Plan, PlanOptions, Product, Queue, Rates, Stages, Variant,
    VectorOrder, Workspace, usual_tables,
};

use super::hetero::shared_array;
use super::{
    MeasureError, Origin, Samples, Shape, Subject, add_times, bytes_once, summation, untimed_record,
};
use crate::Record;
use crate::record::EvcHybRecord;

/// Set-ups timed, as many as fit the time; the median counts.
const SETUPS: RangeInclusive<usize> = 3..=15;
const SETUP_TIME: Duration = Duration::from_millis(100);

/// A matrix on the device with everything one launch needs; cold runs rotate over several.
pub(super) struct Instance<V: Value, O> {
    matrix: Matrix<V, O>,
    plan: Plan<V, O>,
    workspace: Workspace,
    x: DeviceArray<V::Accum>,
    y: DeviceArray<V::Accum>,
}

impl<V: Value, O: Offset> Instance<V, O> {
    pub(super) fn new(
        queue: &Queue,
        matrix: &Csr<V, O>,
        x: &[V::Accum],
        options: &PlanOptions,
    ) -> Result<Self, MeasureError> {
        // The CPU's stage goes to the arrays where they lie.
        let array = match options.variant {
            Variant::Cpu => shared_array::<V::Accum>,
            _ => |queue: &Queue, data: &[V::Accum]| Ok(DeviceArray::upload_blocking(queue, data)?),
        };
        let poison = vec![V::Accum::from_f64(f64::NAN); matrix.rows()];
        let on_device = Matrix::upload_blocking(queue, matrix.view())?;
        let plan = Plan::new_blocking(queue, &on_device, options)?;
        let x = match (options.order, plan.row_order()) {
            (VectorOrder::Symmetric, Some(rows)) => {
                let rows = rows.read_blocking(queue)?;
                let placed: Vec<_> = rows.iter().map(|&row| x[row as usize]).collect();
                array(queue, &placed)?
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
    fn y_blocking(&self, queue: &Queue, order: VectorOrder) -> Result<Vec<V::Accum>, MeasureError> {
        let y = self.y.read_blocking(queue)?;
        let Some(rows) = self.plan.row_order().filter(|_| order != VectorOrder::Original) else {
            return Ok(y);
        };
        let mut in_order = vec![V::Accum::from_f64(f64::NAN); y.len()];
        for (place, row) in rows.read_blocking(queue)?.into_iter().enumerate() {
            in_order[row as usize] = y[place];
        }
        Ok(in_order)
    }

    /// y = A x, with beta = 0, each stage timed.
    pub(super) fn launch_blocking(&mut self, queue: &Queue) -> Result<Stages, MeasureError> {
        let product = Product {
            alpha: V::Accum::from_f64(1.0).into(),
            a: &self.matrix,
            x: &self.x,
            beta: V::Accum::from_f64(0.0).into(),
            y: &mut self.y,
        };
        Ok(self.plan.launch_blocking(queue, &mut self.workspace, product, &[])?)
    }

    /// y = A x, with beta = 0.
    pub(super) fn launch(&mut self, queue: &Queue) -> Result<(), MeasureError> {
        if self.plan.variant() == Variant::Cpu.name() {
            self.launch_blocking(queue)?;
            return Ok(());
        }
        let product = Product {
            alpha: V::Accum::from_f64(1.0).into(),
            a: &self.matrix,
            x: &self.x,
            beta: V::Accum::from_f64(0.0).into(),
            y: &mut self.y,
        };
        self.plan.launch_unobserved(queue, &mut self.workspace, product)?;
        Ok(())
    }
}

/// Measures one algorithm on `matrix`: verified, with its set-up beside it.
///
/// # Errors
/// The device or the library refuses; a wrong result is a record without times.
pub fn measure_on_device<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    origin: &Origin,
    subject: &Subject,
    rates: &Rates,
) -> Result<Record, MeasureError> {
    let shape = shape_of(matrix);
    let options = options_of(subject);
    let x: Vec<V::Accum> = csr_core::random_vector(origin.making.seed, matrix.cols());
    // y held NaN before the first launch: what is verified is what was timed.
    let (instance, samples) = time(queue, matrix, &x, subject, &options)?;
    let y = instance.y_blocking(queue, options.order)?;
    let (one, zero) = (V::Accum::from_f64(1.0), V::Accum::from_f64(0.0));
    let oracle = Oracle::new(one, matrix.view(), &x, zero, &y)?;
    let found = oracle.verify(&y, summation(subject.accumulate))?;

    let plan = &instance.plan;
    let traits = queue.context().device().traits();
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
        evc_hyb: plan.evc_hyb_statistics().map(|found| EvcHybRecord {
            vector_order: options.order.to_string(),
            split_row: found.split_row as u64,
            short_elements: found.short_elements as u64,
            long_elements: found.long_elements as u64,
            padding_percent: 100.0 * found.padding,
        }),
        ..untimed_record::<V>(origin, &shape, subject)
    };
    if found.passed() {
        let setup_us = setup_us(queue, &instance.matrix, &options)?;
        add_times(&mut record, &shape, bytes_once(&shape), &samples, rates, setup_us);
    }
    Ok(record)
}

/// Times launches of one algorithm; returns what the last launch ran on, too.
pub(super) fn time<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    x: &[V::Accum],
    subject: &Subject,
    options: &PlanOptions,
) -> Result<(Instance<V, O>, Samples), MeasureError> {
    let device = queue.context().device().traits();
    let cache_bytes = usual_tables().cache_bytes(device) as usize;
    let copies = match subject.is_cold {
        true => (4 * cache_bytes).div_ceil(matrix.size_bytes().max(1)).clamp(2, 64),
        false => 1,
    };
    let mut instances = (0..copies)
        .map(|_| Instance::new(queue, matrix, x, options))
        .collect::<Result<Vec<_>, _>>()?;
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

/// The figures a product of `matrix` is judged by.
pub(super) fn shape_of<V: Value, O: Offset>(matrix: &Csr<V, O>) -> Shape {
    Shape {
        rows: matrix.rows(),
        cols: matrix.cols(),
        nnz: matrix.nnz(),
        value_type: V::TYPE,
        offset_type: O::TYPE,
    }
}

/// What a plan is asked for.
pub(super) fn options_of(subject: &Subject) -> PlanOptions {
    PlanOptions {
        algorithm: subject.algorithm,
        variant: subject.variant,
        accumulate: subject.accumulate,
        // An order of its own is EVC-HYB's alone.
        order: match subject.algorithm {
            Some(Algorithm::EvcHyb) => subject.order,
            _ => VectorOrder::Original,
        },
        products: subject.products,
        parameters: subject.parameters.clone(),
        ..PlanOptions::default()
    }
}

/// Wall time from the matrix on the device and the program built until a launch is ready.
fn setup_us<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Matrix<V, O>,
    options: &PlanOptions,
) -> Result<f64, MeasureError> {
    let begin = Instant::now();
    let mut times = Vec::with_capacity(*SETUPS.end());
    while times.len() < *SETUPS.start()
        || times.len() < *SETUPS.end() && begin.elapsed() < SETUP_TIME
    {
        let start = Instant::now();
        let plan = Plan::new_blocking(queue, matrix, options)?;
        let workspace = plan.workspace_blocking(queue)?;
        // What they began and did not wait for belongs to it.
        queue.finish_blocking()?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
        drop(workspace);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
