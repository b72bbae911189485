//! Matrices: over buffers of the application's, or uploaded.

use std::ffi::c_void;
use std::sync::RwLock;

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::host::{for_offset_type, for_value_type};
use sparrow::{AnyArray, AnyMatrix, ColumnType, OffsetType, PatternView, ValueType};

use crate::buffer::array;
use crate::context::Home;
use crate::events::{queue as queue_of, wait_blocking};
use crate::failure::{Failure, Result, guard};
use crate::pointer::{
    Growing, Out, changed, fill, handle, read, release, shared, size, slice, starts,
};
use crate::types::{offset_number, offset_type, value_number, value_type};
use crate::{
    sparrow_buffer, sparrow_context, sparrow_offset_type, sparrow_status, sparrow_value_type,
};

/// A sparse matrix in compressed rows on the device. Its values can change, its pattern cannot, and plans belong to
/// the pattern. Any number of threads may use it at once.
pub struct sparrow_matrix {
    home: Home,
    inner: RwLock<AnyMatrix>,
}

impl sparrow_matrix {
    pub(crate) fn new(home: &Home, matrix: AnyMatrix) -> Self {
        sparrow_matrix { home: home.clone(), inner: RwLock::new(matrix) }
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    pub(crate) fn inner(&self) -> &RwLock<AnyMatrix> {
        &self.inner
    }
}

/// A matrix in compressed rows in buffers of the application's.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_csr_buffers {
    /// sizeof(sparrow_csr_buffers).
    pub size: usize,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Stored entries.
    pub nnz: u64,
    /// What `values` holds.
    pub value_type: sparrow_value_type,
    /// What `offsets` holds.
    pub offset_type: sparrow_offset_type,
    /// Row offsets: rows + 1, from 0 to nnz, never falling.
    pub offsets: sparrow_buffer,
    /// Column indices: nnz of uint32_t, below `cols`.
    pub columns: sparrow_buffer,
    /// Values: nnz.
    pub values: sparrow_buffer,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_csr_buffers {
    const NAME: &'static str = "sparrow_csr_buffers";
    const STARTS: &'static [usize] = starts!(sparrow_csr_buffers {
        size,
        rows,
        cols,
        nnz,
        value_type,
        offset_type,
        offsets,
        columns,
        values
    });
}

/// A matrix in compressed rows in the host's memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_csr_arrays {
    /// sizeof(sparrow_csr_arrays).
    pub size: usize,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Stored entries.
    pub nnz: u64,
    /// What `values` holds.
    pub value_type: sparrow_value_type,
    /// What `offsets` holds.
    pub offset_type: sparrow_offset_type,
    /// Row offsets: rows + 1, from 0 to nnz, never falling.
    pub offsets: *const c_void,
    /// Column indices: nnz, below `cols`.
    pub columns: *const u32,
    /// Values: nnz.
    pub values: *const c_void,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_csr_arrays {
    const NAME: &'static str = "sparrow_csr_arrays";
    const STARTS: &'static [usize] = starts!(sparrow_csr_arrays {
        size,
        rows;
        cols,
        nnz,
        value_type,
        offset_type,
        offsets,
        columns,
        values
    });
}

/// Facts of a matrix.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_matrix_info {
    /// sizeof(sparrow_matrix_info); set by the caller.
    pub size: usize,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Stored entries.
    pub nnz: u64,
    /// Entries of the longest row.
    pub longest_row: u64,
    /// Bytes of the three arrays.
    pub size_bytes: u64,
    /// What it stores.
    pub value_type: sparrow_value_type,
    /// What its row offsets are.
    pub offset_type: sparrow_offset_type,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers.
unsafe impl Growing for sparrow_matrix_info {
    const NAME: &'static str = "sparrow_matrix_info";
    const STARTS: &'static [usize] = starts!(sparrow_matrix_info {
        size,
        rows;
        cols,
        nnz,
        longest_row,
        size_bytes,
        value_type,
        offset_type
    });
}

/// Sizes of a matrix that is about to be made.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    offsets: usize,
    cols: usize,
    nnz: usize,
}

