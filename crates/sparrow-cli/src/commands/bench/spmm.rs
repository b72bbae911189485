//! `sparrow bench spmm`: products with a dense matrix.

use csr_core::generate::Suite;
use csr_core::{AnyCsrView, Layout};
use sparrow::{Queue, Rates, SpmmAlgorithm, SpmmVariant};
use sparrow_bench::figures::{aspect, density};
use sparrow_bench::{
    Budget, Making, MeasureError, Origin, SpmmResults, SpmmSubject, counted, measure_spmm,
};

use super::cases::Case;
use super::{Results, inputs, progress_bar, with_rates};
use crate::arguments::{BenchSpmm, Global, Sweep};
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
    let algorithms = forms(arguments);
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

/// Every algorithm in every form that is asked for.
fn forms(arguments: &BenchSpmm) -> Vec<(Option<SpmmAlgorithm>, SpmmVariant)> {
    let algorithms = arguments.algorithms.with_choice(&SpmmAlgorithm::ALL);
    let in_form = |&variant: &SpmmVariant| {
        algorithms.iter().map(move |&algorithm| (algorithm, variant)).collect::<Vec<_>>()
    };
    arguments.variant.iter().flat_map(in_form).collect()
}

fn cases(arguments: &BenchSpmm, making: Making) -> Result<Vec<Case>, Failure> {
    let made = match arguments.sweep {
        None => {
            let inputs = inputs(&arguments.matrices, Suite::Quick)?;
            return Ok(inputs.into_iter().map(Case::Input).collect());
        }
        Some(Sweep::Aspect) => aspect(making),
        Some(Sweep::Density) => density(making),
    };
    Ok(made.into_iter().map(Case::Made).collect())
}

/// Adds what was measured, and names what the library refuses.
pub(super) fn take_spmm(
    results: &Results,
    matrix: &str,
    columns: usize,
    measured: Result<SpmmResults, MeasureError>,
) -> Result<(), Failure> {
    let name = format!("{matrix} with {}", counted(columns, "column"));
    match measured {
        Err(error) => results.refuse(name, error),
        Ok(SpmmResults { records, refused }) => {
            results.extend(records)?;
            let refuse =
                |(algorithm, error)| results.refuse(format_args!("{name}, {algorithm}"), error);
            refused.into_iter().try_for_each(refuse)
        }
    }
}

struct SpmmBench<'a> {
    arguments: &'a BenchSpmm,
    algorithms: Vec<(Option<SpmmAlgorithm>, SpmmVariant)>,
    benchers: Vec<(Queue, Rates)>,
    results: &'a Results,
}

impl SpmmBench<'_> {
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
                take_spmm(self.results, &origin.name, columns, measured)?;
            }
        }
        Ok(())
    }
}
