//! `sparrow bench spmm`: products with a dense matrix.

use csr_core::generate::{Suite, even_matrix};
use csr_core::{AnyCsr, AnyCsrView, Layout};
use sparrow::{Queue, Rates, SpmmAlgorithm};
use sparrow_bench::{
    Budget, Input, Making, MeasureError, Origin, SpmmResults, SpmmSubject, counted, measure_spmm,
};

use super::{Results, inputs, progress_bar, with_rates};
use crate::arguments::{BenchSpmm, Global, Reading, Sweep};
use crate::commands::{Loaded, load_compact};
use crate::failure::Failure;
use crate::target::devices;

pub(super) fn run(
    global: &Global,
    arguments: &BenchSpmm,
    results: &Results,
) -> Result<(), Failure> {
    let devices = devices(global, "bench spmm")?;
    let is_row_major = [arguments.layout_b, arguments.layout_c]
        .into_iter()
        .all(|layout| Layout::from(layout) == Layout::RowMajor);
    if arguments.sweep == Some(Sweep::Density) && !is_row_major {
        let text = "--sweep density measures a dense product beside, which is row-major: leave the layouts out";
        return Err(Failure::input(text));
    }
    let algorithms = arguments.algorithms.with_choice(&SpmmAlgorithm::ALL);
    let making: Making = arguments.matrices.making.into();
    let cases = cases(arguments, making)?;
    let benchers = with_rates(&devices, arguments.shown.measure, results)?;
    let bar = progress_bar(cases.len());
    let bench = SpmmBench { arguments, algorithms, benchers, results };
    for case in &cases {
        bar.set_message(case.name());
        let matrix = case.load(making, arguments.matrices.reading)?;
        let origin = Origin { name: case.name(), source: case.source(), making };
        for &value_type in &arguments.values.value_type {
            matrix.with_value_type(value_type, |matrix| bench.one_type(matrix, &origin))?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
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

    fn load(&self, making: Making, reading: Reading) -> Result<Loaded, Failure> {
        match self {
            Case::Input(input) => load_compact(input, making, reading),
            Case::Even { rows, cols, length, .. } => {
                let matrix = AnyCsr::compact(even_matrix(*rows, *cols, *length, making.seed)?);
                Ok(Loaded::generated(self.name(), matrix))
            }
        }
    }
}

/// log2 of the nonzeros of the sweep over the aspect ratio, as published: 2 x 8.3 million to 8.3 million x 2.
const ASPECT_NONZEROS: f64 = 24.0;
/// The order in the sweep over density, and nonzeros of each row in ten thousands of it.
const DENSITY_ORDER: f64 = 100_000.0;
const DENSITIES: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];

fn cases(arguments: &BenchSpmm, making: Making) -> Result<Vec<Case>, Failure> {
    match arguments.sweep {
        None => {
            let inputs = inputs(&arguments.matrices, Suite::Quick)?;
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
    arguments: &'a BenchSpmm,
    algorithms: Vec<Option<SpmmAlgorithm>>,
    benchers: Vec<(Queue, Rates)>,
    results: &'a Results,
}

impl SpmmBench<'_> {
    /// Adds what was measured, and names what the library refuses.
    fn take(
        &self,
        matrix: &str,
        columns: usize,
        measured: Result<SpmmResults, MeasureError>,
    ) -> Result<(), Failure> {
        let name = format!("{matrix} with {}", counted(columns, "column"));
        match measured {
            Err(error) => self.results.refuse(name, error),
            Ok(SpmmResults { records, refused }) => {
                self.results.extend(records)?;
                let refuse = |(algorithm, error)| {
                    self.results.refuse(format_args!("{name}, {algorithm}"), error)
                };
                refused.into_iter().try_for_each(refuse)
            }
        }
    }

    fn one_type(&self, matrix: AnyCsrView<'_>, origin: &Origin) -> Result<(), Failure> {
        let arguments = self.arguments;
        for (queue, rates) in &self.benchers {
            for &columns in &arguments.columns.0 {
                let subject = SpmmSubject {
                    algorithms: self.algorithms.clone(),
                    columns,
                    layout_b: arguments.layout_b.into(),
                    layout_c: arguments.layout_c.into(),
                    parameters: arguments.parameters.to_vec(),
                    beside_dense: arguments.sweep == Some(Sweep::Density),
                    beside_vector: arguments.columns.0.len() > 1,
                    budget: Budget::default(),
                };
                let measured = measure_spmm(queue, matrix, origin, &subject, rates);
                self.take(&origin.name, columns, measured)?;
            }
        }
        Ok(())
    }
}
