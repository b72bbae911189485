//! The cost model with fitted numbers on the matrices of the validation, compared with what would run untuned.
//!
//! A baseline, `csr_flat` with certain parameters, stays where no other candidate promises the margin more. It is what
//! loses on none of these matrices and gained most on those of the ladder, or else what the shipped tables have; and with
//! each several margins are tried, from one that lets the model choose nearly everything to one that leaves it what gains much:
//! estimates of candidates that are nearly alike are wrong by more than they differ, and how far depends on the device.
//!
//! A model cannot be mended by taking out a rule. Where it still loses, rules are put before it that keep the baseline, if
//! that loses nowhere: as few, and with as few other matrices, as suffice. Whatever loses somewhere after that is not kept,
//! and of the rest the one that gains most is.

use cl_kernels::{
    Condition, CostNumbers, DeviceEntry, DeviceTable, Features, MODEL_BASELINE, Reuse, Rule, Tables,
};
use csr_core::ValueType;

use super::cuts::Grid;
use super::fit::{Case, best_exception};
use super::loss::{TOLERATED, lost};
use super::search::Trials;
use super::validator::Validator;
use super::{Candidate, FittedModel, TuneError};

/// How many products follow.
const PRODUCTS: Reuse = Reuse::Several;

/// Of what gained most on the ladder, so many are looked at for one that loses nowhere.
const BASELINES: usize = 5;

/// A product that takes less than so many launches is one for the host, whose launches take a tenth longer at one moment
/// than at the next; there so much more may be lost.
const LAUNCHES: f64 = 2.0;
const TOLERATED_BELOW_LAUNCHES: f64 = 1.07;

/// Margins of the baseline that are tried.
const MARGINS: [f64; 4] = [0.06, 0.1, 0.15, 0.2];

/// Rules before the model, at most.
const EXCEPTIONS: usize = 4;

/// What a rule before the model gains at least, summed over matrices.
const RULE_GAIN: f64 = 0.005;

/// What a rule before the model must gain in the mean over a margin that needs none: it was found on the matrices that it
/// is judged by.
const EXCEPTION_GAIN: f64 = 0.02;

/// A model is kept for no less, in the geometric mean.
const GAIN: f64 = 1.01;

/// The share of the matrices that must have been looked at.
const SEEN: f64 = 0.6;

/// A model that is kept.
pub(super) struct Kept {
    /// With their margin.
    pub(super) numbers: CostNumbers,
    /// What stays where nothing promises more.
    pub(super) baseline: Candidate,
    /// Before it: the baseline.
    pub(super) exceptions: Vec<Rule>,
    /// Each matrix, and what is gained there.
    pub(super) gains: Vec<(String, f64)>,
    /// Their geometric mean.
    pub(super) gain: f64,
}

impl Kept {
    fn score(&self) -> f64 {
        self.gain.ln() - EXCEPTION_GAIN * self.exceptions.len() as f64
    }
}

/// A matrix: the cost by the model, and of the baseline, over that of what runs untuned.
struct Seen {
    name: String,
    features: Features,
    ratio: f64,
    baseline: f64,
    /// What may be lost.
    tolerated: f64,
}

impl Seen {
    /// What a cost of `ratio` times that of what runs untuned loses.
    fn lost(&self, ratio: f64) -> f64 {
        lost(ratio, self.tolerated)
    }
}

/// Looks at each matrix with each margin; `None` where no model is to be kept.
pub(super) fn weigh<T: Trials>(
    validator: &mut Validator<'_, T>,
    value_type: ValueType,
    entry: &DeviceEntry,
    model: &FittedModel,
) -> Result<Option<Kept>, TuneError> {
    let (traits, any_row) = (validator.traits, 1.0);
    let shipped =
        Candidate::by_tables(&validator.untuned, traits, value_type, MODEL_BASELINE, any_row);
    // Where the fit took launches to be longer than they are, more than launches would be tolerated.
    let known = validator.untuned.default_model(traits, value_type);
    let launch = known.map_or(model.numbers.launch, |known| known.launch.min(model.numbers.launch));
    let bearing = CostNumbers { launch, ..model.numbers };
    let mut baselines = vec![shipped];
    for baseline in model.baselines.iter().take(BASELINES) {
        if *baseline != baselines[0] && loses_nowhere(validator, value_type, baseline, &bearing)? {
            baselines.insert(0, baseline.clone());
            break;
        }
    }
    let mut best: Option<Kept> = None;
    for baseline in baselines {
        for margin in MARGINS {
            let numbers = CostNumbers { margin, ..model.numbers };
            let tuned = tables_of(entry, value_type, numbers, &baseline);
            let seen = look(validator, value_type, &tuned, &baseline, &bearing)?;
            if best.is_some() && !validator.has_time {
                // Of fewer matrices than the others.
                return Ok(best);
            }
            let found = seen.and_then(|seen| kept(seen, &baseline, numbers));
            best = match (best, found) {
                (Some(best), Some(found)) if found.score() <= best.score() => Some(best),
                (best, found) => found.or(best),
            };
        }
    }
    if best.is_none() {
        tracing::debug!(%value_type, "the fitted cost model gains nothing or loses somewhere and is not kept");
    }
    Ok(best)
}