/// Rows and columns are counted in 32 bits, nonzeros by their offset type.
fn sizes((rows, cols, nnz): (u64, u64, u64), offset_type: OffsetType, name: &str) -> Result<Sizes> {
    let count = |value: u64, field: &str| {
        let limit = u32::MAX;
        u32::try_from(value).map_err(|_| {
            Failure::argument(format!("{name}->{field} is {value}, above the limit of {limit}"))
        })
    };
    let offsets = size(u64::from(count(rows, "rows")?) + 1, &format!("{name}->rows"))?;
    let cols = size(u64::from(count(cols, "cols")?), &format!("{name}->cols"))?;
    if nnz > offset_type.max_nnz() {
        let limit = offset_type.max_nnz();
        let text = format!("nnz is {nnz}, above the limit of {limit} of {offset_type} offsets");
        return Err(Failure::argument(text));
    }
    Ok(Sizes { offsets, cols, nnz: size(nnz, &format!("{name}->nnz"))? })
}

/// Values of the host's memory, as they lie there.
///
/// # Safety
/// NULL, or `len` values that nothing changes while `'a` lasts.
unsafe fn value_bytes<'a>(
    values: *const c_void,
    value_type: ValueType,
    len: usize,
    name: &str,
) -> Result<&'a [u8]> {
    for_value_type!(value_type, V => {
        // SAFETY: the caller's promise.
        Ok(bytemuck::cast_slice(unsafe { slice::<V>(values.cast(), len, name)? }))
    })
}

/// Makes a matrix over buffers of the application's: nothing is copied, and what they hold is trusted
/// (sparrow_matrix_check_blocking makes sure). Looks at row lengths on the device and reads 12 bytes back, after the
/// events of the wait list. The buffers are kept; offsets and columns must not change any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_from_buffers_blocking(
    context: *const sparrow_context,
    queue: cl_command_queue,
    buffers: *const sparrow_csr_buffers,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    matrix: *mut *mut sparrow_matrix,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, home, buffers) = unsafe {
            let out = Out::new(matrix, "matrix")?;
            (out, handle(context, "context")?.home(), read(buffers, "buffers")?)
        };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&home.context, queue)? };
        let values = value_type(buffers.value_type, "buffers->value_type")?;
        let offsets = offset_type(buffers.offset_type, "buffers->offset_type")?;
        let sizes = sizes((buffers.rows, buffers.cols, buffers.nnz), offsets, "buffers")?;
        let context = queue.context();
        // SAFETY: the caller's promise: of the events, the buffers, and the pattern in them.
        let made = unsafe {
            wait_blocking((num_events_in_wait_list, event_wait_list))?;
            let nnz = sizes.nnz;
            let offsets =
                array(context, buffers.offsets, offsets, sizes.offsets, "buffers->offsets")?;
            let columns =
                array(context, buffers.columns, ColumnType::U32, nnz, "buffers->columns")?;
            let values = array(context, buffers.values, values, nnz, "buffers->values")?;
            AnyMatrix::from_arrays_blocking(&queue, sizes.cols, offsets, columns, values)?
        };
        out.give(sparrow_matrix::new(home, made));
        Ok(())
    })
}

/// Checks a matrix of the host's memory and copies it to the device; the arrays are not needed afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_upload_blocking(
    context: *const sparrow_context,
    queue: cl_command_queue,
    arrays: *const sparrow_csr_arrays,
    matrix: *mut *mut sparrow_matrix,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, home, arrays) = unsafe {
            let out = Out::new(matrix, "matrix")?;
            (out, handle(context, "context")?.home(), read(arrays, "arrays")?)
        };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&home.context, queue)? };
        let values = value_type(arrays.value_type, "arrays->value_type")?;
        let offsets = offset_type(arrays.offset_type, "arrays->offset_type")?;
        let sizes = sizes((arrays.rows, arrays.cols, arrays.nnz), offsets, "arrays")?;
        let made = for_offset_type!(offsets, O => {
            // SAFETY: the arrays are as long as their sizes say, as the caller promised.
            let (offsets, columns, bytes) = unsafe {
                (
                    slice::<O>(arrays.offsets.cast(), sizes.offsets, "arrays->offsets")?,
                    slice(arrays.columns, sizes.nnz, "arrays->columns")?,
                    value_bytes(arrays.values, values, sizes.nnz, "arrays->values")?,
                )
            };
            let pattern = PatternView::new(sizes.cols, offsets, columns)?;
            let values = AnyArray::upload_blocking(&queue, values, bytes)?;
            AnyMatrix::from_pattern_blocking(&queue, pattern.into(), values)?
        });
        out.give(sparrow_matrix::new(home, made));
        Ok(())
    })
}

