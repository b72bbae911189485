//! `sparrow.h` from an application's side: matrices that it holds in ELL, as entries, and in both.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use opencl3::event as cl_event;
use sparrow::{Real as _, RealValue};
use sparrow_c::*;

use sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT as INVALID;
use sparrow_status::SPARROW_STATUS_INVALID_MATRIX as INVALID_MATRIX;
use sparrow_status::SPARROW_STATUS_MISMATCH as MISMATCH;

/// Columns of padding.
const PADDING: u32 = u32::MAX;

/// What a matrix of nothing is: the shape of the other tests' one.
fn nothing<V: RealValue>() -> sparrow_hyb_buffers {
    sparrow_hyb_buffers {
        size: size_of::<sparrow_hyb_buffers>(),
        rows: ROWS as u64,
        cols: COLS as u64,
        ell_width: 0,
        ell_pitch: 0,
        coo_entries: 0,
        value_type: value_number(V::TYPE),
        reserved: 0,
        ell_columns: NOWHERE,
        ell_values: NOWHERE,
        coo_rows: NOWHERE,
        coo_columns: NOWHERE,
        coo_values: NOWHERE,
    }
}

/// The matrix of the other tests in ELL, rows as far apart as they are many.
fn ell<V: RealValue>(application: &mut Application) -> sparrow_hyb_buffers {
    // A value of padding is never read.
    let values = [5.0, f64::NAN, 7.0, 2.0, 1.0, f64::NAN, 3.0, f64::NAN];
    sparrow_hyb_buffers {
        ell_width: 2,
        ell_columns: application.buffer(3, &[0, PADDING, 1, 0, 2, PADDING, 2, PADDING]),
        ell_values: application.buffer(1, &values.map(V::from_f64)),
        ..nothing::<V>()
    }
}

/// The same as entries, those of a row in another order.
fn coo<V: RealValue>(application: &mut Application) -> sparrow_hyb_buffers {
    sparrow_hyb_buffers {
        coo_entries: 5,
        coo_rows: application.buffer(1, &[0u32, 0, 2, 2, 3]),
        coo_columns: application.buffer(5, &[2u32, 0, 1, 2, 0]),
        coo_values: application.buffer(3, &[1.0, 5.0, 7.0, 3.0, 2.0].map(V::from_f64)),
        ..nothing::<V>()
    }
}

/// The same in both, with slots further apart than rows are many, and a value in two parts.
fn both<V: RealValue>(application: &mut Application) -> sparrow_hyb_buffers {
    sparrow_hyb_buffers {
        ell_width: 1,
        ell_pitch: 7,
        ell_columns: application.buffer(1, &[0, PADDING, 1, 0]),
        ell_values: application.buffer(3, &[5.0, f64::NAN, 4.0, 2.0].map(V::from_f64)),
        coo_entries: 3,
        coo_rows: application.buffer(3, &[0u32, 2, 2]),
        coo_columns: application.buffer(1, &[2u32, 2, 1]),
        coo_values: application.buffer(1, &[1.0, 3.0, 3.0].map(V::from_f64)),
        ..nothing::<V>()
    }
}

fn hyb_options() -> sparrow_hyb_options {
    sparrow_hyb_options {
        size: size_of::<sparrow_hyb_options>(),
        parameters: null(),
        accumulate: 0,
        scalars_on_device: 0,
    }
}

/// A matrix, a plan and a workspace of the library's.
struct Planned {
    matrix: *mut sparrow_hyb_matrix,
    plan: *mut sparrow_hyb_plan,
    workspace: *mut sparrow_workspace,
}

impl Planned {
    fn new(app: &Application, of: &sparrow_hyb_buffers, options: &sparrow_hyb_options) -> Self {
        let (context, queue) = (app.sparrow, app.queue);
        // SAFETY: everything is valid.
        unsafe {
            let matrix = made(|out| sparrow_hyb_matrix_from_buffers(context, of, out));
            let plan = made(|out| {
                sparrow_hyb_plan_create_blocking(matrix, queue, options, 0, null(), out)
            });
            let workspace = made(|out| sparrow_hyb_plan_workspace_blocking(plan, queue, out));
            Planned { matrix, plan, workspace }
        }
    }

