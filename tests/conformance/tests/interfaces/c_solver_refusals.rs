//! `sparrow.h` from an application's side: systems that cannot be solved.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::*;

use sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT as INVALID;
use sparrow_status::SPARROW_STATUS_INVALID_MATRIX as INVALID_MATRIX;
use sparrow_status::SPARROW_STATUS_INVALID_PARAMETER as INVALID_PARAMETER;
use sparrow_status::SPARROW_STATUS_MISMATCH as MISMATCH;

use super::c_solvers::{ORDER, chain, end, right_side, solver, stop, try_solve};

#[test]
pub(crate) fn what_cannot_be_solved_is_refused() {
    let mut application = Application::new();
    let tall = application.matrix::<f32, u32>();
    let buffers = chain::<f32, u32>(&mut application);
    let a = application.over(&buffers);
    let other = application.over(&buffers);
    let queue = application.queue;
    let refused = |matrix: *const sparrow_matrix, options: sparrow_solver_options, status| {
        let mut solver = null_mut();
        // SAFETY: everything is valid but what is tried.
        let created = unsafe {
            let (options, out) = (&raw const options, &raw mut solver);
            sparrow_solver_create_blocking(matrix, queue, options, 0, null(), out)
        };
        assert!(solver.is_null());
        refusal(created, status)
    };
    let default = solver_options();
    let text = refused(tall, default, MISMATCH);
    assert!(text.contains("square") && text.contains("4 x 3"), "{text}");
    let text = refused(a, sparrow_solver_options { method: 2, ..default }, INVALID);
    assert!(
        text.starts_with("options->method is 2, and none of SPARROW_SOLVER_METHOD_CG"),
        "{text}"
    );
    let text = refused(a, sparrow_solver_options { preconditioner: 9, ..default }, INVALID);
    assert!(text.starts_with("options->preconditioner is 9, and none of"), "{text}");
    let text = refused(a, sparrow_solver_options { norm: 2, ..default }, INVALID);
    assert!(text.starts_with("options->norm is 2, and none of"), "{text}");
    let text = refused(a, sparrow_solver_options { check_every: 65537, ..default }, INVALID);
    assert_eq!(text, "options->check_every is 65537, and it must be 1 to 65536");
    let text = refused(a, sparrow_solver_options { size: 8, ..default }, INVALID);
    assert!(text.starts_with("options->size is 8, and sparrow_solver_options has"), "{text}");
    let parameters = c"group_size=3".as_ptr();
    let text = refused(a, sparrow_solver_options { parameters, ..default }, INVALID_PARAMETER);
    assert!(text.contains("group_size"), "{text}");
    let plan = sparrow_plan_options { products: 7, ..plan_options() };
    let text = refused(a, sparrow_solver_options { plan: &raw const plan, ..default }, INVALID);
    assert!(text.starts_with("options->plan->products is 7"), "{text}");
    let plan = sparrow_plan_options { size: 3, ..plan_options() };
    let text = refused(a, sparrow_solver_options { plan: &raw const plan, ..default }, INVALID);
    assert!(text.starts_with("options->plan->size is 3"), "{text}");
    let operation = SPARROW_OPERATION_TRANSPOSE;
    let plan = sparrow_plan_options { operation, ..plan_options() };
    let text = refused(a, sparrow_solver_options { plan: &raw const plan, ..default }, MISMATCH);
    assert!(text.contains("transposed"), "{text}");

    let solver = solver(&application, a, &default);
    let b = application.vector::<f32>(0, &right_side());
    let x = application.vector::<f32>(0, &[7.0; ORDER]);
    let small = application.vector::<f32>(0, &[7.0; ORDER - 1]);
    let right = system(a, b, x);
    let refused = |system: sparrow_linear_system, status| {
        let (solved, solution) = try_solve(&application, solver, &system);
        assert_eq!(solution.outcome, 99, "the solution was written");
        refusal(solved, status)
    };
    let text = refused(sparrow_linear_system { size: 1, ..right }, INVALID);
    assert!(text.starts_with("system->size is 1, and sparrow_linear_system has"), "{text}");
    assert_eq!(refused(sparrow_linear_system { a: null(), ..right }, INVALID), "system->a is NULL");
    let text = refused(sparrow_linear_system { a: other, ..right }, MISMATCH);
    assert!(text.contains("pattern"), "{text}");
    let text = refused(sparrow_linear_system { b: small, ..right }, INVALID);
    assert!(text.starts_with("system->b: "), "{text}");
    let text = refused(sparrow_linear_system { x: small, ..right }, INVALID);
    assert!(text.starts_with("system->x: "), "{text}");
    let text = refused(sparrow_linear_system { history_room: 3, ..right }, INVALID);
    assert_eq!(text, "system->history is NULL, and system->history_room is 3");
    let rule = stop(1e-8, 3);
    let not_finite = sparrow_stop_rule { absolute: f64::INFINITY, ..rule };
    for (name, value, rule) in [
        ("relative", "-1", stop(-1.0, 3)),
        ("relative_to_first", "NaN", sparrow_stop_rule { relative_to_first: f64::NAN, ..rule }),
        ("absolute", "inf", not_finite),
    ] {
        let text = refused(sparrow_linear_system { stop: &raw const rule, ..right }, INVALID);
        let expected = format!("{name} is {value}, and it must be finite and 0 or more");
        assert_eq!(text, format!("system->stop->{expected}"));
    }
    let rule = sparrow_stop_rule { size: 2, ..rule };
    let text = refused(sparrow_linear_system { stop: &raw const rule, ..right }, INVALID);
    assert!(text.starts_with("system->stop->size is 2, and sparrow_stop_rule has"), "{text}");
    assert_eq!(application.read::<f32>(x, ORDER, null_mut()), [7.0; ORDER]);
    end(solver, a);
    // SAFETY: each is released once.
    unsafe {
        expect_success(sparrow_matrix_release(other));
        expect_success(sparrow_matrix_release(tall));
    }
}

#[test]
pub(crate) fn a_diagonal_without_an_inverse_is_named_by_its_row() {
    let mut application = Application::new();
    let turn = application.csr_of::<f32, u32>(2, &[0, 2, 3], &[0, 1, 0], &[1.0, 2.0, 3.0]);
    let a = application.over(&turn);
    let preconditioner = SPARROW_PRECONDITIONER_JACOBI;
    let options = sparrow_solver_options { preconditioner, ..solver_options() };
    let solver = solver(&application, a, &options);
    let (b, x) =
        (application.vector::<f32>(0, &[1.0, 1.0]), application.vector::<f32>(0, &[5.0, 6.0]));
    let (status, _) = try_solve(&application, solver, &system(a, b, x));
    let text = refusal(status, INVALID_MATRIX);
    assert!(text.contains("row 1 "), "{text}");
    assert_eq!(application.read::<f32>(x, 2, null_mut()), [5.0, 6.0]);
    end(solver, a);
}
