//! `sparrow.h` from an application's side: products with dense matrices, and batches.
#![expect(unsafe_code, reason = "stands for an application in C")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

mod c_application;

use std::ptr::{null, null_mut};

use c_application::*;
use half::f16;
use sparrow::{DenseShape, Layout, Value};
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
fn a_dense_product_is_right<V: Value, D: Value<Accum = V::Accum>>(
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
                c_host.column(&c, col).unwrap().into_iter().map(Value::to_f64).collect();
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
fn a_dense_product_is_right_in_both_layouts_with_leading_dimensions() {
    a_dense_product_is_right::<f32, f32>((Layout::RowMajor, Layout::RowMajor), 0);
    a_dense_product_is_right::<f32, f32>((Layout::ColumnMajor, Layout::RowMajor), 2);
    if conformance::device().traits().has_f64 {
        a_dense_product_is_right::<f64, f64>((Layout::RowMajor, Layout::ColumnMajor), 1);
    }
}

#[test]
fn a_dense_product_takes_a_b_of_16_bits() {
    a_dense_product_is_right::<f32, f16>((Layout::RowMajor, Layout::RowMajor), 0);
    a_dense_product_is_right::<f16, f16>((Layout::RowMajor, Layout::RowMajor), 1);
}

#[test]
fn a_transposed_dense_product_is_right_and_takes_new_values() {
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

/// Two problems one behind the other: the usual matrix, and its first three rows in coordinates.
fn batch(application: &mut Application) -> (*mut sparrow_batch, Vec<sparrow_problem>) {
    let of_csr = sparrow_problem {
        rows: ROWS as u32,
        cols: COLS as u32,
        entries: 5,
        format: SPARROW_FORMAT_CSR,
        ell_width: 0,
        reserved: 0,
        index: 0,
        columns: 0,
        values: 0,
        x: 0,
        y: 0,
    };
    let of_coo = sparrow_problem {
        rows: 3,
        entries: 4,
        format: SPARROW_FORMAT_COO,
        columns: 5,
        values: 5,
        x: 3,
        y: 5,
        ..of_csr
    };
    let problems = vec![of_csr, of_coo];
    let values: Vec<f32> = VALUES.iter().chain(&VALUES[..4]).map(|&value| value as f32).collect();
    let columns: Vec<u16> = COLUMNS.iter().chain(&COLUMNS[..4]).map(|&c| c as u16).collect();
    let buffers = sparrow_batch_buffers {
        size: size_of::<sparrow_batch_buffers>(),
        problems: problems.as_ptr(),
        num_problems: 2,
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U64,
        column_bits: 16,
        reserved: 0,
        offsets: application.buffer(1, &OFFSETS.map(|offset| offset as u64)),
        num_offsets: 5,
        indices: application.buffer(3, &[0u32, 0, 2, 2]),
        num_indices: 4,
        columns: application.buffer(5, &columns),
        num_columns: 9,
        values: application.buffer(1, &values),
        num_values: 9,
    };
    let context = application.sparrow;
    // SAFETY: everything is valid.
    let batch = made(|out| unsafe { sparrow_batch_from_buffers(context, &raw const buffers, out) });
    (batch, problems)
}

fn batch_scalar(value: f64, device: sparrow_buffer, each: u32) -> sparrow_batch_scalar {
    sparrow_batch_scalar { value, device, each }
}

#[test]
fn a_batch_is_right_with_numbers_by_value_one_on_the_device_and_one_for_each_problem() {
    let mut application = Application::new();
    let (batch, _) = batch(&mut application);
    let queue = application.queue;
    let x: Vec<f64> = X.iter().chain(&X).copied().collect();
    let one = application.vector::<f32>(3, &[2.0]);
    let each = application.vector::<f32>(1, &[2.0, 3.0]);
    let zero = application.vector::<f32>(1, &[0.0]);
    let cases = [
        (0, batch_scalar(2.0, NOWHERE, 0), batch_scalar(0.0, NOWHERE, 0), [2.0, 2.0]),
        (1, batch_scalar(9.0, one, 0), batch_scalar(9.0, zero, 0), [2.0, 2.0]),
        (1, batch_scalar(9.0, each, 1), batch_scalar(9.0, zero, 0), [2.0, 3.0]),
    ];
    for (scalars_on_device, alpha, beta, factors) in cases {
        let options = sparrow_batch_options {
            size: size_of::<sparrow_batch_options>(),
            algorithm: null(),
            variant: null(),
            parameters: null(),
            device_table: null(),
            scalars_on_device,
        };
        let (x, y) = (application.vector::<f32>(1, &x), application.buffer(1, &[f32::NAN; 8]));
        let product = sparrow_batch_product {
            size: size_of::<sparrow_batch_product>(),
            alpha,
            a: batch,
            x,
            beta,
            y,
        };
        // SAFETY: everything is valid.
        unsafe {
            let plan = made(|out| {
                let options = &raw const options;
                sparrow_batch_plan_create_blocking(batch, queue, options, 0, null(), out)
            });
            let workspace = made(|out| sparrow_batch_plan_workspace_blocking(plan, queue, out));
            let mut info = empty_info();
            expect_success(sparrow_batch_plan_get_info(plan, &raw mut info));
            assert!(text(info.algorithm).contains("batched_coo"), "{}", text(info.algorithm));
            let mut event = null_mut();
            expect_success(sparrow_batch_plan_launch(
                plan,
                queue,
                workspace,
                &raw const product,
                0,
                null(),
                &raw mut event,
            ));
            let y: Vec<f32> = application.read(y, 8, event);
            let scaled = |factor: f32| AX.map(|number| factor * number as f32);
            assert_eq!(y[..4], scaled(factors[0]));
            assert!(y[4].is_nan(), "what lies between is left alone");
            assert_eq!(y[5..], scaled(factors[1])[..3]);
            // And without an event, into a y of its own.
            let y_again = application.buffer(1, &[f32::NAN; 8]);
            let again = sparrow_batch_product { y: y_again, ..product };
            expect_success(sparrow_batch_plan_launch(
                plan,
                queue,
                workspace,
                &raw const again,
                0,
                null(),
                null_mut(),
            ));
            let again: Vec<f32> = application.read(y_again, 8, null_mut());
            assert_eq!(conformance::bits(&again), conformance::bits(&y));
            expect_success(sparrow_batch_plan_release(plan));
            expect_success(sparrow_workspace_release(workspace));
        }
    }
    // SAFETY: released once.
    expect_success(unsafe { sparrow_batch_release(batch) });
}

#[test]
fn a_batch_shares_its_patterns_with_other_values() {
    let mut application = Application::new();
    let (batch, _) = batch(&mut application);
    let (queue, ones) = (application.queue, application.buffer(3, &[1.0f32; 9]));
    let (x, y) = (application.buffer(0, &[1.0f32; 6]), application.buffer(0, &[f32::NAN; 8]));
    // SAFETY: everything is valid.
    unsafe {
        let other = made(|out| sparrow_batch_with_values(batch, ones, out));
        let plan =
            made(|out| sparrow_batch_plan_create_blocking(batch, queue, null(), 0, null(), out));
        let workspace = made(|out| sparrow_batch_plan_workspace_blocking(plan, queue, out));
        let size = size_of::<sparrow_batch_product>();
        let (alpha, beta) = (batch_scalar(1.0, NOWHERE, 0), batch_scalar(0.0, NOWHERE, 0));
        let product = sparrow_batch_product { size, alpha, a: other, x, beta, y };
        let mut event = null_mut();
        expect_success(sparrow_batch_plan_launch(
            plan,
            queue,
            workspace,
            &raw const product,
            0,
            null(),
            &raw mut event,
        ));
        assert_eq!(application.read::<f32>(y, 4, event), [2.0, 0.0, 2.0, 1.0]);
        expect_success(sparrow_batch_release(batch));
        expect_success(sparrow_batch_release(other));
        expect_success(sparrow_batch_plan_release(plan));
        expect_success(sparrow_workspace_release(workspace));
    }
}

#[test]
fn shapes_and_problems_that_do_not_fit_are_refused_by_name() {
    let mut application = Application::new();
    let a = application.matrix::<f32, u32>();
    let (queue, context) = (application.queue, application.sparrow);
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

    let (batch, mut problems) = batch(&mut application);
    problems[1].y = 3;
    let empty = sparrow_buffer { memory: null_mut(), byte_offset: 0 };
    let none = sparrow_batch_buffers {
        size: size_of::<sparrow_batch_buffers>(),
        problems: problems.as_ptr(),
        num_problems: 2,
        value_type: SPARROW_VALUE_TYPE_F32,
        offset_type: SPARROW_OFFSET_TYPE_U32,
        column_bits: 32,
        reserved: 0,
        offsets: empty,
        num_offsets: 0,
        indices: empty,
        num_indices: 0,
        columns: empty,
        num_columns: 0,
        values: empty,
        num_values: 0,
    };
    let refused = |buffers: sparrow_batch_buffers, status| {
        let mut batch = null_mut();
        // SAFETY: everything is valid.
        let made =
            unsafe { sparrow_batch_from_buffers(context, &raw const buffers, &raw mut batch) };
        assert!(batch.is_null());
        refusal(made, status)
    };
    let text = refused(none, sparrow_status::SPARROW_STATUS_INVALID_MATRIX);
    assert!(text.starts_with("problem 0: row offsets from 0 on"), "{text}");
    let text = refused(sparrow_batch_buffers { column_bits: 8, ..none }, invalid);
    assert_eq!(text, "buffers->column_bits is 8, and none of 16 bits (16), 32 bits (32)");
    problems[1].format = 7;
    let text = refused(sparrow_batch_buffers { problems: problems.as_ptr(), ..none }, invalid);
    assert!(text.starts_with("buffers->problems[1].format is 7"), "{text}");
    // SAFETY: each is released once.
    unsafe {
        expect_success(sparrow_batch_release(batch));
        expect_success(sparrow_matrix_release(a));
    }
}

/// Kernels for vectors of a type, made by `application`.
fn vectors_of(
    application: &Application,
    value_type: sparrow_value_type,
    scalars_on_device: u32,
) -> *mut sparrow_vectors {
    let options = sparrow_vectors_options {
        size: size_of::<sparrow_vectors_options>(),
        value_type,
        accumulate: SPARROW_ACCUMULATE_COMPENSATED,
        scalars_on_device,
    };
    let (context, queue) = (application.sparrow, application.queue);
    // SAFETY: everything is valid.
    made(|out| unsafe { sparrow_vectors_create_blocking(context, queue, &raw const options, out) })
}

fn operations_on_vectors_are_right<V: Value<Accum = V>>(on_device: bool) {
    let mut application = Application::new();
    let queue = application.queue;
    let vectors = vectors_of(&application, value_number(V::TYPE), on_device.into());
    let (x_host, y_host) = ([3.0, -1.0, 4.0, 0.5, 2.0], [2.0, 4.0, -0.5, 1.0, 8.0]);
    let (x, y) = (application.vector::<V>(1, &x_host), application.vector::<V>(3, &y_host));
    let number = |application: &mut Application, value: f64| match on_device {
        true => sparrow_scalar { value: f64::NAN, device: application.vector::<V>(1, &[value]) },
        false => by_value(value),
    };
    let (alpha, beta) = (number(&mut application, 2.0), number(&mut application, -0.5));
    let expected: [&dyn Fn(f64, f64) -> f64; 7] = [
        &|x, _| 2.0 * x,
        &|x, y| 2.0 * x + y,
        &|x, y| 2.0 * x - 0.5 * y,
        &|x, y| x + y,
        &|x, y| x - y,
        &|x, y| x * y,
        &|x, y| x / y,
    ];
    for (number, expected) in expected.into_iter().enumerate() {
        let nan = vec![f64::NAN; 5];
        let elementwise = sparrow_elementwise {
            size: size_of::<sparrow_elementwise>(),
            elements: 5,
            alpha,
            x,
            beta,
            y,
            r: application.vector::<V>(2, &nan),
            operation: SPARROW_ELEMENTARY_SCALE + number as u32,
        };
        let (operands, mut event) = (&raw const elementwise, null_mut());
        // SAFETY: everything is valid.
        unsafe {
            let out = &raw mut event;
            expect_success(sparrow_vectors_elementwise(vectors, queue, operands, 0, null(), out));
        }
        let found: Vec<V> = application.read(elementwise.r, 5, event);
        let right = x_host.iter().zip(y_host).map(|(&x, y)| V::from_f64(expected(x, y)));
        assert_eq!(found, right.collect::<Vec<V>>(), "operation {}", elementwise.operation);
    }
    let squares: f64 = x_host.iter().map(|x| x * x).sum();
    for (kind, expected) in [
        (SPARROW_REDUCTION_SUM, 8.5),
        (SPARROW_REDUCTION_DOT, 16.5),
        (SPARROW_REDUCTION_NORM1, 10.5),
        (SPARROW_REDUCTION_NORM2, squares.sqrt()),
    ] {
        let reduction = sparrow_reduction {
            size: size_of::<sparrow_reduction>(),
            elements: 5,
            x,
            y,
            result: application.vector::<V>(1, &[f64::NAN]),
            kind,
        };
        let (operands, mut event) = (&raw const reduction, null_mut());
        // SAFETY: everything is valid.
        unsafe {
            let out = &raw mut event;
            expect_success(sparrow_vectors_reduce(vectors, queue, operands, 0, null(), out));
        }
        let found = application.read::<V>(reduction.result, 1, event)[0];
        assert_eq!(found, V::from_f64(expected), "reduction {kind}");
    }
    // SAFETY: released once.
    expect_success(unsafe { sparrow_vectors_release(vectors) });
}

#[test]
fn operations_on_dense_vectors_are_right_in_both_precisions() {
    for on_device in [false, true] {
        operations_on_vectors_are_right::<f32>(on_device);
        if conformance::device().traits().has_f64 {
            operations_on_vectors_are_right::<f64>(on_device);
        }
    }
}

#[test]
fn integers_are_summed_and_what_vectors_cannot_be_is_refused() {
    let mut application = Application::new();
    let queue = application.queue;
    let vectors = vectors_of(&application, SPARROW_VALUE_TYPE_F32, 0);
    let right = sparrow_reduction {
        size: size_of::<sparrow_reduction>(),
        elements: 3,
        x: application.buffer(1, &[i32::MAX, 2, -5]),
        y: NOWHERE,
        result: application.buffer(1, &[77i32]),
        kind: SPARROW_REDUCTION_SUM_INTEGERS,
    };
    let reduce = |reduction: sparrow_reduction| {
        // SAFETY: everything is valid but what the test made wrong.
        unsafe {
            let (operands, none) = (&raw const reduction, null_mut());
            sparrow_vectors_reduce(vectors, queue, operands, 0, null(), none)
        }
    };
    expect_success(reduce(right));
    let found = application.read::<i32>(right.result, 1, null_mut());
    assert_eq!(found, [i32::MAX.wrapping_add(2).wrapping_sub(5)]);

    let invalid = sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT;
    let mismatch = sparrow_status::SPARROW_STATUS_MISMATCH;
    let text = refusal(reduce(sparrow_reduction { kind: 6, ..right }), invalid);
    assert!(
        text.starts_with("reduction->kind is 6, and none of SPARROW_REDUCTION_SUM (1)"),
        "{text}"
    );
    let text = refusal(reduce(sparrow_reduction { elements: 4, ..right }), invalid);
    assert!(text.starts_with("reduction->x: the length of an array: 4"), "{text}");
    let dot = sparrow_reduction { kind: SPARROW_REDUCTION_DOT, ..right };
    let text = refusal(reduce(dot), invalid);
    assert_eq!(text, "reduction->y.memory is NULL, and 3 elements are needed");
    let text = refusal(reduce(sparrow_reduction { result: right.x, ..right }), mismatch);
    assert!(text.starts_with("the result lies in x"), "{text}");

    let numbers = application.buffer(0, &[1f32; 8]);
    let later = sparrow_buffer { byte_offset: 4, ..numbers };
    let elementwise = sparrow_elementwise {
        size: size_of::<sparrow_elementwise>(),
        elements: 4,
        alpha: by_value(1.0),
        x: numbers,
        beta: by_value(1.0),
        y: numbers,
        r: later,
        operation: SPARROW_ELEMENTARY_ADD,
    };
    let launch = |elementwise: sparrow_elementwise| {
        // SAFETY: everything is valid but what the test made wrong.
        unsafe {
            let (operands, none) = (&raw const elementwise, null_mut());
            sparrow_vectors_elementwise(vectors, queue, operands, 0, null(), none)
        }
    };
    let text = refusal(launch(elementwise), mismatch);
    assert!(text.starts_with("x and r overlap in part"), "{text}");
    let text = refusal(launch(sparrow_elementwise { operation: 0, ..elementwise }), invalid);
    assert!(text.starts_with("elementwise->operation is 0, and none of"), "{text}");
    assert_eq!(application.read::<f32>(numbers, 8, null_mut()), [1f32; 8]);

    let options = sparrow_vectors_options {
        size: size_of::<sparrow_vectors_options>(),
        value_type: SPARROW_VALUE_TYPE_F16,
        accumulate: 0,
        scalars_on_device: 0,
    };
    let mut none = null_mut();
    // SAFETY: everything is valid.
    let status = unsafe {
        let (options, out) = (&raw const options, &raw mut none);
        sparrow_vectors_create_blocking(application.sparrow, queue, options, out)
    };
    let text = refusal(status, invalid);
    assert!(text.starts_with("options->value_type is f16") && none.is_null(), "{text}");
    // SAFETY: released once.
    expect_success(unsafe { sparrow_vectors_release(vectors) });
}
