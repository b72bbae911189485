//! C = alpha A B + beta C, with A in compressed rows and B and C dense.
//!
//! With a meta, by the plan it keeps for matrices that lie so; without one, by a plan that serves once.

use sparrow::{AnyMatrix, ValueType};

use crate::boundary::status_of;
use crate::control::Control;
use crate::meta::{Meta, spmm_plan};
use crate::operands::{CsrArrays, apart, dense, scalar};
use crate::product::DenseOperands;
use crate::status::Status;
use crate::types::{cldenseMatrix, clsparseControl, clsparseCsrMatrix, clsparseScalar};

/// # Safety
/// As types.rs says of all functions.
unsafe fn csrmm(
    value_type: ValueType,
    alpha: *const clsparseScalar,
    sparseMatA: *const clsparseCsrMatrix,
    denseMatB: *const cldenseMatrix,
    beta: *const clsparseScalar,
    denseMatC: *mut cldenseMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (matrix, alpha, beta) =
            unsafe { (control.read(sparseMatA)?, control.read(alpha)?, control.read(beta)?) };
        let (matrix, alpha, beta) = (&matrix, &alpha, &beta);
        // SAFETY: as before.
        let (b, c) = unsafe { (control.read(denseMatB)?, control.read(denseMatC)?) };
        let (b, c) = (&b, &c);
        let fits = b.num_rows == matrix.num_cols
            && c.num_rows == matrix.num_rows
            && b.num_cols == c.num_cols;
        if !fits {
            return Err(Status::InvalidSize);
        }
        if c.num_rows == 0 || c.num_cols == 0 {
            return control.state().end_blocking(&control.queue);
        }
        let arrays = CsrArrays::of(&control, value_type, matrix)?;
        let (b_shape, b) = dense(&control, value_type, b)?;
        let (c_shape, c) = dense(&control, value_type, c)?;
        // What shares memory with C counts as it was.
        let b = apart(&control, b, &c)?;
        let alpha = apart(&control, scalar(&control, value_type, alpha)?, &c)?;
        let beta = apart(&control, scalar(&control, value_type, beta)?, &c)?;
        let shapes = (b_shape, c_shape);
        let mut operands = DenseOperands { alpha, b, beta, c, shapes };
        let event = match Meta::of(matrix)? {
            Some(meta) => meta.launch_dense(&control, arrays, &mut operands)?,
            None => {
                let CsrArrays { offsets, columns, values } = arrays;
                let (queue, cols) = (&control.queue, matrix.num_cols as usize);
                // SAFETY: that the pattern is one is the application's promise.
                let a = unsafe {
                    AnyMatrix::from_arrays_blocking(queue, cols, offsets, columns, values)?
                };
                let plan = spmm_plan(queue, &a, shapes)?;
                let mut workspace = plan.workspace_blocking(queue)?;
                operands.launch(&control, &plan, &mut workspace, &a)?
            }
        };
        control.state().end(event)
    })
}

/// C = alpha A B + beta C in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScsrmm(
    alpha: *const clsparseScalar,
    sparseMatA: *const clsparseCsrMatrix,
    denseMatB: *const cldenseMatrix,
    beta: *const clsparseScalar,
    denseMatC: *mut cldenseMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csrmm(ValueType::F32, alpha, sparseMatA, denseMatB, beta, denseMatC, control) }
}

/// C = alpha A B + beta C in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcsrmm(
    alpha: *const clsparseScalar,
    sparseMatA: *const clsparseCsrMatrix,
    denseMatB: *const cldenseMatrix,
    beta: *const clsparseScalar,
    denseMatC: *mut cldenseMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csrmm(ValueType::F64, alpha, sparseMatA, denseMatB, beta, denseMatC, control) }
}
