//! The search: coarse first, then from the best to its neighbours, then those that won somewhere on every matrix.

use std::collections::{BTreeMap, BTreeSet};

use cl_kernels::{DeviceTraits, DeviceType, MatrixShape, Reuse, Tables};
use csr_core::ValueType;

use super::candidate::coarse;
use super::effort::LadderMatrix;
use super::model_fit::compared;
use super::{Board, Candidate, Effort, Timing, Trial, TrialReport, TuneError, TunedDevice};

/// Where trials are run, and how much time is left.
pub trait Trials {
    /// Runs one; `None` where time is up or somebody has interrupted.
    ///
    /// # Errors
    /// What ends the search.
    fn run(&mut self, trial: &Trial) -> Result<Option<TrialReport>, TuneError>;

    /// The part of the time that is spent, 0 to 1.
    fn spent(&self) -> f64;

    /// Hears of each trial as it ends.
    fn ended(&mut self, timing: &Timing, phase: &'static str, best: Option<(&Candidate, f64)>);
}

/// Parts of the time after which a phase gives way to the next, the last to validation.
const COARSE: f64 = 0.15;
const COMPARE: f64 = 0.5;
const REFINE: f64 = 0.55;
const SEARCH: f64 = 0.65;

/// A neighbour that is better by less is none to go on from.
const STEP: f64 = 0.01;

/// Trials in a row without a step, a matrix, after which no further ones are made.
const PATIENCE: usize = 6;

/// A candidate this many times as slow as the best is not sampled further.
const GIVE_UP: f64 = 2.5;

/// Times of winners that are near the best are taken so many times more, where there is time.
const REPEATS: usize = 6;

pub(super) struct Search<'a, T> {
    pub(super) traits: &'a DeviceTraits,
    pub(super) device: &'a TunedDevice,
    pub(super) effort: &'a Effort,
    pub(super) value_types: &'a [ValueType],
    pub(super) trials: &'a mut T,
    pub(super) board: Board,
}

