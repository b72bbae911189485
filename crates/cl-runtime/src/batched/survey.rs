//! What a plan has to know of all problems together, found in one pass: thousands of small ones are computed in a few
//! passes' time.

use cl_kernels::batched::BatchedAlgorithm;
use csr_core::batch::Problem;
use csr_core::plan::batched::work;

use super::AnyBatch;

/// By which algorithms a batch's problems are computed, and how large they are.
#[derive(Clone, Debug)]
pub struct Survey<S> {
    select: S,
    /// Problems by each of [`BatchedAlgorithm::ALL`].
    counts: [usize; BatchedAlgorithm::ALL.len()],
    /// Rows and nonzeros of all.
    pub(super) all_work: u64,
    pub(super) most_cols: u32,
}

impl<S: Fn(&Problem) -> BatchedAlgorithm> Survey<S> {
    /// Of `batch`; `select` says by which algorithm a problem is computed.
    pub fn new(batch: &AnyBatch, select: S) -> Self {
        let counts = [0; BatchedAlgorithm::ALL.len()];
        let mut found = Survey { select, counts, all_work: 0, most_cols: 0 };
        for (problem, alike) in batch.kinds() {
            found.counts[found.select(problem) as usize] += alike;
            found.all_work += work(problem) * alike as u64;
            found.most_cols = found.most_cols.max(problem.cols);
        }
        found
    }

    /// By which algorithm a problem is computed.
    pub(super) fn select(&self, problem: &Problem) -> BatchedAlgorithm {
        (self.select)(problem)
    }

    /// The algorithms that compute problems, and how many each does.
    pub fn algorithms(&self) -> impl Iterator<Item = (BatchedAlgorithm, usize)> {
        BatchedAlgorithm::ALL.into_iter().zip(self.counts).filter(|&(_, problems)| problems > 0)
    }
}

const _: () = {
    let mut number = 0;
    while number < BatchedAlgorithm::ALL.len() {
        assert!(BatchedAlgorithm::ALL[number] as usize == number);
        number += 1;
    }
};
