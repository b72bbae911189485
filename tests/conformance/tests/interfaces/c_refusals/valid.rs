//! An application that has something valid for every argument of `sparrow.h`.

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::*;

/// Something valid for every argument there is.
pub(crate) struct Valid {
    pub(crate) application: Application,
    pub(crate) csr: sparrow_csr_buffers,
    pub(crate) matrix: *mut sparrow_matrix,
    pub(crate) plan: *mut sparrow_plan,
    pub(crate) workspace: *mut sparrow_workspace,
    pub(crate) product: sparrow_product,
    pub(crate) recording: *mut sparrow_recording,
    pub(crate) spmm_options: sparrow_spmm_options,
    pub(crate) spmm_plan: *mut sparrow_spmm_plan,
    pub(crate) spmm_workspace: *mut sparrow_workspace,
    pub(crate) dense_product: sparrow_dense_product,
    pub(crate) hyb_buffers: sparrow_hyb_buffers,
    pub(crate) hyb_matrix: *mut sparrow_hyb_matrix,
    pub(crate) hyb_plan: *mut sparrow_hyb_plan,
    pub(crate) hyb_workspace: *mut sparrow_workspace,
    pub(crate) hyb_product: sparrow_hyb_product,
    /// What `batch_buffers` points to.
    _problem: Box<sparrow_problem>,
    pub(crate) batch_buffers: sparrow_batch_buffers,
    pub(crate) batch: *mut sparrow_batch,
    pub(crate) batch_plan: *mut sparrow_batch_plan,
    pub(crate) batch_workspace: *mut sparrow_workspace,
    pub(crate) batch_product: sparrow_batch_product,
    pub(crate) vectors_options: sparrow_vectors_options,
    pub(crate) vectors: *mut sparrow_vectors,
    pub(crate) elementwise: sparrow_elementwise,
    pub(crate) reduction: sparrow_reduction,
    pub(crate) dense_of_matrix: sparrow_buffer,
    pub(crate) square: *mut sparrow_matrix,
    pub(crate) solver: *mut sparrow_solver,
    pub(crate) system: sparrow_linear_system,
}

impl Valid {
    pub(crate) fn new() -> Self {
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
        let hyb_buffers = sparrow_hyb_buffers {
            size: size_of::<sparrow_hyb_buffers>(),
            rows: ROWS as u64,
            cols: COLS as u64,
            ell_width: 1,
            ell_pitch: 0,
            coo_entries: 0,
            value_type: SPARROW_VALUE_TYPE_F32,
            reserved: 0,
            ell_columns: csr.columns,
            ell_values: csr.values,
            coo_rows: NOWHERE,
            coo_columns: NOWHERE,
            coo_values: NOWHERE,
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
            let hyb_matrix =
                made(|out| sparrow_hyb_matrix_from_buffers(context, &raw const hyb_buffers, out));
            let hyb_plan = made(|out| {
                sparrow_hyb_plan_create_blocking(hyb_matrix, queue, null(), 0, null(), out)
            });
            let (alpha, beta) = (by_value(1.0), by_value(0.0));
            let of_plan = product(alpha, matrix, x, beta, y);
            let recording = made(|out| {
                let products = &raw const of_plan;
                sparrow_plan_record_blocking(plan, queue, 1, &raw const products, 0, out)
            });
            let number = |value| sparrow_batch_scalar { value, device: NOWHERE, each: 0 };
            Valid {
                csr,
                matrix,
                plan,
                workspace,
                product: of_plan,
                recording,
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
                hyb_buffers,
                hyb_matrix,
                hyb_plan,
                hyb_workspace: made(|out| {
                    sparrow_hyb_plan_workspace_blocking(hyb_plan, queue, out)
                }),
                hyb_product: sparrow_hyb_product {
                    size: size_of::<sparrow_hyb_product>(),
                    alpha,
                    x,
                    beta,
                    y,
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
                    operation: SPARROW_ELEMENTARY_UPDATE,
                    gamma: alpha,
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

    pub(crate) fn launch(&self, product: &sparrow_product) -> sparrow_status {
        // SAFETY: everything is valid but what the test made wrong.
        unsafe {
            let (queue, product) = (self.application.queue, &raw const *product);
            sparrow_plan_launch(self.plan, queue, self.workspace, product, 0, null(), null_mut())
        }
    }

    pub(crate) fn plan_refusal(
        &self,
        options: &sparrow_plan_options,
        status: sparrow_status,
    ) -> String {
        let mut plan = null_mut();
        // SAFETY: everything is valid but what the test made wrong.
        let created = unsafe {
            let (queue, options) = (self.application.queue, &raw const *options);
            sparrow_plan_create_blocking(self.matrix, queue, options, 0, null(), &raw mut plan)
        };
        assert!(plan.is_null());
        refusal(created, status)
    }

    pub(crate) fn matrix_refusal(
        &self,
        buffers: &sparrow_csr_buffers,
        status: sparrow_status,
    ) -> String {
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
            expect_success(sparrow_recording_release(self.recording));
            expect_success(sparrow_plan_release(self.plan));
            expect_success(sparrow_workspace_release(self.workspace));
            expect_success(sparrow_spmm_plan_release(self.spmm_plan));
            expect_success(sparrow_workspace_release(self.spmm_workspace));
            expect_success(sparrow_hyb_matrix_release(self.hyb_matrix));
            expect_success(sparrow_hyb_plan_release(self.hyb_plan));
            expect_success(sparrow_workspace_release(self.hyb_workspace));
            expect_success(sparrow_batch_release(self.batch));
            expect_success(sparrow_batch_plan_release(self.batch_plan));
            expect_success(sparrow_workspace_release(self.batch_workspace));
            expect_success(sparrow_vectors_release(self.vectors));
            expect_success(sparrow_matrix_release(self.square));
            expect_success(sparrow_solver_release(self.solver));
        }
    }
}

/// Entries with the columns and values of the matrix, all of them in rows that there are.
pub(crate) fn entries(valid: &Valid) -> sparrow_coo_buffers {
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

/// The matrix as a dense one.
pub(crate) fn dense_source(valid: &Valid) -> sparrow_dense_source {
    sparrow_dense_source {
        size: size_of::<sparrow_dense_source>(),
        shape: sparrow_dense_shape { cols: COLS as u64, ..valid.spmm_options.c },
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U32,
        tolerance: 0.0,
        elements: valid.dense_of_matrix,
    }
}

/// No buffers for what is made of a matrix.
pub(crate) fn no_parts() -> sparrow_matrix_parts {
    sparrow_matrix_parts {
        size: size_of::<sparrow_matrix_parts>(),
        offsets: NOWHERE,
        row_indices: NOWHERE,
        columns: NOWHERE,
        values: NOWHERE,
    }
}

/// The matrix in arrays of the host.
pub(crate) fn host_arrays() -> sparrow_csr_arrays {
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

/// To be filled in.
pub(crate) fn empty_matrix_info() -> sparrow_matrix_info {
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
