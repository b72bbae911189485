//! What a board comes to: an entry of a device table.

use std::collections::{BTreeMap, BTreeSet};

use cl_kernels::{Algorithm, DeviceEntry, Feature, Reuse, Rule};
use csr_core::ValueType;

use super::board::Matrix;
use super::fit::{Case, Clause, Fit, fit, loss_of};
use super::loss::loss;
use super::unknown::assume;
use super::{Board, Candidate, TunedDevice};

/// A list for one or for many products must gain this much over the list for several, in the mean, to be kept.
const LIST_GAIN: f64 = 0.01;

/// What would run untuned is kept where no more is gained.
const KEPT: f64 = 0.02;

/// Hyper-parameters of an algorithm must gain this much in the mean, on this many matrices, to go before those that
/// were tried on most.
const LINE_GAIN: f64 = 0.02;
const LINE_MATRICES: usize = 5;

/// The entry that suits what was timed: for each value type rules, and hyper-parameters of algorithms for callers that
/// ask for one by name.
pub fn entry_of(board: &Board, device: &TunedDevice, origin: String) -> DeviceEntry {
    let mut entry = device.entry(origin);
    for value_type in board.value_types() {
        let fitted = Fitted::new(board, value_type);
        let Some(several) = fitted.list(Reuse::Several) else { continue };
        let rules = entry.choice.entry(value_type.to_string()).or_default();
        for products in [Reuse::Once, Reuse::Many] {
            if let Some(own) = fitted.list(products)
                && fitted.mean_loss(&several.list, products) - fitted.mean_loss(&own.list, products)
                    > LIST_GAIN
            {
                *rules.list_mut(products) = fitted.rules(&own.list);
            }
        }
        rules.several = fitted.rules(&several.list);
        for (algorithm, parameters) in fitted.lines() {
            let lines = entry.kernel.entry(algorithm.to_string()).or_default();
            lines.insert(value_type.to_string(), parameters);
        }
    }
    entry
}

/// The matrices of one value type, and the candidates that rules may take.
struct Fitted<'a> {
    board: &'a Board,
    value_type: ValueType,
    matrices: Vec<(&'a str, &'a Matrix)>,
    candidates: Vec<Candidate>,
}

/// Of the matrices, a candidate must be known on at least so many to take part.
const KNOWN_SHARE: f64 = 0.7;

impl<'a> Fitted<'a> {
    fn new(board: &'a Board, value_type: ValueType) -> Self {
        let matrices: Vec<_> = board.matrices(value_type).collect();
        let known_on = |candidate: &Candidate| {
            let is_known = |one: &Matrix| cost_us(one, candidate, Reuse::Many).is_some();
            let known = matrices.iter().filter(|(_, one)| is_known(one)).count();
            known as f64 / matrices.len().max(1) as f64
        };
        let tried: BTreeSet<_> = matrices.iter().flat_map(|(_, one)| one.candidates()).collect();
        let by_mean_row = tried.iter().filter_map(|candidate| candidate.by_mean_row());
        let all: BTreeSet<Candidate> = by_mean_row.chain(tried.iter().copied().cloned()).collect();
        let untuned: BTreeSet<_> =
            matrices.iter().flat_map(|(_, matrix)| matrix.references()).collect();
        // What would run untuned is always among them.
        let mut candidates: Vec<_> = all
            .iter()
            .filter(|one| known_on(one) >= KNOWN_SHARE || untuned.contains(one))
            .cloned()
            .collect();
        if candidates.is_empty() {
            let most = all.into_iter().max_by(|a, b| known_on(a).total_cmp(&known_on(b)));
            candidates.extend(most);
        }
        Fitted { board, value_type, matrices, candidates }
    }

    fn cases(&self, products: Reuse) -> Vec<Case> {
        // Sizes of one mean row and skew are one kind.
        let kind_of = |name: &str| name.rsplit_once(':').map_or(name, |(kind, _)| kind).to_owned();
        let kinds: BTreeSet<String> = self.matrices.iter().map(|(name, _)| kind_of(name)).collect();
        let kinds: Vec<_> = kinds.into_iter().collect();
        let features: Vec<_> = self.matrices.iter().map(|(_, matrix)| matrix.features).collect();
        let bests: Vec<_> =
            self.matrices.iter().map(|(_, one)| self.bests(one, products)).collect();
        let losses_of = |candidate: &Candidate| {
            let known = self.matrices.iter().zip(&bests).map(|((_, matrix), (best, untuned))| {
                let is_untuned = matrix.references().any(|one| one == candidate);
                let kept = if is_untuned { 1.0 - KEPT } else { 1.0 };
                let cost = cost_us(matrix, candidate, products)?;
                Some(loss(kept * cost / best, cost / untuned))
            });
            assume(&features, &known.collect::<Vec<_>>())
        };
        let losses: Vec<_> = self.candidates.iter().map(losses_of).collect();
        let case = |(k, (name, matrix)): (usize, &(&str, &Matrix))| Case {
            features: matrix.features,
            kind: kinds.binary_search(&kind_of(name)).unwrap_or(0),
            losses: losses.iter().map(|losses| losses[k]).collect(),
        };
        self.matrices.iter().enumerate().map(case).collect()
    }

