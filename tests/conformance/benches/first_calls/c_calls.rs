//! The calls of the C libraries, as an application makes them that has its own context, queue and buffers.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use clSPARSE::*;
use sparrow::DeviceArray;
use sparrow_c::*;

use crate::problem::Problem;

/// A buffer as C names it.
fn raw<T: bytemuck::Pod>(array: &DeviceArray<T>) -> *mut c_void {
    array.memory().0.as_raw().expect("a buffer")
}

fn expect_success(status: Status) {
    assert_eq!(status, Status::Success);
}

/// One dot product by sparrow.h.
#[expect(unsafe_code, reason = "calls a C interface")]
pub(super) fn sparrow_dot(problem: Problem) -> sparrow::Result<()> {
    let Problem { queue, x, y, .. } = problem;
    let result = DeviceArray::upload_blocking(&queue, &[0.0])?;
    let buffer = |array: &DeviceArray<f64>| sparrow_buffer {
        memory: raw(array),
        byte_offset: 0,
        svm: std::ptr::null_mut(),
    };
    let options = sparrow_vectors_options {
        size: size_of::<sparrow_vectors_options>(),
        value_type: SPARROW_VALUE_TYPE_F64,
        accumulate: SPARROW_ACCUMULATE_PLAIN,
        scalars_on_device: 0,
    };
    let reduction = sparrow_reduction {
        size: size_of::<sparrow_reduction>(),
        elements: x.len() as u64,
        x: buffer(&x),
        y: buffer(&y),
        result: buffer(&result),
        kind: SPARROW_REDUCTION_DOT,
    };
    let right = sparrow_status::SPARROW_STATUS_SUCCESS;
    let (mut context, mut vectors) = (null_mut(), null_mut());
    // SAFETY: all of it lives; each object is made before it is used, and released once.
    unsafe {
        let status = sparrow_context_from_queue(queue.as_raw(), null(), &raw mut context);
        assert_eq!(status, right);
        let (options, out) = (&raw const options, &raw mut vectors);
        assert_eq!(sparrow_vectors_create_blocking(context, queue.as_raw(), options, out), right);
        let (reduction, no_event) = (&raw const reduction, null_mut());
        let status =
            sparrow_vectors_reduce(vectors, queue.as_raw(), reduction, 0, null(), no_event);
        assert_eq!(status, right);
        result.read_blocking(&queue)?;
        assert_eq!(sparrow_vectors_release(vectors), right);
        assert_eq!(sparrow_context_release(context), right);
    }
    Ok(())
}

/// The operands in clSPARSE's structures, and a control.
struct ClSparse {
    problem: Problem,
    numbers: [DeviceArray<f64>; 2],
    control: clsparseControl,
    csr: clsparseCsrMatrix,
}

impl ClSparse {
    fn new(problem: Problem) -> sparrow::Result<Self> {
        let number = |value: f64| DeviceArray::upload_blocking(&problem.queue, &[value]);
        let numbers = [number(1.0)?, number(0.0)?];
        expect_success(clsparseSetup());
        // SAFETY: the queue lives.
        #[expect(unsafe_code, reason = "calls a C interface")]
        let created = unsafe { clsparseCreateControl(problem.queue.as_raw()) };
        expect_success(created.status);
        let a = &problem.a;
        let csr = clsparseCsrMatrix {
            num_rows: a.rows() as u32,
            num_cols: a.cols() as u32,
            num_nonzeros: a.nnz() as u32,
            values: raw(a.values()),
            col_indices: raw(a.columns()),
            row_pointer: raw(a.offsets()),
            off_values: 0,
            off_col_indices: 0,
            off_row_pointer: 0,
            meta: null_mut(),
        };
        Ok(ClSparse { numbers, control: created.control, csr, problem })
    }

    fn vector(array: &DeviceArray<f64>) -> cldenseVector {
        cldenseVector { num_values: array.len() as u32, values: raw(array), off_values: 0 }
    }

    fn number(&self, index: usize) -> clsparseScalar {
        clsparseScalar { value: raw(&self.numbers[index]), off_value: 0 }
    }

    /// y = A x.
    #[expect(unsafe_code, reason = "calls a C interface")]
    fn csrmv(&self) {
        let (alpha, beta) = (self.number(0), self.number(1));
        let (x, mut y) = (Self::vector(&self.problem.x), Self::vector(&self.problem.y));
        // SAFETY: all of it lives.
        expect_success(unsafe {
            let (alpha, beta) = (&raw const alpha, &raw const beta);
            clsparseDcsrmv(alpha, &raw const self.csr, &raw const x, beta, &raw mut y, self.control)
        });
    }

    #[expect(unsafe_code, reason = "calls a C interface")]
    fn make_meta(&mut self) {
        // SAFETY: the matrix lives.
        expect_success(unsafe { clsparseCsrMetaCreate(&raw mut self.csr, self.control) });
    }
}

impl Drop for ClSparse {
    fn drop(&mut self) {
        // SAFETY: the matrix lives; one without a meta is left alone.
        #[expect(unsafe_code, reason = "calls a C interface")]
        expect_success(unsafe { clsparseCsrMetaDelete(&raw mut self.csr) });
        expect_success(clsparseReleaseControl(self.control));
    }
}

#[expect(unsafe_code, reason = "calls a C interface")]
pub(super) fn clsparse_dot(problem: Problem) -> sparrow::Result<()> {
    let own = ClSparse::new(problem)?;
    let mut result = own.number(1);
    let (x, y) = (ClSparse::vector(&own.problem.x), ClSparse::vector(&own.problem.y));
    // SAFETY: all of it lives.
    expect_success(unsafe {
        cldenseDdot(&raw mut result, &raw const x, &raw const y, own.control)
    });
    Ok(())
}

pub(super) fn clsparse_csrmv(problem: Problem) -> sparrow::Result<()> {
    ClSparse::new(problem)?.csrmv();
    Ok(())
}

pub(super) fn clsparse_meta(problem: Problem) -> sparrow::Result<()> {
    ClSparse::new(problem)?.make_meta();
    Ok(())
}

pub(super) fn clsparse_meta_and_csrmv(problem: Problem) -> sparrow::Result<()> {
    let mut own = ClSparse::new(problem)?;
    own.make_meta();
    own.csrmv();
    Ok(())
}

#[expect(unsafe_code, reason = "calls a C interface")]
pub(super) fn clsparse_cg(problem: Problem) -> sparrow::Result<()> {
    let own = ClSparse::new(problem)?;
    const NO_PRECONDITIONER: i32 = 0;
    let made = clsparseCreateSolverControl(NO_PRECONDITIONER, 10, 1e-8, 0.0);
    expect_success(made.status);
    let (b, mut x) = (ClSparse::vector(&own.problem.x), ClSparse::vector(&own.problem.y));
    // SAFETY: all of it lives.
    let status = unsafe {
        let (x, b) = (&raw mut x, &raw const b);
        clsparseDcsrcg(x, &raw const own.csr, b, made.control, own.control)
    };
    expect_success(status);
    expect_success(clsparseReleaseSolverControl(made.control));
    Ok(())
}
