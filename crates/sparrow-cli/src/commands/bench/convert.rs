//! `sparrow bench convert`: conversions of formats on the device.

use csr_core::generate::{Suite, scattered_entries, shuffled};
use csr_core::{Coo, RealValue, for_value_type};
use sparrow::{Queue, Rates};
use sparrow_bench::figures::Work;
use sparrow_bench::{Budget, Origin, counted, measure_conversions};

use super::paced::{self, Paced, Piece, inputs_pieces};
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
        let making = paced.making(matrices.making(), |scale| vec![work(scale)]);
        let count = entries(making.scale);
        let scattered = counted(count, "entry");
        hint_of_default(format_args!("a matrix of {scattered} in no order"));
        let name = "scattered".to_owned();
        let piece = Piece { name, work: work(making.scale), of: count };
        let pieces = [piece];
        paced.announce(&paced::in_words("convert", &scattered, making), &pieces);
        let bench = ConvertBench { arguments, benchers: measured()?, results };
        return paced.each(&pieces, |paced, &count| {
            let rows = count / ENTRIES_PER_ROW;
            let entries = scattered_entries(rows, rows, count, making.seed)?;
            let origin = Origin { name: "scattered".to_owned(), source: "assembled", making };
            bench.all_types(&entries, &origin, paced)
        });
    }
    let inputs = inputs(matrices, Suite::Quick)?;
    let making = paced.making_of(matrices.making(), &inputs, each);
    let what = paced::in_words("convert", &counted(inputs.len(), "matrix"), making);
    let pieces = inputs_pieces(&inputs, making.scale, each);
    paced.announce(&what, &pieces);
    let bench = ConvertBench { arguments, benchers: measured()?, results };
    paced.each(&pieces, |paced, input| {
        let reading = matrices.reading;
        let Some(read) = paced.read(load(input, making, reading))? else { return Ok(()) };
        let ReadMatrix { matrix, is_integer } = read;
        for &value_type in &arguments.values.value_type {
            let parts = (matrix.view().pattern(), matrix.values());
            check_matrix(&input.name(), parts, is_integer, value_type, reading)?;
        }
        let origin = Origin { name: input.name(), source: input.source(), making };
        bench.all_types(&shuffled(&matrix.to_coo(), making.seed), &origin, paced)
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
