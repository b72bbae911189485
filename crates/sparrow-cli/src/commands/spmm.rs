//! `sparrow bench --op spmm`: products with a dense matrix.

use csr_core::generate::{Suite, even_matrix};
use csr_core::{Csr, Layout, Offset, Value, ValueType, bf16, f16};
use sparrow::{Device, Queue, Rates, SpmmAlgorithm};
use sparrow_bench::{Budget, Input, Making, Origin, Record, SpmmSubject, measure_spmm};

use super::bench::{inputs, narrow, progress_bar, report};
use super::load;
use crate::arguments::{Algorithms, Bench, Global, Sweep};
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
    let is_row_major = [arguments.layout_b, arguments.layout_c]
        .into_iter()
        .all(|layout| Layout::from(layout) == Layout::RowMajor);
    if arguments.sweep == Some(Sweep::Density) && !is_row_major {
        let text = "--sweep density measures a dense product beside, which is row-major: leave the layouts out";
        return Err(Failure::input(text));
    }
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
    let making: Making = arguments.making.into();
    let cases = cases(arguments, making)?;
    let mut benchers = Vec::new();
    for device in &devices {
        let queue = queue_on(device)?;
        let rates = Rates::measure_blocking(&queue)?;
        benchers.push((queue, rates));
    }
    let bar = progress_bar(cases.len());
    let mut bench = SpmmBench { arguments, algorithms, benchers, records: Vec::new() };
    for case in &cases {
        bar.set_message(case.name());
        let matrix: Csr<f64, u64> = case.load(making)?;
        let origin = Origin { name: case.name(), source: case.source(), making };
        match narrow(&matrix) {
            Some(matrix) => bench.all_types(&matrix, &origin)?,
            None => bench.all_types(&matrix, &origin)?,
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    report(global, arguments, &bench.records)
}

/// What A is.
enum Case {
    /// A file or a class.
    Input(Input),
    /// Of a sweep: rows, columns, nonzeros of each row.
    Even { name: String, rows: usize, cols: usize, length: usize },
}

impl Case {
    fn name(&self) -> String {
        match self {
            Case::Input(input) => input.name(),
            Case::Even { name, .. } => name.clone(),
        }
    }

    fn source(&self) -> &'static str {
        match self {
            Case::Input(input) => input.source(),
            Case::Even { .. } => "assembled",
        }
    }

    fn load(&self, making: Making) -> Result<Csr<f64, u64>, Failure> {
        match self {
            Case::Input(input) => load(input, making),
            Case::Even { rows, cols, length, .. } => {
                Ok(even_matrix(*rows, *cols, *length, making.seed)?)
            }
        }
    }
}

/// log2 of the nonzeros of the sweep over the aspect ratio, as published: 2 x 8.3 million to 8.3 million x 2.
const ASPECT_NONZEROS: f64 = 24.0;
/// The order in the sweep over density, and nonzeros of each row in ten thousands of it.
const DENSITY_ORDER: f64 = 100_000.0;
const DENSITIES: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];

fn cases(arguments: &Bench, making: Making) -> Result<Vec<Case>, Failure> {
    match arguments.sweep {
        None => {
            let inputs = inputs(arguments, Suite::Quick)?;
            Ok(inputs.into_iter().map(Case::Input).collect())
        }
        Some(Sweep::Aspect) => {
            let log = (ASPECT_NONZEROS + making.scale.log2()).round().clamp(2.0, 31.0) as u32;
            let even = |log_rows: u32| {
                let (rows, cols) = (1usize << log_rows, 1usize << (log - log_rows));
                Case::Even { name: format!("full {rows} x {cols}"), rows, cols, length: cols }
            };
            Ok((1..log).step_by(2).map(even).collect())
        }
        Some(Sweep::Density) => {
            let order = (DENSITY_ORDER * making.scale).round().max(1.0) as usize;
            let even = |density: usize| {
                let length = (order * density).div_ceil(10_000);
                let name = format!("{:.2}% of {order} x {order}", density as f64 / 100.0);
                Case::Even { name, rows: order, cols: order, length }
            };
            Ok(DENSITIES.into_iter().map(even).collect())
        }
    }
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
                    beside_dense: arguments.sweep == Some(Sweep::Density),
                    budget: Budget::default(),
                };
                self.records.extend(measure_spmm(queue, matrix, origin, &subject, rates)?);
            }
        }
        Ok(())
    }
}