/// Whether a candidate is no slower than what runs untuned on any matrix, of which there was time for most.
fn loses_nowhere<T: Trials>(
    validator: &mut Validator<'_, T>,
    value_type: ValueType,
    candidate: &Candidate,
    numbers: &CostNumbers,
) -> Result<bool, TuneError> {
    let nothing = validator.device.entry(String::new());
    let all = validator.effort.validation.len();
    let mut seen = 0;
    for at in 0..all {
        let Some(chosen) = validator.chosen(&nothing, value_type, PRODUCTS, at)? else { continue };
        let pair = (candidate, &chosen.untuned);
        let Some(ratio) = validator.ratio(value_type, PRODUCTS, at, pair)? else { continue };
        let tolerated = may_lose(validator.product_us(value_type, at, &chosen.untuned), numbers);
        if ratio > tolerated || ratio.is_nan() {
            return Ok(false);
        }
        seen += 1;
    }
    Ok(is_most(seen, all))
}

/// Whether enough of the matrices were looked at.
fn is_most(seen: usize, all: usize) -> bool {
    seen as f64 >= SEEN * all as f64
}

/// The costs of what tables choose on each matrix; `None` where time did not suffice for most of them.
fn look<T: Trials>(
    validator: &mut Validator<'_, T>,
    value_type: ValueType,
    tuned: &Tables,
    baseline: &Candidate,
    numbers: &CostNumbers,
) -> Result<Option<Vec<Seen>>, TuneError> {
    let mut seen = Vec::new();
    let nothing = validator.device.entry(String::new());
    for at in 0..validator.effort.validation.len() {
        let Some(chosen) = validator.chosen(&nothing, value_type, PRODUCTS, at)? else { continue };
        let matrix = &validator.effort.validation[at];
        let name = matrix.label();
        let Some(known) = validator.boards[at].matrix(value_type, &matrix.name) else { continue };
        let (shape, features) = (known.shape, known.features);
        let traits = validator.traits;
        let candidate = Candidate::of_tables(tuned, traits, value_type, &shape, PRODUCTS);
        let mut ratio =
            |one: &Candidate| validator.ratio(value_type, PRODUCTS, at, (one, &chosen.untuned));
        if let (Some(ratio), Some(baseline)) = (ratio(&candidate)?, ratio(baseline)?) {
            let untuned_us = validator.product_us(value_type, at, &chosen.untuned);
            seen.push(Seen {
                name,
                features,
                ratio,
                baseline,
                tolerated: may_lose(untuned_us, numbers),
            });
        }
    }
    Ok(is_most(seen.len(), validator.effort.validation.len()).then_some(seen))
}

/// The model with the rules it needs, if it is good enough with them.
fn kept(mut seen: Vec<Seen>, baseline: &Candidate, numbers: CostNumbers) -> Option<Kept> {
    let is_sound = seen.iter().all(|one| one.baseline <= one.tolerated);
    let mut exceptions = Vec::new();
    while seen.iter().any(|one| one.ratio > one.tolerated) {
        if !is_sound || exceptions.len() == EXCEPTIONS {
            return None;
        }
        let when = exception(&seen)?;
        for one in seen.iter_mut().filter(|one| when.holds(&one.features)) {
            one.ratio = one.baseline;
        }
        exceptions.push(Rule { when, ..baseline.rule() });
    }
    let logs = seen.iter().map(|one| -one.ratio.ln());
    let gain = (logs.sum::<f64>() / seen.len() as f64).exp();
    let gains = seen.into_iter().map(|one| (one.name, 1.0 / one.ratio)).collect();
    (gain >= GAIN).then(|| Kept { numbers, baseline: baseline.clone(), exceptions, gains, gain })
}

/// Where to keep the baseline.
fn exception(seen: &[Seen]) -> Option<Condition> {
    let now: Vec<f64> = seen.iter().map(|one| one.lost(one.ratio)).collect();
    let case = |(kind, one): (usize, &Seen)| {
        let losses = vec![one.baseline.ln()];
        Case { features: one.features, kind, losses }
    };
    let cases: Vec<Case> = seen.iter().enumerate().map(case).collect();
    let grid = Grid::new(cases.iter().map(|case| &case.features));
    let clause = best_exception(&cases.iter().collect::<Vec<_>>(), &now, &grid, RULE_GAIN)?;
    Some(clause.when)
}

