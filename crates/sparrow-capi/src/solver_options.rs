//! What solvers are asked for.

use std::ffi::{c_char, c_void};

use sparrow::{Norm, Preconditioner, SolverMethod, SolverOptions, Verdict};

use crate::context::Home;
use crate::failure::Result;
use crate::options::{parameters, plan_options};
use crate::pointer::{Growing, read_optional, starts};
use crate::types::choice;
use crate::{sparrow_buffer, sparrow_matrix, sparrow_plan_options, sparrow_solver_progress};

/// How A x = b is solved.
pub type sparrow_solver_method = u32;
/// Conjugate gradients, for A symmetric, and positive or negative definite.
pub const SPARROW_SOLVER_METHOD_CG: sparrow_solver_method = 0;
/// Stabilised bi-conjugate gradients, for any A.
pub const SPARROW_SOLVER_METHOD_BICGSTAB: sparrow_solver_method = 1;

/// What residuals are multiplied by.
pub type sparrow_preconditioner = u32;
/// Nothing.
pub const SPARROW_PRECONDITIONER_NONE: sparrow_preconditioner = 0;
/// The inverse of A's diagonal, which each row must have. Made anew when values have changed.
pub const SPARROW_PRECONDITIONER_JACOBI: sparrow_preconditioner = 1;

/// How residuals are measured.
pub type sparrow_norm = u32;
/// The square root of the sum of squares.
pub const SPARROW_NORM_TWO: sparrow_norm = 0;
/// The sum of magnitudes.
pub const SPARROW_NORM_ONE: sparrow_norm = 1;

/// What the end of a solve rests on.
pub type sparrow_verdict = u32;
/// b - A x, computed from x: where the recurrence's residual is small enough and that is not, iterations begin again from
/// there until it is, or until that no longer halves it. Divergence ends a solve, and so does, with CG, a change of sign
/// that no definite matrix makes. Where it does not converge, x is that of the least residual.
pub const SPARROW_VERDICT_COMPUTED: sparrow_verdict = 0;
/// The recurrence's residual alone: besides the stop rule only a zero to divide by or a number that is not finite ends a
/// solve, and x is that of the last iteration. b - A x is computed at the end, and only told.
pub const SPARROW_VERDICT_RECURRENCE: sparrow_verdict = 1;

/// What a solver is asked for; all other fields 0 or NULL are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_solver_options {
    /// sizeof(sparrow_solver_options).
    pub size: usize,
    /// How A is multiplied; NULL chooses. Its `device_table` is the solver's too; a transposed A and scalars on the
    /// device are refused. With its `reordering` all iterations run in that order: b and x are moved into it before them and
    /// x out of it after, unless its `vectors_in_order` says that they are in it already.
    pub plan: *const sparrow_plan_options,
    /// Hyper-parameters of the kernels between products over what the device table says; or NULL.
    pub parameters: *const c_char,
    /// The method.
    pub method: sparrow_solver_method,
    /// What residuals are multiplied by.
    pub preconditioner: sparrow_preconditioner,
    /// How residuals are measured.
    pub norm: sparrow_norm,
    /// Iterations between two looks at the residual, each of which waits for the device: 1 to 65536. 0 chooses. What
    /// is returned does not depend on it.
    pub check_every: u32,
    /// What its end rests on.
    pub verdict: sparrow_verdict,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_solver_options {
    const NAME: &'static str = "sparrow_solver_options";
    const STARTS: &'static [usize] = starts!(sparrow_solver_options {
        size,
        plan;
        parameters,
        method,
        preconditioner,
        norm,
        check_every,
        verdict
    });
}

/// When a solve ends: where the residual is at most the largest of three, or after so many iterations. Every field
/// counts as it stands. Tolerances are finite, and 0 or more.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_stop_rule {
    /// sizeof(sparrow_stop_rule).
    pub size: usize,
    /// As a multiple of the norm of b.
    pub relative: f64,
    /// As a multiple of the norm of the first residual, b - A x before.
    pub relative_to_first: f64,
    /// As it is.
    pub absolute: f64,
    /// Iterations at most; with 0, x stays as it is, and its residual is measured.
    pub max_iterations: u32,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers.
