//! One trial on the device: a candidate is verified on a small matrix and on the one it is timed on, between
//! canaries, before any time counts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Instant;

use cl_kernels::MatrixShape;
use csr_core::generate::{DEFAULT_SEED, Rung, Skew};
use csr_core::verify::{Oracle, Summation};
use csr_core::{AnyCsr, AnyCsrView, AnyVector, Number, ValueType};
use serde::{Deserialize, Serialize};
use sparrow::{AnyMatrix, AnyOperands, AnyPlan, NoEvent, Queue, Tables, Workspace};

use super::{Candidate, Outcome, Times};
use crate::measure::read_blocking;
use crate::selftest::AnyGuarded;
use crate::{GeneratorOptions, Input, MeasureError};

/// What every candidate multiplies first: small, with rows of every length and three giants.
const FIRST: Rung = Rung { mean_row: 9, skew: Skew::Giants, nnz: 20_000 };

/// Pairs of samples of a trial, at least and at most.
const PAIRS: RangeInclusive<usize> = 4..=11;

/// A first launch may find everything out of the cache: one that is slower than allowed by no more than this is followed
/// by another before the candidate is called slow.
const COLD: f64 = 4.0;

/// Of the device's memory, the part that matrices may take that are kept between trials, for each value type.
const KEPT_PART: u64 = 5;

