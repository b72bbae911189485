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
    let benchers = with_rates(&devices, arguments.shown.measure, results)?;
    let bar = progress_bar(inputs.len());
    for input in &inputs {
        bar.set_message(input.name());
        let matrix = load_compact(input, making, arguments.matrices.reading)?;
        let origin = Origin { name: input.name(), source: input.source(), making };
        for (queue, rates) in &benchers {
            let bench = SpgemmBench { arguments, queue, rates, origin: &origin, results };
            for &value_type in &arguments.values.value_type {
                matrix.with_value_type(value_type, |a| bench.one_type(a))?;
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
    /// It is left out where A is not square, or where the library refuses it: the device may not hold C.
    fn one_type(&self, matrix: AnyCsrView<'_>) -> Result<(), Failure> {
        let parameters = self.arguments.parameters.to_vec();
        let options = SpgemmOptions { parameters, ..SpgemmOptions::default() };
        let (budget, rates) = (Budget::default(), self.rates);
        let name = &self.origin.name;
        match measure_spgemm(self.queue, matrix, self.origin, &options, &budget, rates) {
            Ok(Some(record)) => self.results.push(record),
            Ok(None) => {
                let (rows, cols) = (matrix.pattern().rows(), matrix.pattern().cols());
                let reason = format!("it is {rows} x {cols}, and A A needs a square A");
                self.results.leave_out(format!("{name}: left out, {reason}"));
                Ok(())
            }
            Err(error) => {
                let value_type = matrix.values().value_type();
                self.results.refuse(format_args!("{name} as {value_type}"), error)
            }
        }
    }
}
