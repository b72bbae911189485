//! What solves have in common wherever they run: when iterations end, and what is said of it.
//!
//! The residual of a recurrence drifts from b - A x: by rounding, and most where the first residual was large. So
//! where the recurrence says that it is small enough, the residual is computed from x, and iterations begin again from
//! there if it is not (residual replacement: van der Vorst and Ye, SIAM J. Sci. Comput. 22(3), 2000), for as long as
//! each time halves it at least.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use cl_runtime::solver::{Kept, Limits, Norm, Norms, Snapshot};

use super::{Breakdown, Outcome, Solution, SolverProgress, StopRule, Verdict};
use crate::Result;

/// A residual that has grown by this factor over the first one, or over b, is divergence. Conjugate gradients on a
/// definite matrix of condition k let it grow by the square root of k at most.
const DIVERGENCE: f64 = 1e8;

/// Iterations without a new least residual that are borne: a multiple of the rows, after which an exact method has
/// ended, and some more.
const PATIENCE: (u64, u64) = (10, 100);

/// What a restart must multiply the residual by, at most, for another one to follow.
const WORTHWHILE: f64 = 0.5;

/// Where the vectors are, and what works on them.
pub(super) trait Engine {
    /// r = b - A x from the x that is there, and iteration 0. The norms of b and of r.
    fn start(&mut self) -> Result<(Norms, Norms)>;
    /// `count` iterations after `done` others since the start or the last restart.
    fn iterate(&mut self, done: u32, count: u32, limits: &Limits) -> Result<()>;
    /// How it stands.
    fn snapshot(&mut self) -> Result<Snapshot>;
    /// r = b - A x, computed from the x of the last iteration or the one that was kept.
    fn residual(&mut self, of: Kept) -> Result<Norms>;
    /// Begins again from x and r as they are, and keeps x.
    fn restart(&mut self) -> Result<()>;
}

/// What a solve is to do.
pub(super) struct Drive<'a> {
    pub(super) norm: Norm,
    pub(super) verdict: Verdict,
    pub(super) stop: &'a StopRule,
    pub(super) check_every: u32,
    pub(super) rows: usize,
    pub(super) observe: &'a mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
}

/// Whose x is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// 0, since b is.
    Zeros,
    /// One that the engine has.
    Engine(Kept),
}

/// How a part of a solve between two restarts has ended.
struct Ended {
    outcome: Outcome,
    /// The iteration of its least residual.
    least_at: u32,
}

