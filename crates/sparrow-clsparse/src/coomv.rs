//! y = alpha A x + beta y, with A as entries.
//!
//! Entries that are sorted by row, as the readers leave them, become compressed rows on the device, for this product;
//! 4 bytes are read back to know that they are. Others are sorted there first.

use sparrow::{
    AnyArray, AnyCooToCsr, AnyMatrix, Duplicates, Event, OffsetType, RowOffsets, ValueType,
    check_apart,
};

use crate::boundary::status_of;
use crate::control::{Control, State};
use crate::operands::{array, typed_array};
use crate::product::Operands;
use crate::status::{Result, Status};
use crate::types::{cldenseVector, clsparseControl, clsparseCooMatrix, clsparseScalar};

/// Enqueues the product.
fn launch(
    control: &Control,
    state: &mut State,
    (matrix, value_type): (&clsparseCooMatrix, ValueType),
    operands: &mut Operands,
) -> Result<Event> {
    let (queue, nnz) = (&control.queue, matrix.num_nonzeros as usize);
    let (rows, cols) = (matrix.num_rows as usize, matrix.num_cols as usize);
    let row_indices = typed_array(control, (matrix.row_indices, matrix.off_row_indices), nnz)?;
    let columns = typed_array(control, (matrix.col_indices, matrix.off_col_indices), nnz)?;
    let values = array(control, value_type, (matrix.values, matrix.off_values), nnz)?;
    let named: [(&str, &AnyArray); 3] =
        [("row indices", &row_indices), ("columns", &columns), ("values", &values)];
    check_apart(("y", &operands.y), named)?;
    let row_offsets = match &mut state.row_offsets {
        Some(known) => known,
        none => none.insert(RowOffsets::new(control.context())?),
    };
    // It stays known where this call fails.
    let last = state.reads_row_offsets.clone();
    let a = match row_offsets.find_blocking(queue, rows, &row_indices, last.as_slice())? {
        // SAFETY: offsets were made for these entries; that columns lie inside is the application's promise.
        Some(offsets) => unsafe {
            let (offsets, columns) = (offsets.into_any(), columns.into_any());
            AnyMatrix::from_arrays(control.context(), cols, offsets, columns, values)?
        },
        None => {
            let (shape, keep) = ((rows, cols), Duplicates::Keep);
            let order = AnyCooToCsr::new_blocking(queue, shape, &row_indices, &columns, keep)?;
            order.matrix_blocking(queue, OffsetType::U32, &values)?
        }
    };
    let accumulate = state.accumulate();
    let ready = state.free_plans.get(queue, accumulate, &a)?;
    let event = operands.launch(control, ready, &a)?;
    state.reads_row_offsets = Some(event.clone());
    Ok(event)
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn coomv(
    value_type: ValueType,
    alpha: *const clsparseScalar,
    matx: *const clsparseCooMatrix,
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
        let sizes = (matrix.num_rows, matrix.num_cols);
        let mut operands = Operands::of(&control, value_type, sizes, (alpha, x), (beta, y))?;
        let mut state = control.state();
        let event = launch(&control, &mut state, (matrix, value_type), &mut operands)?;
        state.end(event)
    })
}

/// y = alpha A x + beta y in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScoomv(
    alpha: *const clsparseScalar,
    matx: *const clsparseCooMatrix,
    x: *const cldenseVector,
    beta: *const clsparseScalar,
    y: *mut cldenseVector,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { coomv(ValueType::F32, alpha, matx, x, beta, y, control) }
}

/// y = alpha A x + beta y in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcoomv(
    alpha: *const clsparseScalar,
    matx: *const clsparseCooMatrix,
    x: *const cldenseVector,
    beta: *const clsparseScalar,
    y: *mut cldenseVector,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { coomv(ValueType::F64, alpha, matx, x, beta, y, control) }
}
