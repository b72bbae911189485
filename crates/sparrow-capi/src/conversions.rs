//! Matrices from entries and from dense matrices, and back, on the device.

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{CooToCsr, DenseShape, DenseToCsr, Duplicates, Offset, Queue, Value};

use crate::any_matrix::{AnyMatrix, Parts};
use crate::buffer::array;
use crate::events::{queue as queue_of, wait_blocking};
use crate::failure::{Result, guard};
use crate::options::shape;
use crate::pointer::{Growing, Out, handle, read, shared, size};
use crate::types::{ForTypes, choice, for_types, offset_type, value_type};
use crate::{
    sparrow_buffer, sparrow_context, sparrow_dense_shape, sparrow_matrix, sparrow_offset_type,
    sparrow_status, sparrow_value_type,
};

/// What becomes of entries that share row and column.
pub type sparrow_duplicates = u32;
/// They are added up one after another, in the order they had.
pub const SPARROW_DUPLICATES_SUM: sparrow_duplicates = 0;
/// They stay beside each other, in the order they had.
pub const SPARROW_DUPLICATES_KEEP: sparrow_duplicates = 1;

/// Entries of a matrix, in any order, in buffers of the application's.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_coo_buffers {
    /// sizeof(sparrow_coo_buffers).
    pub size: usize,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Entries: at most 4,294,967,295.
    pub entries: u64,
    /// What `values` holds.
    pub value_type: sparrow_value_type,
    /// What the matrix's row offsets will be.
    pub offset_type: sparrow_offset_type,
    /// What becomes of entries that share row and column.
    pub duplicates: sparrow_duplicates,
    /// 0.
    pub reserved: u32,
    /// The row of each entry: uint32_t, below `rows`.
    pub row_indices: sparrow_buffer,
    /// The column of each entry: uint32_t, below `cols`.
    pub column_indices: sparrow_buffer,
    /// The value of each entry.
    pub values: sparrow_buffer,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_coo_buffers {
    const NAME: &'static str = "sparrow_coo_buffers";
}

/// A dense matrix in a buffer of the application's, and what of it is stored.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_dense_source {
    /// sizeof(sparrow_dense_source).
    pub size: usize,
    /// Where its elements lie.
    pub shape: sparrow_dense_shape,
    /// What it holds, and the matrix will.
    pub value_type: sparrow_value_type,
    /// What the matrix's row offsets will be.
    pub offset_type: sparrow_offset_type,
    /// Elements larger in size than this are stored, and NaN; not negative.
    pub tolerance: f64,
    /// The elements, as many as the shape spans.
    pub elements: sparrow_buffer,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_dense_source {
    const NAME: &'static str = "sparrow_dense_source";
}

/// Where parts of a matrix are copied to; those whose `memory` is NULL are left out.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_matrix_parts {
    /// sizeof(sparrow_matrix_parts).
    pub size: usize,
    /// Row offsets, of the matrix's offset type: rows + 1.
    pub offsets: sparrow_buffer,
    /// The row of each nonzero, uint32_t: nnz.
    pub row_indices: sparrow_buffer,
    /// The column of each nonzero, uint32_t: nnz.
    pub columns: sparrow_buffer,
    /// The values, of the matrix's value type: nnz.
    pub values: sparrow_buffer,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_matrix_parts {
    const NAME: &'static str = "sparrow_matrix_parts";
}

/// Sorts and counts entries, and makes the matrix in buffers of its own.
struct FromEntries<'a> {
    queue: &'a Queue,
    entries: sparrow_coo_buffers,
    duplicates: Duplicates,
}

impl ForTypes for FromEntries<'_> {
    type Output = Result<Box<dyn AnyMatrix>>;

    fn run<V: Value, O: Offset>(self) -> Self::Output {
        let FromEntries { queue, entries, duplicates } = self;
        let context = queue.context();
        let (count, rows, cols) = (
            size(entries.entries, "entries->entries")?,
            size(entries.rows, "entries->rows")?,
            size(entries.cols, "entries->cols")?,
        );
        // SAFETY: the buffers are valid, as whoever called promised.
        let (row_indices, column_indices, values) = unsafe {
            (
                array(context, entries.row_indices, count, "entries->row_indices")?,
                array(context, entries.column_indices, count, "entries->column_indices")?,
                array::<V>(context, entries.values, count, "entries->values")?,
            )
        };
        let shape = (rows, cols);
        let order =
            CooToCsr::new_blocking(queue, shape, &row_indices, &column_indices, duplicates)?;
        let matrix = order.matrix_blocking::<V, O>(queue, &values)?;
        // The buffers may be changed again.
        queue.finish_blocking()?;
        Ok(Box::new(matrix))
    }
}

/// Counts what is stored of a dense matrix, and makes the matrix in buffers of its own.
struct FromDense<'a> {
    queue: &'a Queue,
    shape: DenseShape,
    tolerance: f64,
    elements: sparrow_buffer,
}

