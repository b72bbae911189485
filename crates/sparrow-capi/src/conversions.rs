//! Matrices from entries and from dense matrices, and back, on the device.

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{
    AnyArray, AnyCooToCsr, AnyDenseToCsr, AnyMatrix, AnyTransposedMatrix, Context, Duplicates,
    ElementType, Queue,
};

use crate::buffer::array;
use crate::events::{queue as queue_of, wait_blocking};
use crate::failure::{Result, guard, of_struct};
use crate::options::shape;
use crate::pointer::{Growing, Out, handle, read, reserved, shared, size, starts};
use crate::types::{choice, offset_type, value_type};
use crate::{
    sparrow_buffer, sparrow_context, sparrow_dense_shape, sparrow_matrix, sparrow_offset_type,
    sparrow_status, sparrow_value_type,
};

/// What becomes of entries that share row and column.
pub type sparrow_duplicates = u32;
/// They are added up one after another, in the order they had.
pub const SPARROW_DUPLICATES_SUM: sparrow_duplicates = 0;
/// They stay next to each other, in the order they had.
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
    const STARTS: &'static [usize] = starts!(sparrow_coo_buffers {
        size,
        rows,
        cols,
        entries,
        value_type,
        offset_type,
        duplicates,
        reserved,
        row_indices,
        column_indices,
        values
    });
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
    const STARTS: &'static [usize] =
        starts!(sparrow_dense_source { size, shape, value_type, offset_type, tolerance, elements });
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
    const STARTS: &'static [usize] =
        starts!(sparrow_matrix_parts { size, offsets, row_indices, columns, values });
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
        reserved(entries.reserved, "entries->reserved")?;
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let (count, shape) = (
            size(entries.entries, "entries->entries")?,
            (size(entries.rows, "entries->rows")?, size(entries.cols, "entries->cols")?),
        );
        let context = queue.context();
        let part = |buffer, element: ElementType, name: &str| {
            // SAFETY: the caller's promise.
            unsafe { array(context, buffer, element, count, &format!("entries->{name}")) }
        };
        let rows = part(entries.row_indices, ElementType::U32, "row_indices")?;
        let columns = part(entries.column_indices, ElementType::U32, "column_indices")?;
        let values = part(entries.values, values.into(), "values")?;
        let (rows, columns) = (rows.typed()?, columns.typed()?);
        let order = AnyCooToCsr::new_blocking(&queue, shape, rows, columns, duplicates)?;
        let made = order.matrix_blocking(&queue, offsets, &values)?;
        // The buffers may be changed again.
        queue.finish_blocking()?;
        out.give(sparrow_matrix::new(home, made));
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
        let shape = shape(dense.shape, "dense->shape")?;
        let (context, tolerance) = (queue.context(), dense.tolerance);
        // SAFETY: the caller's promise, of the events and of the buffer.
        let elements = unsafe {
            wait_blocking((num_events_in_wait_list, event_wait_list))?;
            array(context, dense.elements, values, shape.span(), "dense->elements")?
        };
        let counted = AnyDenseToCsr::new_blocking(&queue, (shape, &elements), offsets, tolerance)
            .map_err(|error| of_struct(error.into(), "dense"))?;
        let made = counted.matrix_blocking(&queue, &elements)?;
        // The buffer may be changed again.
        queue.finish_blocking()?;
        out.give(sparrow_matrix::new(home, made));
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
        let made = {
            let matrix = shared(matrix.inner(), "matrix")?;
            AnyTransposedMatrix::new_blocking(&queue, &matrix, None)?.into_matrix()
        };
        out.give(sparrow_matrix::new(matrix.home(), made));
        Ok(())
    })
}

/// Copies parts of a matrix into buffers of the application's, after the events of the wait list: row offsets, the
/// row of each nonzero, columns, values. With rows, columns and values these are its entries one by one. How long
/// they are, sparrow_matrix_get_info says. The buffers may overlap neither each other nor the matrix's own.
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
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let matrix = shared(matrix.inner(), "matrix")?;
        // SAFETY: the caller's promise.
        let targets = unsafe { Targets::of(queue.context(), &matrix, &parts)? };
        targets.copy_blocking(&queue, &matrix)
    })
}

/// Where parts of a matrix go; those that were not asked for are left out.
struct Targets {
    offsets: Option<AnyArray>,
    row_indices: Option<AnyArray>,
    columns: Option<AnyArray>,
    values: Option<AnyArray>,
}

impl Targets {
    /// # Safety
    /// The buffers are NULL or valid.
    unsafe fn of(
        context: &Context,
        matrix: &AnyMatrix,
        parts: &sparrow_matrix_parts,
    ) -> Result<Self> {
        let part = |buffer: sparrow_buffer, element: ElementType, len: usize, name: &str| {
            if buffer.is_nowhere() {
                return Ok(None);
            }
            // SAFETY: the caller's promise.
            unsafe { array(context, buffer, element, len, &format!("parts->{name}")).map(Some) }
        };
        let (types, nnz) = (matrix.types(), matrix.nnz());
        let of_offsets = types.offset_type.into();
        Ok(Targets {
            offsets: part(parts.offsets, of_offsets, matrix.rows() + 1, "offsets")?,
            row_indices: part(parts.row_indices, ElementType::U32, nnz, "row_indices")?,
            columns: part(parts.columns, types.column_type.into(), nnz, "columns")?,
            values: part(parts.values, types.value_type.into(), nnz, "values")?,
        })
    }

    /// Refuses a target that shares memory with another, or with the matrix's own arrays.
    fn check_apart(&self, matrix: &AnyMatrix) -> Result<()> {
        let targets = [
            ("parts->offsets", &self.offsets),
            ("parts->row_indices", &self.row_indices),
            ("parts->columns", &self.columns),
            ("parts->values", &self.values),
        ];
        let targets = targets.map(|(name, target)| target.as_ref().map(|target| (name, target)));
        for (index, target) in targets.iter().enumerate() {
            let Some(target) = *target else { continue };
            let others = targets[..index].iter().copied().flatten();
            sparrow::check_apart(target, others.chain(matrix.named_arrays()))?;
        }
        Ok(())
    }

    /// Returns when all of them are there.
    fn copy_blocking(self, queue: &Queue, matrix: &AnyMatrix) -> Result<()> {
        self.check_apart(matrix)?;
        let mut copied = Vec::new();
        if let Some(mut offsets) = self.offsets {
            copied.extend(offsets.copy_from(queue, matrix.offsets())?);
        }
        if let Some(mut row_indices) = self.row_indices {
            copied.push(matrix.write_row_indices(queue, row_indices.typed_mut()?)?);
        }
        if let Some(mut columns) = self.columns {
            copied.extend(columns.copy_from(queue, matrix.columns())?);
        }
        if let Some(mut values) = self.values {
            copied.extend(values.copy_from(queue, matrix.values())?);
        }
        for event in copied {
            event.wait()?;
        }
        Ok(())
    }
}

/// Writes all elements of a matrix into a dense one, of its value type, after the events of the wait list. Nonzeros
/// of one row and column add up; what lies between rows (columns) is left alone. `dense` may not overlap the matrix's
/// own buffers.
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
        let matrix = shared(matrix.inner(), "matrix")?;
        let (context, value_type) = (queue.context(), matrix.value_type());
        // SAFETY: the caller's promise.
        let mut dense = unsafe { array(context, dense, value_type, lies.span(), "dense")? };
        Ok(matrix.write_dense(&queue, lies, &mut dense)?.wait()?)
    })
}
