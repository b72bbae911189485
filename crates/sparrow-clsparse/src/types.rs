//! clSPARSE's structures, as they lie in memory since version 0.10.
//!
//! What all functions of this library ask of their callers: a pointer is null, or points to what its type says;
//! a `cl_mem`, queue or event is null, or a handle that OpenCL gave and that was not released. Null is told by a
//! status everywhere. In the structures for shared virtual memory (`...Svm`), which a control of
//! [`clsparseCreateControlSvm`](crate::clsparseCreateControlSvm) takes, there are addresses instead of buffers, which
//! live until everything that was enqueued with them has ended. Handles that were released, or never were any, are OpenCL's to fault on; controls and metas
//! that were released are told by a status.

use std::ffi::c_void;

use crate::Status;

/// A buffer of OpenCL's.
pub type cl_mem = *mut c_void;
/// A queue of OpenCL's.
pub type cl_command_queue = *mut c_void;
/// An event of OpenCL's.
pub type cl_event = *mut c_void;
/// What counts rows, columns and nonzeros.
pub type clsparseIdx_t = u32;

/// One number in device memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct clsparseScalar {
    /// Where it lies.
    pub value: cl_mem,
    /// Elements before it.
    pub off_value: clsparseIdx_t,
}

/// A dense vector.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cldenseVector {
    /// Elements; 0 where it was not said.
    pub num_values: clsparseIdx_t,
    /// Where they lie.
    pub values: cl_mem,
    /// Elements before them.
    pub off_values: clsparseIdx_t,
}

/// A matrix in compressed rows.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct clsparseCsrMatrix {
    /// Rows.
    pub num_rows: clsparseIdx_t,
    /// Columns.
    pub num_cols: clsparseIdx_t,
    /// Stored entries.
    pub num_nonzeros: clsparseIdx_t,
    /// The value of each entry.
    pub values: cl_mem,
    /// The column of each entry.
    pub col_indices: cl_mem,
    /// Where each row begins: rows + 1.
    pub row_pointer: cl_mem,
    /// Elements before the values.
    pub off_values: clsparseIdx_t,
    /// Elements before the columns.
    pub off_col_indices: clsparseIdx_t,
    /// Elements before the row offsets.
    pub off_row_pointer: clsparseIdx_t,
    /// What [`clsparseCsrMetaCreate`](crate::clsparseCsrMetaCreate) made, or null.
    pub meta: *mut c_void,
}

/// A matrix as entries.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct clsparseCooMatrix {
    /// Rows.
    pub num_rows: clsparseIdx_t,
    /// Columns.
    pub num_cols: clsparseIdx_t,
    /// Stored entries.
    pub num_nonzeros: clsparseIdx_t,
    /// The value of each entry.
    pub values: cl_mem,
    /// The column of each entry.
    pub col_indices: cl_mem,
    /// The row of each entry.
    pub row_indices: cl_mem,
    /// Elements before the values.
    pub off_values: clsparseIdx_t,
    /// Elements before the columns.
    pub off_col_indices: clsparseIdx_t,
    /// Elements before the rows.
    pub off_row_indices: clsparseIdx_t,
}

/// A dense matrix.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cldenseMatrix {
    /// Rows.
    pub num_rows: clsparseIdx_t,
    /// Columns.
    pub num_cols: clsparseIdx_t,
    /// Elements from one row (column) to the next.
    pub lead_dim: clsparseIdx_t,
    /// 1: rows lie together; 2: columns do.
    pub major: i32,
    /// Where the elements lie.
    pub values: cl_mem,
    /// Elements before them.
    pub off_values: clsparseIdx_t,
}

/// [`clsparseScalar`] in shared virtual memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct clsparseScalarSvm {
    /// Where it lies.
    pub value: *mut c_void,
}

/// [`cldenseVector`] in shared virtual memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cldenseVectorSvm {
    /// Elements; 0 where it was not said.
    pub num_values: clsparseIdx_t,
    /// Where they lie.
    pub values: *mut c_void,
}

