//! What a board comes to: an entry of a device table.

use std::collections::{BTreeMap, BTreeSet};

use cl_kernels::{Algorithm, DeviceEntry, Products, Rule};
use csr_core::ValueType;

use super::board::Matrix;
use super::fit::{Case, Fit, Leaf, fit, loss, loss_of};
use super::search::{WINNERS, winners};
use super::{Board, Candidate, TunedDevice};

/// A list for one or for many products must gain this much over the list for several, in the mean, to be kept.
const LIST_GAIN: f64 = 0.01;

/// What would run untuned keeps its place where no more is gained.
const KEPT: f64 = 0.02;

/// Hyper-parameters of an algorithm must gain this much in the mean, on this many matrices, to go before those that
/// were tried on most.
const LINE_GAIN: f64 = 0.02;
const LINE_MATRICES: usize = 5;

/// The entry that suits what was timed: for each value type rules, and hyper-parameters of algorithms for whoever asks
/// for one by name.
pub fn entry_of(board: &Board, device: &TunedDevice, origin: String) -> DeviceEntry {
    let mut entry = device.entry(origin);
    for value_type in board.value_types() {
        let fitted = Fitted::new(board, value_type);
        let Some(several) = fitted.list(Products::Several) else { continue };
        let rules = entry.choice.entry(value_type.to_string()).or_default();
        for products in [Products::Once, Products::Many] {
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

/// Candidates of one value type, and the matrices on which all of them are known.
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
        let mut matrices: Vec<_> = board.matrices(value_type).collect();
        let known_on = |candidate: &Candidate| {
            let known = matrices.iter().filter(|(_, one)| is_known(one, candidate)).count();
            known as f64 / matrices.len().max(1) as f64
        };
        // Where time was up before all of them were tried everywhere, those that nearly were must do.
        let mut candidates = winners(board, value_type, WINNERS);
        // What would run untuned is always among them.
        for one in matrices.iter().flat_map(|(_, matrix)| matrix.references()) {
            if !candidates.contains(one) {
                candidates.push(one.clone());
            }
        }
        candidates.retain(|candidate| known_on(candidate) >= KNOWN_SHARE);
        if candidates.is_empty() {
            let all: BTreeSet<_> = matrices.iter().flat_map(|(_, one)| one.candidates()).collect();
            let most = all.into_iter().max_by(|a, b| known_on(a).total_cmp(&known_on(b)));
            candidates.extend(most.cloned());
        }
        matrices.retain(|(_, one)| candidates.iter().all(|candidate| is_known(one, candidate)));
        Fitted { board, value_type, matrices, candidates }
    }

    fn cases(&self, products: Products) -> Vec<Case> {
        // Sizes of one mean row and skew are one kind.
        let kind_of = |name: &str| name.rsplit_once(':').map_or(name, |(kind, _)| kind).to_owned();
        let kinds: BTreeSet<String> = self.matrices.iter().map(|(name, _)| kind_of(name)).collect();
        let kinds: Vec<_> = kinds.into_iter().collect();
        let case = |(name, matrix): &(&str, &Matrix)| {
            let kind = kinds.binary_search(&kind_of(name)).unwrap_or(0);
            let cost = |candidate| matrix.cost_us(candidate, products).unwrap_or(f64::INFINITY);
            let best = self.candidates.iter().map(cost).fold(f64::INFINITY, f64::min);
            let losses = self.candidates.iter().map(|candidate| {
                let is_untuned = matrix.references().any(|one| one == candidate);
                let kept = if is_untuned { 1.0 - KEPT } else { 1.0 };
                loss(kept * cost(candidate) / best)
            });
            Case { features: matrix.features, kind, losses: losses.collect() }
        };
        self.matrices.iter().map(case).collect()
    }

    fn list(&self, products: Products) -> Option<Fit> {
        let fit = fit(&self.cases(products));
        (!fit.list.is_empty()).then_some(fit)
    }

    fn mean_loss(&self, list: &[Leaf], products: Products) -> f64 {
        let cases = self.cases(products);
        cases.iter().map(|case| loss_of(list, case)).sum::<f64>() / cases.len().max(1) as f64
    }

    fn rules(&self, list: &[Leaf]) -> Vec<Rule> {
        let rule = |leaf: &Leaf| Rule {
            when: leaf.when.clone(),
            ..self.candidates[leaf.candidate].rule()
        };
        list.iter().map(rule).collect()
    }

    /// For each algorithm its hyper-parameters for whoever asks for it by name: those that were tried on most matrices,
    /// or others that gain over them where both were. `csr_vector` goes by the mean row unless it is told.
    fn lines(&self) -> Vec<(Algorithm, BTreeMap<String, u32>)> {
        let all = || self.board.matrices(self.value_type).map(|(_, matrix)| matrix);
        let mut lines = Vec::new();
        for algorithm in Algorithm::ALL.into_iter().filter(|one| *one != Algorithm::CsrVector) {
            let mut counts: BTreeMap<&Candidate, usize> = BTreeMap::new();
            for candidate in all().flat_map(Matrix::candidates) {
                if candidate.algorithm == algorithm {
                    *counts.entry(candidate).or_default() += 1;
                }
            }
            let Some((&usual, _)) = counts.iter().max_by_key(|(_, count)| **count) else {
                continue;
            };
            let gain = |candidate: &Candidate| {
                let log = |matrix: &Matrix| {
                    let cost = |one| matrix.cost_us(one, Products::Many);
                    Some((cost(usual)? / cost(candidate)?).ln())
                };
                let logs: Vec<f64> = all().filter_map(log).collect();
                logs.iter().sum::<f64>() / logs.len().max(1) as f64
            };
            let well_known = counts.iter().filter(|(_, count)| **count >= LINE_MATRICES);
            let best = well_known
                .map(|(candidate, _)| (gain(candidate), *candidate))
                .filter(|(gain, _)| *gain > LINE_GAIN)
                .max_by(|(a, _), (b, _)| a.total_cmp(b));
            let line = best.map_or(usual, |(_, candidate)| candidate);
            let is_right =
                all().all(|matrix| matrix.cost_us(line, Products::Many).is_none_or(f64::is_finite));
            if is_right {
                lines.push((algorithm, line.parameters.clone()));
            }
        }
        lines
    }
}

fn is_known(matrix: &Matrix, candidate: &Candidate) -> bool {
    matrix.cost_us(candidate, Products::Many).is_some()
}

/// What the rules for several products would take on kinds of matrices that they were fitted without, over the best
/// there: a mean ratio. `None` where too little is known.
pub fn held_out_ratio(board: &Board, value_type: ValueType) -> Option<f64> {
    let fit = Fitted::new(board, value_type).list(Products::Several)?;
    Some(1.0 + fit.held_out_loss)
}

/// What an entry takes on each matrix of a board: its cost over the best that is known there.
pub fn ratios(
    entry: &DeviceEntry,
    board: &Board,
    value_type: ValueType,
    products: Products,
) -> Vec<(String, f64)> {
    let ratio = |(name, matrix): (&str, &Matrix)| {
        let (_, best) = matrix.best(products, |_| true)?;
        let mut rules = entry.rules(value_type)?.of(products);
        let rule = rules.find(|rule| rule.when.holds(&matrix.features))?;
        let cost = matrix.cost_us(&Candidate::of_rule(rule), products)?;
        Some((name.to_owned(), cost / best))
    };
    board.matrices(value_type).filter_map(ratio).collect()
}
