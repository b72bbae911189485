//! The last step of a tuning: its rules, and the cost model with its numbers, on matrices that they were not fitted to,
//! compared with what would run untuned. For each value type the better of both is kept, if it is better than that.
//!
//! A rule that makes one of them slower than that is taken out, and its matrices fall to the rules after it, or where
//! there are none to the shipped tables. So is a rule that chose for one of them at most: nothing is known of it but what it
//! was fitted to. What is left makes no matrix of this set slower: rules nowhere, a model where some tens of products
//! follow, both but for what times of one thing differ by. What was gained is said by this set alone.

use std::collections::{BTreeMap, BTreeSet};

use cl_kernels::{DeviceEntry, DeviceTraits, Reuse, Rule, Rules, Tables};
use csr_core::ValueType;

use super::loss::TOLERATED;
use super::search::Trials;
use super::validate_model::weigh;
use super::validator::{Chosen, Validator};
use super::{Board, Effort, FittedModel, TuneError, TunedDevice};

/// Matrices on which a rule must have been no slower.
const CONFIRMED: usize = 2;

/// A model must gain this many times what rules gain to go before them.
const MODEL_GAIN: f64 = 1.005;

/// How the rules that are left do, or the model.
#[derive(Clone, Debug, Default)]
pub struct Validation {
    /// Value type and matrix, and the time of what would run untuned over that of what runs now, where some tens of
    /// products follow; 1 where it is the same.
    pub gains: Vec<(ValueType, String, f64)>,
    /// Rules that were taken out.
    pub removed: usize,
    /// Rules that are left.
    pub kept: usize,
    /// The value types for which there was time for all trials.
    pub complete: BTreeSet<ValueType>,
}

/// Takes the rules out of an entry that are slower than what would run untuned, or that time does not suffice for; or
/// takes them all out for the model with these numbers where that is better.
///
/// # Errors
/// What ends the trials.
pub fn validate<T: Trials>(
    traits: &DeviceTraits,
    device: &TunedDevice,
    entry: &mut DeviceEntry,
    models: &BTreeMap<ValueType, FittedModel>,
    effort: &Effort,
    trials: &mut T,
) -> Result<Validation, TuneError> {
    validate_against(Tables::untuned(), traits, device, entry, models, effort, trials)
}

/// The same, where these tables choose untuned.
fn validate_against<T: Trials>(
    untuned: Tables,
    traits: &DeviceTraits,
    device: &TunedDevice,
    entry: &mut DeviceEntry,
    models: &BTreeMap<ValueType, FittedModel>,
    effort: &Effort,
    trials: &mut T,
) -> Result<Validation, TuneError> {
    let boards = vec![Board::default(); effort.validation.len()];
    let mut validator =
        Validator { traits, device, effort, untuned, trials, boards, has_time: true };
    let mut found = Validation::default();
    let names: Vec<String> = entry.choice.keys().cloned().collect();
    for name in names {
        let Ok(value_type) = name.parse::<ValueType>() else { continue };
        let mut gains = Vec::new();
        // Rules for several products count for the others too, after theirs: what loses there goes first.
        for products in [Reuse::Many, Reuse::Once, Reuse::Several] {
            let (removed, of_products) = validator.prune(entry, value_type, products)?;
            found.removed += removed;
            gains = of_products;
        }
        if let Some(model) = models.get(&value_type)
            && let Some(kept) = weigh(&mut validator, value_type, entry, model)?
            && kept.gain > MODEL_GAIN * geometric_mean(&gains)
        {
            let rules = entry.choice.entry(name.clone()).or_default();
            *rules = Rules { several: kept.exceptions, ..Rules::default() };
            entry.model.insert(name.clone(), kept.numbers);
            let lines = entry.kernel.entry(kept.baseline.algorithm.to_string()).or_default();
            lines.insert(name.clone(), kept.baseline.parameters);
            gains = kept.gains;
        }
        found.gains.extend(gains.into_iter().map(|(matrix, gain)| (value_type, matrix, gain)));
        if validator.has_time {
            found.complete.insert(value_type);
        }
        let Some(rules) = entry.choice.get(&name) else { continue };
        found.kept += Reuse::ALL.map(|products| rules.own(products).len()).iter().sum::<usize>();
        // What falls to the shipped tables takes hyper-parameters from there.
        let has_default = rules.several.last().is_some_and(|rule| rule.when.is_empty());
        if !has_default && !entry.model.contains_key(&name) {
            entry.kernel.values_mut().for_each(|lines| drop(lines.remove(&name)));
        }
        if rules.is_empty() {
            entry.choice.remove(&name);
        }
    }
    entry.kernel.retain(|_, lines| !lines.is_empty());
    Ok(found)
}

