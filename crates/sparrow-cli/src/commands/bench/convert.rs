//! `sparrow bench convert`: conversions of formats on the device.

use csr_core::generate::{Suite, scattered_entries, shuffled};
use csr_core::{Coo, RealValue, for_value_type};
use sparrow::{Queue, Rates};
use sparrow_bench::figures::Work;
use sparrow_bench::{Budget, Origin, counted, measure_conversions};

use super::paced::{self, Job, Paced, inputs_jobs};
use super::{Results, hint_of_default, inputs, with_rates};
use crate::arguments::{BenchConvert, Global};
use crate::commands::{ReadMatrix, check_matrix, load};
use crate::failure::Failure;
use crate::target::devices;

/// Rows of the entries that are made where no matrix is named, and entries of each in the mean.
const ROWS: f64 = 500_000.0;
const ENTRIES_PER_ROW: usize = 10;

/// Conversions of a matrix that are timed.
const CONVERSIONS: usize = 4;

pub(super) fn run(
    global: &Global,
    arguments: &BenchConvert,
    results: &Results,
) -> Result<(), Failure> {
    let devices = devices(global, "bench convert")?;
    let matrices = &arguments.matrices;
    let mut paced = Paced::new(matrices.budget(), devices.first(), results);
    let measured = || with_rates(&devices, arguments.shown.measure, results);
    let each = CONVERSIONS * devices.len() * arguments.values.value_type.len();
    if !matrices.are_named() {
        let entries = |scale: f64| (ROWS * scale).round().max(1.0) as usize * ENTRIES_PER_ROW;
        let work = |scale| Work::of_results(entries(scale) as u64, each, true);
        let generator = paced.generator(matrices.generator(), |scale| vec![work(scale)]);
        let count = entries(generator.scale);
        let scattered = counted(count, "entry");
        hint_of_default(format_args!("a matrix of {scattered} in no order"));
        let name = "scattered".to_owned();
        let job = Job { name, work: work(generator.scale), of: count };
        let jobs = [job];
        paced.announce(&paced::in_words("convert", &scattered, generator), &jobs);
        let bench = ConvertBench { arguments, benchers: measured()?, results };
        return paced.each(&jobs, |paced, &count| {
            let rows = count / ENTRIES_PER_ROW;
            let entries = scattered_entries(rows, rows, count, generator.seed)?;
            let origin = Origin { name: "scattered".to_owned(), source: "assembled", generator };
            bench.all_types(&entries, &origin, paced)
        });
    }
    let inputs = inputs(matrices, Suite::Quick)?;
    let generator = paced.making_of(matrices.generator(), &inputs, each);
    let what = paced::in_words("convert", &counted(inputs.len(), "matrix"), generator);
    let jobs = inputs_jobs(&inputs, generator.scale, each);
    paced.announce(&what, &jobs);
    let bench = ConvertBench { arguments, benchers: measured()?, results };
    paced.each(&jobs, |paced, input| {
        let reading = matrices.reading;
        let Some(read) = paced.read(load(input, generator, reading))? else { return Ok(()) };
        let ReadMatrix { matrix, is_integer } = read;
        for &value_type in &arguments.values.value_type {
            let parts = (matrix.view().pattern(), matrix.values());
            check_matrix(&input.name(), parts, is_integer, value_type, reading)?;
        }
        let origin = Origin { name: input.name(), source: input.source(), generator };
        bench.all_types(&shuffled(&matrix.to_coo(), generator.seed), &origin, paced)
    })
}

struct ConvertBench<'a> {
    arguments: &'a BenchConvert,
    benchers: Vec<(Queue, Rates)>,
    results: &'a Results,
}

impl ConvertBench<'_> {
    fn all_types(
        &self,
        entries: &Coo<f64>,
        origin: &Origin,
        paced: &Paced<'_>,
    ) -> Result<(), Failure> {
        for &value_type in &self.arguments.values.value_type {
            if !paced.has_time_left(format_args!("{}, {value_type}", origin.name)) {
                continue;
            }
            for_value_type!(value_type, V => self.one_type::<V>(&entries.map_values(), origin)?);
        }
        Ok(())
    }

    fn one_type<V: RealValue>(&self, entries: &Coo<V>, origin: &Origin) -> Result<(), Failure> {
        for (queue, rates) in &self.benchers {
            let (entries, budget) = (entries.clone(), Budget::default());
            let (records, left_out) = measure_conversions(queue, entries, origin, budget, rates)?;
            self.results.extend(records)?;
            if let Some(reason) = left_out {
                self.results.leave_out(format!("{}: left out, {reason}", origin.name));
            }
        }
        Ok(())
    }
}
