//! csrmv with and without a meta, coomv, csrmm: right in every row, on every shape.

use clSPARSE::{
    Status, cldenseMatrix, clsparseCsrMetaCreate, clsparseCsrMetaDelete,
    clsparseEnableExtendedPrecision,
};
use conformance::{device, queue};
use sparrow::{DeviceArray, host::Coo};

use super::problem::{Control, Problem, Real, matrices, raw};

fn has_f64() -> bool {
    device().traits().has_f64
}

/// Every matrix, with beta 0 over a y of NaN and with another, by each of `ways`.
fn csrmv_is_right<T: Real>(with_meta: bool, extended: bool) {
    let queue = queue();
    let control = Control::new(&queue);
    clsparseEnableExtendedPrecision(control.0, extended.into());
    for (name, matrix) in matrices::<T>() {
        for (alpha, beta) in [(1.0, 0.0), (-1.5, 0.5)] {
            let problem = Problem::new(&queue, matrix.view(), alpha, beta);
            let mut csr = problem.csr();
            if with_meta {
                // SAFETY: the structure lives.
                let made = unsafe { clsparseCsrMetaCreate(&raw mut csr, control.0) };
                assert_eq!(made, Status::Success, "{name}");
                assert!(!csr.meta.is_null());
            }
            assert_eq!(problem.multiply(&control, T::CSRMV, &csr), Status::Success, "{name}");
            problem.check(alpha, beta, name);
            // SAFETY: as before.
            let deleted = unsafe { clsparseCsrMetaDelete(&raw mut csr) };
            assert!(deleted == Status::Success && csr.meta.is_null());
        }
    }
}

#[test]
fn csrmv_without_a_meta_is_right_on_every_shape() {
    csrmv_is_right::<f32>(false, false);
    if has_f64() {
        csrmv_is_right::<f64>(false, false);
    }
}

#[test]
fn csrmv_with_a_meta_is_right_on_every_shape() {
    csrmv_is_right::<f32>(true, false);
    if has_f64() {
        csrmv_is_right::<f64>(true, false);
    }
}

#[test]
fn extended_precision_is_right_on_every_shape() {
    csrmv_is_right::<f32>(false, true);
    csrmv_is_right::<f32>(true, true);
}

#[test]
fn extended_precision_keeps_what_plain_sums_lose() {
    let queue = queue();
    let control = Control::new(&queue);
    // 1 + 2^-30 + ... - 1: all of the small ones are lost beside 1 in single precision.
    let count = 4096;
    let mut values = vec![2.0f32.powi(-30); count];
    (values[0], values[count - 1]) = (1.0, -1.0);
    let columns = vec![0; count];
    let row = sparrow::Csr::new(1, vec![0, count as u32], columns, values).unwrap();
    let problem = Problem::new(&queue, row.view(), 1.0, 0.0);
    let x = f64::from(problem.host_x[0]);
    let expected = x * (count - 2) as f64 * 2f64.powi(-30);
    clsparseEnableExtendedPrecision(control.0, 1);
    assert_eq!(problem.multiply(&control, f32::CSRMV, &problem.csr()), Status::Success);
    let found = f64::from(problem.result()[0]);
    assert!((found / expected - 1.0).abs() < 1e-5, "{found} and not {expected}");
}

#[test]
fn a_meta_serves_copies_of_its_structure_with_other_values() {
    let queue = queue();
    let control = Control::new(&queue);
    let (_, matrix) = matrices::<f32>().swap_remove(1);
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    let mut csr = problem.csr();
    // SAFETY: the structure lives.
    unsafe { clsparseCsrMetaCreate(&raw mut csr, control.0) };
    let negative: Vec<f32> = matrix.values().iter().map(|value| -value).collect();
    let others = DeviceArray::upload_blocking(&queue, &negative).unwrap();
    let mut copy = csr;
    (copy.values, copy.off_values) = (raw(&others), 0);
    assert_eq!(problem.multiply(&control, f32::CSRMV, &copy), Status::Success);
    problem.check(-1.0, 0.0, "other values");
    // SAFETY: as before.
    unsafe {
        assert_eq!(clsparseCsrMetaDelete(&raw mut csr), Status::Success);
        // The copy's handle is known to be none any more.
        assert_eq!(problem.multiply(&control, f32::CSRMV, &copy), Status::StructInvalid);
        assert_eq!(clsparseCsrMetaDelete(&raw mut copy), Status::StructInvalid);
        assert_eq!(clsparseCsrMetaDelete(&raw mut copy), Status::Success);
    }
}

fn coomv_is_right<T: Real>() {
    let queue = queue();
    let control = Control::new(&queue);
    for (name, matrix) in matrices::<T>() {
        for (alpha, beta) in [(1.0, 0.0), (2.0, -1.0)] {
            let problem = Problem::new(&queue, matrix.view(), alpha, beta);
            let status = problem.multiply(&control, T::COOMV, &problem.coo());
            assert_eq!(status, Status::Success, "{name}");
            problem.check(alpha, beta, name);
        }
    }
}

#[test]
fn coomv_is_right_on_every_shape() {
    coomv_is_right::<f32>();
    if has_f64() {
        coomv_is_right::<f64>();
    }
}

