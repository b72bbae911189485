//! The table of all functions of `sparrow.h` that take a pointer and can refuse it.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::*;

use super::valid::*;

/// Which of a function's pointers is NULL in a call; none beyond the last.
#[derive(Clone, Copy)]
pub(crate) struct Null(pub(crate) usize);

impl Null {
    fn at<T>(self, place: usize, pointer: *mut T) -> *mut T {
        if self.0 == place { null_mut() } else { pointer }
    }

    fn of<T>(self, place: usize, pointer: &T) -> *const T {
        if self.0 == place { null() } else { pointer }
    }

    /// Makes an object where there is room for it, and ends it.
    fn made<T>(
        self,
        place: usize,
        make: impl FnOnce(*mut *mut T) -> sparrow_status,
        end: unsafe extern "C" fn(*mut T) -> sparrow_status,
    ) -> sparrow_status {
        let mut object = null_mut();
        let status = make(if self.0 == place { null_mut() } else { &raw mut object });
        // SAFETY: NULL, or just made.
        expect_success(unsafe { end(object) });
        status
    }

    fn event(
        self,
        place: usize,
        call: impl FnOnce(*mut *mut c_void) -> sparrow_status,
    ) -> sparrow_status {
        let mut event = null_mut();
        let status = call(if self.0 == place { null_mut() } else { &raw mut event });
        if !event.is_null() {
            opencl3::event::wait_for_events(&[event]).unwrap();
            // SAFETY: the reference is ours.
            unsafe { opencl3::event::release_event(event).unwrap() };
        }
        status
    }
}