    /// A launch with an event that the caller releases, or without one.
    fn launch(
        &self,
        app: &Application,
        product: &sparrow_hyb_product,
        event: *mut opencl3::types::cl_event,
    ) -> sparrow_status {
        // SAFETY: everything is valid but what the test made wrong.
        unsafe {
            let (queue, workspace) = (app.queue, self.workspace);
            sparrow_hyb_plan_launch(self.plan, queue, workspace, product, 0, null(), event)
        }
    }
}

impl Drop for Planned {
    fn drop(&mut self) {
        // SAFETY: each is released once; the order is anybody's.
        unsafe {
            expect_success(sparrow_hyb_matrix_release(self.matrix));
            expect_success(sparrow_workspace_release(self.workspace));
            expect_success(sparrow_hyb_plan_release(self.plan));
        }
    }
}

fn product(
    (alpha, beta): (sparrow_scalar, sparrow_scalar),
    x: sparrow_buffer,
    y: sparrow_buffer,
) -> sparrow_hyb_product {
    sparrow_hyb_product { size: size_of::<sparrow_hyb_product>(), alpha, x, beta, y }
}

fn is_right_in<V: RealValue>(application: &mut Application) {
    let queue = application.queue;
    let nan = [f64::NAN; ROWS];
    let x = application.vector::<V>(1, &X);
    let small = sparrow_hyb_options {
        parameters: c"group_size=2,nnz_per_item=1".as_ptr(),
        accumulate: SPARROW_ACCUMULATE_COMPENSATED,
        ..hyb_options()
    };
    for make in [ell::<V>, coo::<V>, both::<V>] {
        let buffers = make(application);
        for options in [hyb_options(), small] {
            let planned = Planned::new(application, &buffers, &options);
            // SAFETY: everything is valid.
            expect_success(unsafe {
                sparrow_hyb_matrix_check_blocking(planned.matrix, queue, 0, null())
            });
            for (before, scalars, expected) in
                [(nan, (1.0, 0.0), AX), (Y, (2.0, 0.5), AXPY), (Y, (2.0, 0.5), AXPY)]
            {
                let y = application.vector::<V>(before_what_is_written(3), &before);
                let scalars = (by_value(scalars.0), by_value(scalars.1));
                let mut event = null_mut();
                let product = product(scalars, x, y);
                expect_success(planned.launch(application, &product, &raw mut event));
                let found: Vec<V::Accum> = application.read(y, ROWS, event);
                let found: Vec<f64> = found.into_iter().map(|number| number.to_f64()).collect();
                assert_eq!(found, expected, "{}, {buffers:?}", V::TYPE);
            }
        }
    }
}

#[test]
pub(crate) fn ell_entries_and_both_are_multiplied_where_they_lie_in_every_value_type() {
    let mut application = Application::new();
    is_right_in::<f32>(&mut application);
    is_right_in::<half::f16>(&mut application);
    is_right_in::<half::bf16>(&mut application);
    if conformance::device().traits().has_f64 {
        is_right_in::<f64>(&mut application);
    }
}

