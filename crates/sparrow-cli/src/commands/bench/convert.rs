//! `sparrow bench convert`: conversions of formats on the device.

use csr_core::generate::{Suite, scattered_entries, shuffled};
use csr_core::{Coo, RealValue, for_value_type};
use sparrow::{Queue, Rates};
use sparrow_bench::{Budget, Making, Origin, counted, measure_conversions};

use super::{Results, hint_of_default, inputs, progress_bar, with_rates};
use crate::arguments::{BenchConvert, Global};
use crate::commands::{ReadMatrix, check_matrix, load};
use crate::failure::Failure;
use crate::target::devices;

/// Rows of the entries that are made where no matrix is named, and entries of each in the mean.
const ROWS: f64 = 500_000.0;
const ENTRIES_PER_ROW: usize = 10;

pub(super) fn run(
    global: &Global,
    arguments: &BenchConvert,
    results: &Results,
) -> Result<(), Failure> {
    let devices = devices(global, "bench convert")?;
    let benchers = with_rates(&devices, arguments.shown.measure, results)?;
    let making: Making = arguments.matrices.making.into();
    let bench = ConvertBench { arguments, benchers, results };
    if !arguments.matrices.are_named() {
        let rows = (ROWS * making.scale).round().max(1.0) as usize;
        let scattered = counted(rows * ENTRIES_PER_ROW, "entry");
        hint_of_default(format_args!("a matrix of {scattered} in no order"));
        let entries = scattered_entries(rows, rows, rows * ENTRIES_PER_ROW, making.seed)?;
        let origin = Origin { name: "scattered".to_owned(), source: "assembled", making };
        bench.all_types(&entries, &origin)?;
    } else {
        let inputs = inputs(&arguments.matrices, Suite::Quick)?;
        let bar = progress_bar(inputs.len());
        for input in &inputs {
            bar.set_message(input.name());
            let reading = arguments.matrices.reading;
            let ReadMatrix { matrix, is_integer } = load(input, making, reading)?;
            for &value_type in &arguments.values.value_type {
                let parts = (matrix.view().pattern(), matrix.values());
                check_matrix(&input.name(), parts, is_integer, value_type, reading)?;
            }
            let origin = Origin { name: input.name(), source: input.source(), making };
            bench.all_types(&shuffled(&matrix.to_coo(), making.seed), &origin)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    Ok(())
}

struct ConvertBench<'a> {
    arguments: &'a BenchConvert,
    benchers: Vec<(Queue, Rates)>,
    results: &'a Results,
}

impl ConvertBench<'_> {
    fn all_types(&self, entries: &Coo<f64>, origin: &Origin) -> Result<(), Failure> {
        for &value_type in &self.arguments.values.value_type {
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
