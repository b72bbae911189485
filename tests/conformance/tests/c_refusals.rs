//! `sparrow.h` from a careless application's side: a status and a text that names what was wrong, never a crash.
#![expect(unsafe_code, reason = "stands for an application in C")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

mod c_application;

use std::collections::BTreeSet;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use c_application::*;
use sparrow_c::*;

use sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT as INVALID;
use sparrow_status::SPARROW_STATUS_INVALID_MATRIX as INVALID_MATRIX;
use sparrow_status::SPARROW_STATUS_MISMATCH as MISMATCH;

/// Something valid for every argument there is.
struct Valid {
    application: Application,
    csr: sparrow_csr_buffers,
    matrix: *mut sparrow_matrix,
    plan: *mut sparrow_plan,
    workspace: *mut sparrow_workspace,
    product: sparrow_product,
    spmm_options: sparrow_spmm_options,
    spmm_plan: *mut sparrow_spmm_plan,
    spmm_workspace: *mut sparrow_workspace,
    dense_product: sparrow_dense_product,
    /// What `batch_buffers` points to.
    _problem: Box<sparrow_problem>,
    batch_buffers: sparrow_batch_buffers,
    batch: *mut sparrow_batch,
    batch_plan: *mut sparrow_batch_plan,
    batch_workspace: *mut sparrow_workspace,
    batch_product: sparrow_batch_product,
    vectors_options: sparrow_vectors_options,
    vectors: *mut sparrow_vectors,
    elementwise: sparrow_elementwise,
    reduction: sparrow_reduction,
    dense_of_matrix: sparrow_buffer,
    square: *mut sparrow_matrix,
    solver: *mut sparrow_solver,
    system: sparrow_linear_system,
}

impl Valid {
    fn new() -> Self {
        let mut application = Application::new();
        let csr = application.csr::<f32, u32>();
        let (context, queue) = (application.sparrow, application.queue);
        let (x, y) = (application.vector::<f32>(1, &X), application.vector::<f32>(1, &Y));
        let shape = |rows| sparrow_dense_shape {
            rows,
            cols: 2,
            leading: 0,
            layout: SPARROW_LAYOUT_ROW_MAJOR,
        };
        let spmm_options = sparrow_spmm_options {
            size: size_of::<sparrow_spmm_options>(),
            b: shape(COLS as u64),
            c: shape(ROWS as u64),
            algorithm: null(),
            parameters: null(),
            device_table: null(),
            b_type: SPARROW_VALUE_TYPE_F32,
            operation: 0,
            scalars_on_device: 0,
        };
        let (b, c) = (application.buffer(0, &[1.0f32; 6]), application.buffer(0, &[1.0f32; 8]));
        let dense_of_matrix = application.buffer(0, &[1.0f32; ROWS * COLS]);
        let problem = Box::new(sparrow_problem {
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
        });
        let batch_buffers = sparrow_batch_buffers {
            size: size_of::<sparrow_batch_buffers>(),
            problems: &raw const *problem,
            num_problems: 1,
            value_type: SPARROW_VALUE_TYPE_F32,
            offset_type: SPARROW_OFFSET_TYPE_U32,
            column_bits: 32,
            reserved: 0,
            offsets: csr.offsets,
            num_offsets: 5,
            indices: NOWHERE,
            num_indices: 0,
            columns: csr.columns,
            num_columns: 5,
            values: csr.values,
            num_values: 5,
        };
        let vectors_options = sparrow_vectors_options {
            size: size_of::<sparrow_vectors_options>(),
            value_type: SPARROW_VALUE_TYPE_F32,
            accumulate: 0,
            scalars_on_device: 0,
        };
        let r = application.buffer(0, &[1.0f32; 3]);
        let identity = application.csr_of::<f32, u32>(2, &[0, 1, 2], &[0, 1], &[1.0, 1.0]);
        let square = application.over(&identity);
        let right = application.buffer(0, &[1.0f32, 2.0]);
        let solution = application.buffer(0, &[0.0f32, 0.0]);
        // SAFETY: everything is valid.
        unsafe {
            let matrix = made(|out| {
                let buffers = &raw const csr;
                sparrow_matrix_from_buffers_blocking(context, queue, buffers, 0, null(), out)
            });
            let (plan, workspace) = application.plan(matrix, &plan_options());
            let spmm_plan = made(|out| {
                let options = &raw const spmm_options;
                sparrow_spmm_plan_create_blocking(matrix, queue, options, 0, null(), out)
            });
            let batch =
                made(|out| sparrow_batch_from_buffers(context, &raw const batch_buffers, out));
            let batch_plan = made(|out| {
                sparrow_batch_plan_create_blocking(batch, queue, null(), 0, null(), out)
            });
            let (alpha, beta) = (by_value(1.0), by_value(0.0));
            let number = |value| sparrow_batch_scalar { value, device: NOWHERE, each: 0 };
            Valid {
                csr,
                matrix,
                plan,
                workspace,
                product: product(alpha, matrix, x, beta, y),
                spmm_options,
                spmm_plan,
                spmm_workspace: made(|out| {
                    sparrow_spmm_plan_workspace_blocking(spmm_plan, queue, out)
                }),
                dense_product: sparrow_dense_product {
                    size: size_of::<sparrow_dense_product>(),
                    alpha,
                    a: matrix,
                    b,
                    beta,
                    c,
                },
                _problem: problem,
                batch_buffers,
                batch,
                batch_plan,
                batch_workspace: made(|out| {
                    sparrow_batch_plan_workspace_blocking(batch_plan, queue, out)
                }),
                batch_product: sparrow_batch_product {
                    size: size_of::<sparrow_batch_product>(),
                    alpha: number(1.0),
                    a: batch,
                    x,
                    beta: number(0.0),
                    y,
                },
                vectors_options,
                vectors: made(|out| {
                    let options = &raw const vectors_options;
                    sparrow_vectors_create_blocking(context, queue, options, out)
                }),
                elementwise: sparrow_elementwise {
                    size: size_of::<sparrow_elementwise>(),
                    elements: 3,
                    alpha,
                    x,
                    beta,
                    y: x,
                    r,
                    operation: SPARROW_ELEMENTARY_AXPBY,
                },
                reduction: sparrow_reduction {
                    size: size_of::<sparrow_reduction>(),
                    elements: 3,
                    x,
                    y: x,
                    result: r,
                    kind: SPARROW_REDUCTION_DOT,
                },
                dense_of_matrix,
                square,
                solver: made(|out| {
                    sparrow_solver_create_blocking(square, queue, null(), 0, null(), out)
                }),
                system: system(square, right, solution),
                application,
            }
        }
    }

