//! Every allocation, build, enqueue and wait fails in turn below `sparrow.h`: a status with a text that names the call,
//! NULL where something was to be made, nothing left behind, and the next product is right.
#![expect(unsafe_code, reason = "stands for an application in C")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

use cl_runtime::raw::fault::{Kind, arm, live};
use conformance::c_application::*;
use opencl3::types::cl_event;
use sparrow_c::*;

const SUCCESS: sparrow_status = sparrow_status::SPARROW_STATUS_SUCCESS;

/// What a run has made, to be released whatever happens.
struct Made {
    context: *mut sparrow_context,
    matrix: *mut sparrow_matrix,
    plan: *mut sparrow_plan,
    workspace: *mut sparrow_workspace,
    event: cl_event,
}

/// A context, a matrix, a plan that is cut on the device, a workspace and a launch; the first status that is none.
fn run(
    with: (&Application, &CStr),
    csr: &sparrow_csr_buffers,
    [x, y]: [sparrow_buffer; 2],
) -> sparrow_status {
    let mut made = Made {
        context: null_mut(),
        matrix: null_mut(),
        plan: null_mut(),
        workspace: null_mut(),
        event: null_mut(),
    };
    let status = steps(with, csr, [x, y], &mut made);
    // SAFETY: each is NULL or was made, and is released once.
    unsafe {
        expect_success(sparrow_context_release(made.context));
        expect_success(sparrow_matrix_release(made.matrix));
        expect_success(sparrow_plan_release(made.plan));
        expect_success(sparrow_workspace_release(made.workspace));
        if !made.event.is_null() {
            opencl3::event::wait_for_events(&[made.event]).unwrap();
            opencl3::event::release_event(made.event).unwrap();
        }
    }
    status
}

fn steps(
    (application, cache): (&Application, &CStr),
    csr: &sparrow_csr_buffers,
    [x, y]: [sparrow_buffer; 2],
    made: &mut Made,
) -> sparrow_status {
    let queue = application.queue;
    let where_from = sparrow_context_options {
        size: size_of::<sparrow_context_options>(),
        device_table: c"off".as_ptr(),
        binary_cache: cache.as_ptr(),
    };
    // Oclgrind takes what kernels write to memory used before for uninitialised.
    let planning = match conformance::is_interpreter(&conformance::device()) {
        true => SPARROW_PLANNING_ON_HOST,
        false => SPARROW_PLANNING_ON_DEVICE,
    };
    let options =
        sparrow_plan_options { algorithm: c"csr_adaptive".as_ptr(), planning, ..plan_options() };
    // SAFETY: everything is valid; a step is taken only where those before it succeeded.
    unsafe {
        let status =
            sparrow_context_from_queue(queue, &raw const where_from, &raw mut made.context);
        if status != SUCCESS {
            return status;
        }
        let (context, out) = (made.context, &raw mut made.matrix);
        let status = sparrow_matrix_from_buffers_blocking(context, queue, csr, 0, null(), out);
        if status != SUCCESS {
            return status;
        }
        let (a, out) = (made.matrix, &raw mut made.plan);
        let status = sparrow_plan_create_blocking(a, queue, &raw const options, 0, null(), out);
        if status != SUCCESS {
            return status;
        }
        let status = sparrow_plan_workspace_blocking(made.plan, queue, &raw mut made.workspace);
        if status != SUCCESS {
            return status;
        }
        let product = product(by_value(2.0), a, x, by_value(0.0), y);
        let (plan, workspace, event) = (made.plan, made.workspace, &raw mut made.event);
        sparrow_plan_launch(plan, queue, workspace, &raw const product, 0, null(), event)
    }
}

#[test]
fn every_failure_of_the_driver_is_a_status_and_leaves_nothing_behind() {
    let mut application = Application::new();
    let csr = application.csr::<f32, u32>();
    let (x, y) = (application.vector::<f32>(1, &X), application.vector::<f32>(1, &Y));
    let kept = tempfile::tempdir().unwrap();
    let folder = CString::new(kept.path().to_str().unwrap()).unwrap();
    for kind in [Kind::Allocation, Kind::Build, Kind::Enqueue, Kind::Wait] {
        let mut calls = Vec::new();
        // Where it is not builds that fail, kernels are compiled once.
        let cache = if kind == Kind::Build { c"off" } else { &*folder };
        loop {
            let (before, k) = (live(), calls.len() + 1);
            let armed = arm(kind, k);
            let status = run((&application, cache), &csr, [x, y]);
            let failed = armed.disarm();
            assert_eq!(live(), before, "{kind:?} {k} left something behind");
            let Some(call) = failed else {
                expect_success(status);
                let twice = AX.map(|number| 2.0 * number as f32);
                assert_eq!(application.read::<f32>(y, ROWS, null_mut()), twice);
                break;
            };
            let text = last_error();
            assert_ne!(status, SUCCESS, "{kind:?} {k}: {call} failed, and nobody was told");
            assert_ne!(status, sparrow_status::SPARROW_STATUS_INTERNAL_ERROR, "{text}");
            if status == sparrow_status::SPARROW_STATUS_BUILD_FAILED {
                assert_eq!(call, "clBuildProgram", "{text}");
            } else {
                assert!(text.starts_with(&format!("{call} failed: CL_")), "{text}");
                assert!(sparrow_last_opencl_status() < 0, "{text}");
            }
            calls.push(call);
        }
        conformance::say(&format!("sparrow.h: {} calls failed, {kind:?}", calls.len()));
        assert!(!calls.is_empty() || kind == Kind::Wait, "{kind:?}");
    }
}
