//! The numbers of the cost model from timings, and the candidates that they are fitted on.
//!
//! What is made small is a sum of two parts. The first is the square of the error of each estimate, as a logarithm,
//! over all candidates of a matrix together and within it, those near the best above all. The second is what the choice
//! by these numbers loses on each matrix (see [`loss`]), where candidates that are estimated nearly alike share the
//! choice: so a number that moves a little changes it a little.
//!
//! The search begins with the numbers of a shipped entry. It first finds what all of them are to be multiplied with, then
//! goes from number to number, up and down by a factor that becomes smaller where nothing is gained any more. A number of
//! which the timings say nothing stays where it was, since to move it costs a little.

use std::collections::BTreeMap;

use cl_kernels::{
    Algorithm, CostModel, CostNumbers, CostQuestion, DeviceTraits, Fit, MODEL_BASELINE,
    MatrixShape, NamedParameters, Reuse, Tables,
};
use csr_core::ValueType;

use super::board::Matrix;
use super::loss::{TOLERATED, loss, lost};
use super::{Board, Candidate};

/// Weights of the parts: of all candidates together, within a matrix, and of the choice where so many products follow.
const OF_ALL: f64 = 0.2;
const WITHIN: f64 = 0.5;
const OF_CHOICE: [(Reuse, f64); 3] =
    [(Reuse::Several, 1.0), (Reuse::Many, 0.4), (Reuse::Once, 0.3)];

/// Estimates that differ by less, as logarithms, share the choice.
const ALIKE: f64 = 0.02;

/// A candidate that is slower than the best by these factors says less, and next to nothing.
const NEAR: f64 = 1.3;
const FAR: f64 = 3.0;

/// No error counts more.
const MOST: f64 = 1.5;

/// What it costs to move a number by a factor of e.
const STAYS: f64 = 3e-4;

/// Logarithms of the first and of the last factor.
const FIRST_STEP: f64 = 0.7;
const LAST_STEP: f64 = 0.02;

/// Fewer matrices say too little.
const MATRICES: usize = 6;

/// The share of the matrices that the baseline must have been tried on.
const KNOWN: f64 = 0.7;

/// A cost model that suits a board, before it is validated.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedModel {
    /// Its numbers, without a margin.
    pub numbers: CostNumbers,
    /// What `csr_flat` may take where no other candidate promises the margin more, that which gains most first: all that
    /// was tried on most matrices and gains something.
    pub baselines: Vec<Candidate>,
}

