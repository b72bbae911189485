//! Solvers of A x = b.

use std::ops::ControlFlow;
use std::sync::Mutex;

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{SolverProgress, StopRule};

use crate::any_solver::{AnySolver, Solve, SolverFacts};
use crate::context::Home;
use crate::events::{queue as queue_of, wait_blocking, wait_list};
use crate::failure::{Failure, Result, guard};
use crate::pointer::{Out, fill, handle, read, read_optional, release, shared, turn};
use crate::solver_options::solver_options;
use crate::{
    sparrow_linear_system, sparrow_matrix, sparrow_solution, sparrow_solver_info,
    sparrow_solver_options, sparrow_solver_progress, sparrow_status, sparrow_stop_rule,
};

/// A method for A x = b, bound to the pattern of a square matrix, with the vectors it needs on the device: good for any
/// values, any b and any x. Calls of several threads take turns.
pub struct sparrow_solver {
    home: Home,
    inner: Mutex<Box<dyn AnySolver>>,
    facts: SolverFacts,
}

/// Plans the products with a square matrix, builds the method's kernels and allocates its vectors, after the events of
/// the wait list. `options` may be NULL: CG without preconditioning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_solver_create_blocking(
    matrix: *const sparrow_matrix,
    queue: cl_command_queue,
    options: *const sparrow_solver_options,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    solver: *mut *mut sparrow_solver,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(solver, "solver")? };
        // SAFETY: the caller's promise.
        let matrix = unsafe { handle(matrix, "matrix")? };
        let home = matrix.home();
        // SAFETY: the caller's promise.
        let (queue, options) =
            unsafe { (queue_of(&home.context, queue)?, solver_options(options, home)?) };
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let solver = shared(matrix.inner(), "matrix")?.solver_blocking(&queue, &options)?;
        let (home, facts) = (home.clone(), solver.facts());
        out.give(sparrow_solver { home, inner: Mutex::new(solver), facts });
        Ok(())
    })
}

/// What is known of a solver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_solver_get_info(
    solver: *const sparrow_solver,
    info: *mut sparrow_solver_info,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let solver = unsafe { handle(solver, "solver")? };
        // SAFETY: the caller's promise.
        unsafe { fill(info, "info", || Ok(sparrow_solver_info::of(&solver.facts))) }
    })
}

/// Solves A x = b after the events of the wait list, from the x that is there, and returns when the solution is in its
/// place. That it did not converge is no failure: `solution` says how it ended, and x is that of the last iteration that
/// ended well. b = 0 has the solution 0. A diagonal without an inverse in some row, with SPARROW_PRECONDITIONER_JACOBI,
/// is SPARROW_STATUS_INVALID_MATRIX. On a failure x is as it was, unless writing it is what failed. Where products are
/// repeatable, x has the same bits every time, whatever `check_every` is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_solver_solve_blocking(
    solver: *const sparrow_solver,
    queue: cl_command_queue,
    system: *const sparrow_linear_system,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    solution: *mut sparrow_solution,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (solver, system) = unsafe { (handle(solver, "solver")?, read(system, "system")?) };
        // SAFETY: the caller's promise.
        let a = unsafe { handle(system.a, "system->a")? };
        // SAFETY: the caller's promise.
        let (queue, wait) = unsafe {
            let wait = wait_list((num_events_in_wait_list, event_wait_list))?;
            (queue_of(&solver.home.context, queue)?, wait)
        };
        // SAFETY: the caller's promise.
        let stop = unsafe { stop_rule(system.stop)? };
        let history = History::of(&system)?;
        let mut observe = |progress: &SolverProgress<'_>| observe(&system, progress);
        let solve = || {
            // Locks are taken in this order everywhere: solver, matrix.
            let mut inner = turn(&solver.inner, "solver")?;
            let a = shared(a.inner(), "matrix")?;
            let (queue, wait, observe) = (&queue, &wait[..], &mut observe);
            let solve = Solve { queue, a: &**a, b: system.b, x: system.x, stop, wait, observe };
            // SAFETY: the caller's promise.
            let solved = unsafe { inner.solve_blocking(solve)? };
            // SAFETY: the caller's promise.
            unsafe { history.write(&solved.history) };
            Ok(sparrow_solution::of(&solved))
        };
        // SAFETY: the caller's promise.
        unsafe { fill(solution, "solution", solve) }
    })
}

/// # Safety
/// NULL, or a valid rule.
unsafe fn stop_rule(rule: *const sparrow_stop_rule) -> Result<StopRule> {
    // SAFETY: the caller's promise.
    let Some(rule) = (unsafe { read_optional(rule, "system->stop")? }) else {
        return Ok(StopRule::default());
    };
    let sparrow_stop_rule { relative, relative_to_first, absolute, max_iterations, .. } = rule;
    Ok(StopRule { relative, relative_to_first, absolute, max_iterations })
}

/// Tells the application how far a solve has come, and hears whether it shall go on.
fn observe(system: &sparrow_linear_system, progress: &SolverProgress<'_>) -> ControlFlow<()> {
    let Some(observe) = system.observe else { return ControlFlow::Continue(()) };
    let progress = sparrow_solver_progress::of(progress);
    // SAFETY: a function of this type, as whoever filled the struct promised.
    match unsafe { observe(&raw const progress, system.user_data) } {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    }
}

/// Where residuals go.
struct History {
    place: *mut f64,
    room: u64,
}

impl History {
    fn of(system: &sparrow_linear_system) -> Result<Self> {
        let (place, room) = (system.history, system.history_room);
        if place.is_null() && room > 0 {
            let text = format!("system->history is NULL, and system->history_room is {room}");
            return Err(Failure::argument(text));
        }
        Ok(History { place, room })
    }

    /// Writes as many as there is room for.
    ///
    /// # Safety
    /// There is room where it was said to be.
    unsafe fn write(&self, residuals: &[f64]) {
        for (k, residual) in
            residuals.iter().enumerate().take_while(|(k, _)| (*k as u64) < self.room)
        {
            // SAFETY: the caller's promise.
            unsafe { self.place.add(k).write_unaligned(*residual) };
        }
    }
}

/// Ends a solver; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_solver_release(solver: *mut sparrow_solver) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(solver, "solver") })
}
