//! Batches that CSR-I has programs of their own for: of problems alike, one by one, and in pairs where they have one
//! pattern; and of different ones that all have x in local memory, in lists and strided ranges.

use std::iter;

use csr_core::batch::HostBatch;
use csr_core::{Csr, RealValue, Value as _};
use sparrow::Queue;

use super::shapes::csr_of_lengths;
use super::{BatchCase, CaseError, Extent, run_batch};

/// Columns and lengths of rows: ones that lie in many steps of a chunk, of which one sub-group makes more than it has items, the
/// last of them in a step with many short ones; and others: long rows with more short and empty ones between them than a
/// sub-group has items; empty rows first, last and between; one that lies in every chunk; no nonzeros at all; rows of equal
/// lengths; one that goes on after a chunk without nonzeros; more rows than a task has, and more columns than local
/// memory holds, by the defaults.
fn shapes() -> [(usize, Vec<usize>); 9] {
    [
        (
            1024,
            [vec![0, 1024, 0, 3, 1, 1, 1, 1024, 300, 0, 2, 1024, 5], vec![0; 100], vec![1; 90]]
                .concat(),
        ),
        (200, [vec![70], vec![0; 40], vec![80], vec![1; 33], vec![150, 3, 90]].concat().repeat(7)),
        (61, [vec![0, 1, 9, 0, 61], [5, 17, 3, 0, 1].repeat(9), vec![0; 3]].concat()),
        (1024, vec![0, 1024, 0, 3, 1, 1, 1, 300, 0, 2, 5]),
        (7, vec![0; 70]),
        (100, vec![3; 100]),
        (40, [7, 0, 30].repeat(15)),
        (300, [2, 0, 3, 1].repeat(325)),
        (1100, [7, 0, 30].repeat(15)),
    ]
}

/// Problems, each with columns of its own.
const ALONE: usize = 9;

/// Runs a case on problems alike, and on different ones, of which [`Extent::Half`] takes fewer. Without `is_finite` x
/// begins with an infinity, which must not reach rows that do not ask for it.
pub(super) fn run_forms<V: RealValue>(
    queue: &Queue,
    case: &BatchCase,
    is_finite: bool,
    turn: usize,
    extent: Extent,
) -> Result<f64, (Option<usize>, CaseError)> {
    let alike = run_alike::<V>(queue, case, is_finite, turn, extent)?;
    let different = run_different::<V>(queue, case, is_finite, turn, extent)?;
    Ok(alike.max(different))
}

/// On the first of the shapes and on two others, from `turn` on, of half of the cover on one alone, as problems with columns
/// of their own and as values of one pattern, so many that each compute unit has two pairs, and that one problem has no other.
fn run_alike<V: RealValue>(
    queue: &Queue,
    case: &BatchCase,
    is_finite: bool,
    turn: usize,
    extent: Extent,
) -> Result<f64, (Option<usize>, CaseError)> {
    let of_one_pattern = 4 * queue.context().device().traits().compute_units as usize + 3;
    let shapes = shapes();
    let mut largest = 0.0f64;
    let [many_steps, others @ ..] = &shapes;
    let of_turn = [turn, turn + 1].map(|number| &others[number % others.len()]);
    let taken: Vec<_> = match extent {
        _ if extent.is_for_slow_devices() => vec![&shapes[turn % shapes.len()]],
        _ => iter::once(many_steps).chain(of_turn).collect(),
    };
    for shape in taken {
        let problems = problems_of::<V>(iter::repeat_n(shape, of_one_pattern.max(ALONE)))?;
        let alone = batch_of(&problems[..ALONE])?;
        let values: Vec<V> =
            problems.iter().flat_map(|problem| problem.values()).copied().collect();
        let mut together = HostBatch::new();
        let pattern = problems[0].view().pattern();
        together.push_pattern(pattern, &values, problems.len()).map_err(host_error)?;
        for (host, problems) in [(&alone, &problems[..ALONE]), (&together, &problems[..])] {
            largest = largest.max(run_finite_or_not(queue, problems, host, case, is_finite)?);
        }
    }
    Ok(largest)
}

/// On all shapes but the last, whose x does not fit local memory: by `turn` in such an order that neighbours differ, which
/// is a list, or each several times in succession, which is strided ranges after the parts of one that is cut. And, but
/// for half of the cover, on the first shape before and after problems of so many nonzeros that they are cut.
fn run_different<V: RealValue>(
    queue: &Queue,
    case: &BatchCase,
    is_finite: bool,
    turn: usize,
    extent: Extent,
) -> Result<f64, (Option<usize>, CaseError)> {
    let shapes = shapes();
    let [fitting @ .., _] = &shapes;
    let of_each = if extent.is_for_slow_devices() { 2 } else { 4 };
    let count = of_each * fitting.len();
    let place = |at: usize| if turn.is_multiple_of(2) { at % fitting.len() } else { at / of_each };
    let mut batches = vec![problems_of::<V>((0..count).map(|at| &fitting[place(at)]))?];
    let large = (1024, vec![1024; 21]);
    let behind_parts = (0..18).map(|at| if at % 9 == 4 { &large } else { &fitting[0] });
    if !extent.is_for_slow_devices() {
        batches.push(problems_of::<V>(behind_parts)?);
    }
    let mut largest = 0.0f64;
    for problems in batches {
        let host = batch_of(&problems)?;
        largest = largest.max(run_finite_or_not(queue, &problems, &host, case, is_finite)?);
    }
    Ok(largest)
}

fn host_error(error: csr_core::Error) -> (Option<usize>, CaseError) {
    (None, error.into())
}

/// A problem of each shape, all with values of their own.
fn problems_of<'a, V: RealValue>(
    shapes: impl Iterator<Item = &'a (usize, Vec<usize>)>,
) -> Result<Vec<Csr<V>>, (Option<usize>, CaseError)> {
    let problems = shapes
        .enumerate()
        .map(|(seed, (cols, lengths))| csr_of_lengths(*cols, lengths, seed as u64));
    problems.collect::<csr_core::Result<_>>().map_err(host_error)
}

fn batch_of<V: RealValue>(problems: &[Csr<V>]) -> Result<HostBatch<V>, (Option<usize>, CaseError)> {
    let mut batch = HostBatch::new();
    for problem in problems {
        batch.push_csr(problem.view()).map_err(host_error)?;
    }
    Ok(batch)
}

fn run_finite_or_not<V: RealValue>(
    queue: &Queue,
    problems: &[Csr<V>],
    host: &HostBatch<V>,
    case: &BatchCase,
    is_finite: bool,
) -> Result<f64, (Option<usize>, CaseError)> {
    let mut x: Vec<V::Accum> = csr_core::random_vector(11, host.x_len());
    if !is_finite {
        x[0] = V::Accum::from_f64(f64::INFINITY);
    }
    run_batch(queue, problems, host, &x, case)
}