/// What the model compares on a matrix of this mean row: the first of each algorithm before the second of any.
pub(super) fn compared(
    device: &DeviceTraits,
    value_type: ValueType,
    mean_row: f64,
) -> Vec<Candidate> {
    let fit = Fit::plain(device, value_type, mean_row);
    let models = Algorithm::ALL.into_iter().filter_map(|one| Some((one, one.spec().model?)));
    let mut all: Vec<_> = models
        .flat_map(|(algorithm, model)| {
            let candidates = (model.candidates)(&fit).into_iter().enumerate();
            candidates.map(move |(k, named)| (k, Candidate::of_named(algorithm, &named)))
        })
        .filter(|(_, candidate)| candidate.fits(device, value_type))
        .collect();
    all.sort_by_key(|(k, _)| *k);
    all.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The model that suits a board; `None` where it has too few matrices, or no table numbers to begin with.
pub(super) fn fit_model(
    board: &Board,
    device: &DeviceTraits,
    cache_bytes: u64,
    value_type: ValueType,
    tables: &Tables,
) -> Option<FittedModel> {
    let matrices: Vec<Case> = board
        .matrices(value_type)
        .filter_map(|(_, matrix)| Case::new(matrix, device, value_type))
        .collect();
    if matrices.len() < MATRICES {
        return None;
    }
    let start = tables.default_model(device, value_type)?.entries().map(|(_, value)| value);
    let baselines = baselines_of(&matrices);
    let problem = Problem { matrices, device, cache_bytes, value_type, start };
    Some(FittedModel { numbers: problem.solve(), baselines })
}

/// The candidates of `csr_flat` that are known on most matrices and gain over what would run untuned, where some tens of
/// products follow. What one loses somewhere counts more.
fn baselines_of(matrices: &[Case]) -> Vec<Candidate> {
    let products = Reuse::Several;
    let mut losses: BTreeMap<&Candidate, Vec<f64>> = BTreeMap::new();
    for case in matrices {
        let (_, untuned) = case.best_of(products);
        if !untuned.is_finite() {
            continue;
        }
        for one in case.tried.iter().filter(|one| one.candidate.algorithm == MODEL_BASELINE) {
            losses
                .entry(&one.candidate)
                .or_default()
                .push(lost(one.us(products) / untuned, TOLERATED));
        }
    }
    let means = losses.into_iter().filter_map(|(candidate, losses)| {
        let is_known = losses.len() as f64 >= KNOWN * matrices.len() as f64;
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        (is_known && mean < 0.0).then_some((mean, candidate))
    });
    let mut means: Vec<_> = means.collect();
    means.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    means.into_iter().map(|(_, candidate)| candidate.clone()).collect()
}

/// A matrix, and every candidate of the model that was timed there.
struct Case {
    shape: MatrixShape,
    tried: Vec<Tried>,
    /// Microseconds of the best of all that was tried, and of what would run untuned, where so many products follow.
    bests: [(f64, f64); 3],
}

struct Tried {
    candidate: Candidate,
    model: CostModel,
    parameters: NamedParameters,
    product_us: f64,
    setup_us: f64,
}

impl Tried {
    /// Microseconds of a product and its part of the set-up.
    fn us(&self, products: Reuse) -> f64 {
        self.product_us + self.setup_us / f64::from(products.count())
    }
}

impl Case {
    fn new(matrix: &Matrix, device: &DeviceTraits, value_type: ValueType) -> Option<Self> {
        let mean_row = matrix.shape.mean_row();
        let fit = Fit::plain(device, value_type, mean_row);
        let tried = |(candidate, product_us, setup_us): (&Candidate, f64, f64)| {
            let model = candidate.algorithm.spec().model?;
            let all = (model.candidates)(&fit);
            let is_of = |named: &NamedParameters| {
                *candidate == Candidate::of_named(candidate.algorithm, named)
            };
            let parameters = all.into_iter().find(is_of)?;
            Some(Tried { candidate: candidate.clone(), model, parameters, product_us, setup_us })
        };
        let tried: Vec<_> = matrix.times_us().filter_map(tried).collect();
        let least = |costs: &mut dyn Iterator<Item = f64>| costs.fold(f64::INFINITY, f64::min);
        let bests = OF_CHOICE.map(|(products, _)| {
            let cost = |one| matrix.cost_us(one, products);
            let best = matrix.best(products, |_| true).map_or(f64::INFINITY, |(_, cost)| cost);
            (best, least(&mut matrix.references().filter_map(cost)))
        });
        let is_known = tried.len() > 1 && bests.iter().all(|(best, _)| best.is_finite());
        is_known.then_some(Case { shape: matrix.shape, tried, bests })
    }

    /// Microseconds of the best, and of what would run untuned.
    fn best_of(&self, products: Reuse) -> (f64, f64) {
        let known = OF_CHOICE.iter().zip(self.bests).find(|((of, _), _)| *of == products);
        known.map_or((f64::NAN, f64::NAN), |(_, bests)| bests)
    }
}

struct Problem<'a> {
    matrices: Vec<Case>,
    device: &'a DeviceTraits,
    cache_bytes: u64,
    value_type: ValueType,
    start: [f64; 12],
}

