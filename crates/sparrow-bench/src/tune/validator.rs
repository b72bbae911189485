//! Trials of a validation: what is chosen for a matrix, and its cost over that of what would run untuned.

use cl_kernels::{Algorithm, DeviceEntry, DeviceTraits, Reuse, Tables};
use csr_core::ValueType;

use super::loss::TOLERATED;
use super::search::{Trials, timing_of};
use super::{Board, Candidate, Effort, Timing, Trial, TuneError, TunedDevice};

/// Trials of a choice that seems to lose more, before it is believed.
const TRIALS: usize = 3;

/// Slower than that is not sampled further.
const GIVE_UP: f64 = 1.5;

/// Looks at the matrices of a validation, and runs what it needs to know of them.
pub(super) struct Validator<'a, T> {
    pub(super) traits: &'a DeviceTraits,
    pub(super) device: &'a TunedDevice,
    pub(super) effort: &'a Effort,
    pub(super) untuned: Tables,
    pub(super) trials: &'a mut T,
    /// What is known of each matrix of the validation: one class is there in several sizes.
    pub(super) boards: Vec<Board>,
    /// Whether no trial was left out.
    pub(super) has_time: bool,
}

/// What is chosen for one matrix.
pub(super) struct Chosen {
    /// The number of the rule, of those that count; none where the shipped tables choose.
    pub(super) rule: Option<usize>,
    pub(super) candidate: Candidate,
    pub(super) untuned: Candidate,
}

impl<T: Trials> Validator<'_, T> {
    /// What the entry's own rules and the shipped tables choose for a matrix; `None` where there is no time to look at it.
    pub(super) fn chosen(
        &mut self,
        entry: &DeviceEntry,
        value_type: ValueType,
        products: Reuse,
        at: usize,
    ) -> Result<Option<Chosen>, TuneError> {
        let matrix = &self.effort.validation[at];
        if self.boards[at].matrix(value_type, &matrix.name).is_none() {
            let mean_row = matrix.mean_row;
            let any =
                Candidate::by_default(Algorithm::CsrScalar, self.traits, value_type, mean_row);
            if !self.try_on(value_type, at, &any, &any)? {
                return Ok(None);
            }
        }
        let Some(known) = self.boards[at].matrix(value_type, &matrix.name) else { return Ok(None) };
        let untuned =
            Candidate::of_tables(&self.untuned, self.traits, value_type, &known.shape, products);
        let rules = entry.choice.get(value_type.name());
        let mut own = rules.into_iter().flat_map(|rules| rules.of(products)).enumerate();
        let found = own.find(|(_, rule)| rule.when.holds(&known.features));
        let candidate = match found {
            Some((_, rule)) => Candidate::of_rule(rule).on(known.shape.mean_row()),
            None => untuned.clone(),
        };
        let rule = found.map(|(number, _)| number);
        Ok(Some(Chosen { rule, candidate, untuned }))
    }

    /// Microseconds of a candidate's product; infinite where they are not known.
    pub(super) fn product_us(&self, value_type: ValueType, at: usize, of: &Candidate) -> f64 {
        let matrix = self.boards[at].matrix(value_type, &self.effort.validation[at].name);
        let cost = matrix.and_then(|matrix| matrix.cost_us(of, Reuse::Many));
        cost.unwrap_or(f64::INFINITY)
    }

    /// The cost of a candidate over that of what would run untuned; `None` where there is no time to know.
    pub(super) fn ratio(
        &mut self,
        value_type: ValueType,
        products: Reuse,
        at: usize,
        (candidate, untuned): (&Candidate, &Candidate),
    ) -> Result<Option<f64>, TuneError> {
        let matrix = &self.effort.validation[at];
        if candidate == untuned {
            return Ok(Some(1.0));
        }
        let known = |boards: &[Board]| {
            let known = boards[at].matrix(value_type, &matrix.name)?;
            let costs = known.cost_us(candidate, products).zip(known.cost_us(untuned, products));
            costs.map(|(cost, untuned)| cost / untuned)
        };
        let mut ratio = known(&self.boards);
        let trials = |boards: &[Board]| {
            let known = boards[at].matrix(value_type, &matrix.name);
            known.map_or(0, |known| known.trials(candidate))
        };
        for _ in 0..TRIALS {
            // What was timed so often is believed, whichever rule or margin is looked at.
            let is_believed = |ratio| ratio <= TOLERATED || trials(&self.boards) >= TRIALS;
            if ratio.is_some_and(is_believed) {
                break;
            }
            for one in [untuned, candidate] {
                if !self.try_on(value_type, at, one, untuned)? {
                    return Ok(ratio);
                }
            }
            ratio = known(&self.boards);
        }
        Ok(ratio)
    }

    fn try_on(
        &mut self,
        value_type: ValueType,
        at: usize,
        candidate: &Candidate,
        reference: &Candidate,
    ) -> Result<bool, TuneError> {
        let matrix = &self.effort.validation[at];
        let trial = Trial {
            matrix: matrix.name.clone(),
            scale: matrix.scale,
            value_type: value_type.to_string(),
            candidate: candidate.clone(),
            reference: reference.clone(),
            give_up: GIVE_UP,
            sampling_ms: self.effort.sampling_ms,
        };
        let Some(report) = self.trials.run(&trial)? else {
            self.has_time = false;
            return Ok(false);
        };
        let timing = timing_of(self.device, value_type, &trial, report);
        let timing = Timing { is_validation: true, ..timing };
        self.boards[at].add(&timing);
        self.trials.ended(&timing, "validate", None);
        Ok(true)
    }
}
