//! `sparrow.h` from an application's side: products with dense matrices.
#![expect(unsafe_code, reason = "stands for an application in C")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ptr::{null, null_mut};

use conformance::c_application::*;
use half::f16;
use sparrow::{DenseShape, Layout, Real, RealValue};
use sparrow_c::*;

const WIDTH: usize = 5;

fn shape(rows: usize, layout: Layout, gap: usize) -> (sparrow_dense_shape, DenseShape) {
    let length = if layout == Layout::RowMajor { WIDTH } else { rows };
    let host = DenseShape::new(rows, WIDTH, layout, length + gap).unwrap();
    let layout = match layout {
        Layout::RowMajor => SPARROW_LAYOUT_ROW_MAJOR,
        Layout::ColumnMajor => SPARROW_LAYOUT_COLUMN_MAJOR,
    };
    let (rows, cols) = (rows as u64, WIDTH as u64);
    // Without a gap, 0 says the same.
    let leading = if gap == 0 { 0 } else { host.leading() as u64 };
    (sparrow_dense_shape { rows, cols, leading, layout }, host)
}

fn spmm_options(
    b: sparrow_dense_shape,
    c: sparrow_dense_shape,
    b_type: sparrow_value_type,
) -> sparrow_spmm_options {
    sparrow_spmm_options {
        size: size_of::<sparrow_spmm_options>(),
        b,
        c,
        algorithm: null(),
        parameters: null(),
        device_table: null(),
        b_type,
        operation: 0,
        scalars_on_device: 0,
    }
}

/// Column k of B is (k + 1) x, so column k of C is (k + 1) A x; gaps of C are left alone.
fn a_dense_product_is_right<V: RealValue, D: RealValue<Accum = V::Accum>>(
    (b_layout, c_layout): (Layout, Layout),
    gap: usize,
) {
    let mut application = Application::new();
    let a = application.matrix::<V, u32>();
    let (b_shape, b_host) = shape(COLS, b_layout, gap);
    let (c_shape, c_host) = shape(ROWS, c_layout, 2 * gap);
    let mut b = vec![D::from_f64(f64::NAN); b_host.span()];
    for (row, col) in (0..COLS).flat_map(|row| (0..WIDTH).map(move |col| (row, col))) {
        b[b_host.at(row, col)] = D::from_f64(X[row] * (col + 1) as f64);
    }
    let before = vec![f64::NAN; c_host.span()];
    let (b, c) = (application.buffer(1, &b), application.vector::<V>(3, &before));
    let options = spmm_options(b_shape, c_shape, value_number(D::TYPE));
    let queue = application.queue;
    // SAFETY: everything is valid.
    unsafe {
        let plan = made(|out| {
            sparrow_spmm_plan_create_blocking(a, queue, &raw const options, 0, null(), out)
        });
        let workspace = made(|out| sparrow_spmm_plan_workspace_blocking(plan, queue, out));
        let mut info = empty_info();
        expect_success(sparrow_spmm_plan_get_info(plan, &raw mut info));
        assert!(text(info.algorithm).starts_with("spmm_"));
        let product = sparrow_dense_product {
            size: size_of::<sparrow_dense_product>(),
            alpha: by_value(1.0),
            a,
            b,
            beta: by_value(0.0),
            c,
        };
        let mut event = null_mut();
        expect_success(sparrow_spmm_plan_launch(
            plan,
            queue,
            workspace,
            &raw const product,
            0,
            null(),
            &raw mut event,
        ));
        let c: Vec<V::Accum> = application.read(c, c_host.span(), event);
        for col in 0..WIDTH {
            let expected = AX.map(|number| number * (col + 1) as f64);
            let found: Vec<_> =
                c_host.column(&c, col).unwrap().into_iter().map(Real::to_f64).collect();
            assert_eq!(found, expected, "{b_layout:?} {c_layout:?}, column {col}");
        }
        let written = c.iter().filter(|number| !number.to_f64().is_nan()).count();
        assert_eq!(written, ROWS * WIDTH, "gaps are left alone");
        expect_success(sparrow_spmm_plan_release(plan));
        expect_success(sparrow_workspace_release(workspace));
        expect_success(sparrow_matrix_release(a));
    }
}

#[test]
pub(crate) fn a_dense_product_is_right_in_both_layouts_with_leading_dimensions() {
    a_dense_product_is_right::<f32, f32>((Layout::RowMajor, Layout::RowMajor), 0);
    a_dense_product_is_right::<f32, f32>((Layout::ColumnMajor, Layout::RowMajor), 2);
    if conformance::device().traits().has_f64 {
        a_dense_product_is_right::<f64, f64>((Layout::RowMajor, Layout::ColumnMajor), 1);
    }
}

