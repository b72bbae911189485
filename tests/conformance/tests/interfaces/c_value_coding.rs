//! `sparrow.h` from an application's side: how a plan's copy of the values stores them.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::null;

use conformance::c_application::{self, *};
use sparrow_c::*;

/// How values are stored, the bytes that saves, and those of the plan.
fn coding(plan: *const sparrow_plan) -> (String, u64, u64) {
    let (facts, _) = c_application::info(plan);
    (text(facts.value_coding), facts.saved_bytes, facts.plan_bytes)
}

#[test]
fn a_plan_says_how_it_stores_values_and_what_new_values_make_of_it() {
    const ORDER: usize = 4_200;
    let mut application = Application::new();
    let queue = application.queue;
    let offsets: Vec<usize> = (0..=ORDER).collect();
    let columns: Vec<u32> = (0..ORDER as u32).collect();
    let a = application.csr_of::<f32, u32>(ORDER, &offsets, &columns, &[2.5; ORDER]);
    let a = application.over(&a);
    let algorithm = c"sell".as_ptr();
    let of_sell = sparrow_plan_options { algorithm, ..plan_options() };
    let parameters = c"coded_values=0".as_ptr();
    let algorithm = c"csr_scalar".as_ptr();
    let plans = [
        of_sell,
        sparrow_plan_options { parameters, ..of_sell },
        sparrow_plan_options { algorithm, ..plan_options() },
    ]
    .map(|options| application.plan(a, &options));
    let [coded, plain, uncopied] = plans.map(|(plan, _)| plan);
    let (words, saved, bytes) = coding(coded);
    assert_eq!(words, "one value");
    assert!(saved >= 4 * ORDER as u64 - 4, "{saved}");
    assert_eq!(coding(plain), ("as they are".to_owned(), 0, bytes + saved));
    assert_eq!(coding(uncopied), (String::new(), 0, 0));

    let values: Vec<f32> = (0..ORDER).map(|row| row as f32 * 0.5 - 7.0).collect();
    // SAFETY: there are as many values; everything is valid.
    unsafe {
        let values = values.as_ptr().cast();
        expect_success(sparrow_matrix_write_values_blocking(a, queue, values, 0, null()));
        expect_success(sparrow_plan_update_values_blocking(coded, queue, a, 0, null()));
    }
    assert_eq!(coding(coded), coding(plain));
    // SAFETY: each is released once.
    unsafe {
        for (plan, workspace) in plans {
            expect_success(sparrow_plan_release(plan));
            expect_success(sparrow_workspace_release(workspace));
        }
        expect_success(sparrow_matrix_release(a));
    }
}
