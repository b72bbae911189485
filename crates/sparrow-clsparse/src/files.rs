//! Matrix Market files into buffers that the application has made.
//!
//! It asks for the sizes first (`clsparseHeaderfromFile`), and what is read is never more than those say. Nothing is
//! written unless everything fits. Entries come in order of their rows, and of their columns in each; what repeats
//! stays apart.

use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sparrow::host::io::{FileSizes, ReadOptions};
use sparrow::host::{Coo, Csr, Value};

use crate::boundary::{read, status_of, write};
use crate::control::Control;
use crate::operands::typed_array;
use crate::status::{Result, Status};
use crate::types::{clsparseControl, clsparseCooMatrix, clsparseCsrMatrix};

/// A path that ends as a Matrix Market file's must.
///
/// # Safety
/// The pointer is null, or text that ends with a zero.
unsafe fn path_of<'a>(path: *const c_char) -> Result<&'a Path> {
    // SAFETY: the caller's promise; the text is followed only where there is some.
    let text = unsafe { read(path).map(|_| CStr::from_ptr(path))? };
    let path = Path::new(OsStr::from_bytes(text.to_bytes()));
    match path.extension() {
        Some(extension) if extension == "mtx" => Ok(path),
        _ => Err(Status::InvalidFileFormat),
    }
}

/// The sizes of a file whose entries have coordinates.
fn sizes_of(path: &Path) -> Result<FileSizes> {
    let sizes = ReadOptions::new().sizes(path)?;
    if sizes.has_coordinates { Ok(sizes) } else { Err(Status::InvalidFileFormat) }
}

/// The matrix in a file; without the zeros that it stores, unless they are asked for.
fn matrix_of<T: Value>(path: &Path, keeps_zeros: bool) -> Result<Csr<T>> {
    sizes_of(path)?;
    let mut entries: Coo<T> = ReadOptions::new().coo(path)?;
    let zero = T::from_f64(0.0);
    if !keeps_zeros && entries.values().contains(&zero) {
        let (rows, cols) = (entries.rows(), entries.cols());
        let (row_indices, columns, values) = entries.into_arrays();
        let kept: Vec<usize> = (0..values.len()).filter(|&at| values[at] != zero).collect();
        let of = |all: &[u32]| kept.iter().map(|&at| all[at]).collect();
        let values = kept.iter().map(|&at| values[at]).collect();
        entries = Coo::new(rows, cols, of(&row_indices), of(&columns), values)?;
    }
    let mut matrix = Csr::from_coo_keeping_duplicates(entries)?;
    matrix.sort_rows();
    Ok(matrix)
}

/// A size as clSPARSE counts.
fn index(size: usize) -> Result<u32> {
    u32::try_from(size).map_err(|_| Status::InvalidSize)
}

/// Nonzeros (at most), rows and columns of the matrix in a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseHeaderfromFile(
    nnz: *mut u32,
    row: *mut u32,
    col: *mut u32,
    filePath: *const c_char,
) -> Status {
    status_of(|| {
        // SAFETY: as types.rs says of all functions.
        let (nnz, row, col) = unsafe { (write(nnz)?, write(row)?, write(col)?) };
        // SAFETY: as before.
        let sizes = sizes_of(unsafe { path_of(filePath)? })?;
        *nnz = u32::try_from(sizes.most_entries).map_err(|_| Status::InvalidSize)?;
        (*row, *col) = (sizes.rows, sizes.cols);
        Ok(())
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn coo_from_file<T: Value>(
    cooMatx: *mut clsparseCooMatrix,
    filePath: *const c_char,
    control: clsparseControl,
    read_explicit_zeroes: u32,
) -> Status {
    status_of(|| {
        let control = Control::of_any(control)?;
        // SAFETY: the caller's promise.
        let (mut target, path) = unsafe { (control.write(cooMatx)?, path_of(filePath)?) };
        let matrix = matrix_of::<T>(path, read_explicit_zeroes != 0)?.to_coo();
        let (queue, nnz) = (&control.queue, matrix.nnz());
        let of_columns = (target.col_indices, target.off_col_indices);
        let of_rows = (target.row_indices, target.off_row_indices);
        let mut values = typed_array(&control, (target.values, target.off_values), nnz)?;
        let mut columns = typed_array(&control, of_columns, nnz)?;
        let mut rows = typed_array(&control, of_rows, nnz)?;
        values.write_blocking(queue, matrix.values())?;
        columns.write_blocking(queue, matrix.column_indices())?;
        rows.write_blocking(queue, matrix.row_indices())?;
        target.num_nonzeros = index(nnz)?;
        (target.num_rows, target.num_cols) = (index(matrix.rows())?, index(matrix.cols())?);
        control.state().end_blocking(queue)
    })
}

/// # Safety
/// As types.rs says of all functions.
unsafe fn csr_from_file<T: Value>(
    csrMatx: *mut clsparseCsrMatrix,
    filePath: *const c_char,
    control: clsparseControl,
    read_explicit_zeroes: u32,
) -> Status {
    status_of(|| {
        let control = Control::of_any(control)?;
        // SAFETY: the caller's promise.
        let (mut target, path) = unsafe { (control.write(csrMatx)?, path_of(filePath)?) };
        let matrix = matrix_of::<T>(path, read_explicit_zeroes != 0)?;
        let (queue, nnz, rows) = (&control.queue, matrix.nnz(), matrix.rows());
        let of_columns = (target.col_indices, target.off_col_indices);
        let of_offsets = (target.row_pointer, target.off_row_pointer);
        let mut values = typed_array(&control, (target.values, target.off_values), nnz)?;
        let mut columns = typed_array(&control, of_columns, nnz)?;
        let mut offsets = typed_array(&control, of_offsets, rows + 1)?;
        values.write_blocking(queue, matrix.values())?;
        columns.write_blocking(queue, matrix.pattern().columns())?;
        offsets.write_blocking(queue, matrix.pattern().offsets())?;
        target.num_nonzeros = index(nnz)?;
        (target.num_rows, target.num_cols) = (index(rows)?, index(matrix.cols())?);
        control.state().end_blocking(queue)
    })
}

/// Entries of a file, in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseSCooMatrixfromFile(
    cooMatx: *mut clsparseCooMatrix,
    filePath: *const c_char,
    control: clsparseControl,
    read_explicit_zeroes: u32,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { coo_from_file::<f32>(cooMatx, filePath, control, read_explicit_zeroes) }
}

/// Entries of a file, in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDCooMatrixfromFile(
    cooMatx: *mut clsparseCooMatrix,
    filePath: *const c_char,
    control: clsparseControl,
    read_explicit_zeroes: u32,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { coo_from_file::<f64>(cooMatx, filePath, control, read_explicit_zeroes) }
}

/// Compressed rows of a file, in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseSCsrMatrixfromFile(
    csrMatx: *mut clsparseCsrMatrix,
    filePath: *const c_char,
    control: clsparseControl,
    read_explicit_zeroes: u32,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csr_from_file::<f32>(csrMatx, filePath, control, read_explicit_zeroes) }
}

/// Compressed rows of a file, in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDCsrMatrixfromFile(
    csrMatx: *mut clsparseCsrMatrix,
    filePath: *const c_char,
    control: clsparseControl,
    read_explicit_zeroes: u32,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { csr_from_file::<f64>(csrMatx, filePath, control, read_explicit_zeroes) }
}
