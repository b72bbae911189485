//! What came of a solve.

use std::time::Duration;

use cl_kernels::solver_state::SolverState;

/// Why a method cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Breakdown {
    /// p'Ap is not positive: A is not positive definite, which CG needs.
    NotPositiveDefinite,
    /// r'z is not positive: the preconditioner is not positive definite, which CG needs.
    RhoNotPositive,
    /// The residual is orthogonal to the first one (BiCGStab).
    RhoZero,
    /// A p is orthogonal to the first residual (BiCGStab).
    ShadowZero,
    /// A s is 0, or orthogonal to s (BiCGStab).
    OmegaZero,
    /// Something has overflowed, or was NaN or infinite from the start.
    NotFinite,
    /// The squares of b's elements vanish or overflow in its type: scale the system, or measure by [`Norm::One`].
    ///
    /// [`Norm::One`]: crate::Norm::One
    OutOfRange,
}

impl Breakdown {
    /// In few words, as records and the C interface have it.
    pub fn name(self) -> &'static str {
        match self {
            Breakdown::NotPositiveDefinite => "not-positive-definite",
            Breakdown::RhoNotPositive => "rho-not-positive",
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
            Breakdown::NotPositiveDefinite => "p'Ap is not positive: A is not positive definite",
            Breakdown::RhoNotPositive => {
                "r'z is not positive: the preconditioner is not positive definite"
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
    /// The residual is as small as was asked for.
    Converged,
    /// It is not, after as many iterations as were allowed.
    MaxIterations,
    /// The observer said so.
    Stopped,
    /// The method cannot go on; x is that of the last iteration that ended well.
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
            Outcome::Breakdown { .. } => "breakdown",
        }
    }

    pub(super) fn of(state: SolverState, ended_in: u32) -> Option<Self> {
        let kind = match state {
            SolverState::Running => return None,
            SolverState::Converged => return Some(Outcome::Converged),
            SolverState::NotPositiveDefinite => Breakdown::NotPositiveDefinite,
            SolverState::RhoNotPositive => Breakdown::RhoNotPositive,
            SolverState::RhoZero => Breakdown::RhoZero,
            SolverState::ShadowZero => Breakdown::ShadowZero,
            SolverState::OmegaZero => Breakdown::OmegaZero,
            SolverState::NotFinite => Breakdown::NotFinite,
        };
        Some(Outcome::Breakdown { kind, iteration: ended_in })
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Converged => f.write_str("converged"),
            Outcome::MaxIterations => f.write_str("not converged: the iterations are used up"),
            Outcome::Stopped => f.write_str("stopped by the observer"),
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
    /// Iterations that x has seen; where it converged, the first that met the tolerance. One that BiCGStab ended
    /// half-way counts.
    pub iterations: u32,
    /// The residual's norm as the recurrence has it: before the first iteration, and after each. `iterations` + 1.
    pub history: Vec<f64>,
    /// The norm of b - A x, computed from x at the end. The recurrence may drift from it.
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
    /// The last residual of the recurrence.
    pub fn residual(&self) -> f64 {
        self.history.last().copied().unwrap_or(0.0)
    }

    /// The last residual as a multiple of the norm of b; 0 where that is 0 and so is the residual.
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