impl ForTypes for FromDense<'_> {
    type Output = Result<Box<dyn AnyMatrix>>;

    fn run<V: Value, O: Offset>(self) -> Self::Output {
        let FromDense { queue, shape, tolerance, elements } = self;
        // SAFETY: the buffer is valid, as whoever called promised.
        let dense =
            unsafe { array::<V>(queue.context(), elements, shape.span(), "dense->elements")? };
        let tolerance = V::Accum::from_f64(tolerance);
        let counted = DenseToCsr::<V, O>::new_blocking(queue, shape, &dense, tolerance)?;
        let matrix = counted.matrix_blocking(queue, &dense)?;
        queue.finish_blocking()?;
        Ok(Box::new(matrix))
    }
}

/// Makes a matrix of entries in any order, sorted by row and column, in buffers of its own, after the events of the
/// wait list. An entry outside of the matrix is refused by its number. The application's buffers are only read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_from_entries_blocking(
    context: *const sparrow_context,
    queue: cl_command_queue,
    entries: *const sparrow_coo_buffers,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    matrix: *mut *mut sparrow_matrix,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, home, entries) = unsafe {
            let out = Out::new(matrix, "matrix")?;
            (out, handle(context, "context")?.home(), read(entries, "entries")?)
        };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&home.context, queue)? };
        let values = value_type(entries.value_type, "entries->value_type")?;
        let offsets = offset_type(entries.offset_type, "entries->offset_type")?;
        let all = [
            (SPARROW_DUPLICATES_SUM, "SPARROW_DUPLICATES_SUM", Duplicates::Sum),
            (SPARROW_DUPLICATES_KEEP, "SPARROW_DUPLICATES_KEEP", Duplicates::Keep),
        ];
        let duplicates = choice(entries.duplicates, "entries->duplicates", &all)?;
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let work = FromEntries { queue: &queue, entries, duplicates };
        out.give(sparrow_matrix::new(home, for_types((values, offsets), work)?));
        Ok(())
    })
}

/// Makes a matrix of the elements of a dense one that are larger in size than a tolerance, and of NaN, in buffers of
/// its own, after the events of the wait list. The application's buffer is only read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_from_dense_blocking(
    context: *const sparrow_context,
    queue: cl_command_queue,
    dense: *const sparrow_dense_source,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    matrix: *mut *mut sparrow_matrix,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, home, dense) = unsafe {
            let out = Out::new(matrix, "matrix")?;
            (out, handle(context, "context")?.home(), read(dense, "dense")?)
        };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&home.context, queue)? };
        let values = value_type(dense.value_type, "dense->value_type")?;
        let offsets = offset_type(dense.offset_type, "dense->offset_type")?;
        let work = FromDense {
            queue: &queue,
            shape: shape(dense.shape, "dense->shape")?,
            tolerance: dense.tolerance,
            elements: dense.elements,
        };
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        out.give(sparrow_matrix::new(home, for_types((values, offsets), work)?));
        Ok(())
    })
}

/// Makes the transposed matrix, which is the matrix in compressed columns, in buffers of its own, after the events of
/// the wait list. Its rows are in order of their columns; it does not follow the values of `matrix`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_transpose_blocking(
    matrix: *const sparrow_matrix,
    queue: cl_command_queue,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    transposed: *mut *mut sparrow_matrix,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(transposed, "transposed")? };
        // SAFETY: the caller's promise.
        let matrix = unsafe { handle(matrix, "matrix")? };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&matrix.home().context, queue)? };
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let made = shared(matrix.inner(), "matrix")?.transposed_blocking(&queue)?;
        out.give(sparrow_matrix::new(matrix.home(), made));
        Ok(())
    })
}

/// Copies parts of a matrix into buffers of the application's, after the events of the wait list: row offsets, the
/// row of each nonzero, columns, values. With rows, columns and values these are its entries one by one. How long
/// they are, sparrow_matrix_get_info says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_copy_blocking(
    matrix: *const sparrow_matrix,
    queue: cl_command_queue,
    parts: *const sparrow_matrix_parts,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (matrix, parts) = unsafe { (handle(matrix, "matrix")?, read(parts, "parts")?) };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&matrix.home().context, queue)? };
        let sparrow_matrix_parts { offsets, row_indices, columns, values, .. } = parts;
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let parts = Parts { offsets, row_indices, columns, values };
        // SAFETY: the caller's promise.
        unsafe { shared(matrix.inner(), "matrix")?.copy_blocking(&queue, &parts) }
    })
}

/// Writes all elements of a matrix into a dense one, of its value type, after the events of the wait list. Nonzeros
/// of one place add up; what lies between rows (columns) is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_write_dense_blocking(
    matrix: *const sparrow_matrix,
    queue: cl_command_queue,
    dense_shape: *const sparrow_dense_shape,
    dense: sparrow_buffer,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (matrix, lies) =
            unsafe { (handle(matrix, "matrix")?, handle(dense_shape, "dense_shape")?) };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&matrix.home().context, queue)? };
        let lies = shape(*lies, "dense_shape")?;
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        // SAFETY: the caller's promise.
        unsafe { shared(matrix.inner(), "matrix")?.write_dense_blocking(&queue, lies, dense) }
    })
}
