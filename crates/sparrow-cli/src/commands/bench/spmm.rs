//! `sparrow bench spmm`: products with a dense matrix.

use csr_core::generate::Suite;
use csr_core::{AnyCsrView, Layout};
use sparrow::{Queue, Rates, SpmmAlgorithm, SpmmVariant};
use sparrow_bench::figures::{Work, aspect, density};
use sparrow_bench::{
    Budget, GeneratorOptions, Input, MeasureError, Origin, SpmmResults, SpmmSubject, counted,
    measure_spmm,
};

use super::cases::Case;
use super::paced::{self, Job, Paced};
use super::{Results, inputs, with_rates};
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
        let text = "--sweep density measures a dense product too, which is row-major: leave the layouts out";
        return Err(Failure::input(text));
    }
    let algorithms = forms(arguments);
    let (matrices, value_types) = (&arguments.matrices, &arguments.values.value_type);
    let mut paced = Paced::new(matrices.budget(), devices.first(), results);
    let named = match arguments.sweep {
        None => inputs(matrices, Suite::Quick)?,
        Some(_) => Vec::new(),
    };
    let cases = |generator| cases(arguments.sweep, &named, generator);
    let works = |cases: &[Case], scale: f64| -> Vec<Work> {
        let measured = value_types.len() * devices.len();
        let work = |(index, case): (usize, &Case)| {
            let all = Work::of_results(case.nnz(scale), per_type(arguments) * measured, index == 0);
            // The algorithms are verified together, for each number of columns.
            let columns = arguments.columns.0.iter();
            let oracles = columns.map(|&columns| Work::oracles_of_columns(columns)).sum::<usize>();
            Work { oracles: oracles * measured, is_fixed: !case.is_scaled(), ..all }
        };
        cases.iter().enumerate().map(work).collect()
    };
    let is_class = |input: &Input| matches!(input, Input::Class(_));
    let generator = match named.is_empty() || named.iter().any(is_class) {
        true => paced.generator(matrices.generator(), |scale| {
            let generator = GeneratorOptions { scale, ..matrices.generator().into() };
            works(&cases(generator), scale)
        }),
        false => matrices.generator().into(),
    };
    let cases = cases(generator);
    let works = works(&cases, generator.scale);
    let what = paced::in_words("spmm", &counted(cases.len(), "matrix"), generator);
    let job = |(case, work): (Case, Work)| Job { name: case.name(), work, of: case };
    let jobs: Vec<_> = cases.into_iter().zip(works).map(job).collect();
    paced.announce(&what, &jobs);
    let benchers = with_rates(&devices, arguments.shown.measure, results)?;
    let bench = SpmmBench { arguments, algorithms, benchers, results };
    paced.each(&jobs, |paced, case| {
        let Some(matrix) = paced.read(case.load(generator, matrices.reading))? else {
            return Ok(());
        };
        let origin = Origin { name: case.name(), source: case.source(), generator };
        value_types.iter().try_for_each(|&value_type| {
            matrix.with_value_type(value_type, |matrix| bench.one_type(matrix, &origin, paced))
        })
    })
}

/// Results on a matrix in one type on one device.
fn per_type(arguments: &BenchSpmm) -> usize {
    let columns = &arguments.columns.0;
    let with_dense = usize::from(arguments.sweep == Some(Sweep::Density));
    let with_vector = usize::from(columns.len() > 1);
    (forms(arguments).len() + with_dense + with_vector) * columns.len()
}

/// Every algorithm in every form that is asked for.
fn forms(arguments: &BenchSpmm) -> Vec<(Option<SpmmAlgorithm>, SpmmVariant)> {
    let algorithms = arguments.algorithms.with_choice(&SpmmAlgorithm::ALL);
    let in_form = |&variant: &SpmmVariant| {
        algorithms.iter().map(move |&algorithm| (algorithm, variant)).collect::<Vec<_>>()
    };
    arguments.variant.iter().flat_map(in_form).collect()
}

/// The matrices of a sweep, or those that are named.
fn cases(sweep: Option<Sweep>, named: &[Input], generator: GeneratorOptions) -> Vec<Case> {
    let made = match sweep {
        None => return named.iter().cloned().map(Case::Input).collect(),
        Some(Sweep::Aspect) => aspect(generator),
        Some(Sweep::Density) => density(generator),
    };
    made.into_iter().map(Case::Made).collect()
}

fn name_of(matrix: &str, columns: usize) -> String {
    format!("{matrix} with {}", counted(columns, "column"))
}

/// Adds what was measured, and names what the library refuses.
pub(super) fn take_spmm(
    results: &Results,
    matrix: &str,
    columns: usize,
    measured: Result<SpmmResults, MeasureError>,
) -> Result<(), Failure> {
    let name = name_of(matrix, columns);
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
    /// The device, where there are several.
    fn on(&self, queue: &Queue) -> String {
        match self.benchers.len() {
            1 => String::new(),
            _ => format!(" on {}", queue.context().device().traits().name),
        }
    }

    fn one_type(
        &self,
        matrix: AnyCsrView<'_>,
        origin: &Origin,
        paced: &Paced<'_>,
    ) -> Result<(), Failure> {
        let arguments = self.arguments;
        for (queue, rates) in &self.benchers {
            for &columns in &arguments.columns.0 {
                let name = name_of(&origin.name, columns);
                let (type_of, on) = (matrix.value_type(), self.on(queue));
                if !paced.has_time_left(format_args!("{name}, {type_of}{on}")) {
                    continue;
                }
                let subject = SpmmSubject {
                    algorithms: self.algorithms.clone(),
                    columns,
                    layout_b: arguments.layout_b.into(),
                    layout_c: arguments.layout_c.into(),
                    parameters: arguments.parameters.to_vec(),
                    with_dense: arguments.sweep == Some(Sweep::Density),
                    with_vector: arguments.columns.0.len() > 1,
                    budget: Budget::default(),
                };
                let measured = measure_spmm(queue, matrix, origin, &subject, rates);
                take_spmm(self.results, &origin.name, columns, measured)?;
            }
        }
        Ok(())
    }
}
