//! Conversions of what does not belong together are refused by name, and nothing is made.

use conformance::queue;
use csr_core::{Csr, DenseShape, Layout};
use sparrow::{CooToCsr, DenseToCsr, DeviceArray, Duplicates, Matrix, TransposedMatrix};

use super::conversions::coo;

#[test]
fn entries_outside_the_matrix_are_named_and_nothing_is_made() {
    let queue = queue();
    let upload = |data: &[u32]| DeviceArray::upload_blocking(&queue, data).unwrap();
    let refusal = |rows: &[u32], columns: &[u32]| {
        let (rows, columns) = (upload(rows), upload(columns));
        let order = CooToCsr::new_blocking(&queue, (3, 5), &rows, &columns, Duplicates::Sum);
        order.unwrap_err().to_string()
    };
    assert_eq!(refusal(&[0, 3, 9], &[4, 0, 0]), "row 3 of entry 1 is outside 0..3");
    assert_eq!(refusal(&[0, 2, 1], &[4, 4, 5]), "column 5 of entry 2 is outside 0..5");
    assert_eq!(
        refusal(&[0, 2], &[4, 4, 5]),
        "the array of column indices has 3 elements where 2 are needed: one for each row index"
    );
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let queue = queue();
    let host: Csr<f32> = Csr::from_coo(coo(3, 4, &[(0, 1, 1.0), (2, 3, 2.0)])).unwrap();
    let matrix = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let shape = |rows, cols| DenseShape::packed(rows, cols, Layout::RowMajor).unwrap();
    let mut dense = DeviceArray::upload_blocking(&queue, &[0.0f32; 12]).unwrap();
    let text = |error: sparrow::RuntimeError| error.to_string();
    let mut short = dense.slice(0..11).unwrap();
    assert_eq!(
        text(matrix.write_dense(&queue, shape(3, 4), &mut short).unwrap_err()),
        "the dense matrix has 11 elements where 12 are needed: 3 x 4 with a leading dimension of 4"
    );
    assert_eq!(
        text(matrix.write_dense(&queue, shape(4, 3), &mut dense).unwrap_err()),
        "the dense matrix has 4 rows where 3 are needed: as many as the matrix has"
    );
    for tolerance in [-1.0, f32::NAN] {
        let counted = DenseToCsr::<f32, u32>::new_blocking(&queue, shape(3, 4), &dense, tolerance);
        assert!(text(counted.unwrap_err()).starts_with("tolerance is "));
    }
    let mut rows = DeviceArray::upload_blocking(&queue, &[0u32; 3]).unwrap();
    assert_eq!(
        text(matrix.write_row_indices(&queue, &mut rows).unwrap_err()),
        "the array of row indices has 3 elements where 2 are needed: one for each nonzero"
    );
    let other = conformance::queue();
    let mut rows = DeviceArray::upload_blocking(&other, &[0u32; 2]).unwrap();
    assert_eq!(
        text(matrix.write_row_indices(&queue, &mut rows).unwrap_err()),
        "the array of row indices belongs to another context than the one it is used in"
    );
    assert!(TransposedMatrix::on_device_blocking(&other, &matrix).is_err());
}
