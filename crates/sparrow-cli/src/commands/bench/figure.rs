//! `sparrow bench figure`: a paper's figure on this device, drawn.

use std::ffi::OsString;

use csr_core::{AnyCsrView, Layout};
use sparrow::{Accumulate, Measuring, Queue, Rates, Reordering, Reuse, ValueType};
use sparrow_bench::figures::{Measured, Method, PaperFigure, Work};
use sparrow_bench::{
    Budget, Model, Origin, SpmmSubject, Subject, counted, host_rates, measure_on_device,
    measure_on_host, measure_spmm,
};

use super::cases::{self, Case};
use super::paced::{Job, Paced};
use super::results::Page;
use super::spmm::take_spmm;
use super::{Frame, Results};
use crate::arguments::{BenchFigure, Global};
use crate::failure::Failure;
use crate::output::note;
use crate::target::{one_device, queue_on};

mod batches;
mod peers;

use peers::WithPeers;
pub(super) use peers::check_sweep;

pub(super) fn run(
    global: &Global,
    arguments: &BenchFigure,
    figure: &'static PaperFigure,
    results: &Results,
) -> Result<(), Failure> {
    if let Measured::Batch { .. } = figure.measured {
        return batches::run(global, arguments, figure, results);
    }
    let cases = |generator| cases::cases(figure, &arguments.matrices, generator);
    cases::check_making(arguments, &cases(arguments.generator().into())?)?;
    let (asked, peers) = WithPeers::read(arguments, figure)?;
    let device = one_device(global, "bench figure")?;
    let value_types = value_types(arguments, figure, device.traits().has_f64)?;
    let queue = queue_on(&device)?;
    let mut paced = Paced::new(Some(arguments.budget.0), Some(&device), results);
    let works = |cases: &[Case], scale: f64| -> Vec<Work> {
        let work = |(index, case): (usize, &Case)| {
            let work = figure.measured.work(case.nnz(scale), value_types.len(), index == 0);
            Work { is_fixed: !case.is_scaled(), ..work }
        };
        cases.iter().enumerate().map(work).collect()
    };
    let is_scaled = cases(asked.into())?.iter().any(Case::is_scaled);
    let generator = match is_scaled {
        true => paced.generator(asked, |scale| {
            let generator = sparrow_bench::GeneratorOptions { scale, ..asked.into() };
            works(&cases(generator).unwrap_or_default(), scale)
        }),
        false => asked.into(),
    };
    let all = cases(generator)?;
    let names: Vec<String> = all.iter().map(Case::name).collect();
    let peers = peers.of(&names, &device, results)?;
    let words: Vec<_> = value_types.iter().map(ToString::to_string).collect();
    let matrices = counted(all.len(), "matrix");
    let scale = generator.scale;
    let of = match is_scaled {
        true => format!("{matrices} at scale {scale}"),
        false => matrices,
    };
    let what = format!("{}: {of}, {}", figure.name, words.join(" and "));
    let works = works(&all, scale);
    let job = |(case, work): (Case, Work)| Job { name: case.name(), work, of: case };
    let jobs: Vec<_> = all.into_iter().zip(works).map(job).collect();
    paced.announce(&what, &jobs);
    let rates = results.rates(&queue, arguments.measure)?;
    results.set_frame(Frame {
        page: Page::Figure(figure, again(arguments, is_scaled.then_some(generator.scale))),
        ..Frame::default()
    });
    peers::push(peers, &names, 1, results)?;
    let model = model(figure, &device, &value_types)?;
    let bench = FigureBench { queue, rates, model, figure, results };
    paced.each(&jobs, |paced, case| {
        let read = case.load(generator, arguments.reading);
        let Some(matrix) = paced.read(read)? else { return Ok(()) };
        let origin = Origin { name: case.name(), source: case.source(), generator };
        value_types.iter().try_for_each(|&value_type| {
            matrix.with_value_type(value_type, |matrix| bench.measure(matrix, &origin, paced))
        })
    })
}