#[test]
pub(crate) fn a_dense_product_takes_a_b_of_16_bits() {
    a_dense_product_is_right::<f32, f16>((Layout::RowMajor, Layout::RowMajor), 0);
    a_dense_product_is_right::<f16, f16>((Layout::RowMajor, Layout::RowMajor), 1);
}

#[test]
pub(crate) fn a_transposed_dense_product_is_right_and_takes_new_values() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let ((b_shape, _), (c_shape, c_host)) =
        (shape(ROWS, Layout::RowMajor, 0), shape(COLS, Layout::RowMajor, 0));
    let b = application.buffer(0, &[1.0f32; ROWS * WIDTH]);
    let c = application.buffer(0, &[f32::NAN; COLS * WIDTH]);
    let options = sparrow_spmm_options {
        operation: SPARROW_OPERATION_TRANSPOSE,
        ..spmm_options(b_shape, c_shape, SPARROW_VALUE_TYPE_F32)
    };
    let queue = application.queue;
    // SAFETY: everything is valid.
    unsafe {
        let plan = made(|out| {
            sparrow_spmm_plan_create_blocking(a, queue, &raw const options, 0, null(), out)
        });
        let workspace = made(|out| sparrow_spmm_plan_workspace_blocking(plan, queue, out));
        let (alpha, beta) = (by_value(1.0), by_value(0.0));
        let size = size_of::<sparrow_dense_product>();
        let product = sparrow_dense_product { size, alpha, a, b, beta, c };
        for (values, sums) in [(None, [7.0, 7.0, 4.0]), (Some([1.0f32; 5]), [2.0, 1.0, 2.0])] {
            if let Some(values) = values {
                let values = values.as_ptr().cast();
                expect_success(sparrow_matrix_write_values_blocking(a, queue, values, 0, null()));
                expect_success(sparrow_spmm_plan_update_values_blocking(plan, queue, a, 0, null()));
            }
            let mut event = null_mut();
            expect_success(sparrow_spmm_plan_launch(
                plan,
                queue,
                workspace,
                &raw const product,
                0,
                null(),
                &raw mut event,
            ));
            let c: Vec<f32> = application.read(c, c_host.span(), event);
            assert_eq!(c_host.column(&c, WIDTH - 1).unwrap(), sums);
        }
        expect_success(sparrow_spmm_plan_release(plan));
        expect_success(sparrow_workspace_release(workspace));
        expect_success(sparrow_matrix_release(a));
    }
}

#[test]
pub(crate) fn shapes_that_do_not_fit_are_refused_by_name() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let queue = application.queue;
    let dense = |options: sparrow_spmm_options, status| {
        let mut plan = null_mut();
        // SAFETY: everything is valid.
        let made = unsafe {
            let out = &raw mut plan;
            sparrow_spmm_plan_create_blocking(a, queue, &raw const options, 0, null(), out)
        };
        assert!(plan.is_null());
        refusal(made, status)
    };
    let (b, c) = (shape(COLS, Layout::RowMajor, 0).0, shape(ROWS, Layout::RowMajor, 0).0);
    let right = spmm_options(b, c, SPARROW_VALUE_TYPE_F32);
    let invalid = sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT;
    let narrow = sparrow_dense_shape { leading: 4, ..b };
    let text = dense(
        sparrow_spmm_options { b: narrow, ..right },
        sparrow_status::SPARROW_STATUS_INVALID_MATRIX,
    );
    assert!(
        text.starts_with("options->b: the leading dimension of a row-major matrix is 4"),
        "{text}"
    );
    let nameless = sparrow_dense_shape { layout: 0, ..c };
    let text = dense(sparrow_spmm_options { c: nameless, ..right }, invalid);
    assert!(text.contains("options->c.layout is 0, and none of SPARROW_LAYOUT_ROW_MAJOR (1)"));
    let wide = SPARROW_VALUE_TYPE_F64;
    let text = dense(
        sparrow_spmm_options { b_type: wide, ..right },
        sparrow_status::SPARROW_STATUS_MISMATCH,
    );
    assert_eq!(text, "B of f64 is summed in f64, and a matrix of f32 in f32");
    let algorithm = c"spmm_fast".as_ptr();
    let text = dense(sparrow_spmm_options { algorithm, ..right }, invalid);
    assert!(text.contains("\"spmm_fast\" is none of spmm_row_split, spmm_merge"), "{text}");
    // SAFETY: it is released once.
    expect_success(unsafe { sparrow_matrix_release(a) });
}
