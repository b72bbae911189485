//! What came of a solve.

use std::time::Duration;

use cl_kernels::solver_state::SolverState;
use cl_runtime::solver::Snapshot;

/// Why a method cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Breakdown {
    /// p'Ap has changed its sign: A is indefinite, and CG needs a definite one.
    Indefinite,
    /// p'Ap is 0: A is indefinite or singular (CG).
    CurvatureZero,
    /// r'z is 0 or has changed its sign: the preconditioner is indefinite, and CG needs a definite one.
    PreconditionerIndefinite,
    /// The residual is orthogonal to the first one (BiCGStab).
    RhoZero,
    /// A p is orthogonal to the first residual (BiCGStab).
    ShadowZero,
    /// A s is 0, or orthogonal to s (BiCGStab).
    OmegaZero,
    /// Something has overflowed, or was NaN or infinite from the start.
    NotFinite,
    /// The squares of b's elements vanish or overflow in the type of b and x, and a method divides by sums of such
    /// squares: scale the system, or solve it in f64.
    OutOfRange,
}

impl Breakdown {
    /// In few words, as records and the C interface have it.
    pub fn name(self) -> &'static str {
        match self {
            Breakdown::Indefinite => "indefinite",
            Breakdown::CurvatureZero => "curvature-zero",
            Breakdown::PreconditionerIndefinite => "preconditioner-indefinite",
            Breakdown::RhoZero => "rho-zero",
            Breakdown::ShadowZero => "shadow-zero",
            Breakdown::OmegaZero => "omega-zero",
            Breakdown::NotFinite => "not-finite",
            Breakdown::OutOfRange => "out-of-range",
        }
    }
}

impl std::fmt::Display for Breakdown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Breakdown::Indefinite => "p'Ap has changed its sign: A is indefinite, or not symmetric",
            Breakdown::CurvatureZero => "p'Ap is 0: A is indefinite or singular",
            Breakdown::PreconditionerIndefinite => {
                "r'z is 0 or has changed its sign: the preconditioner is indefinite"
            }
            Breakdown::RhoZero => "the residual is orthogonal to the first one",
            Breakdown::ShadowZero => "A p is orthogonal to the first residual",
            Breakdown::OmegaZero => "A s is 0 or orthogonal to s",
            Breakdown::NotFinite => "a number is infinite or NaN",
            Breakdown::OutOfRange => "the squares of b's elements vanish or overflow",
        })
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The residual, computed from x, is as small as was asked for; with [`Verdict::Recurrence`], the recurrence's.
    ///
    /// [`Verdict::Recurrence`]: crate::Verdict::Recurrence
    Converged,
    /// It is not, after as many iterations as were allowed.
    MaxIterations,
    /// The observer said so.
    Stopped,
    /// The residual, computed from x, is not small enough and falls no further.
    Stagnated,
    /// The residual has grown beyond the first one and does not come back, as CG's may where A is not symmetric.
    Diverged,
    /// The method cannot go on.
    Breakdown {
        /// Why.
        kind: Breakdown,
        /// In which iteration; 0 is the start.
        iteration: u32,
    },
}

impl Outcome {
    /// In few words, as records have it.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Converged => "converged",
            Outcome::MaxIterations => "max-iterations",
            Outcome::Stopped => "stopped",
            Outcome::Stagnated => "stagnated",
            Outcome::Diverged => "diverged",
            Outcome::Breakdown { .. } => "breakdown",
        }
    }

    /// How iterations have ended that began after `base` others; `None` where they have not.
    pub(super) fn of(snapshot: &Snapshot, base: u32) -> Option<Self> {
        let kind = match snapshot.state {
            SolverState::Running => return None,
            SolverState::Converged => return Some(Outcome::Converged),
            SolverState::Diverged => return Some(Outcome::Diverged),
            SolverState::Stalled => return Some(Outcome::Stagnated),
            SolverState::Indefinite => Breakdown::Indefinite,
            SolverState::CurvatureZero => Breakdown::CurvatureZero,
            SolverState::PreconditionerIndefinite => Breakdown::PreconditionerIndefinite,
            SolverState::RhoZero => Breakdown::RhoZero,
            SolverState::ShadowZero => Breakdown::ShadowZero,
            SolverState::OmegaZero => Breakdown::OmegaZero,
            SolverState::NotFinite => Breakdown::NotFinite,
        };
        Some(Outcome::Breakdown { kind, iteration: base + snapshot.ended_in })
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Converged => f.write_str("converged"),
            Outcome::MaxIterations => f.write_str("not converged: the iterations are used up"),
            Outcome::Stopped => f.write_str("stopped by the observer"),
            Outcome::Stagnated => f.write_str("stagnated: the residual falls no further"),
            Outcome::Diverged => {
                f.write_str("diverged: the residual has grown beyond the first one")
            }
            Outcome::Breakdown { kind, iteration: 0 } => {
                write!(f, "breakdown before the first iteration: {kind}")
            }
            Outcome::Breakdown { kind, iteration } => {
                write!(f, "breakdown in iteration {iteration}: {kind}")
            }
        }
    }
}

/// What came of a solve; x is in the caller's array.
#[derive(Clone, Debug)]
pub struct Solution {
    /// How it ended.
    pub outcome: Outcome,
    /// Iterations until it ended. One that BiCGStab ended half-way counts.
    pub iterations: u32,
    /// The iteration that x is of: the last where it converged, else that of the least residual.
    pub x_iteration: u32,
    /// The residual's norm as the recurrence has it: before the first iteration, and after each. `iterations` + 1.
    /// After an iteration from which it began again, as it was computed from x.
    pub history: Vec<f64>,
    /// The norm of b - A x, computed from x. The recurrence may drift from it.
    pub true_residual: f64,
    /// The norm of b.
    pub b_norm: f64,
    /// The residual that was small enough.
    pub threshold: f64,
    /// Iterations that were enqueued: up to `check_every` - 1 more, which changed nothing.
    pub launched: u32,
    /// From the start to x in place.
    pub elapsed: Duration,
    /// Of an iteration, over those between the first and the last look at the residual where there are such: the
    /// first includes what drivers do once, the last may have ended early.
    pub per_iteration: Option<Duration>,
}

impl Solution {
    /// The residual of x by the recurrence.
    pub fn residual(&self) -> f64 {
        self.history.get(self.x_iteration as usize).copied().unwrap_or(0.0)
    }

    /// That residual as a multiple of the norm of b; 0 where that is 0 and so is the residual.
    pub fn relative_residual(&self) -> f64 {
        ratio(self.residual(), self.b_norm)
    }

    /// The true residual as a multiple of the norm of b; 0 where that is 0 and so is the residual.
    pub fn true_relative_residual(&self) -> f64 {
        ratio(self.true_residual, self.b_norm)
    }
}

fn ratio(residual: f64, of_b: f64) -> f64 {
    if residual == 0.0 { 0.0 } else { residual / of_b }
}

/// How far a solve has come.
#[derive(Clone, Copy, Debug)]
pub struct SolverProgress<'a> {
    /// Iterations that have ended.
    pub iteration: u32,
    /// The residual's norm before the first iteration, and after each.
    pub history: &'a [f64],
    /// The residual that is small enough.
    pub threshold: f64,
    /// The norm of b.
    pub b_norm: f64,
}

impl SolverProgress<'_> {
    /// The last residual.
    pub fn residual(&self) -> f64 {
        self.history.last().copied().unwrap_or(0.0)
    }
}