#[test]
fn coomv_takes_entries_in_any_order() {
    let queue = queue();
    let control = Control::new(&queue);
    let (_, matrix) = matrices::<f32>().swap_remove(1);
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    let (rows, columns, values) = matrix.to_coo().into_arrays();
    let reversed = |of: &[u32]| of.iter().rev().copied().collect::<Vec<u32>>();
    let values: Vec<f32> = values.into_iter().rev().collect();
    let upload = |data: &[u32]| DeviceArray::upload_blocking(&queue, data).unwrap();
    let (rows, columns) = (upload(&reversed(&rows)), upload(&reversed(&columns)));
    let values = DeviceArray::upload_blocking(&queue, &values).unwrap();
    let mut coo = problem.coo();
    (coo.row_indices, coo.col_indices, coo.values) = (raw(&rows), raw(&columns), raw(&values));
    (coo.off_row_indices, coo.off_col_indices, coo.off_values) = (0, 0, 0);
    assert_eq!(problem.multiply(&control, f32::COOMV, &coo), Status::Success);
    problem.check(1.0, 0.0, "reversed");
}

#[test]
fn coomv_refuses_an_entry_outside() {
    let queue = queue();
    let control = Control::new(&queue);
    let matrix: Coo<f32> = Coo::new(3, 3, vec![0, 2], vec![1, 2], vec![1.0, 1.0]).unwrap();
    let matrix = sparrow::Csr::from_coo(matrix).unwrap();
    let problem = Problem::new(&queue, matrix.view(), 1.0, 0.0);
    let mut coo = problem.coo();
    (coo.num_rows, coo.num_cols) = (2, 3);
    assert_ne!(problem.multiply(&control, f32::COOMV, &coo), Status::Success);
}

/// C = alpha A B + beta C in both layouts, with leading dimensions and offsets.
fn csrmm_is_right<T: Real>(with_meta: bool) {
    let queue = queue();
    let control = Control::new(&queue);
    for (name, matrix) in matrices::<T>() {
        let (rows, cols, width) = (matrix.rows(), matrix.cols(), 5);
        let problem = Problem::new(&queue, matrix.view(), 2.0, 0.0);
        let mut csr = problem.csr();
        if with_meta {
            // SAFETY: the structure lives.
            unsafe { clsparseCsrMetaCreate(&raw mut csr, control.0) };
        }
        for (b_major, c_major) in [(1, 1), (2, 2), (2, 1)] {
            let lie = |major: i32, rows: usize| match major {
                1 => (width + 2, 1, rows * (width + 2)),
                _ => (1, rows + 3, width * (rows + 3)),
            };
            let ((b_row, b_col, b_len), (c_row, c_col, c_len)) =
                (lie(b_major, cols), lie(c_major, rows));
            let nan = T::from_f64(f64::NAN);
            let (mut b_host, before) = (vec![nan; b_len + 1], vec![nan; c_len + 1]);
            let element = |row: usize, col: usize| ((row * 3 + col) % 7) as f64 - 3.0;
            for row in 0..cols {
                for col in 0..width {
                    b_host[1 + row * b_row + col * b_col] = T::from_f64(element(row, col));
                }
            }
            let b = DeviceArray::upload_blocking(&queue, &b_host).unwrap();
            let c = DeviceArray::upload_blocking(&queue, &before).unwrap();
            let dense = |array: &DeviceArray<T>, rows: usize, major, row, col| cldenseMatrix {
                num_rows: rows as u32,
                num_cols: width as u32,
                lead_dim: if major == 1 { row } else { col } as u32,
                major,
                values: raw(array),
                off_values: 1,
            };
            let b_dense = dense(&b, cols, b_major, b_row, b_col);
            let mut c_dense = dense(&c, rows, c_major, c_row, c_col);
            let (alpha, beta) = (problem.alpha(), problem.beta());
            // SAFETY: all of them live.
            let status = unsafe {
                T::CSRMM(
                    &raw const alpha,
                    &raw const csr,
                    &raw const b_dense,
                    &raw const beta,
                    &raw mut c_dense,
                    control.0,
                )
            };
            assert_eq!(status, Status::Success, "{name}, majors {b_major} and {c_major}");
            let c = c.read_blocking(&queue).unwrap();
            let mut written = 0;
            for row in 0..rows {
                let (columns, values) = matrix.view().row(row);
                for col in 0..width {
                    let of = |k: usize| values[k].to_f64() * element(columns[k] as usize, col);
                    let expected: f64 = 2.0 * (0..columns.len()).map(of).sum::<f64>();
                    let found = c[1 + row * c_row + col * c_col].to_f64();
                    // All of these numbers and their sums are exact.
                    assert_eq!(found, expected, "{name}: row {row}, column {col}");
                    written += 1;
                }
            }
            let left_alone = c.iter().filter(|one| one.to_f64().is_nan()).count();
            assert_eq!(left_alone, c.len() - written, "{name}: what lies between");
        }
        // SAFETY: as before.
        unsafe { clsparseCsrMetaDelete(&raw mut csr) };
    }
}

#[test]
fn csrmm_is_right_in_both_layouts() {
    csrmm_is_right::<f32>(false);
    if has_f64() {
        csrmm_is_right::<f64>(false);
    }
}

#[test]
fn csrmm_with_a_meta_is_right_in_both_layouts() {
    csrmm_is_right::<f32>(true);
}
