//! Structures as they are before an application fills them in.

use std::ptr;

use crate::boundary::{status_of, write};
use crate::status::Status;
use crate::types::{
    cldenseMatrix, cldenseVector, clsparseCooMatrix, clsparseCsrMatrix, clsparseScalar,
};

/// Rows lie together.
pub(crate) const ROW_MAJOR: i32 = 1;
/// Columns lie together.
pub(crate) const COLUMN_MAJOR: i32 = 2;

/// Sets what `pointer` points to.
///
/// # Safety
/// As [`write`]; what is there need not be initialised.
unsafe fn set<T>(pointer: *mut T, value: T) -> Status {
    status_of(|| {
        // SAFETY: the caller's promise; a pointer that is not null can be written to.
        let place = unsafe { write(pointer.cast::<std::mem::MaybeUninit<T>>())? };
        place.write(value);
        Ok(())
    })
}

/// A scalar without a buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseInitScalar(scalar: *mut clsparseScalar) -> Status {
    // SAFETY: as types.rs says of all functions.
    unsafe { set(scalar, clsparseScalar { value: ptr::null_mut(), off_value: 0 }) }
}

/// A vector without elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseInitVector(vec: *mut cldenseVector) -> Status {
    let empty = cldenseVector { num_values: 0, values: ptr::null_mut(), off_values: 0 };
    // SAFETY: as types.rs says of all functions.
    unsafe { set(vec, empty) }
}

/// A matrix without rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseInitCooMatrix(cooMatx: *mut clsparseCooMatrix) -> Status {
    let empty = clsparseCooMatrix {
        num_rows: 0,
        num_cols: 0,
        num_nonzeros: 0,
        values: ptr::null_mut(),
        col_indices: ptr::null_mut(),
        row_indices: ptr::null_mut(),
        off_values: 0,
        off_col_indices: 0,
        off_row_indices: 0,
    };
    // SAFETY: as types.rs says of all functions.
    unsafe { set(cooMatx, empty) }
}

/// A matrix without rows; a meta that it had lives on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseInitCsrMatrix(csrMatx: *mut clsparseCsrMatrix) -> Status {
    let empty = clsparseCsrMatrix {
        num_rows: 0,
        num_cols: 0,
        num_nonzeros: 0,
        values: ptr::null_mut(),
        col_indices: ptr::null_mut(),
        row_pointer: ptr::null_mut(),
        off_values: 0,
        off_col_indices: 0,
        off_row_pointer: 0,
        meta: ptr::null_mut(),
    };
    // SAFETY: as types.rs says of all functions.
    unsafe { set(csrMatx, empty) }
}

/// A matrix without rows, which would lie together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cldenseInitMatrix(denseMatx: *mut cldenseMatrix) -> Status {
    let empty = cldenseMatrix {
        num_rows: 0,
        num_cols: 0,
        lead_dim: 0,
        major: ROW_MAJOR,
        values: ptr::null_mut(),
        off_values: 0,
    };
    // SAFETY: as types.rs says of all functions.
    unsafe { set(denseMatx, empty) }
}