impl<T: Trials> Validator<'_, T> {
    /// Takes rules out that count for so many products until none loses; how many, and what is gained on each matrix.
    fn prune(
        &mut self,
        entry: &mut DeviceEntry,
        value_type: ValueType,
        products: Reuse,
    ) -> Result<(usize, Vec<(String, f64)>), TuneError> {
        let name = value_type.to_string();
        let count = |entry: &DeviceEntry| {
            entry.choice.get(&name).map_or(0, |rules| rules.of(products).count())
        };
        let before = count(entry);
        if before == 0 {
            return Ok((0, Vec::new()));
        }
        let gains = loop {
            let Pass { gains, confirmed } = self.pass(entry, value_type, products)?;
            let rules = entry.choice.entry(name.clone()).or_default().list_mut(products);
            let is_confirmed = |rule: &Rule| {
                confirmed.get(&rule.to_string()).is_some_and(|&matrices| matrices >= CONFIRMED)
            };
            match rules.iter().position(|rule| !is_confirmed(rule)) {
                Some(rule) => drop(rules.remove(rule)),
                None => break gains,
            }
        };
        Ok((before - count(entry), gains))
    }

    /// Looks at each matrix and takes out what loses where so many products follow.
    fn pass(
        &mut self,
        entry: &mut DeviceEntry,
        value_type: ValueType,
        products: Reuse,
    ) -> Result<Pass, TuneError> {
        let name = value_type.to_string();
        let mut pass = Pass::default();
        let mut position = 0;
        while let Some(matrix) = self.effort.validation.get(position) {
            let matrix = matrix.label();
            let Some(chosen) = self.chosen(entry, value_type, products, position)? else {
                position += 1;
                continue;
            };
            let Chosen { rule, candidate, untuned } = chosen;
            let Some(rule) = rule else {
                pass.gains.push((matrix, 1.0));
                position += 1;
                continue;
            };
            match self.ratio(value_type, products, position, (&candidate, &untuned))? {
                Some(ratio) if ratio <= TOLERATED => {
                    if let Some(rule) = entry.choice[&name].of(products).nth(rule) {
                        *pass.confirmed.entry(rule.to_string()).or_default() += 1;
                    }
                    pass.gains.push((matrix, 1.0 / ratio));
                    position += 1;
                }
                // Slower, or there is no time to know. Its matrices fall to another rule.
                _ => {
                    let rules = entry.choice.entry(name.clone()).or_default();
                    match rule.checked_sub(rules.own(products).len()) {
                        None => rules.list_mut(products).remove(rule),
                        Some(rule) => rules.several.remove(rule),
                    };
                    pass = Pass::default();
                    position = 0;
                }
            }
        }
        Ok(pass)
    }
}

/// Of gains; 1 of none.
fn geometric_mean(gains: &[(String, f64)]) -> f64 {
    let logs: f64 = gains.iter().map(|(_, gain)| gain.ln()).sum();
    (logs / gains.len().max(1) as f64).exp()
}

/// What one look at all matrices has found.
#[derive(Default)]
struct Pass {
    /// Each matrix, and what is gained there.
    gains: Vec<(String, f64)>,
    /// Each rule that is left, and on how many matrices it is no slower.
    confirmed: BTreeMap<String, usize>,
}

#[cfg(test)]
mod tests;
