//! `sparrow bench figure`: a paper's figure on this device, drawn.

use std::ffi::OsString;

use csr_core::{AnyCsrView, Layout};
use sparrow::{Accumulate, Measuring, Products, Queue, Rates, ValueType};
use sparrow_bench::figures::{Measured, Method, PaperFigure, Work};
use sparrow_bench::{
    Budget, Model, Origin, SpmmSubject, Subject, counted, host_rates, measure_on_device,
    measure_on_host, measure_spmm,
};

use super::cases::{self, Case};
use super::results::Page;
use super::spmm::take_spmm;
use super::{Frame, Results, progress_bar};
use crate::arguments::{BenchFigure, Global};
use crate::commands::clock::Clock;
use crate::failure::Failure;
use crate::output::note;
use crate::target::{one_device, queue_on};

mod batches;

pub(super) fn run(
    global: &Global,
    arguments: &BenchFigure,
    figure: &'static PaperFigure,
    results: &Results,
) -> Result<(), Failure> {
    if let Measured::Batch { .. } = figure.measured {
        return batches::run(global, arguments, figure, results);
    }
    let cases = |making| cases::cases(figure, &arguments.matrices, making);
    cases::check_making(arguments, &cases(arguments.making().into())?)?;
    let device = one_device(global, "bench figure")?;
    let value_types = value_types(arguments, figure, device.traits().has_f64)?;
    let queue = queue_on(&device)?;
    let clock = Clock::new(arguments.budget.0, &device);
    let works = |cases: &[Case], scale: f64| -> Vec<Work> {
        let work = |(place, case): (usize, &Case)| {
            figure.measured.work(case.nnz(scale), value_types.len(), place == 0)
        };
        cases.iter().enumerate().map(work).collect()
    };
    let making = clock.making(arguments.making(), |scale| {
        let making = sparrow_bench::Making { scale, ..arguments.making().into() };
        works(&cases(making).unwrap_or_default(), scale)
    });
    let all = cases(making)?;
    let words: Vec<_> = value_types.iter().map(ToString::to_string).collect();
    let matrices = counted(all.len(), "matrix");
    let scale = making.scale;
    let what = format!("{}: {matrices} at scale {scale}, {}", figure.name, words.join(" and "));
    let works = works(&all, scale);
    clock.announce(&what, &works);
    let rates = results.rates(&queue, arguments.measure)?;
    results.set_frame(Frame {
        page: Page::Figure(figure, again(arguments, making.scale)),
        ..Frame::default()
    });
    let model = model(figure, &device, &value_types)?;
    let mut bench = FigureBench { queue, rates, model, figure, results, clock };
    let bar = progress_bar(all.len());
    for (case, work) in all.iter().zip(&works) {
        bar.set_message(case.name());
        if bench.clock.has_time(work) {
            let matrix = case.load(making, arguments.reading)?;
            let origin = Origin { name: case.name(), source: case.source(), making };
            for &value_type in &value_types {
                matrix.with_value_type(value_type, |matrix| bench.measure(matrix, &origin))?;
            }
            bench.clock.done(work);
        } else {
            results.leave_out(bench.clock.left_out(&case.name()));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
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
fn again(arguments: &BenchFigure, scale: f64) -> String {
    let matrices = arguments.matrices.iter().map(|name: &OsString| name.to_string_lossy());
    let mut words = vec!["sparrow bench figure".into(), arguments.figure.as_str().into()];
    words.extend(matrices);
    words.join(" ") + &format!(" --scale {scale} --html FILE")
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
    clock: Clock,
}

impl FigureBench<'_> {
    /// Everything that the figure has of one matrix and type.
    fn measure(&self, matrix: AnyCsrView<'_>, origin: &Origin) -> Result<(), Failure> {
        match self.figure.measured {
            Measured::Spmv { methods, has_host, .. } => {
                if has_host {
                    let subject = subject(None);
                    let record = measure_on_host(matrix, origin, &subject, &host_rates());
                    self.results.take(format!("{}, host", origin.name), record)?;
                }
                methods.iter().try_for_each(|method| self.spmv(matrix, origin, method))
            }
            Measured::Spmm { methods, columns, beside_dense, beside_vector } => {
                let subject = SpmmSubject {
                    algorithms: methods.to_vec(),
                    columns,
                    layout_b: Layout::RowMajor,
                    layout_c: Layout::RowMajor,
                    parameters: Vec::new(),
                    beside_dense,
                    beside_vector,
                    budget: Budget::default(),
                };
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
    ) -> Result<(), Failure> {
        let name = format!("{}, {} {}", origin.name, method.algorithm, method.variant);
        if self.clock.is_over() {
            self.results.leave_out(self.clock.left_out(&name));
            return Ok(());
        }
        let subject = subject(Some(method));
        let measured = measure_on_device(&self.queue, matrix, origin, &subject, &self.rates);
        let measured = measured.and_then(|mut record| {
            if let Some(model) = &self.model {
                model.add(&self.queue, matrix, origin, &subject, &mut record)?;
            }
            Ok(record)
        });
        self.results.take(name, measured)
    }
}

/// What is measured; without a method the usual, for the host.
fn subject(method: Option<&Method>) -> Subject {
    Subject {
        algorithm: method.map(|method| method.algorithm),
        variant: method
            .map_or_else(Default::default, |method| method.variant.or_usual(method.algorithm)),
        accumulate: Accumulate::Plain,
        parameters: method
            .iter()
            .flat_map(|method| method.parameters)
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
        order: method.map_or_else(Default::default, |method| method.order),
        products: Products::default(),
        choice: None,
        measuring: Measuring::default(),
        is_cold: false,
        budget: Budget::default(),
    }
}
