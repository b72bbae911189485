//! `sparrow.h`: products that are recorded once and launched many times by one call.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use conformance::c_application::*;
use conformance::say;
use sparrow_c::*;

use super::c_interface::release;
use sparrow_status::{
    SPARROW_STATUS_INVALID_ARGUMENT as INVALID, SPARROW_STATUS_MISMATCH as MISMATCH,
    SPARROW_STATUS_SUCCESS as SUCCESS,
};

/// y = 2 A x + 0.5 y as often as is said, from Y on.
fn expected(times: u32) -> Vec<f64> {
    (0..times)
        .fold(Y.to_vec(), |y, _| AX.iter().zip(&y).map(|(ax, y)| 2.0 * ax + 0.5 * y).collect())
}

fn record(
    application: &Application,
    plan: *const sparrow_plan,
    products: &[&sparrow_product],
    replay: sparrow_replay,
) -> (sparrow_status, *mut sparrow_recording) {
    let mut recording = null_mut();
    let pointers: Vec<*const sparrow_product> =
        products.iter().map(|product| &raw const **product).collect();
    // SAFETY: everything is valid, or refused.
    let status = unsafe {
        let (count, list) = (pointers.len(), pointers.as_ptr());
        sparrow_plan_record_blocking(
            plan,
            application.queue,
            count,
            list,
            replay,
            &raw mut recording,
        )
    };
    assert_eq!(recording.is_null(), status != SUCCESS);
    (status, recording)
}

#[test]
fn a_recording_makes_its_products_as_often_as_is_said() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let plan = application.plan(a, &plan_options());
    for replay in [SPARROW_REPLAY_AUTOMATIC, SPARROW_REPLAY_LAUNCHES, SPARROW_REPLAY_COMMAND_BUFFER]
    {
        let (x, y) = (application.vector::<f32>(1, &X), application.vector::<f32>(3, &Y));
        let product = product(by_value(2.0), a, x, by_value(0.5), y);
        let (status, recording) = record(&application, plan.0, &[&product, &product], replay);
        if replay == SPARROW_REPLAY_COMMAND_BUFFER && status == MISMATCH {
            say(&format!("skipped: command buffers: {}", last_error()));
            continue;
        }
        expect_success(status);
        let mut info = sparrow_recording_info {
            size: size_of::<sparrow_recording_info>(),
            products: 0,
            kernels: 0,
            command_buffer: 9,
            reason: null(),
        };
        let mut event = null_mut();
        // SAFETY: everything is valid; the text is the recording's, which is still there.
        unsafe {
            expect_success(sparrow_recording_get_info(recording, &raw mut info));
            let reason = CStr::from_ptr(info.reason).to_str().unwrap();
            assert!((info.products, info.command_buffer < 2) == (2, true), "{reason}");
            assert_eq!(reason.starts_with("a command buffer"), info.command_buffer == 1);
            expect_success(sparrow_plan_launch_many(
                plan.0,
                recording,
                a,
                2,
                0,
                null(),
                null_mut(),
            ));
            let event = &raw mut event;
            expect_success(sparrow_plan_launch_many(plan.0, recording, a, 1, 0, null(), event));
            // What is in flight ends as it would have.
            expect_success(sparrow_recording_release(recording));
        }
        let found: Vec<f32> = application.read(y, Y.len(), event);
        let found: Vec<f64> = found.into_iter().map(f64::from).collect();
        assert_eq!(found, expected(6), "{replay}");
    }
    release(plan, a);
}

#[test]
fn what_cannot_be_recorded_or_replayed_is_told() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let (plan, other) =
        (application.plan(a, &plan_options()), application.plan(a, &plan_options()));
    let (x, y) = (application.vector::<f32>(1, &X), application.vector::<f32>(3, &Y));
    let right = product(by_value(2.0), a, x, by_value(0.5), y);
    let wrong = sparrow_product { x: NOWHERE, ..right };
    assert_eq!(record(&application, plan.0, &[&right, &wrong], 0).0, INVALID);
    let text = "products[1]->x.memory and .svm are NULL, and 3 elements are needed";
    assert_eq!(last_error(), text);
    assert_eq!(record(&application, plan.0, &[&right], 7).0, INVALID);
    assert!(last_error().starts_with("replay is 7, and none of SPARROW_REPLAY_AUTOMATIC (0)"));
    let (status, recording) = record(&application, plan.0, &[&right], 0);
    expect_success(status);
    // SAFETY: everything is valid; each is released once.
    unsafe {
        let status = sparrow_plan_launch_many(other.0, recording, a, 1, 0, null(), null_mut());
        assert_eq!(status, MISMATCH);
        assert!(last_error().contains("made with another plan"), "{}", last_error());
        expect_success(sparrow_recording_release(recording));
        expect_success(sparrow_plan_release(other.0));
        expect_success(sparrow_workspace_release(other.1));
    }
    release(plan, a);
}