/// What is tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// A rung, a class or a file.
    pub matrix: String,
    /// Multiplies the rows of a class.
    pub scale: f64,
    /// The type of its values, by name.
    pub value_type: String,
    /// The candidate.
    pub candidate: Candidate,
    /// What it is timed with, in turn.
    pub reference: Candidate,
    /// Samples are not worth taking where one launch takes so many times as long as one of the reference.
    pub give_up: f64,
    /// Milliseconds of sampling.
    pub sampling_ms: u64,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialReport {
    /// Rows of A.
    pub rows: u64,
    /// Nonzeros of A.
    pub nnz: u64,
    /// Nonzeros of the longest row.
    pub longest_row: u64,
    /// What neighbouring rows take in step.
    pub in_step: u64,
    /// Rows whose length is not that of the row before.
    pub changes: u64,
    /// How it went.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// A matrix on the device with x, y between canaries, and what is right.
pub(super) struct Ground {
    matrix: AnyMatrix,
    x: AnyGuarded,
    y: AnyGuarded,
    oracle: Oracle,
    reference: Option<(Candidate, Contender)>,
}

/// A candidate on a ground, ready to launch.
pub(super) struct Contender {
    plan: AnyPlan,
    workspace: Workspace,
}

impl Contender {
    /// What runs, however it was chosen.
    pub(super) fn candidate(&self) -> Candidate {
        let pair = |text: &str| {
            let (name, value) = text.split_once('=')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        Candidate {
            algorithm: self.plan.algorithm(),
            variant: self.plan.variant().parse().ok(),
            parameters: self.plan.parameters().split(',').filter_map(pair).collect(),
        }
    }
}

impl Ground {
    pub(super) fn new(queue: &Queue, matrix: AnyCsrView<'_>) -> Result<Self, MeasureError> {
        let (value_type, pattern) = (matrix.value_type(), matrix.pattern());
        let x = AnyVector::random(value_type, DEFAULT_SEED, pattern.cols())?;
        let y = AnyVector::filled(value_type, f64::NAN, pattern.rows());
        let accumulator = value_type.accumulator();
        Ok(Ground {
            oracle: Oracle::of_any(matrix, &x)?,
            matrix: AnyMatrix::upload_blocking(queue, matrix)?,
            x: AnyGuarded::upload_blocking(queue, accumulator, x.bytes(), 0)?,
            y: AnyGuarded::upload_blocking(queue, accumulator, y.bytes(), 0)?,
            reference: None,
        })
    }

    pub(super) fn shape(&self) -> MatrixShape {
        self.matrix.shape()
    }

    pub(super) fn contender(
        &self,
        queue: &Queue,
        options: &sparrow::PlanOptions,
    ) -> Result<Contender, MeasureError> {
        let plan = AnyPlan::new_blocking(queue, &self.matrix, options)?;
        let workspace = plan.workspace_blocking(queue)?;
        Ok(Contender { plan, workspace })
    }

    pub(super) fn launch(
        &mut self,
        queue: &Queue,
        contender: &mut Contender,
    ) -> Result<(), MeasureError> {
        let number = |value| Number::of(self.matrix.value_type(), value).into();
        let product = AnyOperands {
            alpha: number(1.0),
            a: &self.matrix,
            x: self.x.array(),
            beta: number(0.0),
            y: self.y.array_mut(),
        };
        contender.plan.launch(queue, &mut contender.workspace, product, NoEvent)?;
        Ok(())
    }

    /// Launches once over a y of NaN; what is wrong, if anything is.
    pub(super) fn verify(
        &mut self,
        queue: &Queue,
        contender: &mut Contender,
    ) -> Result<Option<String>, MeasureError> {
        self.y.restore_blocking(queue)?;
        self.launch(queue, contender)?;
        queue.finish_blocking()?;
        let y = read_blocking(queue, self.y.array(), self.matrix.value_type())?;
        let found = self.oracle.verify_any(&y, Summation::Plain)?;
        if !found.passed() {
            let (row, right) = (found.worst_row, self.oracle.value(found.worst_row));
            // As the matrix's file counts rows, which is from 1.
            return Ok(Some(format!(
                "row {} is {} where {right} is right",
                row + 1,
                y.number(row).to_f64()
            )));
        }
        let damages = [
            ("y's surroundings", self.y.damaged_canary(queue)?),
            ("x", self.x.damaged_anywhere(queue)?),
        ];
        let damaged = damages.into_iter().find_map(|(what, at)| at.map(|at| (what, at)));
        Ok(damaged.map(|(what, at)| format!("element {at} of {what} was overwritten")))
    }

    /// A candidate that cannot be built or launched is refused, and no error.
    fn try_candidate(&mut self, queue: &Queue, trial: &Trial, tables: &Tables) -> Outcome {
        let tried = self.verify_and_time(queue, trial, tables);
        tried.unwrap_or_else(|error| Outcome::Refused { message: error.to_string() })
    }

    fn verify_and_time(
        &mut self,
        queue: &Queue,
        trial: &Trial,
        tables: &Tables,
    ) -> Result<Outcome, MeasureError> {
        let options = trial.candidate.plan_options(tables);
        let mut contender = self.contender(queue, &options)?;
        if let Some(message) = self.verify(queue, &mut contender)? {
            return Ok(Outcome::Wrong { message });
        }
        // Programs are built by now.
        let setup_us = setup_us(|| self.contender(queue, &options))?;
        let mut reference = match self.reference.take() {
            Some((candidate, reference)) if candidate == trial.reference => reference,
            _ => self.contender(queue, &trial.reference.plan_options(tables))?,
        };
        // The reference may be compiled by its first launch.
        self.sample_us(queue, &mut reference, 1)?;
        let reference_us = self.sample_us(queue, &mut reference, 1)?;
        let limit_us = trial.give_up * reference_us;
        let mut once_us = self.sample_us(queue, &mut contender, 1)?;
        if (limit_us..COLD * limit_us).contains(&once_us) {
            once_us = once_us.min(self.sample_us(queue, &mut contender, 1)?);
        }
        let mut times = Times {
            samples_us: vec![rounded(once_us)],
            reference_us: vec![rounded(reference_us)],
            setup_us,
        };
        let is_slow = once_us > limit_us;
        if !is_slow {
            let sampling_us = trial.sampling_ms as f64 * 1e3;
            let sample_us = sampling_us / 10.0;
            let counts = (launches(sample_us, reference_us), launches(sample_us, once_us));
            (times.samples_us, times.reference_us) = (Vec::new(), Vec::new());
            let start = Instant::now();
            let is_enough = |pairs: usize| {
                let is_over = start.elapsed().as_secs_f64() * 1e6 >= sampling_us;
                pairs >= *PAIRS.end() || pairs >= *PAIRS.start() && is_over
            };
            while !is_enough(times.samples_us.len()) {
                let reference_us = self.sample_us(queue, &mut reference, counts.0)?;
                let sample_us = self.sample_us(queue, &mut contender, counts.1)?;
                times.reference_us.push(rounded(reference_us));
                times.samples_us.push(rounded(sample_us));
            }
        }
        self.reference = Some((trial.reference.clone(), reference));
        Ok(if is_slow { Outcome::Slow(times) } else { Outcome::Timed(times) })
    }

    /// Microseconds of one launch among so many.
    pub(super) fn sample_us(
        &mut self,
        queue: &Queue,
        contender: &mut Contender,
        launches: u32,
    ) -> Result<f64, MeasureError> {
        let start = Instant::now();
        for _ in 0..launches {
            self.launch(queue, contender)?;
        }
        queue.finish_blocking()?;
        Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(launches))
    }
}

/// Launches of a sample of so many microseconds, where one launch takes `once_us`. Some wait less for the device when
/// they come together: short products are never timed alone.
pub(super) fn launches(sample_us: f64, once_us: f64) -> u32 {
    let least = if once_us > 3000.0 { 2.0 } else { 4.0 };
    (sample_us / once_us).ceil().clamp(least, 4096.0) as u32
}

/// The lesser of two set-ups: the first may allocate for both.
pub(super) fn setup_us<T>(
    mut set_up: impl FnMut() -> Result<T, MeasureError>,
) -> Result<f64, MeasureError> {
    let mut least = f64::INFINITY;
    for _ in 0..2 {
        let start = Instant::now();
        let made = set_up()?;
        least = least.min(start.elapsed().as_secs_f64() * 1e6);
        drop(made);
    }
    Ok(rounded(least))
}

/// Microseconds to the nanosecond: no clock says more, and lines stay short.
pub(super) fn rounded(us: f64) -> f64 {
    (us * 1e3).round() / 1e3
}

/// Where trials run: a device, with the matrices of earlier ones.
pub struct Arena {
    queue: Queue,
    tables: Tables,
    f32: Grounds,
    f64: Grounds,
}

/// Matrices of one value type.
struct Grounds {
    value_type: ValueType,
    /// By name and scale.
    kept: BTreeMap<String, Ground>,
    passed_first: BTreeSet<Candidate>,
}

impl Grounds {
    fn new(value_type: ValueType) -> Self {
        Grounds { value_type, kept: BTreeMap::new(), passed_first: BTreeSet::new() }
    }

    fn ground(
        &mut self,
        queue: &Queue,
        name: &str,
        scale: f64,
    ) -> Result<&mut Ground, MeasureError> {
        let bytes: usize = self.kept.values().map(|ground| ground.matrix.size_bytes()).sum();
        let most = queue.context().device().traits().global_bytes / KEPT_PART;
        let key = format!("{name} x {scale}");
        if bytes as u64 > most && !self.kept.contains_key(&key) {
            self.kept.clear();
        }
        Ok(match self.kept.entry(key) {
            Entry::Occupied(kept) => kept.into_mut(),
            Entry::Vacant(entry) => entry.insert({
                let matrix = load_matrix(name, scale)?;
                matrix.with_value_type(self.value_type, |matrix| Ground::new(queue, matrix))??
            }),
        })
    }

    fn run(
        &mut self,
        queue: &Queue,
        trial: &Trial,
        tables: &Tables,
    ) -> Result<TrialReport, MeasureError> {
        if !self.passed_first.contains(&trial.candidate) {
            let first = Trial { give_up: 0.0, ..trial.clone() };
            let ground = self.ground(queue, &FIRST.to_string(), 1.0)?;
            let outcome = ground.try_candidate(queue, &first, tables);
            if outcome.times().is_none() {
                return Ok(report(&ground.shape(), outcome));
            }
            self.passed_first.insert(trial.candidate.clone());
        }
        let ground = self.ground(queue, &trial.matrix, trial.scale)?;
        let outcome = ground.try_candidate(queue, trial, tables);
        Ok(report(&ground.shape(), outcome))
    }
}

fn report(shape: &MatrixShape, outcome: Outcome) -> TrialReport {
    let MatrixShape { rows, nnz, longest_row, in_step, changes } = *shape;
    TrialReport { rows, nnz, longest_row, in_step, changes, outcome }
}

/// A rung, a class or a file.
pub(super) fn load_matrix(name: &str, scale: f64) -> Result<AnyCsr, MeasureError> {
    if name.starts_with("rung:") {
        return Ok(AnyCsr::compact(name.parse::<Rung>()?.generate(DEFAULT_SEED)?));
    }
    let generator = GeneratorOptions { scale, seed: DEFAULT_SEED };
    Ok(AnyCsr::compact(Input::parse(name)?.load(generator, &|_, _| ())?))
}

impl Arena {
    /// On a queue of the device's.
    pub fn new(queue: Queue) -> Self {
        let tables = Tables::with_user(None);
        let [f32, f64] = [ValueType::F32, ValueType::F64].map(Grounds::new);
        Arena { queue, tables, f32, f64 }
    }

    /// Runs one trial.
    ///
    /// # Errors
    /// A matrix that cannot be made, or a device that fails; a candidate that fails is an outcome.
    pub fn run(&mut self, trial: &Trial) -> Result<TrialReport, MeasureError> {
        let Arena { queue, tables, f32, f64 } = self;
        match trial.value_type.parse::<ValueType>() {
            Ok(ValueType::F64) => f64.run(queue, trial, tables),
            _ => f32.run(queue, trial, tables),
        }
    }
}