/// The types that were asked for or the figure's, without what the device has not.
fn value_types(
    arguments: &BenchFigure,
    figure: &PaperFigure,
    has_f64: bool,
) -> Result<Vec<ValueType>, Failure> {
    let mut types = match arguments.value_type.is_empty() {
        true => figure.value_types.to_vec(),
        false => arguments.value_type.clone(),
    };
    types.retain(|value_type| {
        let is_there = has_f64 || *value_type != ValueType::F64;
        if !is_there {
            note(format_args!("{value_type}: left out, which the device has not"));
        }
        is_there
    });
    match types.is_empty() {
        true => Err(Failure::run(
            "the device has none of the figure's value types: name others by --value-type",
        )),
        false => Ok(types),
    }
}

/// The command that draws this again.
fn again(arguments: &BenchFigure, scale: Option<f64>) -> String {
    let matrices = arguments.matrices.iter().map(|name: &OsString| name.to_string_lossy());
    let mut words = vec!["sparrow bench figure".into(), arguments.figure.as_str().into()];
    words.extend(matrices);
    words.extend(scale.map(|scale| format!("--scale {scale}").into()));
    words.extend(arguments.peers.is_some().then(|| "--peers FILE".into()));
    words.join(" ") + " --html FILE"
}

fn model(
    figure: &PaperFigure,
    device: &sparrow::Device,
    value_types: &[ValueType],
) -> Result<Option<Model>, Failure> {
    match figure.measured {
        Measured::Spmv { is_modelled: true, .. } => {
            Ok(Some(Model::measure_blocking(&queue_on(device)?, value_types)?))
        }
        _ => Ok(None),
    }
}

struct FigureBench<'a> {
    queue: Queue,
    rates: Rates,
    model: Option<Model>,
    figure: &'static PaperFigure,
    results: &'a Results,
}

impl FigureBench<'_> {
    /// Everything that the figure has of one matrix and type.
    fn measure(
        &self,
        matrix: AnyCsrView<'_>,
        origin: &Origin,
        paced: &Paced<'_>,
    ) -> Result<(), Failure> {
        match self.figure.measured {
            Measured::Spmv { methods, has_host, .. } => {
                if has_host {
                    let subject = subject(None);
                    let name = format!("{}, host", origin.name);
                    paced
                        .take(name, || measure_on_host(matrix, origin, &subject, &host_rates()))?;
                }
                methods.iter().try_for_each(|method| self.spmv(matrix, origin, method, paced))
            }
            Measured::Spmm { methods, columns, with_dense, with_vector } => {
                let subject = SpmmSubject {
                    algorithms: methods.to_vec(),
                    columns,
                    layout_b: Layout::RowMajor,
                    layout_c: Layout::RowMajor,
                    parameters: Vec::new(),
                    with_dense,
                    with_vector,
                    budget: Budget::default(),
                };
                let name = format!("{}, {}", origin.name, matrix.value_type());
                if !paced.has_time_left(name) {
                    return Ok(());
                }
                let measured = measure_spmm(&self.queue, matrix, origin, &subject, &self.rates);
                take_spmm(self.results, &origin.name, columns, measured)
            }
            // Measured in a run of their own.
            Measured::Batch { .. } => Ok(()),
        }
    }

    fn spmv(
        &self,
        matrix: AnyCsrView<'_>,
        origin: &Origin,
        method: &Method,
        paced: &Paced<'_>,
    ) -> Result<(), Failure> {
        let name = format!("{}, {} {}", origin.name, method.algorithm, method.variant);
        let subject = subject(Some(method));
        paced.take(name, || {
            let (queue, rates) = (&self.queue, &self.rates);
            let mut record = measure_on_device(queue, matrix, origin, &subject, rates)?;
            if let Some(model) = &self.model {
                model.add(queue, matrix, origin, &subject, &mut record)?;
            }
            Ok(record)
        })
    }
}

/// What is measured; without a method the default, for the host.
fn subject(method: Option<&Method>) -> Subject {
    Subject {
        algorithm: method.map(|method| method.algorithm),
        variant: method
            .map_or_else(Default::default, |method| method.variant.or_default(method.algorithm)),
        accumulate: Accumulate::Plain,
        parameters: method
            .iter()
            .flat_map(|method| method.parameters)
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
        reordering: Reordering::None,
        order: method.map_or_else(Default::default, |method| method.order),
        reuse: Reuse::default(),
        choice: None,
        measuring: Measuring::default(),
        is_cold: false,
        budget: Budget::default(),
    }
}
