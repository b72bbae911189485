//! `sparrow.h` from the side of an application whose observer does more than look.
#![expect(unsafe_code, reason = "stands for an application in C")]
#![expect(clippy::panic, reason = "stands for an exception of C++")]

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::*;

use super::c_solvers::{
    ORDER, chain, end, right_side, solve, solver, solves_alone, stop, try_solve,
};

use sparrow_status::SPARROW_STATUS_MISMATCH as MISMATCH;

/// Leaves by an unwinding, as an exception of C++ does: nothing of the library may catch it.
unsafe extern "C-unwind" fn throws(
    progress: *const sparrow_solver_progress,
    _: *mut c_void,
) -> u32 {
    // SAFETY: the library's.
    let iteration = unsafe { (*progress).iteration };
    if iteration >= 2 { panic!("thrown at {iteration}") } else { 0 }
}

#[test]
fn an_exception_of_the_observers_reaches_the_caller_and_the_solver_goes_on() {
    if solves_alone() {
        return;
    }
    let mut application = Application::new();
    let buffers = chain::<f32, u32>(&mut application);
    let a = application.over(&buffers);
    let options = sparrow_solver_options { check_every: 1, ..solver_options() };
    let solver = solver(&application, a, &options);
    let b = application.vector::<f32>(0, &right_side());
    let x = application.vector::<f32>(0, &[0.0; ORDER]);
    let fresh = application.vector::<f32>(0, &[0.0; ORDER]);
    let mut history = [-1.0; 5];
    let watched = sparrow_linear_system {
        observe: Some(throws),
        history: history.as_mut_ptr(),
        history_room: 5,
        ..system(a, b, x)
    };
    let thrown = catch_unwind(AssertUnwindSafe(|| try_solve(&application, solver, &watched)));
    let thrown = thrown.map(|(status, _)| status).unwrap_err();
    assert_eq!(thrown.downcast_ref::<String>().unwrap(), "thrown at 2");
    assert_eq!(history, [-1.0; 5], "the history was written");
    // Where the solve had come to when it ended.
    let reached = application.read::<f32>(x, ORDER, null_mut());
    assert!(reached.iter().any(|&number| number != 0.0), "{reached:?}");
    let rule = stop(1e-5, 1000);
    let again = sparrow_linear_system { stop: &raw const rule, ..system(a, b, fresh) };
    let solution = solve(&application, solver, &again);
    assert_eq!(solution.outcome, SPARROW_OUTCOME_CONVERGED);
    // The same from another thread, which would wait for a lock that was left behind.
    let address = solver.expose_provenance();
    std::thread::scope(|scope| {
        let asked = scope.spawn(move || {
            let mut info = empty_solver_info();
            let solver = std::ptr::with_exposed_provenance_mut::<sparrow_solver>(address);
            // SAFETY: the solver lives.
            unsafe { sparrow_solver_get_info(solver, &raw mut info) }
        });
        expect_success(asked.join().unwrap());
    });
    end(solver, a);
}

/// What an observer tries to use, and what it was told.
struct Tried {
    solver: *mut sparrow_solver,
    matrix: *mut sparrow_matrix,
    queue: *mut c_void,
    system: sparrow_linear_system,
    texts: Vec<String>,
}

unsafe extern "C-unwind" fn meddles(_: *const sparrow_solver_progress, tried: *mut c_void) -> u32 {
    // SAFETY: what `user_data` points to.
    let tried = unsafe { &mut *tried.cast::<Tried>() };
    let mut solution = empty_solution();
    let (system, solution) = (&raw const tried.system, &raw mut solution);
    // SAFETY: everything is valid.
    let status = unsafe {
        let queue = tried.queue.cast();
        sparrow_solver_solve_blocking(tried.solver, queue, system, 0, null(), solution)
    };
    tried.texts.push(refusal(status, MISMATCH));
    // SAFETY: as above.
    unsafe {
        tried.texts.push(refusal(sparrow_solver_release(tried.solver), MISMATCH));
        tried.texts.push(refusal(sparrow_matrix_release(tried.matrix), MISMATCH));
        tried.texts.push(refusal(sparrow_matrix_values_changed(tried.matrix), MISMATCH));
        // What only looks at the matrix is allowed.
        expect_success(sparrow_matrix_check_blocking(tried.matrix, tried.queue.cast(), 0, null()));
    }
    1
}

#[test]
fn an_observer_that_uses_its_solver_or_changes_its_matrix_is_told_and_does_not_hang() {
    if solves_alone() {
        return;
    }
    let mut application = Application::new();
    let buffers = chain::<f32, u32>(&mut application);
    let a = application.over(&buffers);
    let solver = solver(&application, a, &solver_options());
    let b = application.vector::<f32>(0, &right_side());
    let x = application.vector::<f32>(0, &[0.0; ORDER]);
    let mut tried = Tried {
        solver,
        matrix: a,
        queue: application.queue.cast(),
        system: system(a, b, x),
        texts: Vec::new(),
    };
    let user_data = (&raw mut tried).cast();
    let watched = sparrow_linear_system { observe: Some(meddles), user_data, ..system(a, b, x) };
    let solution = solve(&application, solver, &watched);
    assert_eq!(solution.outcome, SPARROW_OUTCOME_STOPPED);
    for (text, name) in tried.texts.iter().zip(["solver", "solver", "matrix", "matrix"]) {
        assert!(text.starts_with(&format!("the {name} is in use by a solve")), "{text}");
    }
    assert_eq!(tried.texts.len(), 4);
    end(solver, a);
}
