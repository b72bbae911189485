//! `sparrow.h` from an application's side: products of every kind are right, and events are kept.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::time::Duration;

use conformance::c_application::*;
use half::{bf16, f16};
use opencl3::event as cl_event;
use sparrow::{Offset, RealValue};
use sparrow_c::*;

fn has_f64() -> bool {
    conformance::device().traits().has_f64
}

/// y = 2 A x + 0.5 y, with y = A x beside it, where y held NaN and beta is 0.
fn both_products_are_right<V: RealValue, O: Offset>(scalars_on_device: bool) {
    let mut application = Application::new();
    let a = application.matrix::<V, O>();
    let scalar = |application: &mut Application, number: f64| {
        let device = match scalars_on_device {
            true => application.vector::<V>(1, &[number]),
            false => NOWHERE,
        };
        sparrow_scalar { value: if scalars_on_device { f64::NAN } else { number }, device }
    };
    let options =
        sparrow_plan_options { scalars_on_device: scalars_on_device.into(), ..plan_options() };
    let plan = application.plan(a, &options);
    let scalars = (scalar(&mut application, 2.0), scalar(&mut application, 0.5));
    let y = application.multiply::<V>(plan, a, (&X, &Y), scalars);
    assert_eq!(y, AXPY, "{} {}", V::TYPE, O::TYPE);
    let scalars = (scalar(&mut application, 1.0), scalar(&mut application, 0.0));
    let y = application.multiply::<V>(plan, a, (&X, &[f64::NAN; 4]), scalars);
    assert_eq!(y, AX, "{} {}", V::TYPE, O::TYPE);
    release(plan, a);
}

pub(super) fn release(
    (plan, workspace): (*mut sparrow_plan, *mut sparrow_workspace),
    a: *mut sparrow_matrix,
) {
    // SAFETY: each is released once.
    unsafe {
        expect_success(sparrow_matrix_release(a));
        expect_success(sparrow_plan_release(plan));
        expect_success(sparrow_workspace_release(workspace));
    }
}

#[test]
pub(crate) fn a_product_is_right_in_every_value_type_and_offset_type_at_odd_byte_offsets() {
    both_products_are_right::<f32, u32>(false);
    both_products_are_right::<f32, u64>(false);
    both_products_are_right::<f16, u32>(false);
    both_products_are_right::<f16, u64>(false);
    both_products_are_right::<bf16, u32>(false);
    both_products_are_right::<bf16, u64>(false);
    if has_f64() {
        both_products_are_right::<f64, u32>(false);
        both_products_are_right::<f64, u64>(false);
    }
}

#[test]
pub(crate) fn alpha_and_beta_may_lie_on_the_device() {
    both_products_are_right::<f32, u32>(true);
    if has_f64() {
        both_products_are_right::<f64, u64>(true);
    }
}

#[test]
pub(crate) fn each_algorithm_can_be_asked_for_by_name_with_parameters_and_says_what_it_is() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let names = [
        (c"csr_scalar", null()),
        (c"csr_vector", null()),
        (c"csr_adaptive", c"baseline".as_ptr()),
        (c"segmented_sum", c"device".as_ptr()),
        (c"evc_hyb", null()),
        (c"hyb", null()),
        (c"csr_tiles", null()),
    ];
    for (name, variant) in names {
        let options = sparrow_plan_options {
            algorithm: name.as_ptr(),
            variant,
            products: SPARROW_PRODUCTS_MANY,
            ..plan_options()
        };
        let plan = application.plan(a, &options);
        let (facts, [algorithm, _, reason, parameters]) = info(plan.0);
        assert_eq!(algorithm, name.to_str().unwrap());
        assert!(!reason.is_empty() && facts.repeatable == 1, "{algorithm}");
        assert!(parameters.contains('='), "{algorithm}: {parameters}");
        let y = application.multiply::<f32>(plan, a, (&X, &Y), (by_value(2.0), by_value(0.5)));
        assert_eq!(y, AXPY, "{algorithm}");
        // SAFETY: each is released once.
        unsafe {
            expect_success(sparrow_plan_release(plan.0));
            expect_success(sparrow_workspace_release(plan.1));
        }
    }
    let options = sparrow_plan_options {
        algorithm: c"csr_scalar".as_ptr(),
        parameters: c"group_size=32".as_ptr(),
        ..plan_options()
    };
    let plan = application.plan(a, &options);
    assert_eq!(info(plan.0).1[3], "group_size=32");
    release(plan, a);
}