/// [`clsparseCsrMatrix`] in shared virtual memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct clsparseCsrMatrixSvm {
    /// Rows.
    pub num_rows: clsparseIdx_t,
    /// Columns.
    pub num_cols: clsparseIdx_t,
    /// Stored entries.
    pub num_nonzeros: clsparseIdx_t,
    /// The value of each entry.
    pub values: *mut c_void,
    /// The column of each entry.
    pub col_indices: *mut c_void,
    /// Where each row begins: rows + 1.
    pub row_pointer: *mut c_void,
    /// What [`clsparseCsrMetaCreate`](crate::clsparseCsrMetaCreate) made, or null.
    pub meta: *mut c_void,
}

/// [`clsparseCooMatrix`] in shared virtual memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct clsparseCooMatrixSvm {
    /// Rows.
    pub num_rows: clsparseIdx_t,
    /// Columns.
    pub num_cols: clsparseIdx_t,
    /// Stored entries.
    pub num_nonzeros: clsparseIdx_t,
    /// The value of each entry.
    pub values: *mut c_void,
    /// The column of each entry.
    pub col_indices: *mut c_void,
    /// The row of each entry.
    pub row_indices: *mut c_void,
}

/// [`cldenseMatrix`] in shared virtual memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cldenseMatrixSvm {
    /// Rows.
    pub num_rows: clsparseIdx_t,
    /// Columns.
    pub num_cols: clsparseIdx_t,
    /// Elements from one row (column) to the next.
    pub lead_dim: clsparseIdx_t,
    /// 1: rows lie together; 2: columns do.
    pub major: i32,
    /// Where the elements lie.
    pub values: *mut c_void,
}

/// The handle of what a queue's calls have in common.
pub type clsparseControl = *mut c_void;
/// The handle of what a solver is told.
pub type clSParseSolverControl = *mut c_void;

/// What `clsparseCreateControl` returns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct clsparseCreateResult {
    /// How it ended.
    pub status: Status,
    /// The control, or null.
    pub control: clsparseControl,
}

/// What `clsparseGetEvent` returns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct clsparseEventResult {
    /// How it ended.
    pub status: Status,
    /// The event, which the caller releases, or null.
    pub event: cl_event,
}

/// What `clsparseCreateSolverControl` returns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct clsparseCreateSolverResult {
    /// How it ended.
    pub status: Status,
    /// The control, or null.
    pub control: clSParseSolverControl,
}

/// What `clsparseCsrMetaSize` returns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct clsparseMetaSizeResult {
    /// How it ended.
    pub status: Status,
    /// Entries of 8 bytes.
    pub metaSize: clsparseIdx_t,
}

/// Holds a structure to the offsets that programs were compiled with.
macro_rules! layout {
    ($name:ident, $size:literal: $($field:ident $offset:literal),+) => {
        #[cfg(target_pointer_width = "64")]
        const _: () = {
            assert!(size_of::<$name>() == $size);
            $(assert!(std::mem::offset_of!($name, $field) == $offset);)+
        };
    };
}

layout!(clsparseScalar, 16: value 0, off_value 8);
layout!(cldenseVector, 24: num_values 0, values 8, off_values 16);
layout!(clsparseCsrMatrix, 64: num_rows 0, num_cols 4, num_nonzeros 8, values 16, col_indices 24, row_pointer 32,
    off_values 40, off_col_indices 44, off_row_pointer 48, meta 56);
layout!(clsparseCooMatrix, 56: num_rows 0, num_cols 4, num_nonzeros 8, values 16, col_indices 24, row_indices 32,
    off_values 40, off_col_indices 44, off_row_indices 48);
layout!(cldenseMatrix, 32: num_rows 0, num_cols 4, lead_dim 8, major 12, values 16, off_values 24);
layout!(clsparseScalarSvm, 8: value 0);
layout!(cldenseVectorSvm, 16: num_values 0, values 8);
layout!(clsparseCsrMatrixSvm, 48: num_rows 0, num_cols 4, num_nonzeros 8, values 16, col_indices 24, row_pointer 32,
    meta 40);
layout!(clsparseCooMatrixSvm, 40: num_rows 0, num_cols 4, num_nonzeros 8, values 16, col_indices 24, row_indices 32);
layout!(cldenseMatrixSvm, 24: num_rows 0, num_cols 4, lead_dim 8, major 12, values 16);
layout!(clsparseCreateResult, 16: status 0, control 8);
layout!(clsparseEventResult, 16: status 0, event 8);
layout!(clsparseCreateSolverResult, 16: status 0, control 8);
layout!(clsparseMetaSizeResult, 8: status 0, metaSize 4);
