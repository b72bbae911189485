//! Matrices in ELL, as entries (COO), or in both (HYB), over buffers of the application's.

use std::sync::Arc;

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{AnySlotsMatrix, ColumnType, Entries, Slots};

use crate::buffer::array;
use crate::context::Home;
use crate::events::{queue as queue_of, wait_blocking};
use crate::failure::{Failure, Result, guard};
use crate::pointer::{Growing, Out, handle, read, release, reserved, size, starts};
use crate::types::value_type;
use crate::{sparrow_buffer, sparrow_context, sparrow_status, sparrow_value_type};

/// A matrix in ELL, as entries (COO), or in both (HYB), where the application holds it on the device: products read those
/// buffers, and nothing is converted. Its values may change in place at any time between launches; what else it says of the
/// matrix may not. Any number of threads may use it at once.
pub struct sparrow_hyb_matrix {
    home: Home,
    inner: Arc<AnySlotsMatrix>,
}

impl sparrow_hyb_matrix {
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    pub(crate) fn inner(&self) -> &Arc<AnySlotsMatrix> {
        &self.inner
    }
}

/// A matrix in ELL, as entries, or in both, in buffers of the application's: the sum of its two parts. A part without
/// elements needs no buffers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_hyb_buffers {
    /// sizeof(sparrow_hyb_buffers).
    pub size: usize,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Slots of each row in ELL; 0 of a matrix in COO.
    pub ell_width: u64,
    /// Slots from one of a row to its next, `rows` at least: slot k of row i lies at k * ell_pitch + i. 0 is `rows`.
    pub ell_pitch: u64,
    /// Entries in COO; 0 of a matrix in ELL.
    pub coo_entries: u64,
    /// What `ell_values` and `coo_values` hold.
    pub value_type: sparrow_value_type,
    /// 0.
    pub reserved: u32,
    /// The column of each slot, uint32_t: below `cols`, or UINT32_MAX where a slot is padding. ell_pitch * (ell_width - 1) +
    /// rows of them; those between the last row and the pitch are not read.
    pub ell_columns: sparrow_buffer,
    /// The value of each slot; not read where it is padding.
    pub ell_values: sparrow_buffer,
    /// The row of each entry, uint32_t: below `rows`, none before one that is less.
    pub coo_rows: sparrow_buffer,
    /// The column of each entry, uint32_t, below `cols`; in any order within a row, and what repeats adds up.
    pub coo_columns: sparrow_buffer,
    /// The value of each entry.
    pub coo_values: sparrow_buffer,
}

// SAFETY: `repr(C)`, its size first, and any bits are numbers and pointers.
unsafe impl Growing for sparrow_hyb_buffers {
    const NAME: &'static str = "sparrow_hyb_buffers";
    const STARTS: &'static [usize] = starts!(sparrow_hyb_buffers {
        size,
        rows,
        cols,
        ell_width,
        ell_pitch,
        coo_entries,
        value_type,
        reserved,
        ell_columns,
        ell_values,
        coo_rows,
        coo_columns,
        coo_values
    });
}

/// Elements of the arrays of the ELL part, which has `width` slots a row, `pitch` apart.
fn slots(rows: usize, width: usize, pitch: usize) -> Result<usize> {
    let before_last = width.saturating_sub(1).checked_mul(pitch);
    before_last.and_then(|before| before.checked_add(rows)).ok_or_else(|| {
        Failure::argument(format!(
            "buffers->ell_width of {width} times buffers->ell_pitch of {pitch} is above the limit of {}",
            usize::MAX
        ))
    })
}

/// Makes a matrix over buffers of the application's: nothing is copied, and what they hold is trusted
/// (sparrow_hyb_matrix_check_blocking looks at rows). The buffers are kept. Entries in another order than that of their rows:
/// sparrow_matrix_from_entries_blocking takes them, and makes compressed rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_hyb_matrix_from_buffers(
    context: *const sparrow_context,
    buffers: *const sparrow_hyb_buffers,
    matrix: *mut *mut sparrow_hyb_matrix,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, home, buffers) = unsafe {
            let out = Out::new(matrix, "matrix")?;
            (out, handle(context, "context")?.home(), read(buffers, "buffers")?)
        };
        reserved(buffers.reserved, "buffers->reserved")?;
        let values = value_type(buffers.value_type, "buffers->value_type")?;
        let rows = size(buffers.rows, "buffers->rows")?;
        let cols = size(buffers.cols, "buffers->cols")?;
        let width = size(buffers.ell_width, "buffers->ell_width")?;
        let pitch = match size(buffers.ell_pitch, "buffers->ell_pitch")? {
            0 => rows,
            pitch => pitch,
        };
        let count = size(buffers.coo_entries, "buffers->coo_entries")?;
        let (context, index) = (&home.context, ColumnType::U32);
        let part = |buffer, len, name: &str| {
            // SAFETY: the caller's promise.
            unsafe { array(context, buffer, index, len, name) }
        };
        let numbers = |buffer, len, name: &str| {
            // SAFETY: the caller's promise.
            unsafe { array(context, buffer, values, len, name) }
        };
        let slots = match width {
            0 => None,
            _ => {
                let len = slots(rows, width, pitch)?;
                let columns = part(buffers.ell_columns, len, "buffers->ell_columns")?;
                let values = numbers(buffers.ell_values, len, "buffers->ell_values")?;
                Some(Slots { width, pitch, columns, values })
            }
        };
        // Of a matrix of neither, its entries are none.
        let entries = Entries {
            rows: part(buffers.coo_rows, count, "buffers->coo_rows")?,
            columns: part(buffers.coo_columns, count, "buffers->coo_columns")?,
            values: numbers(buffers.coo_values, count, "buffers->coo_values")?,
        };
        // SAFETY: the caller's promise, of what the buffers hold.
        let inner =
            unsafe { AnySlotsMatrix::from_arrays(context, (rows, cols), slots, Some(entries))? };
        out.give(sparrow_hyb_matrix { home: home.clone(), inner: Arc::new(inner) });
        Ok(())
    })
}

/// Makes sure that entries lie in the order of their rows and inside the matrix, after the events of the wait list; reads 4
/// bytes back. Columns are not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_hyb_matrix_check_blocking(
    matrix: *const sparrow_hyb_matrix,
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
        Ok(matrix.inner.check_order_blocking(&queue)?)
    })
}

/// Ends a matrix; NULL is allowed. Plans made for it keep its buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_hyb_matrix_release(
    matrix: *mut sparrow_hyb_matrix,
) -> sparrow_status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { release(matrix, "matrix") })
}
