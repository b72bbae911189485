//! Solvers of A x = b.

use std::ops::ControlFlow;
use std::sync::Mutex;

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{AnyLinearSystem, AnySolver, StopRule};

use crate::buffer::array;
use crate::context::Home;
use crate::events::{queue as queue_of, wait_blocking, wait_list};
use crate::failure::{Failure, Result, caught, guard, of_struct};
use crate::observer::{Observe, run_observed};
use crate::pointer::{
    Out, check_size, exclusive, fill, handle, read, read_optional, release, shared,
};
use crate::solution::SolverFacts;
use crate::solver_options::solver_options;
use crate::{
    sparrow_linear_system, sparrow_matrix, sparrow_solution, sparrow_solver_info,
    sparrow_solver_options, sparrow_status, sparrow_stop_rule,
};

/// A method for A x = b, bound to the pattern of a square matrix, with the vectors it needs on the device: good for any
/// values, any b and any x. Calls of several threads take turns.
pub struct sparrow_solver {
    home: Home,
    inner: Mutex<AnySolver>,
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
        let matrix = shared(matrix.inner(), "matrix")?;
        let solver = AnySolver::new_blocking(&queue, &matrix, &options)
            .map_err(|error| of_struct(error, "options"))?;
        let (home, facts) = (home.clone(), SolverFacts::of(&solver));
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

/// Solves A x = b after the events of the wait list, from the x that is there, and returns when x holds the
/// solution. It has converged where the residual computed from x is small enough; where that of the recurrence is and
/// the computed one is not, iterations begin again from there. That it did not converge is no failure: `solution` says
/// how it ended, and x is that of the least residual. b = 0 has the solution 0, unless
/// `max_iterations` is 0. A diagonal without an inverse in some row, with SPARROW_PRECONDITIONER_JACOBI,
/// is SPARROW_STATUS_INVALID_MATRIX. On a failure x is as it was, unless writing it is what failed. Where products are
/// repeatable, x has the same bits every time, whatever `check_every` is. With an observer the solve runs on a thread of
/// its own, and the observer on the caller's. An exception of the observer's goes on to the caller when the solve has
/// ended, as if the observer had ended it: `solution` and `history` are not written then.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sparrow_solver_solve_blocking(
    solver: *const sparrow_solver,
    queue: cl_command_queue,
    system: *const sparrow_linear_system,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    solution: *mut sparrow_solution,
) -> sparrow_status {
    let prepare = || {
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
        // SAFETY: the caller's promise.
        unsafe { check_size(solution, "solution")? };
        let solve = move |observe: Observe<'_>| {
            // Locks are taken in this order everywhere: solver, matrix.
            let mut inner = exclusive(&solver.inner, "solver")?;
            let a = shared(a.inner(), "matrix")?;
            let (context, accumulator) = (queue.context(), a.value_type().accumulator());
            // SAFETY: the caller's promise.
            let (b, mut x) = unsafe {
                (
                    array(context, system.b, accumulator, a.rows(), "system->b")?,
                    array(context, system.x, accumulator, a.cols(), "system->x")?,
                )
            };
            let system = AnyLinearSystem { a: &a, b: &b, x: &mut x };
            let solved = inner
                .solve_observed_blocking(&queue, system, &stop, &wait, observe)
                .map_err(|error| of_struct(error, "system->stop"))?;
            Ok((sparrow_solution::of(&solved), solved.history))
        };
        let busy = [(&raw const solver.inner).cast(), std::ptr::from_ref(a.inner()).cast()];
        let observer = system.observe.map(|observe| (observe, system.user_data));
        Ok((solve, history, observer, busy))
    };
    let (solve, history, observer, busy) = match caught(prepare) {
        Ok(prepared) => prepared,
        Err(failure) => return guard(|| Err(failure)),
    };
    let solved = match observer {
        None => caught(|| solve(&mut |_| ControlFlow::Continue(()))),
        // SAFETY: the caller's promise; OpenCL's objects and the struct's buffers may be used on any thread.
        Some(observer) => unsafe { run_observed(observer, busy, solve) },
    };
    guard(|| {
        let (solved, residuals) = solved?;
        // SAFETY: the caller's promise.
        unsafe {
            history.write(&residuals);
            fill(solution, "solution", || Ok(solved))
        }
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

/// Where residuals go.
struct History {
    place: *mut f64,
    capacity: u64,
}

impl History {
    fn of(system: &sparrow_linear_system) -> Result<Self> {
        let (place, capacity) = (system.history, system.history_room);
        if place.is_null() && capacity > 0 {
            let text = format!("system->history is NULL, and system->history_room is {capacity}");
            return Err(Failure::argument(text));
        }
        Ok(History { place, capacity })
    }

    /// Writes as many as there is capacity for.
    ///
    /// # Safety
    /// The array has the capacity that was given.
    unsafe fn write(&self, residuals: &[f64]) {
        for (k, residual) in
            residuals.iter().enumerate().take_while(|(k, _)| (*k as u64) < self.capacity)
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
