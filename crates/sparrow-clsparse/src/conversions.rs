//! From one format to another, on the device. The caller allocates what comes out; its sizes are set here.

use sparrow::{
    AnyArray, AnyCooToCsr, AnyDenseToCsr, AnyMatrix, DenseShape, Duplicates, Event, Layout,
    OffsetType, Overlap, ValueType, check_apart, overlap,
};

use crate::boundary::status_of;
use crate::control::Control;
use crate::initialize::{COLUMN_MAJOR, ROW_MAJOR};
use crate::operands::{CsrArrays, apart, array, typed_array};
use crate::status::{Result, Status};
use crate::types::{cldenseMatrix, clsparseControl, clsparseCooMatrix, clsparseCsrMatrix};

/// A matrix in compressed rows, for the length of a call.
fn matrix(control: &Control, value_type: ValueType, csr: &clsparseCsrMatrix) -> Result<AnyMatrix> {
    let CsrArrays { offsets, columns, values } = CsrArrays::of(control, value_type, csr)?;
    let cols = csr.num_cols as usize;
    // SAFETY: that the pattern is one is the application's promise.
    Ok(unsafe { AnyMatrix::from_arrays(control.context(), cols, offsets, columns, values)? })
}

/// A dense matrix, and how it lies. clSPARSE never looked at the leading dimension here, and its own programs set one
/// that no row fits into: rows (columns) then lie together.
fn dense(
    control: &Control,
    value_type: ValueType,
    matrix: &cldenseMatrix,
) -> Result<(DenseShape, AnyArray)> {
    let (rows, cols) = (matrix.num_rows as usize, matrix.num_cols as usize);
    let (layout, length) = match matrix.major {
        ROW_MAJOR => (Layout::RowMajor, cols),
        COLUMN_MAJOR => (Layout::ColumnMajor, rows),
        _ => return Err(Status::InvalidValue),
    };
    let shape = DenseShape::new(rows, cols, layout, length.max(matrix.lead_dim as usize))?;
    let part = (matrix.values, matrix.off_values);
    let elements = array(control, value_type, part, shape.span())?;
    Ok((shape, elements))
}

