//! Figures of batches: their cases are batches of small problems, and a scale multiplies the number of problems.

use sparrow::BatchedVariant;
use sparrow_bench::figures::{
    self, BatchCase, Measured, PaperFigure, batch_sizes, density_batches,
};
use sparrow_bench::{GeneratorOptions, Input, counted};

use super::super::batch::{Batches, Peers, Problem, batches_jobs, small};
use super::super::paced::Paced;
use super::super::results::Page;
use super::super::{Frame, Results};
use super::{WithPeers, again, peers, value_types};
use crate::arguments::{BenchFigure, Global};
use crate::failure::Failure;
use crate::target::{one_device, queue_on};

pub(super) fn run(
    global: &Global,
    arguments: &BenchFigure,
    figure: &'static PaperFigure,
    results: &Results,
) -> Result<(), Failure> {
    let Measured::Batch { kind, sizes, forms, has_loop } = figure.measured else { return Ok(()) };
    let (asked, peers) = WithPeers::read(arguments, figure)?;
    let cases = cases(arguments, figure, kind, asked.into())?;
    let device = one_device(global, "bench figure")?;
    let value_types = value_types(arguments, figure, device.traits().has_f64)?;
    let queue = queue_on(&device)?;
    let mut paced = Paced::new(Some(arguments.budget.0), Some(&device), results);
    let batches = |scale| {
        let work = |case: &BatchCase, size, is_first| {
            figure.measured.work(case.nnz(size), value_types.len(), is_first)
        };
        batches_jobs(&cases, &batch_sizes(sizes, scale), work)
    };
    let works = |scale| batches(scale).iter().map(|job| job.work).collect();
    let generator = paced.generator(asked, works);
    let scale = generator.scale;
    let batches = batches(scale);
    let what = format!("{}: {} at scale {scale}", figure.name, counted(batches.len(), "batch"));
    paced.announce(&what, &batches);
    let rates = results.rates(&queue, arguments.measure)?;
    let page = Page::Figure(figure, again(arguments, Some(scale)));
    results.set_frame(Frame { page, ..Frame::default() });
    let names: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
    let peers = peers.of(&names, &device, results)?;
    peers::push(peers, &names, batches.len() / names.len().max(1), results)?;
    let subjects =
        forms.iter().map(|(algorithm, form)| (Some(*algorithm), *form, BatchedVariant::Ordered));
    let peers = if has_loop { Peers::Loop } else { Peers::None };
    let measuring = Batches {
        generator,
        queue,
        rates,
        subjects: subjects.collect(),
        parameters: Vec::new(),
        peers,
    };
    paced.each(&batches, |paced, &(case, size)| {
        value_types
            .iter()
            .try_for_each(|&value_type| measuring.measure(case, size, value_type, (paced, results)))
    })
}

/// What batches are made of.
fn cases(
    arguments: &BenchFigure,
    figure: &PaperFigure,
    kind: figures::Batches,
    generator: GeneratorOptions,
) -> Result<Vec<BatchCase>, Failure> {
    if kind == figures::Batches::Density {
        return match arguments.matrices.is_empty() {
            true => Ok(density_batches(generator)?),
            false => Err(Failure::input(format!(
                "{} makes matrices of its own: leave others out",
                figure.name
            ))),
        };
    }
    let problems = problems(arguments, figure, generator)?;
    if kind == figures::Batches::Mixed {
        let source = problems.last().map_or("likeness", |last| last.source);
        let matrices = problems.into_iter().map(|problem| problem.matrix).collect();
        return Ok(vec![BatchCase::mixed(source, matrices)]);
    }
    let case = |Problem { name, source, matrix, .. }| BatchCase::homogeneous(name, source, matrix);
    Ok(problems.into_iter().map(case).collect())
}

/// The problems that are named, or the figure's.
fn problems(
    arguments: &BenchFigure,
    figure: &PaperFigure,
    generator: GeneratorOptions,
) -> Result<Vec<Problem>, Failure> {
    if !arguments.matrices.is_empty() {
        let problem = |name| match small(name) {
            Some(one) => Problem::like(one, generator),
            None => Problem::of(&Input::parse(name)?, generator, arguments.reading),
        };
        return arguments.matrices.iter().map(|name| problem(name)).collect();
    }
    figure.small_problems().map(|one| Problem::like(one, generator)).collect()
}