#[test]
pub(crate) fn a_choice_that_is_told_can_be_given_back_and_nothing_else_says_what_runs_then() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let first = application.plan(a, &sparrow_plan_options { never_measure: 1, ..plan_options() });
    let (facts, told) = info(first.0);
    assert_eq!(facts.measured_products, 0);
    // SAFETY: the text is the plan's, which is still there.
    let choice = unsafe { CStr::from_ptr(facts.choice) }.to_owned();
    let options = sparrow_plan_options { choice: choice.as_ptr(), ..plan_options() };
    let again = application.plan(a, &options);
    let (facts, told_again) = info(again.0);
    // SAFETY: as above.
    assert_eq!(unsafe { CStr::from_ptr(facts.choice) }, &*choice);
    assert_eq!((&told_again[0], &told_again[3]), (&told[0], &told[3]));
    let y = application.multiply::<f32>(again, a, (&X, &Y), (by_value(2.0), by_value(0.5)));
    assert_eq!(y, AXPY);
    let both = sparrow_plan_options { algorithm: c"csr_scalar".as_ptr(), ..options };
    let mut plan = null_mut();
    // SAFETY: everything is valid.
    let status = unsafe {
        let queue = application.queue;
        sparrow_plan_create_blocking(a, queue, &both, 0, null(), &mut plan)
    };
    assert_ne!(status, sparrow_status::SPARROW_STATUS_SUCCESS);
    // SAFETY: each is released once.
    unsafe {
        expect_success(sparrow_plan_release(first.0));
        expect_success(sparrow_workspace_release(first.1));
    }
    release(again, a);
}

#[test]
pub(crate) fn a_launch_waits_for_its_list_and_its_event_is_the_callers() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let (plan, workspace) = application.plan(a, &plan_options());
    let (x, y) = (application.vector::<f32>(0, &X), application.vector::<f32>(0, &Y));
    let product = product(by_value(1.0), a, x, by_value(0.0), y);
    let gate = cl_event::create_user_event(application.context).unwrap();
    let mut event = null_mut();
    // SAFETY: everything is valid. Drivers whose flush waits are not flushed before the gate opens.
    unsafe {
        let (list, product) = (&raw const gate, &raw const product);
        let queue = application.queue;
        expect_success(sparrow_plan_launch(
            plan,
            queue,
            workspace,
            product,
            1,
            list,
            &raw mut event,
        ));
        assert!(!event.is_null());
        std::thread::sleep(Duration::from_millis(50));
        let status = cl_event::CL_EVENT_COMMAND_EXECUTION_STATUS;
        let data = cl_event::get_event_data(event, status).unwrap();
        assert!(i32::from_ne_bytes(data.try_into().unwrap()) > 0, "not complete yet");
        cl_event::set_user_event_status(gate, 0).unwrap();
        cl_event::release_event(gate).unwrap();
        // The caller's reference outlives everything that made it.
        release((plan, workspace), a);
        cl_event::wait_for_events(&[event]).unwrap();
    }
    assert_eq!(application.read::<f32>(y, 4, event), [8.0, 0.0, 23.0, 2.0]);
}

#[test]
pub(crate) fn a_list_that_has_failed_is_refused_by_the_events_place() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let (plan, workspace) = application.plan(a, &plan_options());
    let (x, y) = (application.vector::<f32>(0, &X), application.vector::<f32>(0, &Y));
    let product = product(by_value(1.0), a, x, by_value(0.0), y);
    let events = [0, -5].map(|status| {
        let event = cl_event::create_user_event(application.context).unwrap();
        cl_event::set_user_event_status(event, status).unwrap();
        event
    });
    let failed = sparrow_status::SPARROW_STATUS_EVENT_FAILED;
    // SAFETY: everything is valid.
    unsafe {
        let (list, product) = (events.as_ptr(), &raw const product);
        let queue = application.queue;
        let launch = sparrow_plan_launch(plan, queue, workspace, product, 2, list, null_mut());
        assert!(refusal(launch, failed).starts_with("event 1 of the wait list ended in error"));
        assert_eq!(sparrow_last_opencl_status(), -5);
        let blocking = sparrow_matrix_check_blocking(a, queue, 2, list);
        assert!(refusal(blocking, failed).starts_with("event 1 of the wait list"));
        events.into_iter().for_each(|event| cl_event::release_event(event).unwrap());
    }
    release((plan, workspace), a);
}