#[test]
pub(crate) fn new_values_need_no_new_plan_and_alpha_and_beta_may_lie_on_the_device() {
    let mut application = Application::new();
    let buffers = coo::<f32>(&mut application);
    let options = sparrow_hyb_options { scalars_on_device: 1, ..hyb_options() };
    let planned = Planned::new(&application, &buffers, &options);
    let (x, y) = (application.vector::<f32>(0, &X), application.vector::<f32>(0, &Y));
    let device = application.buffer(1, &[2.0f32]);
    let alpha = sparrow_scalar { value: 9.0, device };
    let device = application.buffer(3, &[0.5f32]);
    let beta = sparrow_scalar { value: 9.0, device };
    let product = product((alpha, beta), x, y);
    expect_success(planned.launch(&application, &product, null_mut()));
    let expected = AXPY.map(|number| number as f32);
    assert_eq!(application.read::<f32>(y, ROWS, null_mut()), expected);
    // The application's own values, doubled in place by a launch of the library's.
    let options = sparrow_vectors_options {
        size: size_of::<sparrow_vectors_options>(),
        value_type: SPARROW_VALUE_TYPE_F32,
        accumulate: 0,
        scalars_on_device: 0,
    };
    let (context, queue, values) = (application.sparrow, application.queue, buffers.coo_values);
    let twice = sparrow_elementwise {
        size: size_of::<sparrow_elementwise>(),
        elements: 5,
        alpha: by_value(1.0),
        x: values,
        beta: by_value(1.0),
        y: values,
        r: values,
        operation: SPARROW_ELEMENTARY_UPDATE,
        gamma: by_value(0.0),
    };
    // SAFETY: everything is valid, and released once.
    unsafe {
        let options = &raw const options;
        let vectors = made(|out| sparrow_vectors_create_blocking(context, queue, options, out));
        let twice = &raw const twice;
        expect_success(sparrow_vectors_elementwise(vectors, queue, twice, 0, null(), null_mut()));
        expect_success(sparrow_vectors_release(vectors));
    }
    expect_success(planned.launch(&application, &product, null_mut()));
    let expected = [0, 1, 2, 3].map(|row| (4.0 * AX[row] + 0.5 * AXPY[row]) as f32);
    assert_eq!(application.read::<f32>(y, ROWS, null_mut()), expected);
}

#[test]
fn a_matrix_of_nothing_scales_y_and_a_plan_says_what_it_is() {
    let mut application = Application::new();
    let planned = Planned::new(&application, &nothing::<f32>(), &hyb_options());
    let (x, y) = (application.vector::<f32>(0, &X), application.vector::<f32>(0, &Y));
    let scalars = (by_value(3.0), by_value(0.5));
    expect_success(planned.launch(&application, &product(scalars, x, y), null_mut()));
    assert_eq!(application.read::<f32>(y, ROWS, null_mut()), [1.0, 2.0, 3.0, 4.0]);
    let mut info = empty_info();
    // SAFETY: the plan is valid, and the size is set.
    expect_success(unsafe { sparrow_hyb_plan_get_info(planned.plan, &raw mut info) });
    assert_eq!([info.algorithm, info.variant].map(text), ["hyb", ""]);
    assert!(text(info.parameters).contains("nnz_per_item="), "{}", text(info.parameters));
    assert_eq!((info.plan_bytes, info.workspace_bytes, info.repeatable), (0, 0, 1));
    let whole = coo::<f32>(&mut application);
    let planned = Planned::new(&application, &whole, &hyb_options());
    // SAFETY: as above.
    expect_success(unsafe { sparrow_hyb_plan_get_info(planned.plan, &raw mut info) });
    assert!(info.workspace_bytes > 0);
}

#[test]
fn a_launch_waits_for_its_list_and_fails_with_it() {
    let mut application = Application::new();
    let buffers = both::<f32>(&mut application);
    let planned = Planned::new(&application, &buffers, &hyb_options());
    let (x, y) = (application.vector::<f32>(0, &X), application.vector::<f32>(0, &Y));
    let right = product((by_value(1.0), by_value(0.0)), x, y);
    let launch = |list: opencl3::types::cl_event| {
        let (mut event, list) = (null_mut(), [list]);
        // SAFETY: everything is valid.
        expect_success(unsafe {
            let (plan, queue, workspace) = (planned.plan, application.queue, planned.workspace);
            let product = &raw const right;
            sparrow_hyb_plan_launch(
                plan,
                queue,
                workspace,
                product,
                1,
                list.as_ptr(),
                &raw mut event,
            )
        });
        event
    };
    // Oclgrind reports a wait that fails as misuse.
    let fails = !conformance::is_interpreter(&conformance::device());
    for (status, expected) in fails.then_some((-1, Y)).into_iter().chain([(0, AX)]) {
        // SAFETY: the context is valid; each event is released once.
        unsafe {
            let gate = cl_event::create_user_event(application.context).unwrap();
            let event = launch(gate);
            cl_event::set_user_event_status(gate, status).unwrap();
            assert_eq!(cl_event::wait_for_events(&[event]).is_ok(), status == 0);
            for event in [gate, event] {
                cl_event::release_event(event).unwrap();
            }
        }
        let found: Vec<f32> = application.read(y, ROWS, null_mut());
        assert_eq!(found, expected.map(|number| number as f32));
    }
}

