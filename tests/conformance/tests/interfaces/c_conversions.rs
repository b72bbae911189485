//! `sparrow.h` from an application's side: matrices from entries and dense matrices, and back.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::*;

use sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT as INVALID;
use sparrow_status::SPARROW_STATUS_INVALID_MATRIX as INVALID_MATRIX;

/// The matrix's entries, one in two parts, in no order.
const ROW_OF: [u32; 6] = [3, 2, 0, 2, 0, 2];
const COLUMN_OF: [u32; 6] = [0, 2, 0, 1, 2, 2];
const VALUE_OF: [f32; 6] = [2.0, 1.0, 5.0, 7.0, 1.0, 2.0];

fn entries(application: &mut Application) -> sparrow_coo_buffers {
    sparrow_coo_buffers {
        size: size_of::<sparrow_coo_buffers>(),
        rows: ROWS as u64,
        cols: COLS as u64,
        entries: 6,
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U64,
        duplicates: SPARROW_DUPLICATES_SUM,
        reserved: 0,
        row_indices: application.buffer(1, &ROW_OF),
        column_indices: application.buffer(3, &COLUMN_OF),
        values: application.buffer(5, &VALUE_OF),
    }
}

/// Offsets, rows, columns and values of a matrix with offsets of 64 bits.
fn parts(
    application: &mut Application,
    matrix: *const sparrow_matrix,
    (rows, nnz): (usize, usize),
) -> (Vec<u64>, Vec<u32>, Vec<u32>, Vec<f32>) {
    let before = before_what_is_written(3);
    let parts = sparrow_matrix_parts {
        size: size_of::<sparrow_matrix_parts>(),
        offsets: application.buffer(before, &vec![u64::MAX; rows + 1]),
        row_indices: application.buffer(before, &vec![u32::MAX; nnz]),
        columns: application.buffer(before, &vec![u32::MAX; nnz]),
        values: application.buffer(before, &vec![f32::NAN; nnz]),
    };
    // SAFETY: everything is valid.
    expect_success(unsafe {
        let parts = &raw const parts;
        sparrow_matrix_copy_blocking(matrix, application.queue, parts, 0, null())
    });
    (
        application.read(parts.offsets, rows + 1, null_mut()),
        application.read(parts.row_indices, nnz, null_mut()),
        application.read(parts.columns, nnz, null_mut()),
        application.read(parts.values, nnz, null_mut()),
    )
}

#[test]
pub(crate) fn entries_in_any_order_become_a_matrix_its_transposed_and_dense_ones_and_come_back() {
    let mut application = Application::new();
    let entries = entries(&mut application);
    let (sparrow, queue) = (application.sparrow, application.queue);
    // SAFETY: everything is valid.
    let matrix = made(|out| unsafe {
        let entries = &raw const entries;
        sparrow_matrix_from_entries_blocking(sparrow, queue, entries, 0, null(), out)
    });
    let found = parts(&mut application, matrix, (ROWS, 5));
    let values = VALUES.map(|value| value as f32).to_vec();
    assert_eq!(found.0, OFFSETS.map(|offset| offset as u64));
    assert_eq!(found.1, [0, 0, 2, 2, 3]);
    assert_eq!((found.2, found.3), (COLUMNS.to_vec(), values.clone()));

    // SAFETY: everything is valid.
    let transposed =
        made(|out| unsafe { sparrow_matrix_transpose_blocking(matrix, queue, 0, null(), out) });
    let found = parts(&mut application, transposed, (COLS, 5));
    assert_eq!((found.0, found.1), (vec![0, 2, 3, 5], vec![0, 0, 1, 2, 2]));
    assert_eq!((found.2, found.3), (vec![0, 3, 2, 0, 2], vec![5.0, 2.0, 7.0, 1.0, 3.0]));

    // Columns of the dense matrix are 6 elements apart; what lies between is nobody's.
    let dense = application.buffer(before_what_is_written(1), &[-1.0f32; 16]);
    let shape = sparrow_dense_shape {
        rows: ROWS as u64,
        cols: COLS as u64,
        leading: 6,
        layout: SPARROW_LAYOUT_COLUMN_MAJOR,
    };
    // SAFETY: everything is valid.
    expect_success(unsafe {
        sparrow_matrix_write_dense_blocking(matrix, queue, &raw const shape, dense, 0, null())
    });
    let elements: Vec<f32> = application.read(dense, 16, null_mut());
    let expected = [
        [5.0, 0.0, 0.0, 2.0, -1.0, -1.0],
        [0.0, 0.0, 7.0, 0.0, -1.0, -1.0],
        [1.0, 0.0, 3.0, 0.0, -1.0, -1.0],
    ];
    assert_eq!(elements, expected.concat()[..16]);
    let source = sparrow_dense_source {
        size: size_of::<sparrow_dense_source>(),
        shape,
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U64,
        tolerance: 2.0,
        elements: dense,
    };
    // SAFETY: everything is valid.
    let back = made(|out| unsafe {
        let source = &raw const source;
        sparrow_matrix_from_dense_blocking(sparrow, queue, source, 0, null(), out)
    });
    let found = parts(&mut application, back, (ROWS, 3));
    assert_eq!((found.0, found.2), (vec![0, 1, 1, 3, 3], vec![0, 1, 2]));
    assert_eq!(found.3, [5.0, 7.0, 3.0]);
    for matrix in [matrix, transposed, back] {
        // SAFETY: each is released once.
        expect_success(unsafe { sparrow_matrix_release(matrix) });
    }
}