impl<T: Trials> Search<'_, T> {
    /// Searches until time is up or nothing more is gained; the board holds what was found.
    pub(super) fn run(&mut self) -> Result<(), TuneError> {
        self.coarse()?;
        self.compare()?;
        self.refine()?;
        self.complete()?;
        self.repeat()
    }

    /// What would run untuned, what the shipped tables choose for the device, and each algorithm with its defaults, on
    /// every matrix: the likeliest everywhere before the next anywhere.
    fn coarse(&mut self) -> Result<(), TuneError> {
        let pairs: Vec<_> = self.pairs().collect();
        // These trials say what rules ask of a matrix.
        for (value_type, rung) in &pairs {
            let untuned = self.untuned(*value_type, rung);
            if !self.try_on(*value_type, rung, &untuned, "coarse")? {
                return Ok(());
            }
        }
        let lists: Vec<(ValueType, LadderMatrix, Vec<Candidate>)> = pairs
            .into_iter()
            .map(|(value_type, rung)| {
                let mut list = self.shipped(value_type, &rung);
                list.extend(coarse(self.traits, value_type, rung.mean_row));
                (value_type, rung, list)
            })
            .collect();
        self.try_lists(&lists, COARSE, "coarse")
    }

    /// What the cost model compares, on every matrix, where its numbers can be fitted: it is for GPUs.
    fn compare(&mut self) -> Result<(), TuneError> {
        if self.traits.device_type == DeviceType::Cpu {
            return Ok(());
        }
        let lists: Vec<_> = self
            .pairs()
            .map(|(value_type, rung)| {
                let matrix = self.board.matrix(value_type, &rung.name);
                let mean_row = matrix.map_or(rung.mean_row, |matrix| matrix.shape.mean_row());
                (value_type, rung, compared(self.traits, value_type, mean_row))
            })
            .collect();
        self.try_lists(&lists, COMPARE, "compare")
    }

    /// Tries what each matrix is listed with, the first everywhere before the next anywhere, until so much of the time is
    /// spent.
    fn try_lists(
        &mut self,
        lists: &[(ValueType, LadderMatrix, Vec<Candidate>)],
        until: f64,
        phase: &'static str,
    ) -> Result<(), TuneError> {
        let longest = lists.iter().map(|(_, _, list)| list.len()).max().unwrap_or(0);
        for place in 0..longest {
            for (value_type, rung, list) in lists {
                let is_over = self.trials.spent() > until;
                let Some(candidate) = list.get(place).filter(|_| !is_over) else { continue };
                if !self.is_known(*value_type, rung, candidate)
                    && !self.try_on(*value_type, rung, candidate, phase)?
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// From the best of each matrix to its neighbours, matrix by matrix in turn, until no step is gained.
    fn refine(&mut self) -> Result<(), TuneError> {
        let pairs: Vec<_> = self.pairs().collect();
        let mut without_step: BTreeMap<(ValueType, String), usize> = BTreeMap::new();
        loop {
            let mut has_tried = false;
            for (value_type, rung) in &pairs {
                let value_type = *value_type;
                let idle = without_step.entry((value_type, rung.name.clone())).or_default();
                if *idle >= PATIENCE || self.trials.spent() > REFINE {
                    continue;
                }
                let Some(candidate) = self.next_neighbour(value_type, rung) else { continue };
                let before = self.best_us(value_type, rung);
                has_tried = true;
                if !self.try_on(value_type, rung, &candidate, "refine")? {
                    return Ok(());
                }
                let is_step = self.best_us(value_type, rung) < before * (1.0 - STEP);
                *idle = if is_step { 0 } else { *idle + 1 };
            }
            if !has_tried {
                return Ok(());
            }
        }
    }

    /// The first neighbour that was not tried, of the best or of the best of an algorithm that is nearly as good, where
    /// some products follow or many.
    fn next_neighbour(&self, value_type: ValueType, rung: &LadderMatrix) -> Option<Candidate> {
        let matrix = self.board.matrix(value_type, &rung.name)?;
        let algorithms: BTreeSet<_> = matrix.candidates().map(|one| one.algorithm).collect();
        let tried: BTreeSet<_> = matrix.candidates().collect();
        let mut starts = Vec::new();
        for products in [Reuse::Several, Reuse::Many] {
            let (_, best_us) = matrix.best(products, |_| true)?;
            let of = |&algorithm| matrix.best(products, |one| one.algorithm == algorithm);
            let bests = algorithms.iter().filter_map(of);
            starts.extend(bests.map(|(one, cost)| (cost / best_us, one)));
        }
        starts.retain(|(ratio, _)| *ratio < 1.15);
        starts.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut neighbours = starts
            .into_iter()
            .flat_map(|(_, candidate)| candidate.neighbours(self.traits, value_type));
        neighbours.find(|candidate| !tried.contains(candidate))
    }

    /// What won somewhere is tried everywhere, so that rules can be weighed.
    fn complete(&mut self) -> Result<(), TuneError> {
        // Winners of the completed board may be others.
        for _ in 0..2 {
            let winners: Vec<Vec<Candidate>> = self
                .value_types
                .iter()
                .map(|&value_type| winners(&self.board, value_type, self.effort.winners))
                .collect();
            // The first winner everywhere before the second anywhere.
            for place in 0..self.effort.winners {
                for (value_type, rung) in self.pairs().collect::<Vec<_>>() {
                    let of_type = self.value_types.iter().position(|other| *other == value_type);
                    let winner = of_type.and_then(|k| winners[k].get(place));
                    let Some(candidate) = winner else { continue };
                    if !self.is_known(value_type, &rung, candidate)
                        && !self.try_on(value_type, &rung, candidate, "complete")?
                    {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Times those again that are near the best, in turn: what was lucky once is not lucky three times.
    fn repeat(&mut self) -> Result<(), TuneError> {
        for _ in 0..REPEATS {
            for (value_type, rung) in self.pairs().collect::<Vec<_>>() {
                let (rung, name) = (&rung, rung.name.clone());
                let Some(matrix) = self.board.matrix(value_type, &name) else { continue };
                let best_us = self.best_us(value_type, rung);
                let near = |candidate: &Candidate| {
                    let cost = matrix.cost_us(candidate, Reuse::Many);
                    cost.is_some_and(|cost| cost < 1.2 * best_us)
                };
                let winners = winners(&self.board, value_type, self.effort.winners);
                let again: Vec<_> = winners.into_iter().filter(near).collect();
                for candidate in again {
                    if !self.try_on(value_type, rung, &candidate, "repeat")? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn pairs(&self) -> impl Iterator<Item = (ValueType, LadderMatrix)> + use<'_, T> {
        let ladder = self.effort.ladder.iter();
        ladder.flat_map(|rung| {
            self.value_types.iter().map(move |&value_type| (value_type, rung.clone()))
        })
    }

    /// What would run without any tuning.
    fn untuned(&self, value_type: ValueType, rung: &LadderMatrix) -> Candidate {
        let rows = (rung.nnz as f64 / rung.mean_row) as u64;
        // Close enough for a first candidate: rules of kinds of devices ask for the longest row alone.
        let longest_row = (2.0 * rung.mean_row) as u64;
        let shape = MatrixShape { rows, nnz: rung.nnz, longest_row, in_step: rung.nnz, changes: 0 };
        let several = Reuse::Several;
        Candidate::of_tables(&Tables::untuned(), self.traits, value_type, &shape, several)
    }

    /// What the shipped tables choose for a matrix whose figures are known, whatever the user's own says.
    fn shipped(&self, value_type: ValueType, rung: &LadderMatrix) -> Vec<Candidate> {
        let Some(matrix) = self.board.matrix(value_type, &rung.name) else { return Vec::new() };
        let tables = Tables::with_user(None);
        let chosen = [Reuse::Several, Reuse::Many].map(|products| {
            Candidate::of_tables(&tables, self.traits, value_type, &matrix.shape, products)
        });
        let fits = |candidate: &Candidate| candidate.fits(self.traits, value_type);
        chosen.into_iter().filter(fits).collect()
    }

    fn is_known(&self, value_type: ValueType, rung: &LadderMatrix, candidate: &Candidate) -> bool {
        let matrix = self.board.matrix(value_type, &rung.name);
        matrix.is_some_and(|matrix| matrix.cost_us(candidate, Reuse::Many).is_some())
    }

    /// How many times as slow as the reference a candidate must be not to be worth sampling.
    fn give_up(&self, value_type: ValueType, rung: &LadderMatrix, reference: &Candidate) -> f64 {
        let matrix = self.board.matrix(value_type, &rung.name);
        let reference_us = matrix.and_then(|matrix| matrix.cost_us(reference, Reuse::Many));
        let give_up = reference_us.map(|us| GIVE_UP * self.best_us(value_type, rung) / us);
        // Nothing is known of a reference that failed.
        give_up.filter(|ratio| ratio.is_finite()).unwrap_or(GIVE_UP)
    }

    /// Microseconds of the best product so far.
    fn best_us(&self, value_type: ValueType, rung: &LadderMatrix) -> f64 {
        let matrix = self.board.matrix(value_type, &rung.name);
        let best = matrix.and_then(|matrix| matrix.best(Reuse::Many, |_| true));
        best.map_or(f64::INFINITY, |(_, cost)| cost)
    }

    /// Runs a trial; false where there is no more time for the search.
    fn try_on(
        &mut self,
        value_type: ValueType,
        rung: &LadderMatrix,
        candidate: &Candidate,
        phase: &'static str,
    ) -> Result<bool, TuneError> {
        if self.trials.spent() > SEARCH {
            return Ok(false);
        }
        let name = rung.name.clone();
        let reference = self.untuned(value_type, rung);
        let trial = Trial {
            matrix: name.clone(),
            scale: rung.scale,
            value_type: value_type.to_string(),
            candidate: candidate.clone(),
            give_up: self.give_up(value_type, rung, &reference),
            reference,
            sampling_ms: self.effort.sampling_ms,
        };
        let Some(report) = self.trials.run(&trial)? else { return Ok(false) };
        let timing = timing_of(self.device, value_type, &trial, report);
        self.board.add(&timing);
        let matrix = self.board.matrix(value_type, &name);
        let best = matrix.and_then(|matrix| matrix.best(Reuse::Many, |_| true));
        self.trials.ended(&timing, phase, best);
        Ok(true)
    }
}

/// A trial as a raw timing.
pub(super) fn timing_of(
    device: &TunedDevice,
    value_type: ValueType,
    trial: &Trial,
    report: TrialReport,
) -> Timing {
    let TrialReport { rows, nnz, longest_row, in_step, changes, outcome } = report;
    Timing {
        schema: super::TUNE_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        device: device.clone(),
        value_type,
        matrix: trial.matrix.clone(),
        rows,
        nnz,
        longest_row,
        in_step,
        changes,
        candidate: trial.candidate.clone(),
        reference: trial.reference.clone(),
        is_validation: false,
        outcome,
    }
}

/// A candidate that is slower than the best by more gets no credit for a matrix.
const CREDIT: f64 = 0.08;

/// The candidates that rules are made of, at most so many: one by one, whichever earns most in addition to those before
/// it by being near the best. Where several are alike but for noise, one is enough.
fn winners(board: &Board, value_type: ValueType, most: usize) -> Vec<Candidate> {
    let mut credits: BTreeMap<&Candidate, BTreeMap<(&str, &str), f64>> = BTreeMap::new();
    for (name, matrix) in board.matrices(value_type) {
        for products in Reuse::ALL {
            let Some((_, best)) = matrix.best(products, |_| true) else { continue };
            for candidate in matrix.candidates() {
                let cost = matrix.cost_us(candidate, products).unwrap_or(f64::INFINITY);
                let credit = CREDIT - (cost / best).ln();
                if credit > 0.0 {
                    credits.entry(candidate).or_default().insert((name, products.name()), credit);
                }
            }
        }
    }
    let mut earned: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let mut found: Vec<Candidate> = Vec::new();
    while found.len() < most {
        let gain = |of: &BTreeMap<(&str, &str), f64>| -> f64 {
            of.iter().map(|(at, credit)| (credit - earned.get(at).unwrap_or(&0.0)).max(0.0)).sum()
        };
        let gains = credits.iter().map(|(candidate, of)| (gain(of), *candidate));
        let Some((gain, candidate)) = gains.max_by(|(a, _), (b, _)| a.total_cmp(b)) else { break };
        if gain <= 0.0 {
            break;
        }
        for (at, credit) in credits.remove(candidate).unwrap_or_default() {
            let earned = earned.entry(at).or_default();
            *earned = earned.max(credit);
        }
        found.push(candidate.clone());
    }
    found
}
