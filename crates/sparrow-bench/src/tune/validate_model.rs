//! The cost model with fitted numbers on the matrices of the validation, compared with what would run untuned.
//!
//! A model cannot be mended by taking out a rule. Where it loses, rules are put before it that keep what would run
//! untuned, if that is one candidate on all matrices: as few, and with as few other matrices, as suffice. If it still loses
//! somewhere, it is not kept.

use cl_kernels::{
    Condition, CostNumbers, DeviceEntry, DeviceTable, Features, Products, Rule, Tables,
};
use csr_core::ValueType;

use super::cuts::Grid;
use super::fit::{Case, best_exception};
use super::search::Trials;
use super::validate::{BORNE, Validator};
use super::{Candidate, TuneError};

/// Rules before the model, at most.
const EXCEPTIONS: usize = 4;

/// What a rule before the model gains at least, summed over matrices.
const RULE_GAIN: f64 = 0.005;

/// What is lost counts so many times what is gained.
const LOSS: f64 = 3.0;

/// A model is kept for no less, in the geometric mean.
const GAIN: f64 = 1.01;

/// The share of the matrices that must have been looked at.
const SEEN: f64 = 0.6;

/// A model that is kept.
pub(super) struct Kept {
    /// Before it: what would run untuned.
    pub(super) exceptions: Vec<Rule>,
    /// Each matrix, and what is gained there.
    pub(super) gains: Vec<(String, f64)>,
    /// Their geometric mean.
    pub(super) gain: f64,
}

/// A matrix: what runs untuned, and the cost by the model over that.
struct Seen {
    name: String,
    features: Features,
    untuned: Candidate,
    ratio: f64,
}

/// Looks at each matrix; `None` where the model is not to be kept.
pub(super) fn weigh<T: Trials>(
    validator: &mut Validator<'_, T>,
    value_type: ValueType,
    entry: &DeviceEntry,
    numbers: CostNumbers,
) -> Result<Option<Kept>, TuneError> {
    let products = Products::Several;
    let tuned = tables_of(entry, value_type, numbers);
    let mut seen = Vec::new();
    for at in 0..validator.effort.validation.len() {
        let nothing = validator.device.entry(String::new());
        let Some(chosen) = validator.chosen(&nothing, value_type, products, at)? else { continue };
        let matrix = &validator.effort.validation[at];
        let name = matrix.label();
        let Some(known) = validator.boards[at].matrix(value_type, &matrix.name) else { continue };
        let (shape, features) = (known.shape, known.features);
        let candidate =
            Candidate::of_tables(&tuned, validator.traits, value_type, &shape, products);
        let untuned = chosen.untuned;
        if let Some(ratio) = validator.ratio(value_type, products, at, (&candidate, &untuned))? {
            seen.push(Seen { name, features, untuned, ratio });
        }
    }
    if (seen.len() as f64) < SEEN * validator.effort.validation.len() as f64 {
        return Ok(None);
    }
    Ok(kept(seen, value_type))
}

/// The model with the rules it needs, if it is good enough with them.
fn kept(mut seen: Vec<Seen>, value_type: ValueType) -> Option<Kept> {
    let loses = |one: &Seen| one.ratio > BORNE;
    let untuned = seen.first()?.untuned.clone();
    let is_one = seen.iter().all(|one| one.untuned == untuned);
    let mut exceptions = Vec::new();
    while seen.iter().any(loses) {
        if !is_one || exceptions.len() == EXCEPTIONS {
            tracing::debug!(%value_type, "the fitted cost model loses somewhere and is not kept");
            return None;
        }
        let when = exception(&seen)?;
        for one in seen.iter_mut().filter(|one| when.holds(&one.features)) {
            one.ratio = 1.0;
        }
        exceptions.push(Rule { when, ..untuned.rule() });
    }
    let logs = seen.iter().map(|one| -one.ratio.ln());
    let gain = (logs.sum::<f64>() / seen.len() as f64).exp();
    let gains = seen.into_iter().map(|one| (one.name, 1.0 / one.ratio)).collect();
    (gain >= GAIN).then_some(Kept { exceptions, gains, gain })
}