/// Copies `from`, unless both are the same elements.
fn copy(control: &Control, from: &AnyArray, to: &mut AnyArray) -> Result<()> {
    let is_same = overlap(from, to) == Overlap::Whole;
    let copied = if is_same { None } else { to.copy_from(&control.queue, from)? };
    // What follows waits for it in its queue, unless that is out of order.
    let copied = copied.filter(|_| control.queue.in_order().is_none());
    Ok(copied.map_or(Ok(()), |event| event.wait())?)
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn csr2coo(
    value_type: ValueType,
    csr: *const clsparseCsrMatrix,
    coo: *mut clsparseCooMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (csr, mut coo) = unsafe { (control.read(csr)?, control.write(coo)?) };
        let csr = &csr;
        let nnz = csr.num_nonzeros as usize;
        let ended = if csr.num_rows == 0 || nnz == 0 {
            None
        } else {
            let matrix = matrix(&control, value_type, csr)?;
            let of_rows = (coo.row_indices, coo.off_row_indices);
            let of_columns = (coo.col_indices, coo.off_col_indices);
            let of_values = (coo.values, coo.off_values);
            let mut row_indices = typed_array(&control, of_rows, nnz)?;
            let mut columns = array(&control, matrix.types().column_type, of_columns, nnz)?;
            let mut values = array(&control, value_type, of_values, nnz)?;
            // Before anything is written. Columns and values may be the matrix's own.
            let [of_offsets, of_columns, of_values] = matrix.named_arrays();
            let targets = [("the columns", &columns), ("the values", &values)];
            check_apart(("the row indices", &row_indices), targets)?;
            check_apart(("the row indices", &row_indices), [of_offsets, of_columns, of_values])?;
            check_apart(targets[0], [of_offsets, of_values, targets[1]])?;
            check_apart(targets[1], [of_offsets, of_columns])?;
            copy(&control, matrix.columns(), &mut columns)?;
            copy(&control, matrix.values(), &mut values)?;
            Some(matrix.write_row_indices(&control.queue, &mut row_indices)?)
        };
        (coo.num_rows, coo.num_cols) = (csr.num_rows, csr.num_cols);
        coo.num_nonzeros = csr.num_nonzeros;
        end(&control, ended)
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn coo2csr(
    value_type: ValueType,
    coo: *const clsparseCooMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (coo, mut csr) = unsafe { (control.read(coo)?, control.write(csr)?) };
        let coo = &coo;
        let (queue, nnz) = (&control.queue, coo.num_nonzeros as usize);
        let shape = (coo.num_rows as usize, coo.num_cols as usize);
        let row_indices = typed_array(&control, (coo.row_indices, coo.off_row_indices), nnz)?;
        let column_indices = typed_array(&control, (coo.col_indices, coo.off_col_indices), nnz)?;
        let entries = array(&control, value_type, (coo.values, coo.off_values), nnz)?;
        let sizes = clsparseCsrMatrix {
            num_rows: coo.num_rows,
            num_cols: coo.num_cols,
            num_nonzeros: coo.num_nonzeros,
            ..*csr
        };
        let arrays = CsrArrays::of(&control, value_type, &sizes)?;
        let CsrArrays { mut offsets, mut columns, mut values } = arrays;
        let named: [(&str, &AnyArray); 2] = [("the columns", &columns), ("the values", &values)];
        check_apart(("the row offsets", &offsets), named)?;
        check_apart(("the columns", &columns), [("the values", &values)])?;
        // They move about in it.
        let entries = apart(&control, entries, &values)?;
        let keep = Duplicates::Keep;
        let order = AnyCooToCsr::new_blocking(queue, shape, &row_indices, &column_indices, keep)?;
        order.write_values(queue, &entries, &mut values)?;
        let ended = order.write_pattern(queue, &mut offsets, columns.typed_mut()?)?;
        *csr = sizes;
        end(&control, Some(ended))
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn csr2dense(
    value_type: ValueType,
    csr: *const clsparseCsrMatrix,
    A: *mut cldenseMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (csr, of_dense) = unsafe { (control.read(csr)?, control.read(A)?) };
        let (csr, of_dense) = (&csr, &of_dense);
        if (csr.num_rows, csr.num_cols) != (of_dense.num_rows, of_dense.num_cols) {
            return Err(Status::InvalidSize);
        }
        let (shape, mut elements) = dense(&control, value_type, of_dense)?;
        if shape.span() == 0 {
            return end(&control, None);
        }
        let matrix = matrix(&control, value_type, csr)?;
        let ended = matrix.write_dense(&control.queue, shape, &mut elements)?;
        end(&control, Some(ended))
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn dense2csr(
    value_type: ValueType,
    A: *const cldenseMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (of_dense, mut csr) = unsafe { (control.read(A)?, control.write(csr)?) };
        let of_dense = &of_dense;
        let (shape, elements) = dense(&control, value_type, of_dense)?;
        let (queue, source) = (&control.queue, (shape, &elements));
        let counted = AnyDenseToCsr::new_blocking(queue, source, OffsetType::U32, 0.0)?;
        let sizes = clsparseCsrMatrix {
            num_rows: of_dense.num_rows,
            num_cols: of_dense.num_cols,
            num_nonzeros: u32::try_from(counted.nnz()).map_err(|_| Status::InvalidSize)?,
            ..*csr
        };
        // Refused where the caller's buffers do not hold them.
        let arrays = CsrArrays::of(&control, value_type, &sizes)?;
        let CsrArrays { mut offsets, mut columns, mut values } = arrays;
        let columns = columns.typed_mut()?;
        let ended = counted.write(queue, &elements, &mut offsets, columns, &mut values)?;
        *csr = sizes;
        end(&control, Some(ended))
    })
}

fn end(control: &Control, ended: Option<Event>) -> Result<()> {
    match ended {
        Some(event) => control.state().end(event),
        None => control.state().end_blocking(&control.queue),
    }
}

/// Entries of a matrix in compressed rows, in single precision, in the order they are stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScsr2coo(
    csr: *const clsparseCsrMatrix,
    coo: *mut clsparseCooMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csr2coo(ValueType::F32, csr, coo, control) }
}

/// Entries of a matrix in compressed rows, in double precision, in the order they are stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcsr2coo(
    csr: *const clsparseCsrMatrix,
    coo: *mut clsparseCooMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csr2coo(ValueType::F64, csr, coo, control) }
}

/// Compressed rows, sorted by column, of entries in any order, in single precision. Duplicates are kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScoo2csr(
    coo: *const clsparseCooMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { coo2csr(ValueType::F32, coo, csr, control) }
}

/// Compressed rows, sorted by column, of entries in any order, in double precision. Duplicates are kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcoo2csr(
    coo: *const clsparseCooMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { coo2csr(ValueType::F64, coo, csr, control) }
}

/// All elements of a matrix in compressed rows, in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScsr2dense(
    csr: *const clsparseCsrMatrix,
    A: *mut cldenseMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csr2dense(ValueType::F32, csr, A, control) }
}

/// All elements of a matrix in compressed rows, in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcsr2dense(
    csr: *const clsparseCsrMatrix,
    A: *mut cldenseMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csr2dense(ValueType::F64, csr, A, control) }
}

/// Compressed rows of what is not zero in a dense matrix, in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseSdense2csr(
    A: *const cldenseMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { dense2csr(ValueType::F32, A, csr, control) }
}

/// Compressed rows of what is not zero in a dense matrix, in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDdense2csr(
    A: *const cldenseMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { dense2csr(ValueType::F64, A, csr, control) }
}