    fn launch(&self, product: &sparrow_product) -> sparrow_status {
        // SAFETY: everything is valid but what the test made wrong.
        unsafe {
            let (queue, product) = (self.application.queue, &raw const *product);
            sparrow_plan_launch(self.plan, queue, self.workspace, product, 0, null(), null_mut())
        }
    }

    fn plan_refusal(&self, options: &sparrow_plan_options, status: sparrow_status) -> String {
        let mut plan = null_mut();
        // SAFETY: everything is valid but what the test made wrong.
        let created = unsafe {
            let (queue, options) = (self.application.queue, &raw const *options);
            sparrow_plan_create_blocking(self.matrix, queue, options, 0, null(), &raw mut plan)
        };
        assert!(plan.is_null());
        refusal(created, status)
    }

    fn matrix_refusal(&self, buffers: &sparrow_csr_buffers, status: sparrow_status) -> String {
        let mut matrix = null_mut();
        // SAFETY: everything is valid but what the test made wrong.
        let created = unsafe {
            let (context, queue) = (self.application.sparrow, self.application.queue);
            let (buffers, out) = (&raw const *buffers, &raw mut matrix);
            sparrow_matrix_from_buffers_blocking(context, queue, buffers, 0, null(), out)
        };
        assert!(matrix.is_null());
        refusal(created, status)
    }
}

impl Drop for Valid {
    fn drop(&mut self) {
        // SAFETY: each is released once.
        unsafe {
            expect_success(sparrow_matrix_release(self.matrix));
            expect_success(sparrow_plan_release(self.plan));
            expect_success(sparrow_workspace_release(self.workspace));
            expect_success(sparrow_spmm_plan_release(self.spmm_plan));
            expect_success(sparrow_workspace_release(self.spmm_workspace));
            expect_success(sparrow_batch_release(self.batch));
            expect_success(sparrow_batch_plan_release(self.batch_plan));
            expect_success(sparrow_workspace_release(self.batch_workspace));
            expect_success(sparrow_vectors_release(self.vectors));
            expect_success(sparrow_matrix_release(self.square));
            expect_success(sparrow_solver_release(self.solver));
        }
    }
}

