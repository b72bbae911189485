//! `sparrow.h` from an application's side: products of sparse matrices.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use sparrow_c::*;

use sparrow_status::SPARROW_STATUS_MISMATCH as MISMATCH;

#[test]
pub(crate) fn a_matrix_times_its_transposed_is_right_in_parts_too() {
    let mut application = Application::new();
    let queue = application.queue;
    let a = application.matrix::<f32, u64>();
    // SAFETY: everything is valid.
    unsafe {
        let b = made(|out| sparrow_matrix_transpose_blocking(a, queue, 0, null(), out));
        for scratch_bytes in [0, 20] {
            let c = made(|out| {
                sparrow_matrix_multiply_blocking(a, b, queue, scratch_bytes, 0, null(), out)
            });
            let before = before_what_is_written(3);
            let parts = sparrow_matrix_parts {
                size: size_of::<sparrow_matrix_parts>(),
                offsets: application.buffer(before, &[u64::MAX; ROWS + 1]),
                row_indices: application.buffer(before, &[u32::MAX; 7]),
                columns: application.buffer(before, &[u32::MAX; 7]),
                values: application.buffer(before, &[f32::NAN; 7]),
            };
            expect_success(sparrow_matrix_copy_blocking(c, queue, &raw const parts, 0, null()));
            let offsets: Vec<u64> = application.read(parts.offsets, ROWS + 1, null_mut());
            let columns: Vec<u32> = application.read(parts.columns, 7, null_mut());
            let values: Vec<f32> = application.read(parts.values, 7, null_mut());
            assert_eq!(offsets, [0, 3, 3, 5, 7]);
            assert_eq!(columns, [0, 2, 3, 0, 2, 0, 3]);
            assert_eq!(values, [26.0, 3.0, 10.0, 3.0, 58.0, 10.0, 4.0]);
            expect_success(sparrow_matrix_release(c));
        }
        expect_success(sparrow_matrix_release(b));
        expect_success(sparrow_matrix_release(a));
    }
}

#[test]
pub(crate) fn what_does_not_fit_is_refused() {
    let mut application = Application::new();
    let queue = application.queue;
    let a = application.matrix::<f32, u32>();
    let half = application.matrix::<half::f16, u32>();
    let wide = application.matrix::<f32, u64>();
    for (a, b, text) in [
        (a, a, "B has 4 rows where 3 are needed"),
        (half, half, "a stores f16"),
        (a, wide, "offsets of u64"),
    ] {
        let mut c = null_mut();
        // SAFETY: everything is valid.
        let status =
            unsafe { sparrow_matrix_multiply_blocking(a, b, queue, 0, 0, null(), &raw mut c) };
        assert!(c.is_null());
        let found = refusal(status, MISMATCH);
        assert!(found.contains(text), "{found}");
    }
    for matrix in [a, half, wide] {
        // SAFETY: each is released once.
        expect_success(unsafe { sparrow_matrix_release(matrix) });
    }
}
