//! What a board comes to: an entry of a device table.

use std::collections::BTreeMap;

use cl_kernels::{Algorithm, DeviceEntry, Products, Rule};
use csr_core::ValueType;

use super::board::Matrix;
use super::fit::{Case, Growth, Leaf, fit, loss};
use super::search::winners;
use super::{Board, Candidate, TunedDevice};

/// A list for one or for many products must gain this much over the list for several, in the mean, to be kept.
const LIST_GAIN: f64 = 0.01;

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
                && fitted.mean_loss(&several, products) - fitted.mean_loss(&own, products)
                    > LIST_GAIN
            {
                *rules.list_mut(products) = fitted.rules(&own);
            }
        }
        rules.several = fitted.rules(&several);
        for (algorithm, parameters) in fitted.lines() {
            let lines = entry.kernel.entry(algorithm.to_string()).or_default();
            lines.insert(value_type.to_string(), parameters);
        }
    }
    entry
}

/// The candidates of one value type that are known on every matrix.
struct Fitted<'a> {
    matrices: Vec<&'a Matrix>,
    candidates: Vec<Candidate>,
}

impl<'a> Fitted<'a> {
    fn new(board: &'a Board, value_type: ValueType) -> Self {
        let matrices: Vec<_> = board.matrices(value_type).map(|(_, matrix)| matrix).collect();
        let mut candidates = winners(board, value_type, usize::MAX);
        // Where time was up before all of them were tried everywhere, those that were must do.
        let is_complete = |candidate: &Candidate| {
            let is_known = |matrix: &&Matrix| matrix.cost_us(candidate, Products::Many).is_some();
            matrices.iter().all(is_known)
        };
        candidates.retain(is_complete);
        if candidates.is_empty() {
            let all = matrices.first().into_iter().flat_map(|matrix| matrix.candidates());
            candidates = all.filter(|candidate| is_complete(candidate)).cloned().collect();
        }
        Fitted { matrices, candidates }
    }

    fn cases(&self, products: Products) -> Vec<Case> {
        let case = |matrix: &&Matrix| {
            let cost = |candidate| matrix.cost_us(candidate, products).unwrap_or(f64::INFINITY);
            let best = self.candidates.iter().map(cost).fold(f64::INFINITY, f64::min);
            let losses = self.candidates.iter().map(|candidate| loss(cost(candidate) / best));
            Case { features: matrix.features, losses: losses.collect() }
        };
        self.matrices.iter().map(case).collect()
    }

    fn list(&self, products: Products) -> Option<Vec<Leaf>> {
        let cases = self.cases(products);
        let list = fit(&cases, &Growth::for_cases(cases.len()));
        (!list.is_empty()).then_some(list)
    }

    fn mean_loss(&self, list: &[Leaf], products: Products) -> f64 {
        let cases = self.cases(products);
        let loss = |case: &Case| {
            let leaf = list.iter().find(|leaf| leaf.when.holds(&case.features));
            leaf.map_or(f64::INFINITY, |leaf| case.losses[leaf.candidate])
        };
        cases.iter().map(loss).sum::<f64>() / cases.len().max(1) as f64
    }

    fn rules(&self, list: &[Leaf]) -> Vec<Rule> {
        let rule = |leaf: &Leaf| Rule {
            when: leaf.when.clone(),
            ..self.candidates[leaf.candidate].rule()
        };
        list.iter().map(rule).collect()
    }

    /// For each algorithm the hyper-parameters that lose least over all matrices: for whoever asks for it by name.
    /// `csr_vector` goes by the mean row unless it is told.
    fn lines(&self) -> Vec<(Algorithm, BTreeMap<String, u32>)> {
        let mut lines = Vec::new();
        for algorithm in Algorithm::ALL.into_iter().filter(|one| *one != Algorithm::CsrVector) {
            let of = self.candidates.iter().filter(|one| one.algorithm == algorithm);
            let logs = |candidate: &Candidate| -> f64 {
                let cost = |matrix: &&Matrix| matrix.cost_us(candidate, Products::Many);
                self.matrices.iter().filter_map(cost).map(f64::ln).sum()
            };
            let best = of.map(|one| (logs(one), one)).min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, best)) = best.filter(|(logs, _)| logs.is_finite()) {
                lines.push((algorithm, best.parameters.clone()));
            }
        }
        lines
    }
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
