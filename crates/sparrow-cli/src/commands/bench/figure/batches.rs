//! Figures of batches: their cases are batches of small problems, and a scale multiplies the number of problems.

use csr_core::generate::{SMALL_PROBLEMS, SmallProblem};
use sparrow::BatchedVariant;
use sparrow_bench::figures::{self, Cases, Measured, PaperFigure};
use sparrow_bench::{Input, Making, counted};

use super::super::batch::{
    Batches, Case, Peers, Problem, at_random, batches_pieces, density_cases, small,
};
use super::super::paced::Paced;
use super::super::results::Page;
use super::super::{Frame, Results};
use super::{again, value_types};
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
    let making: Making = arguments.making().into();
    let cases = cases(arguments, figure, kind, making)?;
    let device = one_device(global, "bench figure")?;
    let value_types = value_types(arguments, figure, device.traits().has_f64)?;
    let queue = queue_on(&device)?;
    let mut paced = Paced::new(Some(arguments.budget.0), Some(&device), results);
    let batches = |scale| {
        let work = |case: &Case, size, is_first| {
            figure.measured.work(case.nnz(size), value_types.len(), is_first)
        };
        batches_pieces(&cases, &scaled(sizes, scale), work)
    };
    let works = |scale| batches(scale).iter().map(|piece| piece.work).collect();
    let making = paced.making(arguments.making(), works);
    let scale = making.scale;
    let batches = batches(scale);
    let what = format!("{}: {} at scale {scale}", figure.name, counted(batches.len(), "batch"));
    paced.announce(&what, &batches);
    let rates = results.rates(&queue, arguments.measure)?;
    let page = Page::Figure(figure, again(arguments, Some(scale)));
    results.set_frame(Frame { page, ..Frame::default() });
    let subjects =
        forms.iter().map(|(algorithm, form)| (Some(*algorithm), *form, BatchedVariant::Ordered));
    let peers = if has_loop { Peers::Loop } else { Peers::None };
    let measuring = Batches {
        making,
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

/// Sizes multiplied by a scale; those that it makes the same are one.
fn scaled(sizes: &[usize], scale: f64) -> Vec<usize> {
    let scaled = |size: &usize| ((*size as f64 * scale).round() as usize).max(1);
    let mut sizes: Vec<usize> = sizes.iter().map(scaled).collect();
    sizes.dedup();
    sizes
}

/// What batches are made of.
fn cases(
    arguments: &BenchFigure,
    figure: &PaperFigure,
    kind: figures::Batches,
    making: Making,
) -> Result<Vec<Case>, Failure> {
    if kind == figures::Batches::Density {
        return match arguments.matrices.is_empty() {
            true => density_cases(making),
            false => Err(Failure::input(format!(
                "{} makes matrices of its own: leave others out",
                figure.name
            ))),
        };
    }
    let problems = problems(arguments, figure, making)?;
    if kind == figures::Batches::Mixed {
        return Ok(vec![Case {
            name: counted(problems.len(), "problem"),
            source: problems.last().map_or("likeness", |last| last.source),
            kind: "mixed".to_owned(),
            matrices: problems.into_iter().map(|problem| problem.matrix).collect(),
            order: at_random,
        }]);
    }
    let case = |problem: Problem| Case {
        name: problem.name,
        source: problem.source,
        kind: "homogeneous".to_owned(),
        matrices: vec![problem.matrix],
        order: |_, size| vec![0; size],
    };
    Ok(problems.into_iter().map(case).collect())
}

/// The problems that are named, or the figure's.
fn problems(
    arguments: &BenchFigure,
    figure: &PaperFigure,
    making: Making,
) -> Result<Vec<Problem>, Failure> {
    if !arguments.matrices.is_empty() {
        let problem = |name| match small(name) {
            Some(one) => Problem::like(one, making),
            None => Problem::of(&Input::parse(name)?, making, arguments.reading),
        };
        return arguments.matrices.iter().map(|name| problem(name)).collect();
    }
    let is_listed = |one: &&SmallProblem| match figure.cases {
        Cases::Problems(names) => names.is_empty() || names.contains(&one.name),
        _ => false,
    };
    SMALL_PROBLEMS.iter().filter(is_listed).map(|one| Problem::like(one, making)).collect()
}