impl Drive<'_> {
    /// Iterates until something ends it.
    pub(super) fn run(&mut self, engine: &mut dyn Engine) -> Result<(Solution, Of)> {
        let began = Instant::now();
        let (of_b, of_first) = engine.start()?;
        let (b_norm, first) = (of_b.by(self.norm), of_first.by(self.norm));
        // The solution is 0 then, unless x is to stay.
        let is_zero = of_b.one == 0.0 && self.stop.max_iterations > 0;
        let threshold = self.stop.threshold(b_norm, first);
        let mut track = Track::from(first);
        let mut outcome = match is_zero {
            true => Some(Outcome::Converged),
            false => self.at_start(&of_b, threshold, first),
        };
        if outcome.is_none() {
            outcome = Outcome::of(&engine.snapshot()?, 0);
        }
        let solution = |outcome, (x_iteration, true_residual), track: Track| Solution {
            outcome: Self::named(outcome, &of_b),
            iterations: track.iterations(),
            x_iteration,
            true_residual,
            b_norm,
            threshold,
            launched: track.launched,
            elapsed: began.elapsed(),
            per_iteration: track.per_iteration(),
            history: track.history,
        };
        if is_zero {
            let track = Track::from(0.0);
            return Ok((solution(Outcome::Converged, (0, 0.0), track), Of::Zeros));
        }
        if let Some(outcome) = outcome {
            return Ok((solution(outcome, (0, first), track), Of::Engine(Kept::Last)));
        }
        let scale = first.max(b_norm);
        let limits = self.limits(threshold, scale);
        // The residual computed at the last restart.
        let mut replaced: Option<f64> = None;
        let (outcome, kept, of_x) = loop {
            let base = track.iterations();
            let Ended { mut outcome, least_at } =
                self.part(engine, &limits, &mut track, b_norm, replaced.is_some())?;
            let now = track.iterations();
            if outcome == Outcome::Stagnated && track.history[now as usize] > first {
                outcome = Outcome::Diverged;
            }
            let left = engine.residual(Kept::Last)?.by(self.norm);
            let last = (Kept::Last, (now, left));
            if self.verdict == Verdict::Recurrence {
                break (outcome, last.0, last.1);
            }
            // Of what was restarted any end is one of the residual's fall, or the restart was in vain. So is one of a
            // residual that is nothing but rounding, whose squares vanish.
            let is_rounding = track.history[now as usize] <= f64::EPSILON * scale;
            let is_to_judge = match outcome {
                Outcome::MaxIterations | Outcome::Stopped => false,
                Outcome::Converged => true,
                _ => replaced.is_some() || is_rounding || left <= threshold,
            };
            if is_to_judge {
                if left <= threshold {
                    break (Outcome::Converged, last.0, last.1);
                }
                if left <= replaced.map_or(f64::MAX, |before| WORTHWHILE * before) {
                    track.replace(left);
                    engine.restart()?;
                    replaced = Some(left);
                    continue;
                }
            }
            let best = match replaced {
                Some(before) => Some((base, before)),
                None if least_at < now => {
                    Some((least_at, engine.residual(Kept::Best)?.by(self.norm)))
                }
                None => None,
            };
            let outcome = if is_to_judge { Outcome::Stagnated } else { outcome };
            break match best {
                // What is not finite is not better.
                Some((iteration, before)) if before < left || !left.is_finite() => {
                    (outcome, Kept::Best, (iteration, before))
                }
                _ => (outcome, last.0, last.1),
            };
        };
        Ok((solution(outcome, of_x, track), Of::Engine(kept)))
    }

    fn limits(&self, threshold: f64, scale: f64) -> Limits {
        match self.verdict {
            Verdict::Recurrence => {
                Limits { threshold, divergence: f64::INFINITY, patience: u32::MAX }
            }
            Verdict::Computed => {
                let (of_rows, more) = PATIENCE;
                let patience = of_rows * self.rows as u64 + more;
                let patience = u32::try_from(patience).unwrap_or(u32::MAX);
                Limits { threshold, divergence: DIVERGENCE * scale, patience }
            }
        }
    }

    /// Iterates from the start or a restart until something ends it.
    fn part(
        &mut self,
        engine: &mut dyn Engine,
        limits: &Limits,
        track: &mut Track,
        b_norm: f64,
        is_restarted: bool,
    ) -> Result<Ended> {
        let base = track.iterations();
        let (mut done, mut least_at) = (0, base);
        loop {
            let more = self.check_every.min(self.stop.max_iterations - base - done);
            if more == 0 {
                return Ok(Ended { outcome: Outcome::MaxIterations, least_at });
            }
            engine.iterate(done, more, limits)?;
            let snapshot = engine.snapshot()?;
            let mut outcome = Outcome::of(&snapshot, base);
            let ended = snapshot.last_iteration.clamp(done, done + more) - done;
            let is_timed = outcome.is_none() && !is_restarted;
            track.look(more, &snapshot.residuals[..ended as usize], is_timed);
            least_at = base + snapshot.least_at;
            let progress = SolverProgress {
                iteration: track.iterations(),
                history: &track.history,
                threshold: limits.threshold,
                b_norm,
            };
            if (self.observe)(&progress).is_break() && outcome.is_none() {
                outcome = Some(Outcome::Stopped);
            }
            if let Some(outcome) = outcome {
                return Ok(Ended { outcome, least_at });
            }
            done += more;
        }
    }

    /// What is 0 because squares vanish is no fault of the matrix or the preconditioner: with b's out of range, which the
    /// norm may allow, that is named.
    fn named(outcome: Outcome, of_b: &Norms) -> Outcome {
        match outcome {
            Outcome::Breakdown { kind, iteration }
                if kind != Breakdown::NotFinite && !of_b.is_in_range =>
            {
                Outcome::Breakdown { kind: Breakdown::OutOfRange, iteration }
            }
            other => other,
        }
    }

    /// How a solve ends that need not begin.
    fn at_start(&self, of_b: &Norms, threshold: f64, first: f64) -> Option<Outcome> {
        let breakdown = |kind| Some(Outcome::Breakdown { kind, iteration: 0 });
        if !of_b.one.is_finite() {
            return breakdown(Breakdown::NotFinite);
        }
        if self.norm == Norm::Two && of_b.one > 0.0 && !of_b.is_in_range {
            return breakdown(Breakdown::OutOfRange);
        }
        if !first.is_finite() {
            return breakdown(Breakdown::NotFinite);
        }
        (first <= threshold).then_some(Outcome::Converged)
    }
}

/// What the looks at the residual have seen.
struct Track {
    history: Vec<f64>,
    launched: u32,
    /// Iterations that had run in full, and when.
    looks: Vec<(u32, Instant)>,
}

impl Track {
    fn from(first: f64) -> Self {
        Track { history: vec![first], launched: 0, looks: vec![(0, Instant::now())] }
    }

    fn iterations(&self) -> u32 {
        self.history.len() as u32 - 1
    }

    fn look(&mut self, launched: u32, residuals: &[f64], is_timed: bool) {
        self.history.extend(residuals);
        self.launched += launched;
        if is_timed {
            self.looks.push((self.launched, Instant::now()));
        }
    }

    /// Puts what was computed from x where the recurrence had the last residual.
    fn replace(&mut self, residual: f64) {
        if let Some(last) = self.history.last_mut() {
            *last = residual;
        }
    }

    fn per_iteration(&self) -> Option<Duration> {
        let [start, rest @ ..] = self.looks.as_slice() else { return None };
        let (from, to) = match rest {
            [] => return None,
            [only] => (start, only),
            [first, .., last] => (first, last),
        };
        Some((to.1 - from.1) / (to.0 - from.0))
    }
}