/// Which of a function's pointers is NULL in a call; none beyond the last.
#[derive(Clone, Copy)]
struct Null(usize);

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
type Row = (&'static str, &'static [&'static str], fn(&Valid, Null) -> sparrow_status);

/// Every function that takes a pointer and can refuse it. Wait lists are NULL and empty throughout.
#[expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each pointer is valid, or NULL where that is tried; all of them would say so"
)]
const FUNCTIONS: &[Row] = &[
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

/// Entries with the columns and values of the matrix, all of them in rows that there are.
fn entries(valid: &Valid) -> sparrow_coo_buffers {
    sparrow_coo_buffers {
        size: size_of::<sparrow_coo_buffers>(),
        rows: ROWS as u64,
        cols: COLS as u64,
        entries: 5,
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U32,
        duplicates: SPARROW_DUPLICATES_SUM,
        reserved: 0,
        row_indices: valid.csr.columns,
        column_indices: valid.csr.columns,
        values: valid.csr.values,
    }
}

fn dense_source(valid: &Valid) -> sparrow_dense_source {
    sparrow_dense_source {
        size: size_of::<sparrow_dense_source>(),
        shape: sparrow_dense_shape { cols: COLS as u64, ..valid.spmm_options.c },
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U32,
        tolerance: 0.0,
        elements: valid.dense_of_matrix,
    }
}

fn no_parts() -> sparrow_matrix_parts {
    sparrow_matrix_parts {
        size: size_of::<sparrow_matrix_parts>(),
        offsets: NOWHERE,
        row_indices: NOWHERE,
        columns: NOWHERE,
        values: NOWHERE,
    }
}

fn host_arrays() -> sparrow_csr_arrays {
    static OF_U32: [u32; 5] = [0, 2, 2, 4, 5];
    static OF_F32: [f32; 5] = [5.0, 1.0, 7.0, 3.0, 2.0];
    static AT: [u32; 5] = COLUMNS;
    sparrow_csr_arrays {
        size: size_of::<sparrow_csr_arrays>(),
        rows: ROWS as u64,
        cols: COLS as u64,
        nnz: 5,
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U32,
        offsets: (&raw const OF_U32).cast(),
        columns: AT.as_ptr(),
        values: (&raw const OF_F32).cast(),
    }
}

fn empty_matrix_info() -> sparrow_matrix_info {
    sparrow_matrix_info {
        size: size_of::<sparrow_matrix_info>(),
        rows: 0,
        cols: 0,
        nnz: 0,
        longest_row: 0,
        size_bytes: 0,
        value_type: 0,
        offset_type: 0,
    }
}

#[test]
fn every_function_with_every_pointer_null_in_turn_gives_a_status_that_names_it() {
    let valid = Valid::new();
    for &(function, pointers, call) in FUNCTIONS {
        for (place, name) in pointers.iter().enumerate() {
            let status = call(&valid, Null(place));
            match name.strip_suffix('?') {
                Some(_) => expect_success(status),
                None => {
                    assert_eq!(status, INVALID, "{function}, {name}");
                    assert_eq!(last_error(), format!("{name} is NULL"), "{function}");
                }
            }
        }
        assert_eq!(
            call(&valid, Null(usize::MAX)),
            sparrow_status::SPARROW_STATUS_SUCCESS,
            "{function}"
        );
    }
}

#[test]
fn the_table_of_functions_has_every_symbol_that_is_exported() {
    let symbols = include_str!("../../../crates/sparrow-capi/abi/symbols.txt");
    let told =
        ["version_number", "version_text", "status_name", "last_error", "last_opencl_status"];
    let expected: BTreeSet<_> = symbols
        .lines()
        .filter(|name| !name.ends_with("_release") && !told.iter().any(|end| name.ends_with(end)))
        .collect();
    let table: BTreeSet<_> = FUNCTIONS.iter().map(|(name, _, _)| *name).collect();
    assert_eq!(table, expected);
}

#[test]
fn buffers_and_wait_lists_that_are_null_are_named() {
    let valid = Valid::new();
    let csr = valid.csr;
    let needed = |buffers: sparrow_csr_buffers| valid.matrix_refusal(&buffers, INVALID);
    assert_eq!(
        needed(sparrow_csr_buffers { offsets: NOWHERE, ..csr }),
        "buffers->offsets.memory is NULL, and 5 elements are needed"
    );
    assert_eq!(
        needed(sparrow_csr_buffers { columns: NOWHERE, ..csr }),
        "buffers->columns.memory is NULL, and 5 elements are needed"
    );
    assert_eq!(
        needed(sparrow_csr_buffers { values: NOWHERE, ..csr }),
        "buffers->values.memory is NULL, and 5 elements are needed"
    );
    let launch = |product| refusal(valid.launch(&product), INVALID);
    let right = valid.product;
    let text = launch(sparrow_product { x: NOWHERE, ..right });
    assert_eq!(text, "product->x.memory is NULL, and 3 elements are needed");
    let text = launch(sparrow_product { y: NOWHERE, ..right });
    assert_eq!(text, "product->y.memory is NULL, and 4 elements are needed");
    assert_eq!(launch(sparrow_product { a: null(), ..right }), "product->a is NULL");
    let queue = valid.application.queue;
    // SAFETY: everything is valid but the lists.
    unsafe {
        let status = sparrow_matrix_check_blocking(valid.matrix, queue, 2, null());
        let text = refusal(status, INVALID);
        assert_eq!(text, "event_wait_list is NULL, and num_events_in_wait_list is 2");
        let none = [null_mut()];
        let status = sparrow_matrix_check_blocking(valid.matrix, queue, 1, none.as_ptr());
        assert_eq!(refusal(status, INVALID), "event_wait_list[0] is NULL");
    }
}

#[test]
fn a_struct_of_another_size_is_refused_and_left_alone() {
    let valid = Valid::new();
    // None of them is the size of any struct.
    for size in [0, 4, size_of::<sparrow_product>() - 1, 1000, usize::MAX] {
        let text = refusal(valid.launch(&sparrow_product { size, ..valid.product }), INVALID);
        assert!(text.starts_with(&format!("product->size is {size}, and sparrow_product has")));
        let text = valid.plan_refusal(&sparrow_plan_options { size, ..plan_options() }, INVALID);
        assert!(text.starts_with(&format!("options->size is {size}, and")), "{text}");
        let text = valid.matrix_refusal(&sparrow_csr_buffers { size, ..valid.csr }, INVALID);
        assert!(text.starts_with(&format!("buffers->size is {size}, and")), "{text}");
        let mut info = sparrow_matrix_info { size, ..empty_matrix_info() };
        // SAFETY: the matrix is valid.
        let status = unsafe { sparrow_matrix_get_info(valid.matrix, &raw mut info) };
        refusal(status, INVALID);
        assert_eq!((info.size, info.rows), (size, 0));
    }
}

#[test]
fn numbers_that_stand_for_nothing_are_refused_with_those_that_do() {
    let valid = Valid::new();
    let csr = valid.csr;
    let matrix = |buffers: sparrow_csr_buffers| valid.matrix_refusal(&buffers, INVALID);
    let text = matrix(sparrow_csr_buffers { value_type: 0, ..csr });
    assert!(text.starts_with("buffers->value_type is 0, and none of SPARROW_VALUE_TYPE_F32 (1)"));
    let text = matrix(sparrow_csr_buffers { offset_type: 3, ..csr });
    assert!(text.starts_with("buffers->offset_type is 3, and none of"), "{text}");
    let text = matrix(sparrow_csr_buffers { rows: u64::MAX, ..csr });
    assert_eq!(text, "buffers->rows is 18446744073709551615, above the limit of 4294967295");
    let text = matrix(sparrow_csr_buffers { cols: 1 << 32, ..csr });
    assert_eq!(text, "buffers->cols is 4294967296, above the limit of 4294967295");
    let text = matrix(sparrow_csr_buffers { nnz: 1 << 32, ..csr });
    assert_eq!(text, "nnz is 4294967296, above the limit of 4294967295 of u32 offsets");
    let plan = |options: sparrow_plan_options| valid.plan_refusal(&options, INVALID);
    let usual = plan_options();
    assert!(plan(sparrow_plan_options { products: 3, ..usual }).contains("options->products is 3"));
    let text = plan(sparrow_plan_options { accumulate: 2, ..usual });
    assert!(text.contains("options->accumulate is 2"), "{text}");
    let text = plan(sparrow_plan_options { operation: 2, ..usual });
    assert!(text.contains("options->operation is 2"), "{text}");
    assert!(plan(sparrow_plan_options { planning: 9, ..usual }).contains("options->planning is 9"));
    let text = plan(sparrow_plan_options { scalars_on_device: 7, ..usual });
    assert_eq!(text, "options->scalars_on_device is 7, and must be 0 or 1");
}

#[test]
fn names_that_nothing_has_are_refused_with_those_there_are() {
    let valid = Valid::new();
    let usual = plan_options();
    let plan = |options: sparrow_plan_options| valid.plan_refusal(&options, INVALID);
    let text = plan(sparrow_plan_options { algorithm: c"merge_path".as_ptr(), ..usual });
    assert!(text.starts_with("options->algorithm: algorithm \"merge_path\" is none of csr_scalar"));
    let text = plan(sparrow_plan_options { algorithm: c"\xff".as_ptr(), ..usual });
    assert!(text.starts_with("options->algorithm is no UTF-8"), "{text}");
    let scalar = sparrow_plan_options { algorithm: c"csr_scalar".as_ptr(), ..usual };
    let text = plan(sparrow_plan_options { variant: c"spin".as_ptr(), ..scalar });
    assert!(text.contains("csr_scalar has none, and \"spin\" was asked for"), "{text}");
    let text = plan(sparrow_plan_options { parameters: c"group_size".as_ptr(), ..scalar });
    assert!(text.contains("\"group_size\" is no name=number"), "{text}");
    let parameter = sparrow_status::SPARROW_STATUS_INVALID_PARAMETER;
    let unknown = sparrow_plan_options { parameters: c"speed=9".as_ptr(), ..scalar };
    assert!(valid.plan_refusal(&unknown, parameter).contains("speed"));
    let huge = sparrow_plan_options { parameters: c"group_size=1048576".as_ptr(), ..scalar };
    assert!(valid.plan_refusal(&huge, parameter).contains("1048576"));
    let file = sparrow_status::SPARROW_STATUS_INVALID_FILE;
    let absent = sparrow_plan_options { device_table: c"no/such/table.toml".as_ptr(), ..usual };
    let text = valid.plan_refusal(&absent, file);
    assert!(text.starts_with("device table no/such/table.toml: "), "{text}");
}

#[test]
fn buffers_that_are_too_small_or_misplaced_are_refused_with_their_sizes() {
    let valid = Valid::new();
    let moved = |buffer: sparrow_buffer, bytes: u64| sparrow_buffer {
        byte_offset: buffer.byte_offset + bytes,
        ..buffer
    };
    let right = valid.product;
    let text = refusal(valid.launch(&sparrow_product { y: moved(right.y, 4), ..right }), INVALID);
    assert!(text.starts_with("product->y: the length of an array: 4 is not allowed, 4 elements of 4 bytes from byte 8 on end beyond the buffer's 20 bytes"), "{text}");
    let text = refusal(valid.launch(&sparrow_product { x: moved(right.x, 2), ..right }), INVALID);
    assert!(text.contains("product->x: the byte offset of an array: 6 is not allowed"), "{text}");
    let far = sparrow_buffer { byte_offset: u64::MAX - 3, ..right.x };
    refusal(valid.launch(&sparrow_product { x: far, ..right }), INVALID);
    let text = valid.matrix_refusal(&sparrow_csr_buffers { nnz: 6, ..valid.csr }, INVALID);
    assert!(text.starts_with("buffers->columns: the length of an array: 6"), "{text}");
    let text = valid.matrix_refusal(&sparrow_csr_buffers { rows: 5, ..valid.csr }, INVALID);
    assert!(text.starts_with("buffers->offsets: the length of an array: 6"), "{text}");
}

#[test]
fn objects_of_another_context_plan_or_pattern_are_refused() {
    let mut valid = Valid::new();
    let mut other = Valid::new();
    let right = valid.product;
    let launch = |product| refusal(valid.launch(&product), MISMATCH);
    let text = launch(sparrow_product { x: other.product.x, ..right });
    assert_eq!(text, "product->x belongs to another context than the one it is used in");
    let text = launch(sparrow_product { y: other.product.y, ..right });
    assert_eq!(text, "product->y belongs to another context than the one it is used in");
    let text = launch(sparrow_product { a: other.matrix, ..right });
    assert_eq!(text, "the matrix does not share the pattern the plan was made for");
    let foreign = sparrow_csr_buffers { values: other.csr.values, ..valid.csr };
    let text = valid.matrix_refusal(&foreign, MISMATCH);
    assert_eq!(text, "buffers->values belongs to another context than the one it is used in");
    let (own, product) = (valid.application.queue, &raw const valid.product);
    // SAFETY: everything is valid, but does not belong together.
    unsafe {
        let (queue, workspace) = (other.application.queue, valid.workspace);
        let status =
            sparrow_plan_launch(valid.plan, queue, workspace, product, 0, null(), null_mut());
        let text = refusal(status, MISMATCH);
        assert_eq!(text, "the queue belongs to another context or device than the one given");
        let workspace = valid.spmm_workspace;
        let status =
            sparrow_plan_launch(valid.plan, own, workspace, product, 0, null(), null_mut());
        let text = refusal(status, MISMATCH);
        assert!(text.contains("made by another plan"), "{text}");
        let mut context = null_mut();
        let status = sparrow_context_from_device(
            valid.application.context,
            other.application.device.cast::<u8>().wrapping_add(1).cast(),
            null(),
            &raw mut context,
        );
        let text = refusal(status, MISMATCH);
        assert_eq!(text, "the device is none of the 1 of the context");
    }
    let doubles = other.application.matrix::<f32, u64>();
    let text = refusal(valid.launch(&sparrow_product { a: doubles, ..right }), MISMATCH);
    assert!(text.starts_with("the matrix stores f32 with offsets of u64, and the plan"), "{text}");
    let on_device = valid.application.vector::<f32>(0, &[1.0]);
    let alpha = sparrow_scalar { value: 0.0, device: on_device };
    let text = refusal(valid.launch(&sparrow_product { alpha, ..right }), MISMATCH);
    assert!(text.contains("scalars_on_device"), "{text}");
    // SAFETY: released once.
    expect_success(unsafe { sparrow_matrix_release(doubles) });
}

#[test]
fn what_host_arrays_break_is_named_with_its_place() {
    let valid = Valid::new();
    let upload = |arrays: sparrow_csr_arrays, status| {
        let mut matrix = null_mut();
        let (context, queue) = (valid.application.sparrow, valid.application.queue);
        // SAFETY: arrays are as long as they say.
        let uploaded = unsafe {
            sparrow_matrix_upload_blocking(context, queue, &raw const arrays, &raw mut matrix)
        };
        assert!(matrix.is_null());
        refusal(uploaded, status)
    };
    let right = host_arrays();
    let columns = [0u32, 2, 1, 3, 0];
    let text = upload(sparrow_csr_arrays { columns: columns.as_ptr(), ..right }, INVALID_MATRIX);
    assert_eq!(text, "column 3 of entry 3 is outside 0..3");
    let offsets = [0u32, 2, 1, 4, 5];
    let offsets = offsets.as_ptr();
    let falling = sparrow_csr_arrays { offsets: offsets.cast(), ..right };
    assert!(upload(falling, INVALID_MATRIX).starts_with("row offset 2 is 1"));
    let text = upload(sparrow_csr_arrays { nnz: 4, ..right }, INVALID_MATRIX);
    assert!(text.starts_with("row offset 4 is 5"), "{text}");
    let odd = right.offsets.wrapping_byte_add(1);
    let text = upload(sparrow_csr_arrays { offsets: odd, ..right }, INVALID);
    assert!(text.ends_with("and must be at a multiple of 4"), "{text}");
    let text = upload(sparrow_csr_arrays { values: null(), ..right }, INVALID);
    assert_eq!(text, "arrays->values is NULL, and 5 elements are needed");
}

#[test]
fn a_pattern_on_the_device_is_checked_on_demand() {
    let mut valid = Valid::new();
    let columns = valid.application.buffer(1, &[0u32, 2, 9, 2, 0]);
    let (context, queue) = (valid.application.sparrow, valid.application.queue);
    let wrong = sparrow_csr_buffers { columns, ..valid.csr };
    // SAFETY: the pattern is broken, but nothing multiplies with it.
    unsafe {
        let matrix = made(|out| {
            let buffers = &raw const wrong;
            sparrow_matrix_from_buffers_blocking(context, queue, buffers, 0, null(), out)
        });
        let status = sparrow_matrix_check_blocking(matrix, queue, 0, null());
        assert_eq!(refusal(status, INVALID_MATRIX), "column 9 of entry 2 is outside 0..3");
        expect_success(sparrow_matrix_check_blocking(valid.matrix, queue, 0, null()));
        expect_success(sparrow_matrix_release(matrix));
    }
}

#[test]
fn a_matrix_without_entries_needs_no_buffers_for_them() {
    let mut valid = Valid::new();
    let offsets = valid.application.buffer(1, &[0u32; 5]);
    let empty =
        sparrow_csr_buffers { nnz: 0, offsets, columns: NOWHERE, values: NOWHERE, ..valid.csr };
    let (context, queue) = (valid.application.sparrow, valid.application.queue);
    // SAFETY: everything is valid.
    let a = unsafe {
        made(|out| {
            let buffers = &raw const empty;
            sparrow_matrix_from_buffers_blocking(context, queue, buffers, 0, null(), out)
        })
    };
    let plan = valid.application.plan(a, &plan_options());
    let scalars = (by_value(1.0), by_value(0.5));
    let y = valid.application.multiply::<f32>(plan, a, (&X, &Y), scalars);
    assert_eq!(y, [1.0, 2.0, 3.0, 4.0]);
    // SAFETY: each is released once.
    unsafe {
        expect_success(sparrow_matrix_release(a));
        expect_success(sparrow_plan_release(plan.0));
        expect_success(sparrow_workspace_release(plan.1));
    }
}

#[test]
fn a_context_takes_its_device_table_and_its_cache_from_where_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let kind = format!("{:?}", conformance::device().traits().device_type).to_lowercase();
    let table = format!(
        "format = 1\n[[device]]\ntype = \"{kind}\"\norigin = \"a test\"\n\
         [device.kernel.csr_scalar.f32]\ngroup_size = 16\nspeed = 3\n"
    );
    std::fs::write(&path, table).unwrap();
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let cache = folder.path().join("cache");
    let cache_path = CString::new(cache.to_str().unwrap()).unwrap();
    let options = sparrow_context_options {
        size: size_of::<sparrow_context_options>(),
        device_table: path.as_ptr(),
        binary_cache: cache_path.as_ptr(),
    };
    let mut application = Application::with_options(&raw const options);
    let mut info = sparrow_context_info {
        size: size_of::<sparrow_context_info>(),
        device: null(),
        platform: null(),
        table_problems: null(),
    };
    // SAFETY: the context is valid.
    expect_success(unsafe { sparrow_context_get_info(application.sparrow, &raw mut info) });
    assert_eq!(text(info.device), conformance::device().traits().name);
    assert!(text(info.table_problems).contains("speed"), "{}", text(info.table_problems));

    let a = application.matrix::<f32, u32>();
    let algorithm = c"csr_scalar".as_ptr();
    let (plan, workspace) =
        application.plan(a, &sparrow_plan_options { algorithm, ..plan_options() });
    assert_eq!(c_application::info(plan).1[3], "group_size=16");
    assert!(std::fs::read_dir(&cache).unwrap().count() > 0, "binaries are kept there");
    let device_table = c"off".as_ptr();
    let without = sparrow_plan_options { algorithm, device_table, ..plan_options() };
    let (other, other_workspace) = application.plan(a, &without);
    assert_ne!(c_application::info(other).1[3], "group_size=16");
    // SAFETY: each is released once.
    unsafe {
        for plan in [plan, other] {
            expect_success(sparrow_plan_release(plan));
        }
        for workspace in [workspace, other_workspace] {
            expect_success(sparrow_workspace_release(workspace));
        }
        expect_success(sparrow_matrix_release(a));
    }
    let absent = sparrow_context_options { device_table: c"no/table.toml".as_ptr(), ..options };
    let mut context = null_mut();
    // SAFETY: the queue is valid.
    let status = unsafe {
        let out = &raw mut context;
        sparrow_context_from_queue(application.queue, &raw const absent, out)
    };
    refusal(status, sparrow_status::SPARROW_STATUS_INVALID_FILE);
}
