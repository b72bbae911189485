//! The conformance suite: every configuration on every shape, with the combinations of an extent.

use std::ops::ControlFlow;

use csr_core::{Csr, Offset, RealValue, Value as _, for_offset_type, for_value_type};
use sparrow::{Queue, default_tables};

use super::axes::{Part, combinations};
use super::{
    Amount, Axes, Case, CaseError, Configuration, Content, Count, Extent, Failure, LIMITS,
    Progress, Report, Shape, Tally, is_interpreted, run, shapes,
};

/// Runs `configurations` on the queue's device. `observe` hears before each case, and where one fails, how far the run has
/// come, and may end it there.
///
/// # Errors
/// A device table that cannot be read; what a case finds is in the report.
pub fn run_suite(
    queue: &Queue,
    configurations: &[Configuration],
    extent: Extent,
    observe: &mut dyn FnMut(Progress<'_>) -> ControlFlow<()>,
) -> sparrow::Result<Report> {
    let device = queue.context().device().traits();
    let groups_progress = default_tables().groups_progress(device);
    let shapes = shapes(&LIMITS, Amount::of(device, extent));
    let combinations = combinations(extent, &parts(configurations), shapes.len());
    let all = combinations.iter().map(Vec::len).sum();
    let mut count = Count { done: 0, all, failed: 0 };
    let mut slots = combinations.iter();
    let mut report = Report::new(device, extent);
    for configuration in configurations {
        let mut tally = Tally::default();
        let cases = shapes.iter().zip(&mut slots);
        let cases = cases.flat_map(|(shape, slot)| slot.iter().map(move |axes| (shape, axes)));
        let mut ends = false;
        for (shape, axes) in cases {
            if observe(Progress { count, report: &report, has_failed: false }).is_break() {
                ends = true;
                break;
            }
            count.done += 1;
            if let Some(why) = configuration.obstacle(device, groups_progress, axes) {
                *tally.not_applicable.entry(why).or_default() += 1;
                continue;
            }
            match run_one(queue, configuration, shape, axes) {
                Ok(error) => {
                    tally.passed += 1;
                    tally.error_in_tolerance = tally.error_in_tolerance.max(error);
                }
                Err(error) => {
                    let seen = Progress { count, report: &report, has_failed: true };
                    if observe(seen).is_break() {
                        ends = true;
                        break;
                    }
                    count.failed += 1;
                    tally.failures.push(Failure {
                        tested: configuration.name(),
                        shape: shape.name.to_owned(),
                        case: format!("{axes:?}"),
                        error,
                    });
                }
            }
        }
        report.push(configuration.into(), tally, ends);
        if ends {
            break;
        }
    }
    Ok(report)
}

/// What a cover takes of each. Variants of an algorithm with the same hyper-parameters are a family: most of them are told
/// apart by the plan, or by an argument. Of those with a user's hyper-parameters half is enough: they have larger groups
/// than others and no other code.
fn parts(configurations: &[Configuration]) -> Vec<Part> {
    let family = |configuration: &Configuration| {
        configurations.iter().position(|first| configuration.shares_programs(first))
    };
    let mut families: Vec<_> = configurations.iter().filter_map(family).collect();
    families.dedup();
    let part = |configuration: &Configuration| {
        let first = family(configuration);
        let family = families.iter().position(|number| Some(*number) == first).unwrap_or(0);
        Part { family, choices: if configuration.parameters.is_empty() { 2 } else { 4 } }
    };
    configurations.iter().map(part).collect()
}

/// Runs one case; the largest error as a multiple of the tolerance.
fn run_one(
    queue: &Queue,
    configuration: &Configuration,
    shape: &Shape,
    axes: &Axes,
) -> Result<f64, CaseError> {
    for_value_type!(axes.value_type, V => {
        for_offset_type!(axes.offset_type, O => {
            typed::<V, O>(queue, configuration, shape, axes)
        })
    })
}

fn typed<V: RealValue, O: Offset>(
    queue: &Queue,
    configuration: &Configuration,
    shape: &Shape,
    axes: &Axes,
) -> Result<f64, CaseError> {
    let mut matrix: Csr<V, O> = shape.matrix()?;
    let mut x: Vec<V::Accum> = csr_core::random_vector(5, matrix.cols());
    if axes.content == Content::NonFinite {
        spoil(&mut matrix, &mut x);
    }
    let case = Case {
        algorithm: configuration.algorithm,
        variant: configuration.variant,
        parameters: configuration.parameters.clone(),
        accumulate: axes.accumulate,
        scalars_on_device: axes.scalars_on_device,
        alpha: axes.alpha,
        beta: axes.beta,
        placement: axes.placement,
        launches: launches(queue, axes, matrix.nnz()),
    };
    run(queue, &matrix, &x, &case).map(|(error, _)| error)
}

/// Nonzeros of a shape of which an interpreter makes one launch only.
const MANY_NONZEROS: usize = 4000;

/// Launches of a case: two, so that what one leaves in memory is seen in the next; on an interpreter, where a launch
/// takes long, for every other case, and not of the one shape that has a third of all nonzeros.
fn launches(queue: &Queue, axes: &Axes, nnz: usize) -> usize {
    let is_long = axes.scalars_on_device || nnz > MANY_NONZEROS;
    if is_interpreted(queue.context().device().traits()) && is_long { 1 } else { 2 }
}

/// Numbers in A that are not finite, and an infinity first in x.
fn spoil<V: RealValue, O: Offset>(matrix: &mut Csr<V, O>, x: &mut [V::Accum]) {
    spoil_values(matrix.values_mut());
    if let Some(first) = x.first_mut() {
        *first = V::Accum::from_f64(f64::NEG_INFINITY);
    }
}

/// An infinity in the middle of A and a NaN at its end.
pub(super) fn spoil_values<V: RealValue>(values: &mut [V]) {
    let middle = values.len() / 2;
    if let Some(value) = values.get_mut(middle) {
        *value = V::from_f64(f64::INFINITY);
    }
    if let Some(value) = values.last_mut() {
        *value = V::from_f64(f64::NAN);
    }
}
