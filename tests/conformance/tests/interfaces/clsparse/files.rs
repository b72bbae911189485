//! Matrix Market files into the application's buffers.

use std::ffi::{CString, c_char};
use std::path::Path;
use std::ptr;

use clSPARSE::{
    Status, clsparseCooMatrix, clsparseCsrMatrix, clsparseDCooMatrixfromFile,
    clsparseHeaderfromFile, clsparseSCsrMatrixfromFile,
};
use conformance::{device, queue};
use sparrow::DeviceArray;

use super::problem::{Control, padded, raw};

/// A file of that text.
fn file(folder: &Path, name: &str, text: &str) -> CString {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    CString::new(path.to_str().unwrap()).unwrap()
}

/// Nonzeros, rows and columns, in the order of the arguments.
fn sizes(path: *const c_char) -> Result<[u32; 3], Status> {
    let mut found = [u32::MAX; 3];
    let [nnz, rows, cols] = &mut found;
    // SAFETY: all of them live.
    match unsafe { clsparseHeaderfromFile(nnz, rows, cols, path) } {
        Status::Success => Ok(found),
        status => {
            assert_eq!(found, [u32::MAX; 3], "nothing is written");
            Err(status)
        }
    }
}

const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n\
                         4 4 5\n3 1 2.5\n1 1 1\n2 2 0\n4 3 -1\n3 1 0.5\n";

#[test]
fn a_symmetric_file_is_sized_at_most_and_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "a.mtx", SYMMETRIC);
    assert_eq!(sizes(path.as_ptr()), Ok([10, 4, 4]));
    let queue = queue();
    let control = Control::new(&queue);
    let values = padded(&queue, &[0f32; 10], -7.0).unwrap();
    let columns = padded(&queue, &[0u32; 10], 77).unwrap();
    let offsets = padded(&queue, &[0u32; 5], 77).unwrap();
    for (keeps_zeros, nnz) in [(1, 8), (0, 7)] {
        let mut csr = clsparseCsrMatrix {
            num_rows: 0,
            num_cols: 0,
            num_nonzeros: 0,
            values: raw(&values),
            col_indices: raw(&columns),
            row_pointer: raw(&offsets),
            off_values: 3,
            off_col_indices: 3,
            off_row_pointer: 3,
            meta: ptr::null_mut(),
        };
        // SAFETY: all of them live.
        let status = unsafe {
            clsparseSCsrMatrixfromFile(&raw mut csr, path.as_ptr(), control.0, keeps_zeros)
        };
        assert_eq!(status, Status::Success);
        assert_eq!((csr.num_rows, csr.num_cols, csr.num_nonzeros), (4, 4, nnz as u32));
        let offsets = offsets.read_blocking(&queue).unwrap();
        let columns = columns.read_blocking(&queue).unwrap();
        let values = values.read_blocking(&queue).unwrap();
        assert!(offsets[..3] == [77; 3] && columns[..3] == [77; 3] && values[..3] == [-7.0; 3]);
        if keeps_zeros == 1 {
            assert_eq!(offsets[3..8], [0, 3, 4, 7, 8]);
            assert_eq!(columns[3..3 + nnz], [0, 2, 2, 1, 0, 0, 3, 2]);
            assert_eq!(values[3..3 + nnz], [1.0, 2.5, 0.5, 0.0, 2.5, 0.5, -1.0, -1.0]);
        } else {
            assert_eq!(offsets[3..8], [0, 3, 3, 6, 7]);
            assert_eq!(values[3..3 + nnz], [1.0, 2.5, 0.5, 2.5, 0.5, -1.0, -1.0]);
        }
    }
}

#[test]
fn entries_of_a_pattern_are_ones_in_order_of_rows() {
    if !device().traits().has_f64 {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = "%%MatrixMarket matrix coordinate pattern general\n3 2 3\n3 1\n1 2\n1 1\n";
    let path = file(folder.path(), "p.mtx", text);
    assert_eq!(sizes(path.as_ptr()), Ok([3, 3, 2]));
    let queue = queue();
    let control = Control::new(&queue);
    let values = DeviceArray::<f64>::allocate(queue.context(), 3).unwrap();
    let columns = DeviceArray::<u32>::allocate(queue.context(), 3).unwrap();
    let rows = DeviceArray::<u32>::allocate(queue.context(), 3).unwrap();
    let mut coo = clsparseCooMatrix {
        num_rows: 0,
        num_cols: 0,
        num_nonzeros: 0,
        values: raw(&values),
        col_indices: raw(&columns),
        row_indices: raw(&rows),
        off_values: 0,
        off_col_indices: 0,
        off_row_indices: 0,
    };
    // SAFETY: all of them live.
    let status = unsafe { clsparseDCooMatrixfromFile(&raw mut coo, path.as_ptr(), control.0, 0) };
    assert_eq!(status, Status::Success);
    assert_eq!((coo.num_rows, coo.num_cols, coo.num_nonzeros), (3, 2, 3));
    assert_eq!(rows.read_blocking(&queue).unwrap(), [0, 0, 2]);
    assert_eq!(columns.read_blocking(&queue).unwrap(), [0, 1, 0]);
    assert_eq!(values.read_blocking(&queue).unwrap(), [1.0; 3]);
}

#[test]
fn files_that_are_none_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let other = file(folder.path(), "a.txt", SYMMETRIC);
    assert_eq!(sizes(other.as_ptr()), Err(Status::InvalidFileFormat));
    let array = file(folder.path(), "b.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n");
    assert_eq!(sizes(array.as_ptr()), Err(Status::InvalidFileFormat));
    let complex = "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n";
    let complex = file(folder.path(), "c.mtx", complex);
    assert_eq!(sizes(complex.as_ptr()), Err(Status::InvalidFile));
    let none = CString::new(folder.path().join("none.mtx").to_str().unwrap()).unwrap();
    assert_eq!(sizes(none.as_ptr()), Err(Status::InvalidFile));
    assert_eq!(sizes(ptr::null()), Err(Status::InvalidValue));
}

#[test]
fn buffers_that_are_too_small_leave_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "a.mtx", SYMMETRIC);
    let queue = queue();
    let control = Control::new(&queue);
    let values = DeviceArray::upload_blocking(&queue, &[9f32; 8]).unwrap();
    let columns = DeviceArray::upload_blocking(&queue, &[9u32; 8]).unwrap();
    let offsets = DeviceArray::upload_blocking(&queue, &[9u32; 4]).unwrap();
    let mut csr = clsparseCsrMatrix {
        num_rows: 6,
        num_cols: 6,
        num_nonzeros: 6,
        values: raw(&values),
        col_indices: raw(&columns),
        row_pointer: raw(&offsets),
        off_values: 0,
        off_col_indices: 0,
        off_row_pointer: 0,
        meta: ptr::null_mut(),
    };
    // SAFETY: all of them live.
    let status = unsafe { clsparseSCsrMatrixfromFile(&raw mut csr, path.as_ptr(), control.0, 1) };
    assert_eq!(status, Status::InvalidSize);
    assert_eq!((csr.num_rows, csr.num_cols, csr.num_nonzeros), (6, 6, 6));
    assert_eq!(values.read_blocking(&queue).unwrap(), [9.0; 8]);
    assert_eq!(columns.read_blocking(&queue).unwrap(), [9; 8]);
    assert_eq!(offsets.read_blocking(&queue).unwrap(), [9; 4]);
}
