//! `sparrow.h`: what the end of a solve rests on is the caller's choice.

use std::mem::offset_of;

use conformance::c_application::*;
use sparrow_c::*;

use crate::c_solvers::{end, solve, solver, stop};

/// How a solve with 2 and -1 on the diagonal ends, and its x.
fn indefinite(options: &sparrow_solver_options) -> (sparrow_outcome, sparrow_breakdown, Vec<f32>) {
    let mut application = Application::new();
    let buffers = application.csr_of::<f32, u32>(2, &[0, 1, 2], &[0, 1], &[2.0, -1.0]);
    let a = application.over(&buffers);
    let solver = solver(&application, a, options);
    let b = application.vector::<f32>(0, &[1.0, 0.5]);
    let x = application.vector::<f32>(0, &[0.0, 0.0]);
    let rule = stop(1e-5, 100);
    let system = sparrow_linear_system { stop: &raw const rule, ..system(a, b, x) };
    let solution = solve(&application, solver, &system);
    let x = application.read::<f32>(x, 2, std::ptr::null_mut());
    end(solver, a);
    (solution.outcome, solution.breakdown, x)
}

#[test]
fn cg_refuses_an_indefinite_matrix_unless_the_recurrence_alone_is_to_end_it() {
    let (outcome, breakdown, _) = indefinite(&solver_options());
    assert_eq!((outcome, breakdown), (SPARROW_OUTCOME_BREAKDOWN, SPARROW_BREAKDOWN_INDEFINITE));
    let verdict = SPARROW_VERDICT_RECURRENCE;
    let (outcome, breakdown, x) =
        indefinite(&sparrow_solver_options { verdict, ..solver_options() });
    assert_eq!((outcome, breakdown), (SPARROW_OUTCOME_CONVERGED, SPARROW_BREAKDOWN_NONE));
    assert!((x[0] - 0.5).abs() < 1e-4 && (x[1] + 0.5).abs() < 1e-4, "{x:?}");
}

#[test]
fn options_of_before_there_was_a_verdict_mean_what_they_meant() {
    let size = offset_of!(sparrow_solver_options, verdict);
    // What lies behind an old struct is not looked at.
    let verdict = SPARROW_VERDICT_RECURRENCE;
    let old = sparrow_solver_options { size, verdict, ..solver_options() };
    assert_eq!(indefinite(&old).0, SPARROW_OUTCOME_BREAKDOWN);
}
