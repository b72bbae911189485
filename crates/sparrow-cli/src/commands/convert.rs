//! `sparrow bench --op convert`: conversions of formats on the device.

use csr_core::generate::{scattered_entries, shuffled};
use csr_core::{Coo, Csr, Value, ValueType};
use sparrow::{Device, Queue, Rates};
use sparrow_bench::{Budget, Making, Origin, Record, measure_conversions};

use super::bench::{inputs, progress_bar, report};
use super::load;
use crate::arguments::{Algorithms, Bench, Global};
use crate::failure::Failure;
use crate::target::queue_on;

/// Rows of the entries that are made where no matrix is named, and entries of each in the mean.
const ROWS: f64 = 500_000.0;
const ENTRIES_PER_ROW: usize = 10;

pub(super) fn run(global: &Global, arguments: &Bench) -> Result<(), Failure> {
    let devices = match global.device.as_deref() {
        None => vec![Device::best()?],
        Some("host") => {
            return Err(Failure::input("--op convert takes OpenCL devices, and host is none"));
        }
        Some("all") => sparrow::find_devices("all")?,
        Some(text) => vec![sparrow::find_device(text)?],
    };
    if !matches!(arguments.algorithms, Algorithms::Auto | Algorithms::All) {
        return Err(Failure::input("--op convert runs all conversions: leave --algorithms out"));
    }
    if arguments.cold {
        return Err(Failure::input("--op convert has no cold runs: leave --cold out"));
    }
    if arguments.html.is_some() || arguments.sweep.is_some() || arguments.hetero {
        let text =
            "--op convert has no report, sweep or shares: leave --html, --sweep and --hetero out";
        return Err(Failure::input(text));
    }
    let mut benchers = Vec::new();
    for device in &devices {
        let queue = queue_on(device)?;
        let rates = Rates::measure_blocking(&queue)?;
        benchers.push((queue, rates));
    }
    let making: Making = arguments.making.into();
    let mut bench = ConvertBench { arguments, benchers, records: Vec::new() };
    if arguments.matrices.is_empty() && arguments.suite.is_none() {
        let rows = (ROWS * making.scale).round().max(1.0) as usize;
        let entries = scattered_entries(rows, rows, rows * ENTRIES_PER_ROW, making.seed)?;
        let origin = Origin { name: "scattered".to_owned(), source: "assembled", making };
        bench.all_types(&entries, &origin)?;
    } else {
        let inputs = inputs(arguments, csr_core::generate::Suite::Quick)?;
        let bar = progress_bar(inputs.len());
        for input in &inputs {
            bar.set_message(input.name());
            let matrix: Csr<f64, u64> = load(input, making)?;
            let origin = Origin { name: input.name(), source: input.source(), making };
            bench.all_types(&shuffled(&matrix.to_coo(), making.seed), &origin)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    report(global, arguments, &bench.records)
}

struct ConvertBench<'a> {
    arguments: &'a Bench,
    benchers: Vec<(Queue, Rates)>,
    records: Vec<Record>,
}

impl ConvertBench<'_> {
    fn all_types(&mut self, entries: &Coo<f64>, origin: &Origin) -> Result<(), Failure> {
        for value_type in self.arguments.value_type.clone() {
            match value_type {
                ValueType::F64 => self.one_type(entries.clone(), origin)?,
                ValueType::F32 => self.one_type::<f32>(entries.map_values(), origin)?,
                ValueType::F16 => self.one_type::<csr_core::f16>(entries.map_values(), origin)?,
                ValueType::Bf16 => self.one_type::<csr_core::bf16>(entries.map_values(), origin)?,
            }
        }
        Ok(())
    }

    fn one_type<V: Value>(&mut self, entries: Coo<V>, origin: &Origin) -> Result<(), Failure> {
        for (queue, rates) in &self.benchers {
            let budget = Budget::default();
            let entries = entries.clone();
            // The device sorts at most 2^32 - 1 entries, which 32-bit offsets count.
            self.records
                .extend(measure_conversions::<V, u32>(queue, entries, origin, budget, rates)?);
        }
        Ok(())
    }
}
