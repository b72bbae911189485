//! Hyper-parameters fitted to devices smaller than any at hand compute what is right on the one that is.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test panics when its claim is broken, and says what it was about to try"
)]

use conformance::{Fixture, Parts, queue};
use sparrow::{
    Accumulate, Algorithm, DeviceTraits, DeviceType, Fit, PlanOptions, Queue, RealValue,
};

/// Products with what every algorithm takes on a device of such groups and so much local memory.
fn check<V: RealValue>(
    queue: &Queue,
    (max_group_size, local_bytes): (u64, u64),
    accumulate: Accumulate,
    (parts, first): (&mut Parts, usize),
) {
    let own = queue.context().device().traits();
    let small = DeviceTraits { max_group_size, local_bytes, ..own.clone() };
    let fixture = Fixture::<V>::new(queue, 3);
    for (number, algorithm) in Algorithm::ALL.into_iter().enumerate() {
        if algorithm.spec().is_for_cpus && own.device_type != DeviceType::Cpu {
            continue;
        }
        let mean_row = fixture.a.shape().mean_row();
        let fit = Fit { device: &small, value_type: V::TYPE, accumulate, mean_row };
        // In groups of a few items its kernels take long to compile; masked.rs has them.
        let is_slow = algorithm == Algorithm::SegmentedSum && max_group_size < 4;
        if algorithm.spec().check_device(&fit).is_err() || is_slow {
            continue;
        }
        if !parts.takes(first + number) {
            continue;
        }
        let fitted = algorithm.default_parameters(&fit);
        let entries = fitted.entries().iter();
        let options = PlanOptions {
            algorithm: Some(algorithm),
            variant: algorithm.spec().default_variant,
            accumulate,
            parameters: entries.map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            ..PlanOptions::default()
        };
        // Shown where one is wrong.
        println!("{algorithm}({fitted}) {} {accumulate}", V::TYPE);
        let (plan, mut workspace) = fixture.plan(queue, &options);
        let mut y = fixture.poisoned_y(queue);
        fixture.launch(queue, (&plan, &mut workspace), &mut y, &[]).unwrap().wait().unwrap();
        fixture.check(&y.read_blocking(queue).unwrap(), accumulate);
    }
}

#[test]
fn what_fits_a_small_device_is_right() {
    let queue = queue();
    let has_f64 = queue.context().device().traits().has_f64;
    let (plain, compensated) = (Accumulate::Plain, Accumulate::Compensated);
    let mut parts = Parts::of("algorithms fitted to a small device");
    let all = [((1, 32 << 10), compensated, plain), ((8, 1 << 10), plain, compensated)];
    for (number, (limits, of_f32, of_f64)) in all.into_iter().enumerate() {
        check::<f32>(&queue, limits, of_f32, (&mut parts, number));
        if has_f64 {
            check::<f64>(&queue, limits, of_f64, (&mut parts, number + 1));
        }
    }
}
