//! Batches of problems alike, of which CSR-I has programs of their own: one by one, and in pairs where they have one
//! pattern.

use std::iter;

use csr_core::batch::HostBatch;
use csr_core::{Csr, Value};
use sparrow::Queue;

use super::batch_suite::csr_of_lengths;
use super::{BatchCase, CaseError, run_batch};

/// Columns and lengths of rows: ones that lie in many steps of a piece, of which one bunch makes more than it has items;
/// and others: empty rows first, last and between; one that lies in every piece; no nonzeros at all; rows of equal
/// lengths; one that goes on behind a piece without nonzeros; more columns than local memory holds by the defaults.
fn shapes() -> [(usize, Vec<usize>); 7] {
    [
        (1024, vec![0, 1024, 0, 3, 1, 1, 1, 1024, 300, 0, 2, 1024, 5]),
        (61, [vec![0, 1, 9, 0, 61], [5, 17, 3, 0, 1].repeat(9), vec![0; 3]].concat()),
        (1024, vec![0, 1024, 0, 3, 1, 1, 1, 300, 0, 2, 5]),
        (7, vec![0; 70]),
        (100, vec![3; 100]),
        (40, [7, 0, 30].repeat(15)),
        (1100, [7, 0, 30].repeat(15)),
    ]
}

/// Problems, each with columns of its own.
const ALONE: usize = 9;

/// Runs a case on the first of the shapes and on two others, from `turn` on, as problems with columns of their own and as
/// values of one pattern, so many that each compute unit has two pairs, and that one problem has no other. Without
/// `is_finite` x begins with an infinity, which must not reach rows that do not ask for it.
pub(super) fn run_alike<V: Value>(
    queue: &Queue,
    case: &BatchCase,
    is_finite: bool,
    turn: usize,
) -> Result<f64, (Option<usize>, CaseError)> {
    let host_error = |error: csr_core::Error| (None, error.into());
    let of_one_pattern = 4 * queue.context().device().traits().compute_units as usize + 3;
    let shapes = shapes();
    let mut largest = 0.0f64;
    let [many_steps, others @ ..] = &shapes;
    let of_turn = [turn, turn + 1].map(|number| &others[number % others.len()]);
    for (cols, lengths) in iter::once(many_steps).chain(of_turn) {
        let count = of_one_pattern.max(ALONE);
        let problems: csr_core::Result<Vec<Csr<V>>> =
            (0..count).map(|seed| csr_of_lengths(*cols, lengths, seed as u64)).collect();
        let problems = problems.map_err(host_error)?;
        let mut alone = HostBatch::new();
        for problem in &problems[..ALONE] {
            alone.push_csr(problem.view()).map_err(host_error)?;
        }
        let values: Vec<V> =
            problems.iter().flat_map(|problem| problem.values()).copied().collect();
        let mut together = HostBatch::new();
        let pattern = problems[0].view().pattern();
        together.push_pattern(pattern, &values, count).map_err(host_error)?;
        for (host, problems) in [(&alone, &problems[..ALONE]), (&together, &problems[..])] {
            let mut x: Vec<V::Accum> = csr_core::random_vector(11, host.x_len());
            if !is_finite {
                x[0] = V::Accum::from_f64(f64::INFINITY);
            }
            largest = largest.max(run_batch(queue, problems, host, &x, case)?);
        }
    }
    Ok(largest)
}
