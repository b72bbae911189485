//! Structures as they are before an application fills them in.

use std::ptr;

use crate::boundary::{status_of, write};
use crate::status::Status;
use crate::structures::Structure;
use crate::types::{
    cldenseMatrix, cldenseMatrixSvm, cldenseVector, cldenseVectorSvm, clsparseCooMatrix,
    clsparseCooMatrixSvm, clsparseCsrMatrix, clsparseCsrMatrixSvm, clsparseScalar,
    clsparseScalarSvm,
};

const NO_SCALAR: clsparseScalar = clsparseScalar { value: ptr::null_mut(), off_value: 0 };

const NO_VECTOR: cldenseVector =
    cldenseVector { num_values: 0, values: ptr::null_mut(), off_values: 0 };

const NO_ENTRIES: clsparseCooMatrix = clsparseCooMatrix {
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

const NO_ROWS: clsparseCsrMatrix = clsparseCsrMatrix {
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

const NO_DENSE: cldenseMatrix = cldenseMatrix {
    num_rows: 0,
    num_cols: 0,
    lead_dim: 0,
    major: ROW_MAJOR,
    values: ptr::null_mut(),
    off_values: 0,
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

/// A pair of functions: for either layout.
macro_rules! initializes {
    ($($what:literal: $value:ident, $name:ident($argument:ident: $type:ty), $of_shared:ident($shared:ty);)+) => {$(
        #[doc = $what]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($argument: *mut $type) -> Status {
            // SAFETY: as types.rs says of all functions.
            unsafe { set($argument, $value) }
        }

        #[doc = concat!($what, " As programs know it that name shared virtual memory.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $of_shared($argument: *mut $shared) -> Status {
            // SAFETY: as types.rs says of all functions.
            unsafe { set($argument, $value.to_shared()) }
        }
    )+};
}

initializes! {
    "A scalar without a buffer.": NO_SCALAR, clsparseInitScalar(scalar: clsparseScalar),
        clsparseInitScalarSvm(clsparseScalarSvm);
    "A vector without elements.": NO_VECTOR, clsparseInitVector(vec: cldenseVector),
        clsparseInitVectorSvm(cldenseVectorSvm);
    "A matrix without rows.": NO_ENTRIES, clsparseInitCooMatrix(cooMatx: clsparseCooMatrix),
        clsparseInitCooMatrixSvm(clsparseCooMatrixSvm);
    "A matrix without rows; a meta that it had lives on.": NO_ROWS, clsparseInitCsrMatrix(csrMatx: clsparseCsrMatrix),
        clsparseInitCsrMatrixSvm(clsparseCsrMatrixSvm);
    "A matrix without rows, which would lie together.": NO_DENSE, cldenseInitMatrix(denseMatx: cldenseMatrix),
        cldenseInitMatrixSvm(cldenseMatrixSvm);
}
