//! `sparrow.h` from an application's side: plans whose rows and columns were put in another order.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::sparrow_status::{
    SPARROW_STATUS_INVALID_ARGUMENT as INVALID_ARGUMENT, SPARROW_STATUS_MISMATCH as MISMATCH,
};
use sparrow_c::*;

/// A plan's order of rows.
fn row_order(application: &Application, plan: *const sparrow_plan, rows: usize) -> Vec<u32> {
    let mut order = vec![u32::MAX; rows];
    // SAFETY: there are as many numbers as is said.
    expect_success(unsafe {
        let (queue, count) = (application.queue, rows as u64);
        sparrow_plan_row_order_blocking(plan, queue, count, order.as_mut_ptr())
    });
    order
}

fn release((plan, workspace): (*mut sparrow_plan, *mut sparrow_workspace)) {
    // SAFETY: each is released once.
    unsafe {
        expect_success(sparrow_plan_release(plan));
        expect_success(sparrow_workspace_release(workspace));
    }
}

#[test]
fn a_plan_in_another_order_is_the_same_product_and_tells_the_order() {
    let mut application = Application::new();
    let a = application.matrix::<f64, u32>();
    let options = sparrow_plan_options { reordering: c"clusters".as_ptr(), ..plan_options() };
    let plan = application.plan(a, &options);
    let scalars = (by_value(2.0), by_value(0.5));
    assert_eq!(application.multiply::<f64>(plan, a, (&X, &Y), scalars), AXPY);
    let mut rows = row_order(&application, plan.0, ROWS);
    rows.sort_unstable();
    assert_eq!(rows, [0, 1, 2, 3]);
    let mut few = [0; 3];
    // SAFETY: there are as many numbers as is said.
    let status =
        unsafe { sparrow_plan_row_order_blocking(plan.0, application.queue, 3, few.as_mut_ptr()) };
    assert!(refusal(status, INVALID_ARGUMENT).contains("count is 3, and the order has 4 rows"));
    release(plan);

    let plan = application.plan(a, &plan_options());
    // SAFETY: as above.
    let status =
        unsafe { sparrow_plan_row_order_blocking(plan.0, application.queue, 3, few.as_mut_ptr()) };
    assert!(refusal(status, INVALID_ARGUMENT).contains("options->reordering"));
    release(plan);

    let refused = |options: sparrow_plan_options, expected| {
        let (queue, mut plan) = (application.queue, null_mut());
        // SAFETY: everything is valid.
        let status =
            unsafe { sparrow_plan_create_blocking(a, queue, &options, 0, null(), &mut plan) };
        refusal(status, expected)
    };
    let unknown = sparrow_plan_options { reordering: c"metis".as_ptr(), ..plan_options() };
    let text = refused(unknown, INVALID_ARGUMENT);
    assert!(text.contains("options->reordering") && text.contains("rcm, clusters"), "{text}");
    let of_squares = refused(sparrow_plan_options { vectors_in_order: 1, ..options }, MISMATCH);
    assert!(of_squares.contains("4 x 3"), "{of_squares}");
    // SAFETY: it is released once.
    expect_success(unsafe { sparrow_matrix_release(a) });
}

#[test]
fn vectors_may_stay_in_the_plans_order() {
    // A chain of rows, 3 - 0 - 4 - 1 - 2.
    let mut application = Application::new();
    let columns = [0, 3, 4, 1, 2, 4, 1, 2, 0, 3, 0, 1, 4];
    let values: Vec<f64> = (1..=13).map(f64::from).collect();
    let a = application.csr_of::<f32, u32>(5, &[0, 3, 6, 8, 10, 13], &columns, &values);
    let a = application.over(&a);
    let reordering = c"rcm".as_ptr();
    let options = sparrow_plan_options { reordering, ..plan_options() };
    let (as_they_are, in_order) = (
        application.plan(a, &options),
        application.plan(a, &sparrow_plan_options { vectors_in_order: 1, ..options }),
    );
    let rows = row_order(&application, in_order.0, 5);
    assert_ne!(rows, [0, 1, 2, 3, 4]);
    assert_eq!(row_order(&application, as_they_are.0, 5), rows);
    let (x, y) = ([1.0, -2.0, 3.0, -4.0, 5.0], [f64::NAN; 5]);
    let scalars = (by_value(1.0), by_value(0.0));
    let expected = application.multiply::<f32>(as_they_are, a, (&x, &y), scalars);
    assert_eq!(
        expected,
        [1.0 - 8.0 + 15.0, -8.0 + 15.0 + 30.0, -14.0 + 24.0, 9.0 - 40.0, 11.0 - 24.0 + 65.0]
    );
    let in_rows = |of: &[f64]| rows.iter().map(|row| of[*row as usize]).collect::<Vec<_>>();
    let found = application.multiply::<f32>(in_order, a, (&in_rows(&x), &y), scalars);
    assert_eq!(found, in_rows(&expected));
    release(as_they_are);
    release(in_order);
    // SAFETY: it is released once.
    expect_success(unsafe { sparrow_matrix_release(a) });
}
