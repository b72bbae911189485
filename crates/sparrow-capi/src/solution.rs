//! What is told of solvers and of solves.

use std::ffi::{CString, c_char};
use std::time::Duration;

use sparrow::{AnySolver, Breakdown, Outcome, Solution, SolverProgress};

use crate::context::c_text;
use crate::pointer::{Growing, starts};

/// How a solve ended.
pub type sparrow_outcome = u32;
/// The residual, computed from x, is as small as was asked for.
pub const SPARROW_OUTCOME_CONVERGED: sparrow_outcome = 0;
/// It is not, after as many iterations as were allowed.
pub const SPARROW_OUTCOME_MAX_ITERATIONS: sparrow_outcome = 1;
/// The observer ended it.
pub const SPARROW_OUTCOME_STOPPED: sparrow_outcome = 2;
/// The method cannot go on.
pub const SPARROW_OUTCOME_BREAKDOWN: sparrow_outcome = 3;
/// The residual, computed from x, is not small enough and falls no further.
pub const SPARROW_OUTCOME_STAGNATED: sparrow_outcome = 4;
/// The residual has grown beyond the first one and does not come back, as CG's may where A is not symmetric.
pub const SPARROW_OUTCOME_DIVERGED: sparrow_outcome = 5;

/// Why a method cannot go on.
pub type sparrow_breakdown = u32;
/// It did not break down.
pub const SPARROW_BREAKDOWN_NONE: sparrow_breakdown = 0;
/// p'Ap has changed its sign: A is indefinite, and CG needs a definite one.
pub const SPARROW_BREAKDOWN_INDEFINITE: sparrow_breakdown = 1;
/// r'z is 0 or has changed its sign: the preconditioner is indefinite, and CG needs a definite one.
pub const SPARROW_BREAKDOWN_PRECONDITIONER_INDEFINITE: sparrow_breakdown = 2;
/// The residual is orthogonal to the first one (BiCGStab).
pub const SPARROW_BREAKDOWN_RHO_ZERO: sparrow_breakdown = 3;
/// A p is orthogonal to the first residual (BiCGStab).
pub const SPARROW_BREAKDOWN_SHADOW_ZERO: sparrow_breakdown = 4;
/// A s is 0, or orthogonal to s (BiCGStab).
pub const SPARROW_BREAKDOWN_OMEGA_ZERO: sparrow_breakdown = 5;
/// Something has overflowed, or was NaN or infinite from the start.
pub const SPARROW_BREAKDOWN_NOT_FINITE: sparrow_breakdown = 6;
/// The squares of b's elements vanish or overflow in the type of b and x, and a method divides by sums of such squares:
/// scale the system, or store it as SPARROW_VALUE_TYPE_F64.
pub const SPARROW_BREAKDOWN_OUT_OF_RANGE: sparrow_breakdown = 7;
/// p'Ap is 0: A is indefinite or singular (CG).
pub const SPARROW_BREAKDOWN_CURVATURE_ZERO: sparrow_breakdown = 8;

/// How a solve went. Residuals are norms as the solver's options ask for them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_solution {
    /// sizeof(sparrow_solution); set by the caller.
    pub size: usize,
    /// The norm of b - A x, computed from x. The recurrence may drift from it.
    pub true_residual: f64,
    /// The residual of x by the recurrence.
    pub residual: f64,
    /// The norm of b.
    pub b_norm: f64,
    /// The residual that was small enough.
    pub threshold: f64,
    /// From the start to x in place.
    pub nanoseconds: u64,
    /// Of an iteration, between the first and the last look at the residual; 0 where it ended before there were such.
    pub nanoseconds_per_iteration: u64,
    /// Iterations until it ended.
    pub iterations: u32,
    /// Iterations that were enqueued; those that came too late have changed nothing.
    pub launched: u32,
    /// How it ended.
    pub outcome: sparrow_outcome,
    /// With SPARROW_OUTCOME_BREAKDOWN, why.
    pub breakdown: sparrow_breakdown,
    /// In which iteration; 0 is the start.
    pub breakdown_iteration: u32,
    /// The iteration that x is of: the last where it converged, else that of the least residual.
    pub x_iteration: u32,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers.
unsafe impl Growing for sparrow_solution {
    const NAME: &'static str = "sparrow_solution";
    const STARTS: &'static [usize] = starts!(sparrow_solution {
        size,
        true_residual;
        residual,
        b_norm,
        threshold,
        nanoseconds,
        nanoseconds_per_iteration,
        iterations,
        launched,
        outcome,
        breakdown,
        breakdown_iteration,
        x_iteration
    });
}

impl sparrow_solution {
    pub(crate) fn of(solution: &Solution) -> Self {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (outcome, breakdown, breakdown_iteration) = outcome_number(solution.outcome);
        sparrow_solution {
            size: size_of::<sparrow_solution>(),
            true_residual: solution.true_residual,
            residual: solution.residual(),
            b_norm: solution.b_norm,
            threshold: solution.threshold,
            nanoseconds: nanoseconds(solution.elapsed),
            nanoseconds_per_iteration: solution.per_iteration.map_or(0, nanoseconds),
            iterations: solution.iterations,
            launched: solution.launched,
            outcome,
            breakdown,
            breakdown_iteration,
            x_iteration: solution.x_iteration,
        }
    }
}