    /// The cost of the best candidate on a matrix, and of what would run untuned.
    fn bests(&self, matrix: &Matrix, products: Reuse) -> (f64, f64) {
        let least = |costs: &mut dyn Iterator<Item = f64>| costs.fold(f64::INFINITY, f64::min);
        let costs = |one| cost_us(matrix, one, products);
        (
            least(&mut self.candidates.iter().filter_map(costs)),
            least(&mut matrix.references().filter_map(costs)),
        )
    }

    fn list(&self, products: Reuse) -> Option<Fit> {
        let fit = fit(&self.cases(products));
        (!fit.list.is_empty()).then_some(fit)
    }

    fn mean_loss(&self, list: &[Clause], products: Reuse) -> f64 {
        let cases = self.cases(products);
        cases.iter().map(|case| loss_of(list, case)).sum::<f64>() / cases.len().max(1) as f64
    }

    fn rules(&self, list: &[Clause]) -> Vec<Rule> {
        let rule = |clause: &Clause| Rule {
            when: clause.when.clone(),
            ..self.candidates[clause.candidate].rule()
        };
        list.iter().map(rule).collect()
    }

    /// For each algorithm its hyper-parameters for callers that ask for it by name: those that were tried on most
    /// matrices, or others that gain over them where both were. What follows the mean row unless it is told has none.
    fn lines(&self) -> Vec<(Algorithm, BTreeMap<String, u32>)> {
        let all = || self.board.matrices(self.value_type).map(|(_, matrix)| matrix);
        let mut lines = Vec::new();
        let is_told = |one: &Algorithm| one.spec().by_mean_row.is_none();
        for algorithm in Algorithm::ALL.into_iter().filter(is_told) {
            let mut counts: BTreeMap<&Candidate, usize> = BTreeMap::new();
            for candidate in all().flat_map(Matrix::candidates) {
                if candidate.algorithm == algorithm {
                    *counts.entry(candidate).or_default() += 1;
                }
            }
            let Some((&default, _)) = counts.iter().max_by_key(|(_, count)| **count) else {
                continue;
            };
            let gain = |candidate: &Candidate| {
                let log = |matrix: &Matrix| {
                    let cost = |one| matrix.cost_us(one, Reuse::Many);
                    Some((cost(default)? / cost(candidate)?).ln())
                };
                let logs: Vec<f64> = all().filter_map(log).collect();
                logs.iter().sum::<f64>() / logs.len().max(1) as f64
            };
            let well_known = counts.iter().filter(|(_, count)| **count >= LINE_MATRICES);
            let best = well_known
                .map(|(candidate, _)| (gain(candidate), *candidate))
                .filter(|(gain, _)| *gain > LINE_GAIN)
                .max_by(|(a, _), (b, _)| a.total_cmp(b));
            let line = best.map_or(default, |(_, candidate)| candidate);
            let is_right =
                all().all(|matrix| matrix.cost_us(line, Reuse::Many).is_none_or(f64::is_finite));
            if is_right {
                lines.push((algorithm, line.parameters.clone()));
            }
        }
        lines
    }
}

/// What a candidate costs on a matrix, where that is known.
fn cost_us(matrix: &Matrix, candidate: &Candidate, products: Reuse) -> Option<f64> {
    matrix.cost_us(&candidate.on(matrix.features.get(Feature::MeanRow)), products)
}

/// What the rules for several products would take on kinds of matrices that they were fitted without, over the best
/// there: the geometric mean where it is known. `None` where nothing is.
pub fn held_out_ratio(board: &Board, value_type: ValueType) -> Option<f64> {
    let fitted = Fitted::new(board, value_type);
    let fit = fitted.list(Reuse::Several)?;
    let log = |((_, matrix), candidate): (&(&str, &Matrix), &usize)| {
        let (_, best) = matrix.best(Reuse::Several, |_| true)?;
        let cost = cost_us(matrix, &fitted.candidates[*candidate], Reuse::Several)?;
        Some((cost / best).ln())
    };
    let logs: Vec<f64> = fitted.matrices.iter().zip(&fit.held_out).filter_map(log).collect();
    let count = logs.len();
    (count > 0).then(|| (logs.into_iter().sum::<f64>() / count as f64).exp())
}

/// What an entry takes on each matrix of a board: its cost over the best that is known there.
pub fn ratios(
    entry: &DeviceEntry,
    board: &Board,
    value_type: ValueType,
    products: Reuse,
) -> Vec<(String, f64)> {
    let ratio = |(name, matrix): (&str, &Matrix)| {
        let (_, best) = matrix.best(products, |_| true)?;
        let mut rules = entry.rules(value_type)?.of(products);
        let rule = rules.find(|rule| rule.when.holds(&matrix.features))?;
        let cost = cost_us(matrix, &Candidate::of_rule(rule), products)?;
        Some((name.to_owned(), cost / best))
    };
    board.matrices(value_type).filter_map(ratio).collect()
}