#[test]
pub(crate) fn what_cannot_be_converted_is_named() {
    let mut application = Application::new();
    let good = entries(&mut application);
    let (sparrow, queue) = (application.sparrow, application.queue);
    let refused = |entries: &sparrow_coo_buffers, status| {
        let mut matrix = null_mut();
        // SAFETY: everything is valid but what the test made wrong.
        let made = unsafe {
            let (entries, out) = (&raw const *entries, &raw mut matrix);
            sparrow_matrix_from_entries_blocking(sparrow, queue, entries, 0, null(), out)
        };
        assert!(matrix.is_null());
        refusal(made, status)
    };
    let outside = sparrow_coo_buffers { rows: 3, ..good };
    assert_eq!(refused(&outside, INVALID_MATRIX), "row 3 of entry 0 is outside 0..3");
    let unknown = sparrow_coo_buffers { duplicates: 7, ..good };
    assert!(refused(&unknown, INVALID).starts_with("entries->duplicates is 7, and none of "));
    let unused = sparrow_coo_buffers { reserved: 5, ..good };
    assert_eq!(refused(&unused, INVALID), "entries->reserved is 5, and must be 0");
    let many = sparrow_coo_buffers { entries: 60, ..good };
    assert!(refused(&many, INVALID).starts_with("entries->row_indices: "));

    let mut source = sparrow_dense_source {
        size: size_of::<sparrow_dense_source>(),
        shape: sparrow_dense_shape { rows: 2, cols: 3, leading: 0, layout: 1 },
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U32,
        tolerance: -1.0,
        elements: good.values,
    };
    let refused = |source: &sparrow_dense_source, status| {
        let mut matrix = null_mut();
        // SAFETY: everything is valid but what the test made wrong.
        let made = unsafe {
            let (source, out) = (&raw const *source, &raw mut matrix);
            sparrow_matrix_from_dense_blocking(sparrow, queue, source, 0, null(), out)
        };
        assert!(matrix.is_null());
        refusal(made, status)
    };
    for (tolerance, value) in [(-1.0, "-1"), (f64::NAN, "NaN")] {
        source.tolerance = tolerance;
        let text = refused(&source, INVALID);
        assert!(
            text.starts_with(&format!("dense->tolerance is {value}, and it must be 0")),
            "{text}"
        );
    }
    source.tolerance = 1e39;
    let text = refused(&source, INVALID);
    assert!(
        text.starts_with("dense->tolerance is 1e39, and it must be at most the largest f32"),
        "{text}"
    );
    source.tolerance = 0.0;
    source.shape.leading = 2;
    assert!(refused(&source, INVALID_MATRIX).contains("below the limit of 3"));
    // SAFETY: everything is valid, and the buffer too short.
    let matrix = made(|out| unsafe {
        let entries = &raw const good;
        sparrow_matrix_from_entries_blocking(sparrow, queue, entries, 0, null(), out)
    });
    let parts = sparrow_matrix_parts {
        size: size_of::<sparrow_matrix_parts>(),
        offsets: good.row_indices,
        row_indices: NOWHERE,
        columns: NOWHERE,
        values: NOWHERE,
    };
    // SAFETY: as before.
    let status =
        unsafe { sparrow_matrix_copy_blocking(matrix, queue, &raw const parts, 0, null()) };
    assert!(refusal(status, INVALID).starts_with("parts->offsets: "));
    // SAFETY: it is released once.
    expect_success(unsafe { sparrow_matrix_release(matrix) });
}
