//! y = alpha A x + beta y, with A in compressed rows.
//!
//! With a meta, by its plan. Without one, by an algorithm that has no plan, and nothing is read from the device.

use sparrow::{AnyMatrix, ValueType};

use crate::boundary::status_of;
use crate::control::Control;
use crate::meta::Meta;
use crate::operands::CsrArrays;
use crate::product::Operands;
use crate::status::Status;
use crate::types::{cldenseVector, clsparseControl, clsparseCsrMatrix, clsparseScalar};

/// # Safety
/// As types.rs says of all functions.
unsafe fn csrmv(
    value_type: ValueType,
    alpha: *const clsparseScalar,
    matx: *const clsparseCsrMatrix,
    x: *const cldenseVector,
    beta: *const clsparseScalar,
    y: *mut cldenseVector,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (alpha, x, beta, y) = unsafe {
            (control.read(alpha)?, control.read(x)?, control.read(beta)?, control.read(y)?)
        };
        let (alpha, x, beta, y) = (&alpha, &x, &beta, &y);
        // SAFETY: as before.
        let matrix = &unsafe { control.read(matx)? };
        if matrix.num_rows == 0 {
            return control.state().end_blocking(&control.queue);
        }
        let arrays = CsrArrays::of(&control, value_type, matrix)?;
        let sizes = (matrix.num_rows, matrix.num_cols);
        let mut operands = Operands::of(&control, value_type, sizes, (alpha, x), (beta, y))?;
        let mut state = control.state();
        let accumulate = state.accumulate();
        let event = match Meta::of(matrix)? {
            Some(meta) => meta.launch(&control, accumulate, arrays, &mut operands)?,
            None => {
                let CsrArrays { offsets, columns, values } = arrays;
                let (context, cols) = (control.context(), matrix.num_cols as usize);
                // SAFETY: that the pattern is one is the application's promise.
                let a = unsafe { AnyMatrix::from_arrays(context, cols, offsets, columns, values)? };
                let ready = state.free_plans.get(&control.queue, accumulate, &a)?;
                operands.launch(&control, ready, &a)?
            }
        };
        state.end(event)
    })
}

/// y = alpha A x + beta y in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScsrmv(
    alpha: *const clsparseScalar,
    matx: *const clsparseCsrMatrix,
    x: *const cldenseVector,
    beta: *const clsparseScalar,
    y: *mut cldenseVector,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csrmv(ValueType::F32, alpha, matx, x, beta, y, control) }
}

/// y = alpha A x + beta y in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcsrmv(
    alpha: *const clsparseScalar,
    matx: *const clsparseCsrMatrix,
    x: *const cldenseVector,
    beta: *const clsparseScalar,
    y: *mut cldenseVector,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csrmv(ValueType::F64, alpha, matx, x, beta, y, control) }
}
