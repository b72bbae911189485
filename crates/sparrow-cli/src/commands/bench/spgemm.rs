//! `sparrow bench spgemm`: products of sparse matrices with themselves.

use csr_core::generate::Suite;
use csr_core::{AnyCsrView, for_pattern};
use sparrow::{Queue, Rates, SpgemmOptions};
use sparrow_bench::figures::Work;
use sparrow_bench::{Budget, Input, Origin, counted, measure_spgemm};

use super::paced::{self, Paced, inputs_jobs};
use super::{Results, inputs, with_rates};
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
    let (matrices, value_types) = (&arguments.matrices, &arguments.values.value_type);
    let inputs: Vec<Input> = inputs(matrices, Suite::Quick)?;
    // There is no vector that it could be of.
    check_making(&[("--seed", matrices.generator().seed.is_some())], &inputs)?;
    let mut paced = Paced::new(matrices.budget(), devices.first(), results);
    // How many products of nonzeros there are is not known before the matrix is there.
    let each = devices.len() * value_types.len();
    let generator = paced.making_of(matrices.generator(), &inputs, each);
    let what = paced::in_words("spgemm", &counted(inputs.len(), "matrix"), generator);
    let jobs = inputs_jobs(&inputs, generator.scale, each);
    paced.announce(&what, &jobs);
    let benchers = with_rates(&devices, arguments.shown.measure, results)?;
    paced.each(&jobs, |paced, input| {
        let read = load_compact(input, generator, matrices.reading);
        let Some(matrix) = paced.read(read)? else { return Ok(()) };
        let origin = Origin { name: input.name(), source: input.source(), generator };
        for (queue, rates) in &benchers {
            let bench = SpgemmBench { arguments, queue, rates, origin: &origin, results };
            for &value_type in value_types {
                let work = matrix.with_value_type(value_type, |a| Ok::<_, Failure>(work(a)))?;
                if paced.has_time_for(format_args!("{} as {value_type}", origin.name), &work) {
                    matrix.with_value_type(value_type, |a| bench.one_type(a))?;
                }
            }
        }
        Ok(())
    })
}

/// What A A takes, which is timed whole, counted and filled, each by as many products of nonzeros as there are.
fn work(a: AnyCsrView<'_>) -> Work {
    const TIMED: usize = 3;
    let products = for_pattern!(a.pattern(), pattern => {
        let is_square = pattern.rows() == pattern.cols();
        let columns = if is_square { pattern.columns() } else { &[] };
        columns.iter().map(|&column| pattern.row_len(column as usize) as u64).sum()
    });
    Work { oracles: 1, ..Work::of_results(products, TIMED, false) }
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
