//! From one format to another, on the device. The caller allocates what comes out; its sizes are set here.

use sparrow::{CooToCsr, DenseShape, DenseToCsr, DeviceArray, Duplicates, Event, Layout, Matrix};

use crate::boundary::{read, status_of, write};
use crate::control::Control;
use crate::initialize::{COLUMN_MAJOR, ROW_MAJOR};
use crate::operands::{CsrArrays, Real, array};
use crate::status::{Result, Status};
use crate::types::{cldenseMatrix, clsparseControl, clsparseCooMatrix, clsparseCsrMatrix};

/// A matrix in compressed rows, for the length of a call.
fn matrix<T: Real>(control: &Control, csr: &clsparseCsrMatrix) -> Result<Matrix<T>> {
    let CsrArrays { offsets, columns, values } = CsrArrays::of(control, csr)?;
    let cols = csr.num_cols as usize;
    // SAFETY: that the pattern is one is the application's promise.
    Ok(unsafe { Matrix::from_arrays(control.context(), cols, offsets, columns, values)? })
}

/// A dense matrix, and how it lies. clSPARSE never looked at the leading dimension here, and its own programs set one
/// that no row fits into: rows (columns) then lie together.
fn dense<T: Real>(
    control: &Control,
    matrix: &cldenseMatrix,
) -> Result<(DenseShape, DeviceArray<T>)> {
    let (rows, cols) = (matrix.num_rows as usize, matrix.num_cols as usize);
    let (layout, length) = match matrix.major {
        ROW_MAJOR => (Layout::RowMajor, cols),
        COLUMN_MAJOR => (Layout::ColumnMajor, rows),
        _ => return Err(Status::InvalidValue),
    };
    let shape = DenseShape::new(rows, cols, layout, length.max(matrix.lead_dim as usize))?;
    let elements = array(control, matrix.values, matrix.off_values, shape.span())?;
    Ok((shape, elements))
}

