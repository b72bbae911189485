//! Many products by one call, compared with products that are launched one by one, and launches with nothing to do.

use std::time::Instant;

use csr_core::verify::Oracle;
use csr_core::{AnyCsrView, AnyVector};
use sparrow::{AnyRecording, Buffers, EmptyLaunch, NoEvent, PlanOptions, Queue, Replay, Variant};

use super::device::{Instance, options_of};
use super::{MeasureError, Origin, Samples, Subject, summation};
use crate::Record;
use crate::record::{Details, LaunchesRecord};

/// Times the host's part is taken; the least counts.
const HOST_TIMES: usize = 9;

/// What repeats the product `products` times in the queue.
type Repeat<'a> = &'a mut dyn FnMut() -> Result<(), MeasureError>;

/// Adds to `record`, which measured `subject` on `matrix`, the time of a product where `products` of them are launched one
/// by one, replayed launch by launch, and replayed by a command buffer, and that of a launch with nothing to do; measured
/// in turn, and each product verified first.
///
/// # Errors
/// The device or the library refuses.
pub fn add_launches(
    queue: &Queue,
    matrix: AnyCsrView<'_>,
    origin: &Origin,
    subject: &Subject,
    products: u32,
    record: &mut Record,
) -> Result<(), MeasureError> {
    // What has no time is wrong; and where the CPU is in each product, none can be recorded.
    if record.median_us.is_none() || record.variant == Variant::Cpu.name() {
        return Ok(());
    }
    let Details::Spmv(details) = &record.details else { return Ok(()) };
    // What ran, should it have been chosen.
    let choice = details.choice.as_deref().and_then(|text| text.parse().ok());
    let options = PlanOptions { choice, ..options_of(subject) };
    let x = AnyVector::random(matrix.value_type(), origin.generator.seed, matrix.pattern().cols())?;
    let mut instance = Instance::new(queue, matrix, &x, &options)?;
    let mut kernels = instance.record(queue, products, Replay::Launches)?;
    let (mut buffer, reason) = match instance.record(queue, products, Replay::CommandBuffer) {
        Ok(buffer) => (Some(buffer), None),
        Err(error) if error.is_refusal() => (None, Some(error.to_string())),
        Err(error) => return Err(error),
    };
    let oracle = Oracle::of_any(matrix, &x)?;
    for recording in [Some(&mut kernels), buffer.as_mut()].into_iter().flatten() {
        instance.poison_blocking(queue)?;
        instance.replay(recording)?;
        let y = instance.y_blocking(queue, options.order)?;
        if !oracle.verify_any(&y, summation(subject.accumulate))?.passed() {
            take_times(record);
            return Ok(());
        }
    }
    // Each contender has the plan to itself while it runs.
    let instance = std::cell::RefCell::new(instance);
    let mut one_by_one = || (0..products).try_for_each(|_| instance.borrow_mut().launch(queue));
    let mut in_a_row = || instance.borrow().replay(&mut kernels);
    let mut launch = EmptyLaunch::new_blocking(queue, Buffers::One)?;
    let mut empty = || (0..products).try_for_each(|_| Ok(launch.launch(queue)?));
    let finish = || Ok(queue.finish_blocking()?);
    let (mut each, mut host) = ([None; 4], [None; 4]);
    let per_product = |us: f64| us / f64::from(products.max(1));
    let mut take = |samples: &[Samples]| {
        for (each, samples) in each.iter_mut().zip(samples) {
            *each = Some(per_product(samples.median_us()));
        }
    };
    let host_of = |repeat: Repeat<'_>| -> Result<Option<f64>, MeasureError> {
        Ok(Some(per_product(host_us(queue, repeat)?)))
    };
    match &mut buffer {
        Some(buffer) => {
            let mut by_buffer = || instance.borrow().replay(buffer);
            let contenders: [Repeat<'_>; 4] =
                [&mut one_by_one, &mut in_a_row, &mut empty, &mut by_buffer];
            take(&Samples::take_in_turn(&subject.budget, contenders, finish)?);
            host[3] = host_of(&mut by_buffer)?;
        }
        None => {
            let contenders: [Repeat<'_>; 3] = [&mut one_by_one, &mut in_a_row, &mut empty];
            take(&Samples::take_in_turn(&subject.budget, contenders, finish)?);
        }
    }
    host[0] = host_of(&mut one_by_one)?;
    host[1] = host_of(&mut in_a_row)?;
    host[2] = host_of(&mut empty)?;
    let found = LaunchesRecord {
        launches: products,
        one_by_one_us: each[0],
        recorded_us: each[1],
        empty_us: each[2],
        command_buffer_us: each[3],
        one_by_one_host_us: host[0],
        recorded_host_us: host[1],
        empty_host_us: host[2],
        command_buffer_host_us: host[3],
        no_command_buffer: reason,
    };
    if let Details::Spmv(details) = &mut record.details {
        details.launches = Some(Box::new(found));
    }
    Ok(())
}

/// A wrong result has no time.
fn take_times(record: &mut Record) {
    record.verified = false;
    let times = [
        &mut record.median_us,
        &mut record.min_us,
        &mut record.p95_us,
        &mut record.gflops,
        &mut record.gbytes_per_s,
        &mut record.limit_us,
        &mut record.limit_fraction,
        &mut record.setup_us,
        &mut record.setup_in_products,
    ];
    times.into_iter().for_each(|time| *time = None);
}

/// Microseconds until all are enqueued in a queue that was empty: the host's part, where that does not wait for the device.
fn host_us(queue: &Queue, repeat: Repeat<'_>) -> Result<f64, MeasureError> {
    let mut least = f64::INFINITY;
    for _ in 0..HOST_TIMES {
        queue.finish_blocking()?;
        let start = Instant::now();
        repeat()?;
        least = least.min(start.elapsed().as_secs_f64() * 1e6);
    }
    queue.finish_blocking()?;
    Ok(least)
}

impl Instance {
    /// y = A x as many times, recorded.
    fn record(
        &mut self,
        queue: &Queue,
        products: u32,
        replay: Replay,
    ) -> Result<AnyRecording, MeasureError> {
        let mut recorder = self.plan.recorder_blocking(queue)?;
        for _ in 0..products {
            let product = super::device::product(&self.matrix, &self.x, &mut self.y);
            recorder.product(product)?;
        }
        Ok(recorder.finish_blocking(replay)?)
    }

    fn replay(&self, recording: &mut AnyRecording) -> Result<(), MeasureError> {
        Ok(self.plan.launch_many(recording, &self.matrix, 1, NoEvent)?)
    }

    /// Fills y with NaN.
    fn poison_blocking(&mut self, queue: &Queue) -> Result<(), MeasureError> {
        let poison = AnyVector::filled(self.matrix.value_type(), f64::NAN, self.y.len());
        Ok(self.y.write_bytes_blocking(queue, poison.bytes())?)
    }
}
