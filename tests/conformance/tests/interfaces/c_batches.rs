//! `sparrow.h` from an application's side: batches.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::*;

/// Two problems one behind the other: the default matrix, and its first three rows in coordinates.
fn batch(application: &mut Application) -> (*mut sparrow_batch, Vec<sparrow_problem>) {
    let of_csr = sparrow_problem {
        rows: ROWS as u32,
        cols: COLS as u32,
        entries: 5,
        format: SPARROW_FORMAT_CSR,
        ell_width: 0,
        reserved: 0,
        index: 0,
        columns: 0,
        values: 0,
        x: 0,
        y: 0,
    };
    let of_coo = sparrow_problem {
        rows: 3,
        entries: 4,
        format: SPARROW_FORMAT_COO,
        columns: 5,
        values: 5,
        x: 3,
        y: 5,
        ..of_csr
    };
    let problems = vec![of_csr, of_coo];
    let values: Vec<f32> = VALUES.iter().chain(&VALUES[..4]).map(|&value| value as f32).collect();
    let columns: Vec<u16> = COLUMNS.iter().chain(&COLUMNS[..4]).map(|&c| c as u16).collect();
    let buffers = sparrow_batch_buffers {
        size: size_of::<sparrow_batch_buffers>(),
        problems: problems.as_ptr(),
        num_problems: 2,
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U64,
        column_bits: 16,
        reserved: 0,
        offsets: application.buffer(1, &OFFSETS.map(|offset| offset as u64)),
        num_offsets: 5,
        indices: application.buffer(3, &[0u32, 0, 2, 2]),
        num_indices: 4,
        columns: application.buffer(5, &columns),
        num_columns: 9,
        values: application.buffer(1, &values),
        num_values: 9,
    };
    let context = application.sparrow;
    // SAFETY: everything is valid.
    let batch = made(|out| unsafe { sparrow_batch_from_buffers(context, &raw const buffers, out) });
    (batch, problems)
}

fn batch_scalar(value: f64, device: sparrow_buffer, each: u32) -> sparrow_batch_scalar {
    sparrow_batch_scalar { value, device, each }
}

#[test]
pub(crate) fn a_batch_is_right_with_numbers_by_value_one_on_the_device_and_one_for_each_problem() {
    let mut application = Application::new();
    let (batch, _) = batch(&mut application);
    let queue = application.queue;
    let x: Vec<f64> = X.iter().chain(&X).copied().collect();
    let one = application.vector::<f32>(3, &[2.0]);
    let each = application.vector::<f32>(1, &[2.0, 3.0]);
    let zero = application.vector::<f32>(1, &[0.0]);
    let cases = [
        (0, batch_scalar(2.0, NOWHERE, 0), batch_scalar(0.0, NOWHERE, 0), [2.0, 2.0]),
        (1, batch_scalar(9.0, one, 0), batch_scalar(9.0, zero, 0), [2.0, 2.0]),
        (1, batch_scalar(9.0, each, 1), batch_scalar(9.0, zero, 0), [2.0, 3.0]),
    ];
    for (scalars_on_device, alpha, beta, factors) in cases {
        let options = sparrow_batch_options {
            size: size_of::<sparrow_batch_options>(),
            algorithm: null(),
            variant: null(),
            parameters: null(),
            device_table: null(),
            scalars_on_device,
        };
        let (x, y) = (application.vector::<f32>(1, &x), application.buffer(1, &[f32::NAN; 8]));
        let product = sparrow_batch_product {
            size: size_of::<sparrow_batch_product>(),
            alpha,
            a: batch,
            x,
            beta,
            y,
        };
        // SAFETY: everything is valid.
        unsafe {
            let plan = made(|out| {
                let options = &raw const options;
                sparrow_batch_plan_create_blocking(batch, queue, options, 0, null(), out)
            });
            let workspace = made(|out| sparrow_batch_plan_workspace_blocking(plan, queue, out));
            let mut info = empty_info();
            expect_success(sparrow_batch_plan_get_info(plan, &raw mut info));
            assert!(text(info.algorithm).contains("batched_coo"), "{}", text(info.algorithm));
            let mut event = null_mut();
            expect_success(sparrow_batch_plan_launch(
                plan,
                queue,
                workspace,
                &raw const product,
                0,
                null(),
                &raw mut event,
            ));
            let y: Vec<f32> = application.read(y, 8, event);
            let scaled = |factor: f32| AX.map(|number| factor * number as f32);
            assert_eq!(y[..4], scaled(factors[0]));
            assert!(y[4].is_nan(), "what lies between is left alone");
            assert_eq!(y[5..], scaled(factors[1])[..3]);
            // And without an event, into a y of its own.
            let y_again = application.buffer(1, &[f32::NAN; 8]);
            let again = sparrow_batch_product { y: y_again, ..product };
            expect_success(sparrow_batch_plan_launch(
                plan,
                queue,
                workspace,
                &raw const again,
                0,
                null(),
                null_mut(),
            ));
            let again: Vec<f32> = application.read(y_again, 8, null_mut());
            assert_eq!(conformance::bits(&again), conformance::bits(&y));
            expect_success(sparrow_batch_plan_release(plan));
            expect_success(sparrow_workspace_release(workspace));
        }
    }
    // SAFETY: released once.
    expect_success(unsafe { sparrow_batch_release(batch) });
}