/// What may be lost on a matrix whose product takes so many microseconds, by the cost of a launch.
fn may_lose(product_us: f64, numbers: &CostNumbers) -> f64 {
    let is_launch = product_us < LAUNCHES * 1e-3 * numbers.launch;
    if is_launch { TOLERATED_BELOW_LAUNCHES } else { TOLERATED }
}

/// The entry with the model alone, and the baseline by it.
fn tables_of(
    entry: &DeviceEntry,
    value_type: ValueType,
    numbers: CostNumbers,
    baseline: &Candidate,
) -> Tables {
    let mut own = DeviceEntry { choice: Default::default(), ..entry.clone() };
    own.model.insert(value_type.to_string(), numbers);
    let lines = own.kernel.entry(baseline.algorithm.to_string()).or_default();
    lines.insert(value_type.to_string(), baseline.parameters.clone());
    let table = DeviceTable { devices: vec![own], ..DeviceTable::empty() };
    Tables::with_user(Some(("tuned".into(), table)))
}

#[cfg(test)]
mod tests {
    use cl_kernels::MatrixShape;

    use super::*;
    use crate::tune::tests::device;

    fn baseline() -> Candidate {
        Candidate::by_default(MODEL_BASELINE, &device(), ValueType::F32, 8.0)
    }

    fn numbers() -> CostNumbers {
        Tables::untuned().default_model(&device(), ValueType::F32).unwrap()
    }

    /// Matrices of these mean rows, and what the model and the baseline take over what would run untuned on each.
    fn seen(ratios: &[(u64, f64, f64)]) -> Vec<Seen> {
        let one = |&(mean_row, ratio, baseline): &(u64, f64, f64)| {
            let nnz = 100_000 * mean_row;
            let longest_row = mean_row;
            let shape = MatrixShape { rows: 100_000, nnz, longest_row, in_step: nnz, changes: 0 };
            let features = Features::of(&shape, ValueType::F32, 8, 1 << 20);
            Seen { name: mean_row.to_string(), features, ratio, baseline, tolerated: TOLERATED }
        };
        ratios.iter().map(one).collect()
    }

    fn kept_of(ratios: &[(u64, f64, f64)]) -> Option<Kept> {
        kept(seen(ratios), &baseline(), numbers())
    }

    #[test]
    fn a_model_that_loses_nowhere_is_kept_as_it_is_and_one_that_gains_nothing_is_not() {
        let found = kept_of(&[(2, 0.8, 1.0), (8, 1.01, 1.0), (30, 0.9, 1.0)]).unwrap();
        assert!(found.exceptions.is_empty() && found.gain > 1.1);
        assert!(kept_of(&[(2, 1.0, 1.0), (8, 1.01, 1.0), (30, 0.99, 1.0)]).is_none());
    }

    #[test]
    fn where_a_model_loses_a_rule_before_it_keeps_the_baseline() {
        let ratios = [
            (2, 0.8, 1.0),
            (3, 0.8, 1.0),
            (8, 0.7, 0.9),
            (30, 0.9, 0.9),
            (400, 1.2, 0.95),
            (900, 1.1, 0.95),
        ];
        let found = kept_of(&ratios).unwrap();
        assert_eq!(found.exceptions.len(), 1);
        assert_eq!(Candidate::of_rule(&found.exceptions[0]), baseline());
        assert!(found.exceptions[0].when.to_string().starts_with("mean_row >= "));
        assert!(found.gains.iter().all(|(_, gain)| *gain > 1.05));
    }

    #[test]
    fn a_model_that_loses_where_the_baseline_loses_somewhere_is_not_kept() {
        let ratios = [(2, 0.8, 1.1), (8, 0.7, 1.0), (30, 0.9, 1.0), (400, 1.2, 1.0)];
        assert!(kept_of(&ratios).is_none());
        // It may lose where the model chooses something else.
        assert!(kept_of(&ratios[..3]).is_some());
    }

    #[test]
    fn more_may_be_lost_where_the_host_takes_longer_for_a_launch_than_the_device_for_the_product() {
        let numbers = CostNumbers { launch: 8_000.0, ..numbers() };
        assert_eq!(
            [9.0, 15.0, 17.0, 500.0].map(|us| may_lose(us, &numbers)),
            [1.07, 1.07, 1.02, 1.02]
        );
    }
}