/// Where to keep what would run untuned.
fn exception(seen: &[Seen]) -> Option<Condition> {
    let lost = |one: &Seen| one.ratio.ln() * if one.ratio > BORNE { LOSS } else { 1.0 };
    let now: Vec<f64> = seen.iter().map(lost).collect();
    let case =
        |(kind, one): (usize, &Seen)| Case { features: one.features, kind, losses: vec![0.0] };
    let cases: Vec<Case> = seen.iter().enumerate().map(case).collect();
    let grid = Grid::new(cases.iter().map(|case| &case.features));
    let clause = best_exception(&cases.iter().collect::<Vec<_>>(), &now, &grid, RULE_GAIN)?;
    Some(clause.when)
}

/// The entry with the model alone.
fn tables_of(entry: &DeviceEntry, value_type: ValueType, numbers: CostNumbers) -> Tables {
    let mut own = DeviceEntry { choice: Default::default(), ..entry.clone() };
    own.model.insert(value_type.to_string(), numbers);
    let table = DeviceTable { devices: vec![own], ..DeviceTable::empty() };
    Tables::with_user(Some(("tuned".into(), table)))
}

#[cfg(test)]
mod tests {
    use cl_kernels::{Algorithm, DeviceType, MatrixShape};

    use super::*;
    use crate::tune::tests::device;

    fn untuned(algorithm: Algorithm) -> Candidate {
        Candidate::usual(algorithm, &device(), ValueType::F32, 8.0)
    }

    /// Matrices of these mean rows, and what the model takes over what would run untuned on each.
    fn seen(ratios: &[(u64, f64)]) -> Vec<Seen> {
        let one = |&(mean_row, ratio): &(u64, f64)| {
            let nnz = 100_000 * mean_row;
            let longest_row = mean_row;
            let shape = MatrixShape { rows: 100_000, nnz, longest_row, in_step: nnz, changes: 0 };
            Seen {
                name: mean_row.to_string(),
                features: Features::of(&shape, ValueType::F32, 8, 1 << 20),
                untuned: untuned(Algorithm::CsrFlat),
                ratio,
            }
        };
        ratios.iter().map(one).collect()
    }

    #[test]
    fn a_model_that_loses_nowhere_is_kept_as_it_is_and_one_that_gains_nothing_is_not() {
        assert_eq!(device().device_type, DeviceType::Gpu);
        let found = kept(seen(&[(2, 0.8), (8, 1.01), (30, 0.9)]), ValueType::F32).unwrap();
        assert!(found.exceptions.is_empty() && found.gain > 1.1);
        assert!(kept(seen(&[(2, 1.0), (8, 1.01), (30, 0.99)]), ValueType::F32).is_none());
    }

    #[test]
    fn where_a_model_loses_a_rule_before_it_keeps_what_would_run_untuned() {
        let ratios = [(2, 0.8), (3, 0.8), (8, 0.7), (30, 0.9), (400, 1.2), (900, 1.1)];
        let found = kept(seen(&ratios), ValueType::F32).unwrap();
        assert_eq!(found.exceptions.len(), 1);
        assert_eq!(found.exceptions[0].algorithm, Algorithm::CsrFlat);
        assert!(found.exceptions[0].when.to_string().starts_with("mean_row >= "));
        assert!(found.gains.iter().all(|(_, gain)| *gain >= 1.0));
    }

    #[test]
    fn a_model_that_loses_where_rules_chose_untuned_is_not_kept() {
        let mut ratios = seen(&[(2, 0.8), (8, 0.7), (30, 0.9), (400, 1.2)]);
        ratios[1].untuned = untuned(Algorithm::CsrVector);
        assert!(kept(ratios, ValueType::F32).is_none());
    }
}
