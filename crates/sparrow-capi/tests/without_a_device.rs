//! What can be said of the interface on a machine without OpenCL.
#![expect(unsafe_code, reason = "stands for an application in C")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ffi::CStr;
use std::ptr::{dangling_mut, null, null_mut};

use sparrow_c::*;

fn last_error() -> String {
    // SAFETY: valid until this thread's next failure.
    unsafe { CStr::from_ptr(sparrow_last_error()) }.to_str().unwrap().to_owned()
}

#[test]
fn nothing_at_all_is_refused_by_every_function_that_needs_something() {
    let invalid = sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT;
    // SAFETY: NULL is allowed everywhere.
    let refusals = unsafe {
        [
            sparrow_context_from_queue(null_mut(), null(), null_mut()),
            sparrow_context_from_device(null_mut(), null_mut(), null(), null_mut()),
            sparrow_context_get_info(null(), null_mut()),
            sparrow_matrix_from_buffers_blocking(null(), null_mut(), null(), 0, null(), null_mut()),
            sparrow_matrix_upload_blocking(null(), null_mut(), null(), null_mut()),
            sparrow_matrix_check_blocking(null(), null_mut(), 0, null()),
            sparrow_matrix_values_changed(null()),
            sparrow_matrix_write_values_blocking(null(), null_mut(), null(), 0, null()),
            sparrow_matrix_get_info(null(), null_mut()),
            sparrow_plan_create_blocking(null(), null_mut(), null(), 0, null(), null_mut()),
            sparrow_plan_get_info(null(), null_mut()),
            sparrow_plan_row_order_blocking(null(), null_mut(), 0, null_mut()),
            sparrow_plan_update_values_blocking(null(), null_mut(), null(), 0, null()),
            sparrow_plan_workspace_blocking(null(), null_mut(), null_mut()),
            sparrow_plan_launch(null(), null_mut(), null_mut(), null(), 0, null(), null_mut()),
            sparrow_plan_record_blocking(null(), null_mut(), 0, null(), 0, null_mut()),
            sparrow_plan_launch_many(null(), null_mut(), null(), 1, 0, null(), null_mut()),
            sparrow_recording_get_info(null(), null_mut()),
            sparrow_hyb_matrix_from_buffers(null(), null(), null_mut()),
            sparrow_hyb_matrix_check_blocking(null(), null_mut(), 0, null()),
            sparrow_hyb_plan_create_blocking(null(), null_mut(), null(), 0, null(), null_mut()),
            sparrow_hyb_plan_launch(null(), null_mut(), null_mut(), null(), 0, null(), null_mut()),
            sparrow_spmm_plan_create_blocking(null(), null_mut(), null(), 0, null(), null_mut()),
            sparrow_spmm_plan_launch(null(), null_mut(), null_mut(), null(), 0, null(), null_mut()),
            sparrow_batch_from_buffers(null(), null(), null_mut()),
            sparrow_batch_plan_create_blocking(null(), null_mut(), null(), 0, null(), null_mut()),
            sparrow_batch_plan_launch(
                null(),
                null_mut(),
                null_mut(),
                null(),
                0,
                null(),
                null_mut(),
            ),
        ]
    };
    assert_eq!(refusals, [invalid; 27]);
    assert_eq!(last_error(), "plan is NULL");
}

#[test]
fn releasing_nothing_is_no_failure() {
    // SAFETY: NULL is allowed.
    let statuses = unsafe {
        [
            sparrow_context_release(null_mut()),
            sparrow_matrix_release(null_mut()),
            sparrow_plan_release(null_mut()),
            sparrow_recording_release(null_mut()),
            sparrow_hyb_matrix_release(null_mut()),
            sparrow_hyb_plan_release(null_mut()),
            sparrow_spmm_plan_release(null_mut()),
            sparrow_batch_release(null_mut()),
            sparrow_batch_plan_release(null_mut()),
            sparrow_workspace_release(null_mut()),
        ]
    };
    assert_eq!(statuses, [sparrow_status::SPARROW_STATUS_SUCCESS; 10]);
}

#[test]
fn what_is_to_be_made_is_null_after_a_failure() {
    let mut context = dangling_mut();
    // SAFETY: there is room for a pointer.
    let status = unsafe { sparrow_context_from_queue(null_mut(), null(), &raw mut context) };
    assert_eq!(status, sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT);
    assert_eq!((context, last_error().as_str()), (null_mut(), "queue is NULL"));
}

#[test]
fn statuses_have_names_and_other_numbers_none() {
    // SAFETY: names are valid for ever.
    let name = |status| unsafe { CStr::from_ptr(sparrow_status_name(status)) }.to_str().unwrap();
    assert_eq!(name(sparrow_status::SPARROW_STATUS_MISMATCH as i32), "SPARROW_STATUS_MISMATCH");
    assert_eq!([name(-1), name(13), name(i32::MIN)], ["unknown status"; 3]);
}

#[test]
fn the_version_is_told_as_a_number_and_as_text() {
    assert_eq!(sparrow_version_number(), 100);
    // SAFETY: valid for ever.
    let text = unsafe { CStr::from_ptr(sparrow_version_text()) };
    assert_eq!(text.to_str(), Ok("0.1.0"));
}

#[test]
fn handles_may_go_from_thread_to_thread() {
    fn shared<T: Send + Sync>() {}
    shared::<sparrow_context>();
    shared::<sparrow_matrix>();
    shared::<sparrow_plan>();
    shared::<sparrow_recording>();
    shared::<sparrow_hyb_matrix>();
    shared::<sparrow_hyb_plan>();
    shared::<sparrow_spmm_plan>();
    shared::<sparrow_batch>();
    shared::<sparrow_batch_plan>();
    shared::<sparrow_workspace>();
}