/// Copies `from`, unless both are the same elements.
fn copy<T: bytemuck::Pod>(
    control: &Control,
    from: &DeviceArray<T>,
    to: &mut DeviceArray<T>,
    is_same: bool,
) -> Result<()> {
    let copied = if is_same { None } else { to.copy_from(&control.queue, from)? };
    // What follows waits for it in its queue, unless that is out of order.
    Ok(copied.map_or(Ok(()), |event| event.wait())?)
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn csr2coo<T: Real>(
    csr: *const clsparseCsrMatrix,
    coo: *mut clsparseCooMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (csr, coo) = unsafe { (read(csr)?, write(coo)?) };
        let nnz = csr.num_nonzeros as usize;
        let ended = if csr.num_rows == 0 || nnz == 0 {
            None
        } else {
            let matrix: Matrix<T> = matrix(&control, csr)?;
            let mut row_indices = array(&control, coo.row_indices, coo.off_row_indices, nnz)?;
            let mut columns = array(&control, coo.col_indices, coo.off_col_indices, nnz)?;
            let mut values = array(&control, coo.values, coo.off_values, nnz)?;
            let has_columns =
                (coo.col_indices, coo.off_col_indices) == (csr.col_indices, csr.off_col_indices);
            let has_values = (coo.values, coo.off_values) == (csr.values, csr.off_values);
            copy(&control, matrix.columns(), &mut columns, has_columns)?;
            copy(&control, matrix.values(), &mut values, has_values)?;
            Some(matrix.write_row_indices(&control.queue, &mut row_indices)?)
        };
        (coo.num_rows, coo.num_cols) = (csr.num_rows, csr.num_cols);
        coo.num_nonzeros = csr.num_nonzeros;
        end(&control, ended)
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn coo2csr<T: Real>(
    coo: *const clsparseCooMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (coo, csr) = unsafe { (read(coo)?, write(csr)?) };
        let (queue, nnz) = (&control.queue, coo.num_nonzeros as usize);
        let shape = (coo.num_rows as usize, coo.num_cols as usize);
        let row_indices = array(&control, coo.row_indices, coo.off_row_indices, nnz)?;
        let column_indices = array(&control, coo.col_indices, coo.off_col_indices, nnz)?;
        let mut entries = array::<T>(&control, coo.values, coo.off_values, nnz)?;
        let sizes = clsparseCsrMatrix {
            num_rows: coo.num_rows,
            num_cols: coo.num_cols,
            num_nonzeros: coo.num_nonzeros,
            ..*csr
        };
        let CsrArrays { mut offsets, mut columns, mut values } = CsrArrays::of(&control, &sizes)?;
        if coo.values == csr.values && nnz > 0 {
            // They move about in it.
            let mut aside = DeviceArray::allocate(control.context(), nnz)?;
            copy(&control, &entries, &mut aside, false)?;
            entries = aside;
        }
        let keep = Duplicates::Keep;
        let order = CooToCsr::new_blocking(queue, shape, &row_indices, &column_indices, keep)?;
        order.write_values(queue, &entries, &mut values)?;
        let ended = order.write_pattern(queue, &mut offsets, &mut columns)?;
        *csr = sizes;
        end(&control, Some(ended))
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn csr2dense<T: Real>(
    csr: *const clsparseCsrMatrix,
    A: *mut cldenseMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (csr, of_dense) = unsafe { (read(csr)?, read(A)?) };
        if (csr.num_rows, csr.num_cols) != (of_dense.num_rows, of_dense.num_cols) {
            return Err(Status::InvalidSize);
        }
        let (shape, mut elements) = dense::<T>(&control, of_dense)?;
        if shape.span() == 0 {
            return Ok(());
        }
        let ended = matrix(&control, csr)?.write_dense(&control.queue, shape, &mut elements)?;
        end(&control, Some(ended))
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn dense2csr<T: Real>(
    A: *const cldenseMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        // SAFETY: the caller's promise.
        let (of_dense, csr) = unsafe { (read(A)?, write(csr)?) };
        let (shape, elements) = dense::<T>(&control, of_dense)?;
        let zero = T::from_f64(0.0);
        let counted = DenseToCsr::<T, u32>::new_blocking(&control.queue, shape, &elements, zero)?;
        let sizes = clsparseCsrMatrix {
            num_rows: of_dense.num_rows,
            num_cols: of_dense.num_cols,
            num_nonzeros: u32::try_from(counted.nnz()).map_err(|_| Status::InvalidSize)?,
            ..*csr
        };
        // Refused where the caller's buffers do not hold them.
        let CsrArrays { mut offsets, mut columns, mut values } = CsrArrays::of(&control, &sizes)?;
        let queue = &control.queue;
        let ended = counted.write(queue, &elements, &mut offsets, &mut columns, &mut values)?;
        *csr = sizes;
        end(&control, Some(ended))
    })
}

fn end(control: &Control, ended: Option<Event>) -> Result<()> {
    ended.map_or(Ok(()), |event| control.state().end(event))
}

/// Entries of a matrix in compressed rows, in single precision, in the order they are stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScsr2coo(
    csr: *const clsparseCsrMatrix,
    coo: *mut clsparseCooMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csr2coo::<f32>(csr, coo, control) }
}

/// Entries of a matrix in compressed rows, in double precision, in the order they are stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcsr2coo(
    csr: *const clsparseCsrMatrix,
    coo: *mut clsparseCooMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csr2coo::<f64>(csr, coo, control) }
}

/// Compressed rows, sorted by column, of entries in any order, in single precision. Duplicates are kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScoo2csr(
    coo: *const clsparseCooMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { coo2csr::<f32>(coo, csr, control) }
}

/// Compressed rows, sorted by column, of entries in any order, in double precision. Duplicates are kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcoo2csr(
    coo: *const clsparseCooMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { coo2csr::<f64>(coo, csr, control) }
}

/// All elements of a matrix in compressed rows, in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScsr2dense(
    csr: *const clsparseCsrMatrix,
    A: *mut cldenseMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csr2dense::<f32>(csr, A, control) }
}

/// All elements of a matrix in compressed rows, in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcsr2dense(
    csr: *const clsparseCsrMatrix,
    A: *mut cldenseMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csr2dense::<f64>(csr, A, control) }
}

/// Compressed rows of what is not zero in a dense matrix, in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseSdense2csr(
    A: *const cldenseMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { dense2csr::<f32>(A, csr, control) }
}

/// Compressed rows of what is not zero in a dense matrix, in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDdense2csr(
    A: *const cldenseMatrix,
    csr: *mut clsparseCsrMatrix,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { dense2csr::<f64>(A, csr, control) }
}
