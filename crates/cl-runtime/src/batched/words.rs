//! The words of tasks and strided ranges, as `cl/batched/task.h` lays them out.

use cl_kernels::batched::{BatchedAlgorithm, RANGE_WORDS, TASK_WORDS};
use csr_core::batch::{Format, Problem, Steps};

pub(super) fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The words of a strided range whose first task has these.
pub(super) fn range_words(first: [u64; TASK_WORDS], steps: Steps) -> [u64; RANGE_WORDS] {
    let [w0, w1, w2, w3, w4, w5, w6, w7] = first;
    let Steps { index, columns, values, x, y } = steps;
    [w0, w1, w2, w3, w4, w5, w6, w7, values, columns, index, x, y, 0, 0, 0]
}

/// The words of a task that is a whole problem.
#[inline]
pub(super) fn task_words(
    problem: &Problem,
    number: u32,
    algorithm: BatchedAlgorithm,
) -> [u64; TASK_WORDS] {
    let lengths = match problem.format {
        Format::Ell { width } => pair(width, problem.rows),
        _ => u64::from(problem.entries),
    };
    [
        problem.values,
        problem.columns,
        problem.index,
        problem.x,
        problem.y,
        pair(problem.rows, problem.cols),
        lengths,
        pair(algorithm.kind(problem.format), number),
    ]
}
