//! Figures of batches: their cases are batches of small problems, and a scale multiplies the number of problems.

use csr_core::Csr;
use csr_core::generate::{SMALL_PROBLEMS, SmallProblem};
use sparrow::BatchedVariant;
use sparrow_bench::figures::{self, Cases, Measured, PaperFigure, Work};
use sparrow_bench::{Input, Making, counted};

use super::super::batch::{Batches, Case, Peers, Problem, at_random, density_cases, small};
use super::super::results::Page;
use super::super::{Frame, Results, progress_bar};
use super::{again, value_types};
use crate::arguments::{BenchFigure, Global};
use crate::commands::clock::Clock;
use crate::failure::Failure;
use crate::target::{one_device, queue_on};

/// A batch: what of, and how many problems.
type Batch<'a> = (&'a Case, usize);

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
    let mut clock = Clock::new(arguments.budget.0, &device);
    let batches = |scale| batches(&cases, sizes, scale);
    let works = |scale: f64| -> Vec<Work> {
        let work = |(place, (case, size)): (usize, Batch<'_>)| {
            let nnz: usize = case.matrices.iter().map(Csr::nnz).sum();
            let nnz = (nnz * size / case.matrices.len().max(1)) as u64;
            figure.measured.work(nnz, value_types.len(), place == 0)
        };
        batches(scale).into_iter().enumerate().map(work).collect()
    };
    let making = clock.making(arguments.making(), works);
    let scale = making.scale;
    let (batches, works) = (batches(scale), works(scale));
    let count = counted(batches.len(), "batch");
    let what = format!("{}: {count} at scale {scale}", figure.name);
    clock.announce(&what, &works);
    let rates = results.rates(&queue, arguments.measure)?;
    let page = Page::Figure(figure, again(arguments, scale));
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
    let bar = progress_bar(batches.len());
    for (&(case, size), work) in batches.iter().zip(&works) {
        let name = format!("{} x {size}, {}", case.name, case.kind);
        bar.set_message(name.clone());
        if clock.has_time(work) {
            for &value_type in &value_types {
                measuring.measure(case, size, value_type, results)?;
            }
            clock.done(work);
        } else {
            results.leave_out(clock.left_out(&name));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// Every case in every size, multiplied by the scale; sizes that a scale makes the same are one.
fn batches<'a>(cases: &'a [Case], sizes: &[usize], scale: f64) -> Vec<Batch<'a>> {
    let scaled = |size: &usize| ((*size as f64 * scale).round() as usize).max(1);
    let mut sizes: Vec<usize> = sizes.iter().map(scaled).collect();
    sizes.dedup();
    cases
        .iter()
        .flat_map(|case| sizes.iter().map(move |size| (case, *size)).collect::<Vec<_>>())
        .collect()
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