impl Problem<'_> {
    fn solve(&self) -> CostNumbers {
        let mut logs = [0.0; 12];
        let mut least = self.objective(&logs);
        let mut step = FIRST_STEP;
        while step >= LAST_STEP {
            let mut has_gained = false;
            // All of them first, then one after another.
            for number in std::iter::once(None).chain((0..logs.len()).map(Some)) {
                for by in [step, -step] {
                    let mut moved = logs;
                    match number {
                        None => moved.iter_mut().for_each(|log| *log += by),
                        Some(number) => moved[number] += by,
                    }
                    let objective = self.objective(&moved);
                    if objective < least - 1e-6 {
                        (logs, least, has_gained) = (moved, objective, true);
                        break;
                    }
                }
            }
            if !has_gained {
                step /= 2.0;
            }
        }
        CostNumbers::from_values(self.values(&logs).map(to_three_digits))
    }

    fn values(&self, logs: &[f64; 12]) -> [f64; 12] {
        let mut values = self.start;
        values.iter_mut().zip(logs).for_each(|(value, log)| *value *= log.exp());
        values
    }

    fn objective(&self, logs: &[f64; 12]) -> f64 {
        let numbers = CostNumbers::from_values(self.values(logs));
        let mut all = Weighted::default();
        let mut within = Weighted::default();
        let mut chosen = 0.0;
        for case in &self.matrices {
            let question = CostQuestion::new(
                &case.shape,
                self.value_type,
                self.device,
                self.cache_bytes,
                &numbers,
            );
            let costs: Vec<_> =
                case.tried.iter().map(|one| (one.model.cost)(&question, &one.parameters)).collect();
            let fastest = case.tried.iter().map(|one| one.product_us).fold(f64::INFINITY, f64::min);
            let mut errors = Weighted::default();
            for (one, cost) in case.tried.iter().zip(&costs) {
                let weight = weight_of(one.product_us / fastest);
                let error = (1e-3 * cost.product_ns() / one.product_us).ln().clamp(-MOST, MOST);
                errors.add(weight, error);
                all.add(weight, error * error);
            }
            let centre = errors.mean();
            for (one, cost) in case.tried.iter().zip(&costs) {
                let error = (1e-3 * cost.product_ns() / one.product_us).ln().clamp(-MOST, MOST);
                within.add(weight_of(one.product_us / fastest), (error - centre).powi(2));
            }
            for ((products, weight), (best, untuned)) in OF_CHOICE.iter().zip(case.bests) {
                let totals: Vec<f64> = case
                    .tried
                    .iter()
                    .zip(&costs)
                    .map(|(one, cost)| match one.candidate.may_be_chosen(*products) {
                        true => cost.total_ns(*products).ln(),
                        false => f64::INFINITY,
                    })
                    .collect();
                let least = totals.iter().copied().fold(f64::INFINITY, f64::min);
                let mut shared = Weighted::default();
                for (one, total) in case.tried.iter().zip(totals) {
                    let us = one.us(*products);
                    shared.add(
                        (-(total - least) / ALIKE).exp(),
                        loss(us / best, us / untuned).min(MOST),
                    );
                }
                chosen += weight * shared.mean();
            }
        }
        let moved: f64 = logs.iter().map(|log| log * log).sum();
        OF_ALL * all.mean()
            + WITHIN * within.mean()
            + chosen / self.matrices.len() as f64
            + STAYS * moved
    }
}

/// What an estimate counts of a candidate that takes so many times as long as the best.
fn weight_of(ratio: f64) -> f64 {
    match ratio {
        near if near < NEAR => 1.0,
        far if far < FAR => 0.2,
        _ => 0.02,
    }
}

/// A mean of values that do not count alike.
#[derive(Default)]
struct Weighted {
    sum: f64,
    weights: f64,
}

impl Weighted {
    fn add(&mut self, weight: f64, value: f64) {
        self.sum += weight * value;
        self.weights += weight;
    }

    fn mean(&self) -> f64 {
        if self.weights > 0.0 { self.sum / self.weights } else { 0.0 }
    }
}

/// A table is read by people.
fn to_three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests;