fn outcome_number(outcome: Outcome) -> (sparrow_outcome, sparrow_breakdown, u32) {
    match outcome {
        Outcome::Converged => (SPARROW_OUTCOME_CONVERGED, SPARROW_BREAKDOWN_NONE, 0),
        Outcome::MaxIterations => (SPARROW_OUTCOME_MAX_ITERATIONS, SPARROW_BREAKDOWN_NONE, 0),
        Outcome::Stopped => (SPARROW_OUTCOME_STOPPED, SPARROW_BREAKDOWN_NONE, 0),
        Outcome::Stagnated => (SPARROW_OUTCOME_STAGNATED, SPARROW_BREAKDOWN_NONE, 0),
        Outcome::Diverged => (SPARROW_OUTCOME_DIVERGED, SPARROW_BREAKDOWN_NONE, 0),
        Outcome::Breakdown { kind, iteration } => {
            (SPARROW_OUTCOME_BREAKDOWN, breakdown_number(kind), iteration)
        }
    }
}

fn breakdown_number(kind: Breakdown) -> sparrow_breakdown {
    match kind {
        Breakdown::Indefinite => SPARROW_BREAKDOWN_INDEFINITE,
        Breakdown::CurvatureZero => SPARROW_BREAKDOWN_CURVATURE_ZERO,
        Breakdown::PreconditionerIndefinite => SPARROW_BREAKDOWN_PRECONDITIONER_INDEFINITE,
        Breakdown::RhoZero => SPARROW_BREAKDOWN_RHO_ZERO,
        Breakdown::ShadowZero => SPARROW_BREAKDOWN_SHADOW_ZERO,
        Breakdown::OmegaZero => SPARROW_BREAKDOWN_OMEGA_ZERO,
        Breakdown::NotFinite => SPARROW_BREAKDOWN_NOT_FINITE,
        Breakdown::OutOfRange => SPARROW_BREAKDOWN_OUT_OF_RANGE,
    }
}

/// How far a solve has come; valid during the call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_solver_progress {
    /// sizeof(sparrow_solver_progress); set by the library.
    pub size: usize,
    /// The norms of the residuals: before the first iteration, and after each; iteration + 1.
    pub history: *const f64,
    /// The residual that is small enough.
    pub threshold: f64,
    /// The norm of b.
    pub b_norm: f64,
    /// Iterations that have ended.
    pub iteration: u32,
}

impl sparrow_solver_progress {
    pub(crate) fn of(progress: &SolverProgress<'_>) -> Self {
        sparrow_solver_progress {
            size: size_of::<sparrow_solver_progress>(),
            history: progress.history.as_ptr(),
            threshold: progress.threshold,
            b_norm: progress.b_norm,
            iteration: progress.iteration,
        }
    }
}

/// What [`sparrow_solver_info`] points to.
#[derive(Debug)]
pub(crate) struct SolverFacts {
    algorithm: CString,
    reason: CString,
    plan_parameters: CString,
    parameters: CString,
    size_bytes: u64,
    bytes_per_iteration: u64,
    check_every: u32,
}

impl SolverFacts {
    pub(crate) fn of(solver: &AnySolver) -> Self {
        let plan = solver.plan();
        SolverFacts {
            algorithm: c_text(plan.algorithm().name()),
            reason: c_text(&plan.choice().reason),
            plan_parameters: c_text(plan.parameters()),
            parameters: c_text(solver.parameters()),
            size_bytes: solver.size_bytes() as u64,
            bytes_per_iteration: solver.bytes_per_iteration(),
            check_every: solver.check_every(),
        }
    }
}

/// Facts of a solver. Texts are valid until the solver is released.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_solver_info {
    /// sizeof(sparrow_solver_info); set by the caller.
    pub size: usize,
    /// The algorithm that multiplies.
    pub algorithm: *const c_char,
    /// Why it was chosen.
    pub reason: *const c_char,
    /// Its hyper-parameters: "group_size=256,...".
    pub plan_parameters: *const c_char,
    /// The hyper-parameters of the kernels between products.
    pub parameters: *const c_char,
    /// Bytes on the device beyond the matrix's own: vectors, plan and workspace.
    pub size_bytes: u64,
    /// Bytes that an iteration moves if every kernel moves each array that it takes once.
    pub bytes_per_iteration: u64,
    /// Iterations between two looks at the residual.
    pub check_every: u32,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_solver_info {
    const NAME: &'static str = "sparrow_solver_info";
    const STARTS: &'static [usize] = starts!(sparrow_solver_info {
        size,
        algorithm;
        reason,
        plan_parameters,
        parameters,
        size_bytes,
        bytes_per_iteration,
        check_every
    });
}

impl sparrow_solver_info {
    pub(crate) fn of(facts: &SolverFacts) -> Self {
        sparrow_solver_info {
            size: size_of::<sparrow_solver_info>(),
            algorithm: facts.algorithm.as_ptr(),
            reason: facts.reason.as_ptr(),
            plan_parameters: facts.plan_parameters.as_ptr(),
            parameters: facts.parameters.as_ptr(),
            size_bytes: facts.size_bytes,
            bytes_per_iteration: facts.bytes_per_iteration,
            check_every: facts.check_every,
        }
    }
}
