//! `sparrow.h` from the side of programs that were compiled with structs of fewer fields, or of more.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::mem::offset_of;
use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::*;

use crate::c_solvers::{ORDER, chain, solver};

use sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT as INVALID;
use sparrow_status::SPARROW_STATUS_SUCCESS as SUCCESS;

/// A struct as a later version of the header might have it.
#[repr(C)]
struct Grown<T> {
    known: T,
    later: [u64; 2],
}

#[test]
fn what_a_program_fills_may_have_fewer_fields_and_more_if_those_are_zero() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let queue = application.queue;
    let planned = |options: *const sparrow_plan_options| {
        let mut plan = null_mut();
        // SAFETY: everything is valid, and as long as the options say.
        let status =
            unsafe { sparrow_plan_create_blocking(a, queue, options, 0, null(), &raw mut plan) };
        // SAFETY: NULL, or made.
        expect_success(unsafe { sparrow_plan_release(plan) });
        status
    };
    // Fewer: what comes after is not looked at, and nobody says a number of products.
    for end in [
        offset_of!(sparrow_plan_options, variant),
        offset_of!(sparrow_plan_options, products),
        offset_of!(sparrow_plan_options, scalars_on_device),
    ] {
        let beyond = sparrow_plan_options { scalars_on_device: 77, ..plan_options() };
        assert_eq!(planned(&sparrow_plan_options { size: end, ..beyond }), SUCCESS, "{end}");
    }
    let whole = sparrow_plan_options { scalars_on_device: 77, ..plan_options() };
    assert!(refusal(planned(&whole), INVALID).contains("scalars_on_device is 77"));
    // More.
    let known =
        sparrow_plan_options { size: size_of::<Grown<sparrow_plan_options>>(), ..plan_options() };
    let mut grown = Grown { known, later: [0; 2] };
    assert_eq!(planned(&raw const grown.known), SUCCESS);
    let given = (&raw const grown).cast();
    assert_eq!(planned(given), SUCCESS);
    grown.later[1] = 1 << 8;
    let text = refusal(planned((&raw const grown).cast()), INVALID);
    let (size, byte) = (known.size, size_of::<sparrow_plan_options>() + 9);
    let words = format!(
        "options->size is {size}, and byte {byte} of it is not 0: sparrow_plan_options has"
    );
    assert!(text.starts_with(&words), "{text}");

    // A product has had no fewer fields: it holds buffers, which were smaller.
    let (plan, workspace) = application.plan(a, &plan_options());
    let x = application.vector::<f32>(0, &X);
    let y = application.vector::<f32>(0, &Y);
    let right = product(by_value(1.0), a, x, by_value(0.0), y);
    let launch = |product: *const sparrow_product| {
        // SAFETY: everything is valid, and as long as the product says.
        unsafe { sparrow_plan_launch(plan, queue, workspace, product, 0, null(), null_mut()) }
    };
    let text = refusal(
        launch(&sparrow_product { size: offset_of!(sparrow_product, y), ..right }),
        INVALID,
    );
    assert_eq!(text, "product->size is 104, and sparrow_product has 128 bytes in this library");
    let known = sparrow_product { size: size_of::<Grown<sparrow_product>>(), ..right };
    let grown = Grown { known, later: [0; 2] };
    expect_success(launch((&raw const grown).cast()));
    let found: Vec<f32> = application.read(y, ROWS, null_mut());
    assert_eq!(found, AX.map(|number| number as f32));
    // SAFETY: each is released once.
    unsafe {
        expect_success(sparrow_workspace_release(workspace));
        expect_success(sparrow_plan_release(plan));
        expect_success(sparrow_matrix_release(a));
    }
}

#[test]
fn what_the_library_fills_has_the_fields_that_the_program_knows_and_no_others() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let (plan, workspace) = application.plan(a, &plan_options());
    let known = offset_of!(sparrow_plan_info, plan_bytes);
    let mut info = sparrow_plan_info { size: known, plan_bytes: 1234, ..empty_info() };
    // SAFETY: the plan is valid.
    expect_success(unsafe { sparrow_plan_get_info(plan, &raw mut info) });
    assert_eq!((info.size, info.plan_bytes, info.repeatable), (known, 1234, 9));
    assert!(!info.algorithm.is_null() && !info.parameters.is_null());

    let size = size_of::<Grown<sparrow_plan_info>>();
    let mut grown = Grown { known: sparrow_plan_info { size, ..empty_info() }, later: [7; 2] };
    let given = &raw mut grown;
    // SAFETY: the plan is valid, and the struct as long as it says.
    expect_success(unsafe { sparrow_plan_get_info(plan, given.cast()) });
    assert_eq!((grown.known.size, grown.later), (size, [0; 2]));
    assert!(grown.known.repeatable <= 1);
    // SAFETY: each is released once.
    unsafe {
        expect_success(sparrow_workspace_release(workspace));
        expect_success(sparrow_plan_release(plan));
        expect_success(sparrow_matrix_release(a));
    }
}

#[test]
fn structs_of_programs_whose_buffers_were_smaller_are_refused_by_their_size() {
    let mut application = Application::new();
    let (sparrow, queue) = (application.sparrow, application.queue);
    let buffers = chain::<f32, u32>(&mut application);
    let a = application.over(&buffers);
    let x = application.vector::<f32>(0, &[1.0; ORDER]);
    let csr = sparrow_csr_buffers { size: 88, ..buffers };
    // No field of these is looked at.
    let coo = [96u64; 12];
    let batch = [136u64; 17];
    // SAFETY: everything is valid, and as long as it says.
    unsafe {
        let refused = |status, told: &str| {
            assert_eq!(refusal(status, INVALID), format!("{told} bytes in this library"));
        };
        let mut out = null_mut();
        let made = &raw mut out;
        let given = &raw const csr;
        let status = sparrow_matrix_from_buffers_blocking(sparrow, queue, given, 0, null(), made);
        refused(status, "buffers->size is 88, and sparrow_csr_buffers has 112");
        let given = coo.as_ptr().cast();
        let status = sparrow_matrix_from_entries_blocking(sparrow, queue, given, 0, null(), made);
        refused(status, "entries->size is 96, and sparrow_coo_buffers has 120");
        let mut out = null_mut();
        let status = sparrow_batch_from_buffers(sparrow, batch.as_ptr().cast(), &raw mut out);
        refused(status, "buffers->size is 136, and sparrow_batch_buffers has 168");
        let solver = solver(&application, a, &solver_options());
        let system = sparrow_linear_system { size: 88, ..system(a, x, x) };
        let (given, mut solution) = (&raw const system, empty_solution());
        let solution = &raw mut solution;
        let status = sparrow_solver_solve_blocking(solver, queue, given, 0, null(), solution);
        refused(status, "system->size is 88, and sparrow_linear_system has 104");
        expect_success(sparrow_solver_release(solver));
        expect_success(sparrow_matrix_release(a));
    }
}
