//! Which rules a validation leaves, on a device that is a formula.

use cl_kernels::{Algorithm, Condition};
use csr_core::generate::{Rung, Skew};

use super::*;
use crate::tune::tests::{Formula, Lengths, device, tuned};
use crate::tune::{Candidate, entry_of};

/// The entry of a whole tuning, made once.
fn whole_entry() -> DeviceEntry {
    static ENTRY: std::sync::OnceLock<DeviceEntry> = std::sync::OnceLock::new();
    let make = || {
        let (board, trials) = tuned(4000);
        entry_of(&board, &trials.ended[0].device, "a formula".to_owned())
    };
    ENTRY.get_or_init(make).clone()
}

/// Validates `entry` on these rungs; what is left of it, what was found, and the trials.
fn validated(entry: DeviceEntry, most: usize) -> (DeviceEntry, Validation, Formula) {
    validated_against(Tables::untuned(), entry, most)
}

/// The same, where these tables choose untuned.
fn validated_against(
    untuned: Tables,
    mut entry: DeviceEntry,
    most: usize,
) -> (DeviceEntry, Validation, Formula) {
    let device = device();
    let tuned = TunedDevice::of(&device, device.cache_bytes);
    let rungs = [(4, Skew::Even), (90, Skew::Even), (10, Skew::Giants), (150, Skew::Giants)];
    let rung = |(mean_row, skew)| Rung { mean_row, skew, nnz: 60_000 }.into();
    let effort = Effort {
        ladder: Vec::new(),
        validation: rungs.map(rung).to_vec(),
        budget: std::time::Duration::ZERO,
        sampling_ms: 1,
        winners: 7,
    };
    let mut trials = Formula { trials: 0, most, ended: Vec::new(), lengths: Lengths::default() };
    let found = validate_against(
        untuned,
        &device,
        &tuned,
        &mut entry,
        &BTreeMap::new(),
        &effort,
        &mut trials,
    );
    let found = found.unwrap();
    (entry, found, trials)
}

#[test]
fn rules_that_gain_on_matrices_they_were_not_fitted_to_stay_and_the_gain_is_said_of_those() {
    let entry = whole_entry();
    let (left, found, trials) = validated(entry.clone(), 4000);
    // Of their trials no rule is made later.
    assert!(trials.ended.iter().all(|timing| timing.is_validation));
    assert_eq!(Board::of(&trials.ended).value_types().count(), 0);
    assert_eq!(left.choice["f32"].several.last(), entry.choice["f32"].several.last());
    assert_eq!(left.kernel, entry.kernel);
    assert_eq!(found.gains.len(), 4);
    // The shipped choice takes twice as long as the formula's best.
    for (_, matrix, gain) in &found.gains {
        assert!((0.98..2.5).contains(gain), "{matrix}: {gain}");
    }
    assert!(found.gains.iter().any(|(.., gain)| *gain > 1.2), "{:?}", found.gains);
}

#[test]
fn a_rule_that_is_slower_than_untuned_is_taken_out_and_with_the_last_one_the_lines_of_kernels() {
    let mut entry = whole_entry();
    let slow = |when: &str| {
        let scalar = Candidate::by_default(Algorithm::CsrScalar, &device(), ValueType::F32, 8.0);
        Rule { when: Condition::try_from(when.to_owned()).unwrap(), ..scalar.rule() }
    };
    let rules = entry.choice.get_mut("f32").unwrap();
    let fitted = rules.several.clone();
    rules.several.insert(0, slow("mean_row >= 60"));
    let (left, found, _) = validated(entry.clone(), 4000);
    assert_eq!(left.choice["f32"].several.last(), fitted.last());
    assert!(!left.choice["f32"].several.contains(&slow("mean_row >= 60")));
    assert!(found.removed >= 1 && found.gains.iter().all(|(.., gain)| *gain >= 0.98));
    // Slow everywhere: the shipped tables stay, with what they say of algorithms.
    let rules = entry.choice.get_mut("f32").unwrap();
    *rules = Rules { several: vec![slow("")], ..Rules::default() };
    let (left, found, _) = validated(entry, 4000);
    assert_eq!((left.choice.len(), left.kernel.len()), (0, 0));
    assert_eq!((found.kept, found.removed), (0, 1));
    assert!(found.complete.contains(&ValueType::F32));
    assert!(found.gains.iter().all(|(.., gain)| *gain == 1.0));
}

#[test]
fn rules_that_there_is_no_time_to_validate_are_not_kept() {
    let (left, found, _) = validated(whole_entry(), 0);
    assert_eq!((left.choice.len(), left.kernel.len(), found.kept), (0, 0, 0));
    assert!(found.gains.is_empty() && found.complete.is_empty());
}

#[test]
fn a_rule_that_gains_where_some_products_follow_goes_where_it_loses_for_many() {
    let default =
        |algorithm| Candidate::by_default(algorithm, &device(), ValueType::F32, 8.0).rule();
    let entry = |rules: Rules| DeviceEntry {
        origin: "a test".to_owned(),
        choice: [("f32".to_owned(), rules)].into(),
        ..DeviceEntry::default()
    };
    let several = |algorithm| Rules { several: vec![default(algorithm)], ..Rules::default() };
    let untuned = |rules| {
        let devices = vec![entry(rules)];
        let table = cl_kernels::DeviceTable { devices, ..cl_kernels::DeviceTable::empty() };
        Tables::with_user(Some(("untuned.toml".into(), table)))
    };
    // By the formula csr_adaptive is faster than csr_flat, and that than csr_scalar.
    let own = entry(several(Algorithm::CsrFlat));
    let slow = untuned(several(Algorithm::CsrScalar));
    let (left, found, _) = validated_against(slow, own.clone(), 4000);
    assert_eq!((left, found.kept), (own.clone(), 1));
    let fast_for_many =
        Rules { many: vec![default(Algorithm::CsrAdaptive)], ..several(Algorithm::CsrScalar) };
    let (left, found, _) = validated_against(untuned(fast_for_many), own, 4000);
    assert_eq!((left.choice.len(), found.kept, found.removed), (0, 0, 1));
}

#[test]
fn a_loser_is_timed_three_times_however_often_it_is_looked_at_and_again_with_another_reference() {
    let (traits, rung) = (device(), Rung { mean_row: 90, skew: Skew::Even, nnz: 60_000 });
    let tuned = TunedDevice::of(&traits, traits.cache_bytes);
    let effort = Effort { validation: vec![rung.into()], ..Effort::quick(&tuned) };
    let mut trials =
        Formula { trials: 0, most: 4000, ended: Vec::new(), lengths: Lengths::default() };
    let mut validator = Validator {
        traits: &traits,
        device: &tuned,
        effort: &effort,
        untuned: Tables::untuned(),
        trials: &mut trials,
        boards: vec![Board::default()],
        has_time: true,
    };
    let default = |algorithm| Candidate::by_default(algorithm, &traits, ValueType::F32, 90.0);
    let slow = default(Algorithm::CsrScalar);
    let mut ratio = |reference| {
        let pair = (&slow, &default(reference));
        let found = validator.ratio(ValueType::F32, Reuse::Several, 0, pair).unwrap();
        (found.is_some_and(|ratio| ratio > TOLERATED), validator.trials.trials)
    };
    // The reference and the candidate, three times.
    assert_eq!(ratio(Algorithm::CsrFlat), (true, 6));
    assert_eq!(ratio(Algorithm::CsrFlat), (true, 6));
    assert_eq!(ratio(Algorithm::CsrAdaptive), (true, 8));
}
