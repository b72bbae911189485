//! `sparrow bench --op spmm`: products with a dense matrix.

use csr_core::generate::Suite;
use csr_core::{Csr, Offset, Value, ValueType, bf16, f16};
use sparrow::{Device, Queue, Rates, SpmmAlgorithm};
use sparrow_bench::{Budget, Making, Origin, Record, SpmmSubject, measure_spmm};

use super::bench::{inputs, narrow, progress_bar, report};
use super::load;
use crate::arguments::{Algorithms, Bench, Global};
use crate::failure::Failure;
use crate::target::queue_on;

pub(super) fn run(global: &Global, arguments: &Bench) -> Result<(), Failure> {
    let devices = match global.device.as_deref() {
        None => vec![Device::best()?],
        Some("host") => {
            return Err(Failure::input("--op spmm takes OpenCL devices, and host is none"));
        }
        Some("all") => sparrow::find_devices("all")?,
        Some(text) => vec![sparrow::find_device(text)?],
    };
    if arguments.cold {
        return Err(Failure::input("--op spmm has no cold runs: leave --cold out"));
    }
    let algorithms = match &arguments.algorithms {
        Algorithms::Auto => vec![None],
        Algorithms::All => std::iter::once(None).chain(SpmmAlgorithm::ALL.map(Some)).collect(),
        Algorithms::Spmm(algorithms) => algorithms.iter().copied().map(Some).collect(),
        Algorithms::These(_) | Algorithms::Batched(_) => {
            let names = SpmmAlgorithm::ALL.map(SpmmAlgorithm::name).join(", ");
            return Err(Failure::input(format!(
                "--op spmm takes --algorithms auto, all, or of {names}"
            )));
        }
    };
    let inputs = inputs(arguments, Suite::Quick)?;
    let mut benchers = Vec::new();
    for device in &devices {
        let queue = queue_on(device)?;
        let rates = Rates::measure_blocking(&queue)?;
        benchers.push((queue, rates));
    }
    let making: Making = arguments.making.into();
    let bar = progress_bar(inputs.len());
    let mut bench = SpmmBench { arguments, algorithms, benchers, records: Vec::new() };
    for input in &inputs {
        bar.set_message(input.name());
        let matrix: Csr<f64, u64> = load(input, making)?;
        let origin = Origin { name: input.name(), source: input.source(), making };
        match narrow(&matrix) {
            Some(matrix) => bench.all_types(&matrix, &origin)?,
            None => bench.all_types(&matrix, &origin)?,
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    report(global, arguments, &bench.records)
}

struct SpmmBench<'a> {
    arguments: &'a Bench,
    algorithms: Vec<Option<SpmmAlgorithm>>,
    benchers: Vec<(Queue, Rates)>,
    records: Vec<Record>,
}

impl SpmmBench<'_> {
    fn all_types<O: Offset>(
        &mut self,
        matrix: &Csr<f64, O>,
        origin: &Origin,
    ) -> Result<(), Failure> {
        for value_type in self.arguments.value_type.clone() {
            match value_type {
                ValueType::F64 => self.one_type(matrix, origin)?,
                ValueType::F32 => self.one_type(&matrix.map_values::<f32>(), origin)?,
                ValueType::F16 => self.one_type(&matrix.map_values::<f16>(), origin)?,
                ValueType::Bf16 => self.one_type(&matrix.map_values::<bf16>(), origin)?,
            }
        }
        Ok(())
    }

    fn one_type<V: Value, O: Offset>(
        &mut self,
        matrix: &Csr<V, O>,
        origin: &Origin,
    ) -> Result<(), Failure> {
        let arguments = self.arguments;
        for (queue, rates) in &self.benchers {
            for &columns in &arguments.columns {
                let subject = SpmmSubject {
                    algorithms: self.algorithms.clone(),
                    columns,
                    layout_b: arguments.layout_b.into(),
                    layout_c: arguments.layout_c.into(),
                    parameters: arguments
                        .parameters
                        .iter()
                        .flat_map(|list| list.0.clone())
                        .collect(),
                    budget: Budget::default(),
                };
                self.records.extend(measure_spmm(queue, matrix, origin, &subject, rates)?);
            }
        }
        Ok(())
    }
}
