//! What is known so far: the time of each candidate on each matrix.

use std::collections::BTreeMap;

use cl_kernels::{Features, MatrixShape, Reuse};
use csr_core::ValueType;

use super::timing::median;
use super::{Candidate, Outcome, Timing};

/// Times by value type, matrix and candidate. Trials that were repeated count by their median.
#[derive(Clone, Debug, Default)]
pub struct Board {
    types: BTreeMap<ValueType, BTreeMap<String, Matrix>>,
}

/// One matrix on the board.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// What one pass over its offsets says.
    pub shape: MatrixShape,
    /// What rules ask of it.
    pub features: Features,
    tries: BTreeMap<Candidate, Tries>,
    references_us: BTreeMap<Candidate, Vec<f64>>,
}

/// What is known of a candidate: its time over a reference's, trial by trial, and its set-ups. Trials that gave it up
/// after a launch or two count where there is no other: those launches found the caches cold.
#[derive(Clone, Debug, Default)]
struct Tries {
    ratios: Vec<(Candidate, f64)>,
    given_up: Vec<(Candidate, f64)>,
    setup_us: Vec<f64>,
    has_failed: bool,
}

impl Matrix {
    /// Microseconds of a product with its part of the set-up; infinite where the candidate failed, or copies A though no
    /// more than several products follow, and `None` where it was not tried.
    pub fn cost_us(&self, candidate: &Candidate, products: Reuse) -> Option<f64> {
        self.tries.get(candidate).map(|tries| self.cost_of(candidate, tries, products))
    }

    /// Microseconds of a product, and of the set-up, of every candidate that never failed.
    pub fn times_us(&self) -> impl Iterator<Item = (&Candidate, f64, f64)> {
        let sound = self.tries.iter().filter(|(_, tries)| !tries.has_failed);
        sound.map(|(candidate, tries)| {
            (candidate, self.product_us(candidate, tries), median(&tries.setup_us))
        })
    }

    fn cost_of(&self, candidate: &Candidate, tries: &Tries, products: Reuse) -> f64 {
        // What failed once is not to be trusted.
        if tries.has_failed || !candidate.may_be_chosen(products) {
            return f64::INFINITY;
        }
        self.product_us(candidate, tries) + median(&tries.setup_us) / f64::from(products.count())
    }

    /// A reference takes the median of all its samples, unless it was compared with another one; everything else takes so
    /// many times its reference's.
    fn product_us(&self, candidate: &Candidate, tries: &Tries) -> f64 {
        let all = || tries.ratios.iter().chain(&tries.given_up);
        if let Some(samples) = self.references_us.get(candidate)
            && all().all(|(reference, _)| reference == candidate)
        {
            return median(samples);
        }
        let product_us = |(reference, ratio): &(Candidate, f64)| {
            ratio * self.references_us.get(reference).map_or(f64::NAN, |samples| median(samples))
        };
        let ratios = if tries.ratios.is_empty() { &tries.given_up } else { &tries.ratios };
        let products_us: Vec<f64> = ratios.iter().map(product_us).collect();
        median(&products_us)
    }

    /// The candidate of the least cost, of those that `of` lets through, and its cost.
    pub fn best(
        &self,
        products: Reuse,
        of: impl Fn(&Candidate) -> bool,
    ) -> Option<(&Candidate, f64)> {
        let tried = self.tries.iter().filter(|(candidate, _)| of(candidate));
        let costs =
            tried.map(|(candidate, tries)| (candidate, self.cost_of(candidate, tries, products)));
        costs.filter(|(_, cost)| cost.is_finite()).min_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// Trials of a candidate that were timed.
    pub fn trials(&self, candidate: &Candidate) -> usize {
        let tries = self.tries.get(candidate);
        tries.map_or(0, |tries| tries.ratios.len() + tries.given_up.len())
    }

    /// What others were timed with: what would run untuned.
    pub fn references(&self) -> impl Iterator<Item = &Candidate> {
        self.references_us.keys()
    }

    /// Everything that was tried on it.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.tries.keys()
    }
}

impl Board {
    /// From raw timings, of one device, but for those of a validation.
    pub fn of<'a>(timings: impl IntoIterator<Item = &'a Timing>) -> Self {
        let mut board = Board::default();
        let fitted = timings.into_iter().filter(|timing| !timing.is_validation);
        fitted.for_each(|timing| board.add(timing));
        board
    }

    /// Adds a trial.
    pub fn add(&mut self, timing: &Timing) {
        // A child that ended knows nothing of the matrix, and other trials do.
        let matrices = self.types.entry(timing.value_type).or_default();
        if timing.nnz == 0 && !matrices.contains_key(&timing.matrix) {
            return;
        }
        let matrix = matrices.entry(timing.matrix.clone()).or_insert_with(|| Matrix {
            shape: timing.shape(),
            features: timing.features(),
            tries: BTreeMap::new(),
            references_us: BTreeMap::new(),
        });
        let tries = matrix.tries.entry(timing.candidate.clone()).or_default();
        let Some(times) = timing.outcome.times() else {
            tries.has_failed = true;
            return;
        };
        let ratios = match timing.outcome {
            Outcome::Slow(_) => &mut tries.given_up,
            _ => &mut tries.ratios,
        };
        ratios.push((timing.reference.clone(), times.ratio()));
        tries.setup_us.push(times.setup_us);
        let references_us = matrix.references_us.entry(timing.reference.clone()).or_default();
        references_us.extend(&times.reference_us);
    }

    /// Value types of which anything is known.
    pub fn value_types(&self) -> impl Iterator<Item = ValueType> {
        self.types.keys().copied()
    }

    /// The matrices of a value type, by name.
    pub fn matrices(&self, value_type: ValueType) -> impl Iterator<Item = (&str, &Matrix)> {
        let matrices = self.types.get(&value_type).into_iter().flatten();
        matrices.map(|(name, matrix)| (name.as_str(), matrix))
    }

    /// One matrix.
    pub fn matrix(&self, value_type: ValueType, name: &str) -> Option<&Matrix> {
        self.types.get(&value_type)?.get(name)
    }
}