/// Reads the pattern back and checks every rule; the text names the first index at which one is broken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_check_blocking(
    matrix: *const sparrow_matrix,
    queue: cl_command_queue,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let matrix = unsafe { handle(matrix, "matrix")? };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&matrix.home.context, queue)? };
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        Ok(shared(&matrix.inner, "matrix")?.check_blocking(&queue)?)
    })
}

/// A second matrix of the same pattern, with the values of another buffer; plans of either fit both. The buffers of
/// the pattern are shared, nothing is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_with_values(
    matrix: *const sparrow_matrix,
    values: sparrow_buffer,
    with_values: *mut *mut sparrow_matrix,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(with_values, "with_values")? };
        // SAFETY: the caller's promise.
        let matrix = unsafe { handle(matrix, "matrix")? };
        let found = shared(&matrix.inner, "matrix")?;
        let (context, value_type, nnz) = (found.context(), found.value_type(), found.nnz());
        // SAFETY: the caller's promise.
        let values = unsafe { array(context, values, value_type, nnz, "values")? };
        let other = found.with_values(values)?;
        out.give(sparrow_matrix::new(&matrix.home, other));
        Ok(())
    })
}

/// Says that the application has changed the values in its own buffer. Plans that keep a copy of them refuse to
/// launch until sparrow_plan_update_values_blocking; others read the buffer at each launch, and need no call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_values_changed(
    matrix: *const sparrow_matrix,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let matrix = unsafe { handle(matrix, "matrix")? };
        changed(&matrix.inner, "matrix")?.values_changed();
        Ok(())
    })
}

/// Overwrites the values by `nnz` of the host's memory, of the matrix's value type, after the events of the wait
/// list. In a matrix over buffers of the application's, it is those that are written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_write_values_blocking(
    matrix: *const sparrow_matrix,
    queue: cl_command_queue,
    values: *const c_void,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let matrix = unsafe { handle(matrix, "matrix")? };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&matrix.home.context, queue)? };
        if values.is_null() {
            return Err(Failure::null("values"));
        }
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let mut matrix = changed(&matrix.inner, "matrix")?;
        let (value_type, nnz) = (matrix.value_type(), matrix.nnz());
        // SAFETY: the caller's promise.
        let bytes = unsafe { value_bytes(values, value_type, nnz, "values")? };
        Ok(matrix.write_values_blocking(&queue, bytes)?)
    })
}

/// What is known of a matrix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_get_info(
    matrix: *const sparrow_matrix,
    info: *mut sparrow_matrix_info,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let matrix = unsafe { handle(matrix, "matrix")? };
        let make = || {
            let matrix = shared(&matrix.inner, "matrix")?;
            Ok(sparrow_matrix_info {
                size: size_of::<sparrow_matrix_info>(),
                rows: matrix.rows() as u64,
                cols: matrix.cols() as u64,
                nnz: matrix.nnz() as u64,
                longest_row: matrix.shape().longest_row,
                size_bytes: matrix.size_bytes() as u64,
                value_type: value_number(matrix.value_type()),
                offset_type: offset_number(matrix.offset_type()),
            })
        };
        // SAFETY: the caller's promise.
        unsafe { fill(info, "info", make) }
    })
}

/// Ends a matrix; NULL is allowed. Plans made for it stay usable with others of its pattern.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_release(matrix: *mut sparrow_matrix) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(matrix, "matrix") })
}