#[test]
pub(crate) fn the_blocking_product_tells_its_stages() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let options = sparrow_plan_options {
        algorithm: c"segmented_sum".as_ptr(),
        variant: c"cpu".as_ptr(),
        ..plan_options()
    };
    let (plan, workspace) = application.plan(a, &options);
    let (x, y) = (application.vector::<f32>(0, &X), application.vector::<f32>(1, &Y));
    let product = product(by_value(2.0), a, x, by_value(0.5), y);
    let mut stages = sparrow_stages {
        size: size_of::<sparrow_stages>(),
        stage1_nanoseconds: 0,
        stage2_nanoseconds: 0,
        shared_bytes: 0,
        copied_bytes: 0,
    };
    // SAFETY: everything is valid.
    unsafe {
        let (queue, product) = (application.queue, &raw const product);
        let stages = &raw mut stages;
        expect_success(sparrow_plan_launch_blocking(
            plan,
            queue,
            workspace,
            product,
            0,
            null(),
            stages,
        ));
    }
    assert!(stages.stage1_nanoseconds > 0 && stages.stage2_nanoseconds > 0, "{stages:?}");
    assert_eq!(application.read::<f32>(y, 4, null_mut()), [17.0, 2.0, 49.0, 8.0]);
    release((plan, workspace), a);
}

#[test]
pub(crate) fn new_values_reach_a_plan_from_another_buffer_and_in_place() {
    let mut application = Application::new();
    let csr = application.csr::<f32, u32>();
    let (context, queue) = (application.sparrow, application.queue);
    let doubled: Vec<f32> = VALUES.iter().map(|&value| 2.0 * value as f32).collect();
    let other = application.buffer(before_what_is_written(3), &doubled);
    // SAFETY: everything is valid.
    unsafe {
        let a = made(|out| {
            sparrow_matrix_from_buffers_blocking(context, queue, &raw const csr, 0, null(), out)
        });
        let b = made(|out| sparrow_matrix_with_values(a, other, out));
        let options = sparrow_plan_options { algorithm: c"evc_hyb".as_ptr(), ..plan_options() };
        let plan = application.plan(a, &options);
        let scalars = (by_value(1.0), by_value(0.0));
        assert_eq!(application.multiply::<f32>(plan, a, (&X, &Y), scalars), AX);

        // A plan that keeps a copy refuses other values until it has them.
        let (x, y) = (application.vector::<f32>(0, &X), application.vector::<f32>(0, &Y));
        let wanted = product(scalars.0, b, x, scalars.1, y);
        let launch =
            sparrow_plan_launch(plan.0, queue, plan.1, &raw const wanted, 0, null(), null_mut());
        let text = refusal(launch, sparrow_status::SPARROW_STATUS_MISMATCH);
        assert!(text.contains("values have changed"), "{text}");
        expect_success(sparrow_plan_update_values_blocking(plan.0, queue, b, 0, null()));
        let twice = AX.map(|number| 2.0 * number);
        assert_eq!(application.multiply::<f32>(plan, b, (&X, &Y), scalars), twice);

        // In place: by the application, which says so, and by the library.
        expect_success(sparrow_matrix_values_changed(b));
        let wanted = product(scalars.0, b, x, scalars.1, y);
        let launch =
            sparrow_plan_launch(plan.0, queue, plan.1, &raw const wanted, 0, null(), null_mut());
        refusal(launch, sparrow_status::SPARROW_STATUS_MISMATCH);
        let ones = [1.0f32; 5];
        let ones = ones.as_ptr().cast();
        expect_success(sparrow_matrix_write_values_blocking(b, queue, ones, 0, null()));
        assert_eq!(application.read::<f32>(other, 5, null_mut()), [1.0; 5]);
        expect_success(sparrow_plan_update_values_blocking(plan.0, queue, b, 0, null()));
        let sums = [4.0, 0.0, 5.0, 1.0];
        assert_eq!(application.multiply::<f32>(plan, b, (&X, &Y), scalars), sums);
        expect_success(sparrow_matrix_release(b));
        release(plan, a);
    }
}

#[test]
pub(crate) fn the_transposed_product_takes_x_of_rows_and_gives_y_of_columns() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u64>();
    let options = sparrow_plan_options { operation: SPARROW_OPERATION_TRANSPOSE, ..plan_options() };
    let plan = application.plan(a, &options);
    let operands = (&[1.0, 2.0, 3.0, 4.0][..], &[f64::NAN; 3][..]);
    let y = application.multiply::<f32>(plan, a, operands, (by_value(1.0), by_value(0.0)));
    assert_eq!(y, [13.0, 21.0, 10.0]);
    assert!(info(plan.0).0.plan_bytes > 0, "the copy is counted");
    release(plan, a);
}