unsafe impl Growing for sparrow_stop_rule {
    const NAME: &'static str = "sparrow_stop_rule";
    const STARTS: &'static [usize] =
        starts!(sparrow_stop_rule { size, relative; relative_to_first, absolute, max_iterations });
}

/// A x = b. b and x hold double for SPARROW_VALUE_TYPE_F64, else float.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_linear_system {
    /// sizeof(sparrow_linear_system).
    pub size: usize,
    /// The matrix: the solver's, or one of the same pattern.
    pub a: *const sparrow_matrix,
    /// The right-hand side: as many elements as A has rows. May be x.
    pub b: sparrow_buffer,
    /// Where the iterations begin, and where the solution goes: as many elements as A has rows. Must not overlap the
    /// matrix's own buffers.
    pub x: sparrow_buffer,
    /// When it ends; NULL is 1e-8 of b, or 10,000 iterations.
    pub stop: *const sparrow_stop_rule,
    /// Called at each look at the residual, on the thread that called the solve; or NULL. Any other number than 0 ends the
    /// solve there. It may throw an exception of C++, which ends the solve and leaves the solver usable; it must return or
    /// throw: neither leave by longjmp nor end its thread. It may neither use the solver nor change or release the matrix:
    /// such calls are refused.
    pub observe: Option<
        unsafe extern "C-unwind" fn(
            progress: *const sparrow_solver_progress,
            user_data: *mut c_void,
        ) -> u32,
    >,
    /// Handed to `observe`.
    pub user_data: *mut c_void,
    /// Gets the norms of the residuals, before the first iteration and after each; or NULL.
    pub history: *mut f64,
    /// The capacity of `history`; iterations + 1 are all. The rest is not written.
    pub history_room: u64,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_linear_system {
    const NAME: &'static str = "sparrow_linear_system";
    const STARTS: &'static [usize] = starts!(sparrow_linear_system {
        size,
        a,
        b,
        x,
        stop,
        observe,
        user_data,
        history,
        history_room
    });
}

/// # Safety
/// NULL, or valid options.
pub(crate) unsafe fn solver_options(
    options: *const sparrow_solver_options,
    home: &Home,
) -> Result<SolverOptions> {
    // SAFETY: the caller's promise.
    let options = unsafe { read_optional(options, "options")? };
    let plan = options.map_or(std::ptr::null(), |options| options.plan);
    // SAFETY: the plan's options are NULL or valid.
    let plan = unsafe { plan_options(plan, home) }
        .map_err(|error| error.inside("options->", "options->plan->"))?;
    let Some(options) = options else {
        return Ok(SolverOptions { plan, ..SolverOptions::default() });
    };
    let methods = [
        (SPARROW_SOLVER_METHOD_CG, "SPARROW_SOLVER_METHOD_CG", SolverMethod::Cg),
        (SPARROW_SOLVER_METHOD_BICGSTAB, "SPARROW_SOLVER_METHOD_BICGSTAB", SolverMethod::BiCgStab),
    ];
    let preconditioners = [
        (SPARROW_PRECONDITIONER_NONE, "SPARROW_PRECONDITIONER_NONE", Preconditioner::None),
        (SPARROW_PRECONDITIONER_JACOBI, "SPARROW_PRECONDITIONER_JACOBI", Preconditioner::Jacobi),
    ];
    let norms = [
        (SPARROW_NORM_TWO, "SPARROW_NORM_TWO", Norm::Two),
        (SPARROW_NORM_ONE, "SPARROW_NORM_ONE", Norm::One),
    ];
    let verdicts = [
        (SPARROW_VERDICT_COMPUTED, "SPARROW_VERDICT_COMPUTED", Verdict::Computed),
        (SPARROW_VERDICT_RECURRENCE, "SPARROW_VERDICT_RECURRENCE", Verdict::Recurrence),
    ];
    Ok(SolverOptions {
        method: choice(options.method, "options->method", &methods)?,
        preconditioner: choice(
            options.preconditioner,
            "options->preconditioner",
            &preconditioners,
        )?,
        norm: choice(options.norm, "options->norm", &norms)?,
        verdict: choice(options.verdict, "options->verdict", &verdicts)?,
        check_every: (options.check_every > 0).then_some(options.check_every),
        // SAFETY: texts of valid options are valid.
        parameters: unsafe { parameters(options.parameters)? },
        plan,
    })
}
