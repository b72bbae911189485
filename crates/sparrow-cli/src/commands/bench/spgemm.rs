//! `sparrow bench spgemm`: products of sparse matrices with themselves.

use csr_core::AnyCsrView;
use csr_core::generate::Suite;
use sparrow::{Queue, Rates, SpgemmOptions};
use sparrow_bench::{Budget, Input, Making, Origin, measure_spgemm};

use super::{Results, inputs, progress_bar, with_rates};
use crate::arguments::{BenchSpgemm, Global};
use crate::commands::{check_making, load_compact};
use crate::failure::Failure;
use crate::target::devices;

pub(super) fn run(
    global: &Global,
    arguments: &BenchSpgemm,
    results: &Results,
) -> Result<(), Failure> {
    let devices = devices(global, "bench spgemm")?;
    let making: Making = arguments.matrices.making.into();
    let inputs: Vec<Input> = inputs(&arguments.matrices, Suite::Quick)?;
    // There is no vector that it could be of.
    check_making(&[("--seed", arguments.matrices.making.seed.is_some())], &inputs)?;
    let benchers = with_rates(&devices, arguments.shown.measure)?;
    let bar = progress_bar(inputs.len());
    for input in &inputs {
        bar.set_message(input.name());
        let matrix = load_compact(input, making, arguments.matrices.reading)?;
        let origin = Origin { name: input.name(), source: input.source(), making };
        for (queue, rates) in &benchers {
            let bench = SpgemmBench { arguments, queue, rates, origin: &origin, results };
            for &value_type in &arguments.values.value_type {
                let left_out = matrix.with_value_type(value_type, |a| bench.one_type(a))?;
                if let Some(reason) = left_out {
                    results.leave_out(format!("{}: left out, {reason}", input.name()));
                }
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

struct SpgemmBench<'a> {
    arguments: &'a BenchSpgemm,
    queue: &'a Queue,
    rates: &'a Rates,
    origin: &'a Origin,
    results: &'a Results,
}

impl SpgemmBench<'_> {
    /// Why it was left out, where it was: A is not square, or the device cannot hold C.
    fn one_type(&self, matrix: AnyCsrView<'_>) -> Result<Option<String>, Failure> {
        let parameters = self.arguments.parameters.to_vec();
        let options = SpgemmOptions { parameters, ..SpgemmOptions::default() };
        let (budget, rates) = (Budget::default(), self.rates);
        use sparrow::RuntimeError as E;
        match measure_spgemm(self.queue, matrix, self.origin, &options, &budget, rates) {
            Ok(Some(record)) => self.results.push(record)?,
            Ok(None) => {
                let (rows, cols) = (matrix.pattern().rows(), matrix.pattern().cols());
                return Ok(Some(format!("it is {rows} x {cols}, and A A needs a square A")));
            }
            Err(sparrow_bench::MeasureError::Sparrow(sparrow::Error::Runtime(
                error @ (E::Allocation { .. } | E::Range { .. }),
            ))) => return Ok(Some(format!("as {}: {error}", matrix.values().value_type()))),
            Err(error) => return Err(error.into()),
        }
        Ok(None)
    }
}
