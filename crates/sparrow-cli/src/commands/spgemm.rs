//! `sparrow bench --op spgemm`: products of sparse matrices with themselves.

use csr_core::generate::Suite;
use csr_core::{Accumulator, Csr, Offset, ValueType};
use sparrow::{Device, Queue, Rates, SpgemmOptions};
use sparrow_bench::{Budget, Input, Making, Origin, Record, measure_spgemm};

use super::bench::{inputs, narrow, progress_bar, report};
use super::load;
use crate::arguments::{Algorithms, Bench, Global};
use crate::failure::Failure;
use crate::target::queue_on;

pub(super) fn run(global: &Global, arguments: &Bench) -> Result<(), Failure> {
    let devices = match global.device.as_deref() {
        None => vec![Device::best()?],
        Some("host") => {
            return Err(Failure::input("--op spgemm takes OpenCL devices, and host is none"));
        }
        Some("all") => sparrow::find_devices("all")?,
        Some(text) => vec![sparrow::find_device(text)?],
    };
    if arguments.cold || arguments.sweep.is_some() {
        return Err(Failure::input("--op spgemm has no cold runs and no sweeps"));
    }
    if !matches!(arguments.algorithms, Algorithms::Auto | Algorithms::All) {
        return Err(Failure::input("--op spgemm is one algorithm: leave --algorithms out"));
    }
    if let Some(other) = arguments.value_type.iter().find(|one| one.accumulator() != **one) {
        let text = format!("{other} is not multiplied: --op spgemm takes f32 and f64");
        return Err(Failure::input(text));
    }
    let making: Making = arguments.making.into();
    let inputs: Vec<Input> = inputs(arguments, Suite::Quick)?;
    let mut benchers = Vec::new();
    for device in &devices {
        let queue = queue_on(device)?;
        let rates = Rates::measure_blocking(&queue)?;
        benchers.push((queue, rates));
    }
    let bar = progress_bar(inputs.len());
    let mut records = Vec::new();
    for input in &inputs {
        bar.set_message(input.name());
        let matrix: Csr<f64, u64> = load(input, making)?;
        let origin = Origin { name: input.name(), source: input.source(), making };
        for (queue, rates) in &benchers {
            let mut bench =
                SpgemmBench { arguments, queue, rates, origin: &origin, records: &mut records };
            let left_out = match narrow(&matrix) {
                Some(matrix) => bench.all_types(&matrix)?,
                None => bench.all_types(&matrix)?,
            };
            for reason in left_out {
                bar.println(format!("{}: left out, {reason}", input.name()));
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    report(global, arguments, &records)
}

struct SpgemmBench<'a> {
    arguments: &'a Bench,
    queue: &'a Queue,
    rates: &'a Rates,
    origin: &'a Origin,
    records: &'a mut Vec<Record>,
}

impl SpgemmBench<'_> {
    /// Why value types were left out.
    fn all_types<O: Offset>(&mut self, matrix: &Csr<f64, O>) -> Result<Vec<String>, Failure> {
        let mut left_out = Vec::new();
        for value_type in &self.arguments.value_type {
            left_out.extend(match value_type {
                ValueType::F32 => self.one_type(&matrix.map_values::<f32>())?,
                _ => self.one_type(matrix)?,
            });
        }
        Ok(left_out)
    }

    /// Why it was left out, where it was: A is not square, or the device cannot hold C.
    fn one_type<V: Accumulator, O: Offset>(
        &mut self,
        matrix: &Csr<V, O>,
    ) -> Result<Option<String>, Failure> {
        let parameters = self.arguments.parameters.iter().flat_map(|list| list.0.clone());
        let options =
            SpgemmOptions { parameters: parameters.collect(), ..SpgemmOptions::default() };
        let (budget, rates) = (Budget::default(), self.rates);
        use sparrow::RuntimeError as E;
        match measure_spgemm(self.queue, matrix, self.origin, &options, &budget, rates) {
            Ok(Some(record)) => self.records.push(record),
            Ok(None) => return Ok(Some("it is not square".to_owned())),
            Err(sparrow_bench::MeasureError::Sparrow(sparrow::Error::Runtime(
                error @ (E::Allocation { .. } | E::Range { .. }),
            ))) => return Ok(Some(error.to_string())),
            Err(error) => return Err(error.into()),
        }
        Ok(None)
    }
}
