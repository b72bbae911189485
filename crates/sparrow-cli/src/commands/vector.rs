//! `sparrow bench --op vector`: operations on dense vectors.

use csr_core::ValueType;
use sparrow::{Device, Rates};
use sparrow_bench::{Budget, VectorSubject, is_vector_type, measure_vectors};

use super::bench::{progress_bar, report};
use crate::arguments::{Algorithms, Bench, Global};
use crate::failure::Failure;
use crate::target::queue_on;

/// Elements of the vectors: what a launch takes, what a small solver has, what streams from memory.
const LENGTHS: [usize; 3] = [1_000, 100_000, 10_000_000];

pub(super) fn run(global: &Global, arguments: &Bench) -> Result<(), Failure> {
    let devices = match global.device.as_deref() {
        None => vec![Device::best()?],
        Some("host") => {
            return Err(Failure::input("--op vector takes OpenCL devices, and host is none"));
        }
        Some("all") => sparrow::find_devices("all")?,
        Some(text) => vec![sparrow::find_device(text)?],
    };
    let refusals = [
        (!arguments.matrices.is_empty() || arguments.suite.is_some(), "no matrix"),
        (arguments.algorithms != Algorithms::Auto, "no algorithms to choose from"),
        (arguments.cold, "no cold runs"),
        (arguments.html.is_some(), "no HTML report"),
    ];
    if let Some((_, lacks)) = refusals.into_iter().find(|(is_given, _)| *is_given) {
        return Err(Failure::input(format!("--op vector has {lacks}: leave the option out")));
    }
    if let Some(other) = arguments.value_type.iter().find(|of| !is_vector_type(**of)) {
        return Err(Failure::input(format!("--op vector takes f32 and f64, and {other} is none")));
    }
    let bar = progress_bar(devices.len() * arguments.value_type.len() * LENGTHS.len());
    let mut records = Vec::new();
    for device in &devices {
        let queue = queue_on(device)?;
        let rates = Rates::measure_blocking(&queue)?;
        for elements in LENGTHS {
            for value_type in &arguments.value_type {
                bar.set_message(format!("{elements} elements, {value_type}"));
                let subject = VectorSubject {
                    elements,
                    accumulate: arguments.accumulate,
                    parameters: arguments
                        .parameters
                        .iter()
                        .flat_map(|list| list.0.clone())
                        .collect(),
                    seed: arguments.making.seed,
                    budget: Budget::default(),
                };
                records.extend(match value_type {
                    ValueType::F64 => measure_vectors::<f64>(&queue, &subject, &rates)?,
                    _ => measure_vectors::<f32>(&queue, &subject, &rates)?,
                });
                bar.inc(1);
            }
        }
    }
    bar.finish_and_clear();
    report(global, arguments, &records)
}
