//! `sparrow bench vector`: operations on dense vectors.

use csr_core::counted;
use sparrow_bench::{Budget, VectorSubject, measure_vectors};

use super::Results;
use crate::arguments::{BenchVector, Global};
use crate::failure::Failure;
use crate::output::progress_bar;
use crate::target::{devices, queue_on};

/// Elements of the vectors: what a launch takes, what a small solver has, what streams from memory.
const LENGTHS: [usize; 3] = [1_000, 100_000, 10_000_000];

pub(super) fn run(
    global: &Global,
    arguments: &BenchVector,
    results: &Results,
) -> Result<(), Failure> {
    let devices = devices(global, "bench vector")?;
    let value_types = &arguments.values.value_type;
    let bar = progress_bar(devices.len() * value_types.len() * LENGTHS.len());
    for device in &devices {
        let queue = queue_on(device)?;
        let rates = results.rates(&queue, arguments.shown.measure)?;
        for elements in LENGTHS {
            for &value_type in value_types {
                bar.set_message(format!("{}, {value_type}", counted(elements, "element")));
                let subject = VectorSubject {
                    value_type,
                    elements,
                    accumulate: arguments.accumulate,
                    parameters: arguments.parameters.to_vec(),
                    seed: arguments.seed,
                    budget: Budget::default(),
                };
                results.extend(measure_vectors(&queue, &subject, &rates)?)?;
                bar.inc(1);
            }
        }
    }
    bar.finish_and_clear();
    Ok(())
}