/// A function, its pointers by name (with a `?` those that may be NULL), and a call of it.
pub(crate) type Row = (&'static str, &'static [&'static str], fn(&Valid, Null) -> sparrow_status);

/// Every function that takes a pointer and can refuse it. Wait lists are NULL and empty throughout.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each pointer is valid, or NULL where that is tried; all of them would say so"
)]
pub(crate) const FUNCTIONS: &[Row] = &[
    ("sparrow_context_from_queue", &["queue", "options?", "context"], |v, n| {
        let options = sparrow_context_options {
            size: size_of::<sparrow_context_options>(),
            device_table: null(),
            binary_cache: null(),
        };
        let queue = n.at(0, v.application.queue);
        let call = |out| unsafe { sparrow_context_from_queue(queue, n.of(1, &options), out) };
        n.made(2, call, sparrow_context_release)
    }),
    (
        "sparrow_context_from_device",
        &["opencl_context", "device", "options?", "context"],
        |v, n| {
            let (context, device) = (n.at(0, v.application.context), n.at(1, v.application.device));
            let call = |out| unsafe { sparrow_context_from_device(context, device, null(), out) };
            n.made(3, call, sparrow_context_release)
        },
    ),
    ("sparrow_context_get_info", &["context", "info"], |v, n| {
        let mut info = sparrow_context_info {
            size: size_of::<sparrow_context_info>(),
            device: null(),
            platform: null(),
            table_problems: null(),
        };
        unsafe { sparrow_context_get_info(n.at(0, v.application.sparrow), n.at(1, &raw mut info)) }
    }),
    ("sparrow_matrix_from_buffers_blocking", &["context", "queue", "buffers", "matrix"], |v, n| {
        let (context, queue) = (n.at(0, v.application.sparrow), n.at(1, v.application.queue));
        let call = |out| unsafe {
            let buffers = n.of(2, &v.csr);
            sparrow_matrix_from_buffers_blocking(context, queue, buffers, 0, null(), out)
        };
        n.made(3, call, sparrow_matrix_release)
    }),
    ("sparrow_matrix_upload_blocking", &["context", "queue", "arrays", "matrix"], |v, n| {
        let arrays = host_arrays();
        let (context, queue) = (n.at(0, v.application.sparrow), n.at(1, v.application.queue));
        let call =
            |out| unsafe { sparrow_matrix_upload_blocking(context, queue, n.of(2, &arrays), out) };
        n.made(3, call, sparrow_matrix_release)
    }),
    ("sparrow_matrix_from_entries_blocking", &["context", "queue", "entries", "matrix"], |v, n| {
        let (context, queue) = (n.at(0, v.application.sparrow), n.at(1, v.application.queue));
        let entries = entries(v);
        let call = |out| unsafe {
            let entries = n.of(2, &entries);
            sparrow_matrix_from_entries_blocking(context, queue, entries, 0, null(), out)
        };
        n.made(3, call, sparrow_matrix_release)
    }),
    ("sparrow_matrix_from_dense_blocking", &["context", "queue", "dense", "matrix"], |v, n| {
        let (context, queue) = (n.at(0, v.application.sparrow), n.at(1, v.application.queue));
        let dense = dense_source(v);
        let call = |out| unsafe {
            sparrow_matrix_from_dense_blocking(context, queue, n.of(2, &dense), 0, null(), out)
        };
        n.made(3, call, sparrow_matrix_release)
    }),
    ("sparrow_matrix_multiply_blocking", &["a", "b", "queue", "c"], |v, n| {
        let queue = v.application.queue;
        let fitting = made(|out| unsafe {
            sparrow_matrix_transpose_blocking(v.matrix, queue, 0, null(), out)
        });
        let (a, b, queue) = (n.at(0, v.matrix), n.at(1, fitting), n.at(2, queue));
        let call =
            |out| unsafe { sparrow_matrix_multiply_blocking(a, b, queue, 0, 0, null(), out) };
        let status = n.made(3, call, sparrow_matrix_release);
        expect_success(unsafe { sparrow_matrix_release(fitting) });
        status
    }),
    ("sparrow_matrix_transpose_blocking", &["matrix", "queue", "transposed"], |v, n| {
        let (matrix, queue) = (n.at(0, v.matrix), n.at(1, v.application.queue));
        let call =
            |out| unsafe { sparrow_matrix_transpose_blocking(matrix, queue, 0, null(), out) };
        n.made(2, call, sparrow_matrix_release)
    }),
    ("sparrow_matrix_copy_blocking", &["matrix", "queue", "parts"], |v, n| unsafe {
        let parts = no_parts();
        let queue = n.at(1, v.application.queue);
        sparrow_matrix_copy_blocking(n.at(0, v.matrix), queue, n.of(2, &parts), 0, null())
    }),
    ("sparrow_matrix_write_dense_blocking", &["matrix", "queue", "dense_shape"], |v, n| unsafe {
        let queue = n.at(1, v.application.queue);
        let shape = sparrow_dense_shape { cols: COLS as u64, ..v.spmm_options.c };
        let c = v.dense_of_matrix;
        sparrow_matrix_write_dense_blocking(n.at(0, v.matrix), queue, n.of(2, &shape), c, 0, null())
    }),
    ("sparrow_matrix_check_blocking", &["matrix", "queue"], |v, n| unsafe {
        let queue = n.at(1, v.application.queue);
        sparrow_matrix_check_blocking(n.at(0, v.matrix), queue, 0, null())
    }),
    ("sparrow_matrix_with_values", &["matrix", "with_values"], |v, n| {
        let matrix = n.at(0, v.matrix);
        let call = |out| unsafe { sparrow_matrix_with_values(matrix, v.csr.values, out) };
        n.made(1, call, sparrow_matrix_release)
    }),
    ("sparrow_matrix_values_changed", &["matrix"], |v, n| unsafe {
        sparrow_matrix_values_changed(n.at(0, v.matrix))
    }),
    ("sparrow_matrix_write_values_blocking", &["matrix", "queue", "values"], |v, n| unsafe {
        let (matrix, queue) = (n.at(0, v.matrix), n.at(1, v.application.queue));
        let values = n.of(2, &[5.0f32, 1.0, 7.0, 3.0, 2.0]).cast();
        sparrow_matrix_write_values_blocking(matrix, queue, values, 0, null())
    }),
    ("sparrow_matrix_get_info", &["matrix", "info"], |v, n| {
        let mut info = empty_matrix_info();
        unsafe { sparrow_matrix_get_info(n.at(0, v.matrix), n.at(1, &raw mut info)) }
    }),
    ("sparrow_plan_create_blocking", &["matrix", "queue", "options?", "plan"], |v, n| {
        let (matrix, queue) = (n.at(0, v.matrix), n.at(1, v.application.queue));
        let call = |out| unsafe {
            let options = plan_options();
            sparrow_plan_create_blocking(matrix, queue, n.of(2, &options), 0, null(), out)
        };
        n.made(3, call, sparrow_plan_release)
    }),
    ("sparrow_plan_get_info", &["plan", "info"], |v, n| {
        let mut info = empty_info();
        unsafe { sparrow_plan_get_info(n.at(0, v.plan), n.at(1, &raw mut info)) }
    }),
    ("sparrow_plan_row_order_blocking", &["plan", "queue", "row_order"], |v, n| {
        let options = sparrow_plan_options { reordering: c"clusters".as_ptr(), ..plan_options() };
        let (plan, workspace) = v.application.plan(v.matrix, &options);
        let mut rows = [0; ROWS];
        let (given, queue) = (n.at(0, plan), n.at(1, v.application.queue));
        let into = n.at(2, rows.as_mut_ptr());
        let status = unsafe { sparrow_plan_row_order_blocking(given, queue, ROWS as u64, into) };
        expect_success(unsafe { sparrow_plan_release(plan) });
        expect_success(unsafe { sparrow_workspace_release(workspace) });
        status
    }),
    ("sparrow_plan_update_values_blocking", &["plan", "queue", "matrix"], |v, n| unsafe {
        let (plan, queue) = (n.at(0, v.plan), n.at(1, v.application.queue));
        sparrow_plan_update_values_blocking(plan, queue, n.at(2, v.matrix), 0, null())
    }),
    ("sparrow_plan_workspace_blocking", &["plan", "queue", "workspace"], |v, n| {
        let (plan, queue) = (n.at(0, v.plan), n.at(1, v.application.queue));
        let call = |out| unsafe { sparrow_plan_workspace_blocking(plan, queue, out) };
        n.made(2, call, sparrow_workspace_release)
    }),
    ("sparrow_plan_launch", &["plan", "queue", "workspace", "product", "event?"], |v, n| {
        n.event(4, |event| unsafe {
            let (plan, queue) = (n.at(0, v.plan), n.at(1, v.application.queue));
            let (workspace, product) = (n.at(2, v.workspace), n.of(3, &v.product));
            sparrow_plan_launch(plan, queue, workspace, product, 0, null(), event)
        })
    }),
    (
        "sparrow_plan_launch_blocking",
        &["plan", "queue", "workspace", "product", "stages?"],
        |v, n| unsafe {
            let (plan, queue) = (n.at(0, v.plan), n.at(1, v.application.queue));
            let (workspace, product) = (n.at(2, v.workspace), n.of(3, &v.product));
            sparrow_plan_launch_blocking(plan, queue, workspace, product, 0, null(), null_mut())
        },
    ),
    ("sparrow_plan_record_blocking", &["plan", "queue", "products", "recording"], |v, n| {
        let (plan, queue) = (n.at(0, v.plan), n.at(1, v.application.queue));
        let product = &raw const v.product;
        let products = n.of(2, &product);
        let call = |out| unsafe { sparrow_plan_record_blocking(plan, queue, 1, products, 0, out) };
        n.made(3, call, sparrow_recording_release)
    }),
    ("sparrow_plan_record_blocking", &["products[0]"], |v, n| {
        let products = n.of(0, &v.product);
        let (plan, queue) = (v.plan, v.application.queue);
        let call = |out| unsafe {
            sparrow_plan_record_blocking(plan, queue, 1, &raw const products, 0, out)
        };
        n.made(usize::MAX - 1, call, sparrow_recording_release)
    }),
    ("sparrow_plan_launch_many", &["plan", "recording", "matrix", "event?"], |v, n| {
        n.event(3, |event| unsafe {
            let (plan, recording) = (n.at(0, v.plan), n.at(1, v.recording));
            sparrow_plan_launch_many(plan, recording, n.at(2, v.matrix), 1, 0, null(), event)
        })
    }),
    ("sparrow_recording_get_info", &["recording", "info"], |v, n| {
        let mut info = sparrow_recording_info {
            size: size_of::<sparrow_recording_info>(),
            products: 0,
            kernels: 0,
            command_buffer: 0,
            reason: null(),
        };
        unsafe { sparrow_recording_get_info(n.at(0, v.recording), n.at(1, &raw mut info)) }
    }),
    ("sparrow_spmm_plan_create_blocking", &["matrix", "queue", "options", "plan"], |v, n| {
        let (matrix, queue) = (n.at(0, v.matrix), n.at(1, v.application.queue));
        let options = n.of(2, &v.spmm_options);
        let call = |out| unsafe {
            sparrow_spmm_plan_create_blocking(matrix, queue, options, 0, null(), out)
        };
        n.made(3, call, sparrow_spmm_plan_release)
    }),
    ("sparrow_spmm_plan_get_info", &["plan", "info"], |v, n| {
        let mut info = empty_info();
        unsafe { sparrow_spmm_plan_get_info(n.at(0, v.spmm_plan), n.at(1, &raw mut info)) }
    }),
    ("sparrow_spmm_plan_update_values_blocking", &["plan", "queue", "matrix"], |v, n| unsafe {
        let (plan, queue) = (n.at(0, v.spmm_plan), n.at(1, v.application.queue));
        sparrow_spmm_plan_update_values_blocking(plan, queue, n.at(2, v.matrix), 0, null())
    }),
    ("sparrow_spmm_plan_workspace_blocking", &["plan", "queue", "workspace"], |v, n| {
        let (plan, queue) = (n.at(0, v.spmm_plan), n.at(1, v.application.queue));
        let call = |out| unsafe { sparrow_spmm_plan_workspace_blocking(plan, queue, out) };
        n.made(2, call, sparrow_workspace_release)
    }),
    ("sparrow_spmm_plan_launch", &["plan", "queue", "workspace", "product", "event?"], |v, n| {
        n.event(4, |event| unsafe {
            let (plan, queue) = (n.at(0, v.spmm_plan), n.at(1, v.application.queue));
            let (workspace, product) = (n.at(2, v.spmm_workspace), n.of(3, &v.dense_product));
            sparrow_spmm_plan_launch(plan, queue, workspace, product, 0, null(), event)
        })
    }),
    ("sparrow_hyb_matrix_from_buffers", &["context", "buffers", "matrix"], |v, n| {
        let (context, buffers) = (n.at(0, v.application.sparrow), n.of(1, &v.hyb_buffers));
        let call = |out| unsafe { sparrow_hyb_matrix_from_buffers(context, buffers, out) };
        n.made(2, call, sparrow_hyb_matrix_release)
    }),
    ("sparrow_hyb_matrix_check_blocking", &["matrix", "queue"], |v, n| unsafe {
        let queue = n.at(1, v.application.queue);
        sparrow_hyb_matrix_check_blocking(n.at(0, v.hyb_matrix), queue, 0, null())
    }),
    ("sparrow_hyb_plan_create_blocking", &["matrix", "queue", "options?", "plan"], |v, n| {
        let (matrix, queue) = (n.at(0, v.hyb_matrix), n.at(1, v.application.queue));
        let call = |out| unsafe {
            sparrow_hyb_plan_create_blocking(matrix, queue, null(), 0, null(), out)
        };
        n.made(3, call, sparrow_hyb_plan_release)
    }),
    ("sparrow_hyb_plan_get_info", &["plan", "info"], |v, n| {
        let mut info = empty_info();
        unsafe { sparrow_hyb_plan_get_info(n.at(0, v.hyb_plan), n.at(1, &raw mut info)) }
    }),
    ("sparrow_hyb_plan_workspace_blocking", &["plan", "queue", "workspace"], |v, n| {
        let (plan, queue) = (n.at(0, v.hyb_plan), n.at(1, v.application.queue));
        let call = |out| unsafe { sparrow_hyb_plan_workspace_blocking(plan, queue, out) };
        n.made(2, call, sparrow_workspace_release)
    }),
    ("sparrow_hyb_plan_launch", &["plan", "queue", "workspace", "product", "event?"], |v, n| {
        n.event(4, |event| unsafe {
            let (plan, queue) = (n.at(0, v.hyb_plan), n.at(1, v.application.queue));
            let (workspace, product) = (n.at(2, v.hyb_workspace), n.of(3, &v.hyb_product));
            sparrow_hyb_plan_launch(plan, queue, workspace, product, 0, null(), event)
        })
    }),
    ("sparrow_batch_from_buffers", &["context", "buffers", "batch"], |v, n| {
        let (context, buffers) = (n.at(0, v.application.sparrow), n.of(1, &v.batch_buffers));
        let call = |out| unsafe { sparrow_batch_from_buffers(context, buffers, out) };
        n.made(2, call, sparrow_batch_release)
    }),
    ("sparrow_batch_with_values", &["batch", "with_values"], |v, n| {
        let batch = n.at(0, v.batch);
        let call = |out| unsafe { sparrow_batch_with_values(batch, v.csr.values, out) };
        n.made(1, call, sparrow_batch_release)
    }),
    ("sparrow_batch_plan_create_blocking", &["batch", "queue", "options?", "plan"], |v, n| {
        let (batch, queue) = (n.at(0, v.batch), n.at(1, v.application.queue));
        let call = |out| unsafe {
            sparrow_batch_plan_create_blocking(batch, queue, null(), 0, null(), out)
        };
        n.made(3, call, sparrow_batch_plan_release)
    }),
    ("sparrow_batch_plan_get_info", &["plan", "info"], |v, n| {
        let mut info = empty_info();
        unsafe { sparrow_batch_plan_get_info(n.at(0, v.batch_plan), n.at(1, &raw mut info)) }
    }),
    ("sparrow_batch_plan_workspace_blocking", &["plan", "queue", "workspace"], |v, n| {
        let (plan, queue) = (n.at(0, v.batch_plan), n.at(1, v.application.queue));
        let call = |out| unsafe { sparrow_batch_plan_workspace_blocking(plan, queue, out) };
        n.made(2, call, sparrow_workspace_release)
    }),
    ("sparrow_batch_plan_launch", &["plan", "queue", "workspace", "product", "event?"], |v, n| {
        n.event(4, |event| unsafe {
            let (plan, queue) = (n.at(0, v.batch_plan), n.at(1, v.application.queue));
            let (workspace, product) = (n.at(2, v.batch_workspace), n.of(3, &v.batch_product));
            sparrow_batch_plan_launch(plan, queue, workspace, product, 0, null(), event)
        })
    }),
    ("sparrow_vectors_create_blocking", &["context", "queue", "options", "vectors"], |v, n| {
        let (context, queue) = (n.at(0, v.application.sparrow), n.at(1, v.application.queue));
        let options = n.of(2, &v.vectors_options);
        let call = |out| unsafe { sparrow_vectors_create_blocking(context, queue, options, out) };
        n.made(3, call, sparrow_vectors_release)
    }),
    ("sparrow_vectors_elementwise", &["vectors", "queue", "elementwise", "event?"], |v, n| {
        n.event(3, |event| unsafe {
            let (vectors, queue) = (n.at(0, v.vectors), n.at(1, v.application.queue));
            sparrow_vectors_elementwise(vectors, queue, n.of(2, &v.elementwise), 0, null(), event)
        })
    }),
    ("sparrow_vectors_reduce", &["vectors", "queue", "reduction", "event?"], |v, n| {
        n.event(3, |event| unsafe {
            let (vectors, queue) = (n.at(0, v.vectors), n.at(1, v.application.queue));
            sparrow_vectors_reduce(vectors, queue, n.of(2, &v.reduction), 0, null(), event)
        })
    }),
    ("sparrow_solver_create_blocking", &["matrix", "queue", "options?", "solver"], |v, n| {
        let (matrix, queue) = (n.at(0, v.square), n.at(1, v.application.queue));
        let options = solver_options();
        let call = |out| unsafe {
            sparrow_solver_create_blocking(matrix, queue, n.of(2, &options), 0, null(), out)
        };
        n.made(3, call, sparrow_solver_release)
    }),
    ("sparrow_solver_get_info", &["solver", "info"], |v, n| {
        let mut info = empty_solver_info();
        unsafe { sparrow_solver_get_info(n.at(0, v.solver), n.at(1, &raw mut info)) }
    }),
    ("sparrow_solver_solve_blocking", &["solver", "queue", "system", "solution"], |v, n| unsafe {
        let (solver, queue) = (n.at(0, v.solver), n.at(1, v.application.queue));
        let (system, mut solution) = (n.of(2, &v.system), empty_solution());
        let solution = n.at(3, &raw mut solution);
        sparrow_solver_solve_blocking(solver, queue, system, 0, null(), solution)
    }),
];