#[test]
fn what_does_not_belong_together_is_refused_by_name() {
    let mut application = Application::new();
    let (sparrow, queue) = (application.sparrow, application.queue);
    let (ell, coo) = (ell::<f32>(&mut application), coo::<f32>(&mut application));
    let refused = |buffers: sparrow_hyb_buffers, status| {
        let mut matrix = null_mut();
        // SAFETY: everything is valid but what the test made wrong.
        let made = unsafe {
            sparrow_hyb_matrix_from_buffers(sparrow, &raw const buffers, &raw mut matrix)
        };
        assert!(matrix.is_null());
        refusal(made, status)
    };
    let text = refused(sparrow_hyb_buffers { ell_columns: NOWHERE, ..ell }, INVALID);
    assert_eq!(text, "buffers->ell_columns.memory and .svm are NULL, and 8 elements are needed");
    let text = refused(sparrow_hyb_buffers { coo_values: NOWHERE, ..coo }, INVALID);
    assert_eq!(text, "buffers->coo_values.memory and .svm are NULL, and 5 elements are needed");
    let text = refused(sparrow_hyb_buffers { reserved: 3, ..ell }, INVALID);
    assert_eq!(text, "buffers->reserved is 3, and must be 0");
    let text = refused(sparrow_hyb_buffers { value_type: 9, ..ell }, INVALID);
    assert!(text.starts_with("buffers->value_type is 9, and none of"), "{text}");
    let text = refused(sparrow_hyb_buffers { ell_pitch: 3, ..ell }, INVALID);
    assert!(text.contains("3 is not allowed") && text.contains("there are 4 rows"), "{text}");
    let huge = sparrow_hyb_buffers { ell_width: u64::MAX, ell_pitch: u64::MAX, ..ell };
    let text = refused(huge, INVALID);
    assert!(text.starts_with("buffers->ell_width of 18446744073709551615 times"), "{text}");
    let text = refused(sparrow_hyb_buffers { ell_width: 3, ..ell }, INVALID);
    assert!(text.starts_with("buffers->ell_columns: the length of an array"), "{text}");

    let mut rows =
        |rows: [u32; 5]| sparrow_hyb_buffers { coo_rows: application.buffer(0, &rows), ..coo };
    let in_order = "entries must lie in the order of their rows";
    for (buffers, expected) in [
        (rows([0, 2, 2, 1, 3]), format!("row 1 of entry 3 follows row 2: {in_order}")),
        (rows([0, 1, 2, 3, 4]), "row 4 of entry 4 is outside 0..4".to_owned()),
    ] {
        let planned = Planned::new(&application, &buffers, &hyb_options());
        // SAFETY: everything is valid.
        let status = unsafe { sparrow_hyb_matrix_check_blocking(planned.matrix, queue, 0, null()) };
        assert_eq!(refusal(status, INVALID_MATRIX), expected);
    }

    let planned = Planned::new(&application, &coo, &hyb_options());
    let x = application.buffer(0, &[0.0f32; 8]);
    let scalars = (by_value(1.0), by_value(0.0));
    let refused = |x, y, status| {
        let launched = planned.launch(&application, &product(scalars, x, y), null_mut());
        refusal(launched, status)
    };
    let text = refused(NOWHERE, x, INVALID);
    assert_eq!(text, "product->x.memory and .svm are NULL, and 3 elements are needed");
    for (name, y) in [
        ("x", sparrow_buffer { byte_offset: 8, ..x }),
        ("the rows of the matrix's entries", coo.coo_rows),
        ("the columns of the matrix's entries", coo.coo_columns),
        ("the values of the matrix's entries", coo.coo_values),
    ] {
        let text = refused(x, y, MISMATCH);
        assert!(text.starts_with(&format!("{name} and y overlap")), "{text}");
    }
}