#[test]
pub(crate) fn a_batch_shares_its_patterns_with_other_values() {
    let mut application = Application::new();
    let (batch, _) = batch(&mut application);
    let (queue, ones) = (application.queue, application.buffer(3, &[1.0f32; 9]));
    let (x, y) = (application.buffer(0, &[1.0f32; 6]), application.buffer(0, &[f32::NAN; 8]));
    // SAFETY: everything is valid.
    unsafe {
        let other = made(|out| sparrow_batch_with_values(batch, ones, out));
        let plan =
            made(|out| sparrow_batch_plan_create_blocking(batch, queue, null(), 0, null(), out));
        let workspace = made(|out| sparrow_batch_plan_workspace_blocking(plan, queue, out));
        let size = size_of::<sparrow_batch_product>();
        let (alpha, beta) = (batch_scalar(1.0, NOWHERE, 0), batch_scalar(0.0, NOWHERE, 0));
        let product = sparrow_batch_product { size, alpha, a: other, x, beta, y };
        let mut event = null_mut();
        expect_success(sparrow_batch_plan_launch(
            plan,
            queue,
            workspace,
            &raw const product,
            0,
            null(),
            &raw mut event,
        ));
        assert_eq!(application.read::<f32>(y, 4, event), [2.0, 0.0, 2.0, 1.0]);
        expect_success(sparrow_batch_release(batch));
        expect_success(sparrow_batch_release(other));
        expect_success(sparrow_batch_plan_release(plan));
        expect_success(sparrow_workspace_release(workspace));
    }
}

#[test]
pub(crate) fn problems_that_do_not_fit_are_refused_by_name() {
    let mut application = Application::new();
    let context = application.sparrow;
    let invalid = sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT;
    let (batch, mut problems) = batch(&mut application);
    problems[1].y = 3;
    let empty = sparrow_buffer { memory: null_mut(), byte_offset: 0, svm: std::ptr::null_mut() };
    let none = sparrow_batch_buffers {
        size: size_of::<sparrow_batch_buffers>(),
        problems: problems.as_ptr(),
        num_problems: 2,
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U32,
        column_bits: 32,
        reserved: 0,
        offsets: empty,
        num_offsets: 0,
        indices: empty,
        num_indices: 0,
        columns: empty,
        num_columns: 0,
        values: empty,
        num_values: 0,
    };
    let refused = |buffers: sparrow_batch_buffers, status| {
        let mut batch = null_mut();
        // SAFETY: everything is valid.
        let made =
            unsafe { sparrow_batch_from_buffers(context, &raw const buffers, &raw mut batch) };
        assert!(batch.is_null());
        refusal(made, status)
    };
    let text = refused(none, sparrow_status::SPARROW_STATUS_INVALID_MATRIX);
    assert!(text.starts_with("problem 0: row offsets from 0 on"), "{text}");
    let text = refused(sparrow_batch_buffers { column_bits: 8, ..none }, invalid);
    assert_eq!(text, "buffers->column_bits is 8, and none of 16 bits (16), 32 bits (32)");
    let text = refused(sparrow_batch_buffers { reserved: 1, ..none }, invalid);
    assert_eq!(text, "buffers->reserved is 1, and must be 0");
    let of_problems = |problems: &[sparrow_problem]| {
        refused(sparrow_batch_buffers { problems: problems.as_ptr(), ..none }, invalid)
    };
    let [first, second] = [problems[0], problems[1]];
    let text = of_problems(&[first, sparrow_problem { reserved: 2, ..second }]);
    assert_eq!(text, "buffers->problems[1].reserved is 2, and must be 0");
    let text = of_problems(&[sparrow_problem { ell_width: 4, ..first }, second]);
    assert_eq!(text, "buffers->problems[0].ell_width is 4, and must be 0");
    problems[1].format = 7;
    let text = refused(sparrow_batch_buffers { problems: problems.as_ptr(), ..none }, invalid);
    assert!(text.starts_with("buffers->problems[1].format is 7"), "{text}");
    // SAFETY: it is released once.
    expect_success(unsafe { sparrow_batch_release(batch) });
}
