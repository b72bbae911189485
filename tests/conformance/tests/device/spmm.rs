//! SpMM: both algorithms and the choice, with B and C in every layout and of every width.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test panics when its claim is broken")]

use std::ops::ControlFlow;

use cl_kernels::spmm_row_split::SpmmRowSplit;
use cl_runtime::spmm::RowFacts;
use conformance::{compiles_slowly, device, extent, is_interpreter, is_shared, queue, say};
use csr_core::dense_product;
use sparrow::{
    Context, Csr, DenseMatrix, DenseShape, DeviceArray, DeviceType, Layout, Matrix, Op, Queue,
    SpmmAlgorithm, SpmmOperands, SpmmOptions, SpmmPlan, SpmmVariant, ValueType,
};
use sparrow_bench::selftest::{Extent, Progress, SpmmCase, SpmmConfiguration, run_spmm, run_spmms};

const BOTH: [SpmmAlgorithm; 2] = SpmmAlgorithm::ALL;

/// `rows` rows of `length(row)` nonzeros in `cols` columns.
pub(crate) fn csr(cols: usize, rows: usize, length: impl Fn(usize) -> usize) -> Csr<f64> {
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for row in 0..rows {
        columns.extend((0..length(row)).map(|k| ((row * 31 + k * 7) % cols) as u32));
        offsets.push(columns.len() as u32);
    }
    let values = csr_core::random_vector(3, columns.len());
    Csr::new(cols, offsets, columns, values).unwrap()
}

pub(crate) fn check(queue: &Queue, matrix: &Csr<f64>, case: &SpmmCase) {
    if let Err(error) = run_spmm(queue, matrix.view().into(), ValueType::F64, false, case) {
        panic!("{error}; {case:?}");
    }
}

#[test]
fn every_algorithm_is_right_on_every_shape_with_columns_of_every_number() {
    let queue = queue();
    let extent = extent(queue.context().device());
    let mut configurations = SpmmConfiguration::all(queue.context().device().traits());
    if extent.is_for_slow_devices() {
        // As of products with a vector: what a user gets has larger groups and no other code.
        configurations.retain(|one| !one.is_by_name_with_defaults());
    }
    if is_interpreter(queue.context().device()) {
        // Oclgrind 21.10 takes lane 11 of a shuffle for an undefined one, of which vectors of 16 have some.
        configurations
            .iter_mut()
            .for_each(|one| one.parameters.push(("vector_width".to_owned(), 8)));
    }
    let observe = &mut |_: Progress<'_>| ControlFlow::Continue(());
    let report = run_spmms(&queue, &configurations, extent, observe).unwrap();
    say(&format!("SpMM ({}): {}", extent.name(), report.line()));
    let failures: Vec<String> = report.failures().take(5).map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}\n{}", report.line(), failures.join("\n"));
    assert!(report.passed() > 0);
}

/// What no CPU device is given: columns that are apart.
#[test]
fn forms_for_gpus_are_right_where_a_cpu_runs_them() {
    if compiles_slowly(&device()) && is_shared() {
        say("forms for GPUs: by Intel's runtime, which compiles them in a third of the time");
        return;
    }
    let device = device().masked(|traits| traits.device_type = DeviceType::Gpu);
    let queue = Queue::new(&Context::new(&device).unwrap()).unwrap();
    let mut configurations = SpmmConfiguration::all(device.traits());
    configurations.retain(|one| !one.parameters.is_empty());
    let observe = &mut |_: Progress<'_>| ControlFlow::Continue(());
    let report = run_spmms(&queue, &configurations, Extent::Brief, observe).unwrap();
    say(&format!("SpMM, forms for GPUs: {}", report.line()));
    let failures: Vec<String> = report.failures().take(5).map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}\n{}", report.line(), failures.join("\n"));
    assert!(report.passed() > 0);
}

#[test]
fn every_number_of_columns_is_right_on_rows_of_every_length() {
    let queue = queue();
    let matrix = csr(97, 60, |row| row * row % 90);
    let step = if is_interpreter(queue.context().device()) { 23 } else { 1 };
    for columns in (1..70).step_by(step) {
        for algorithm in BOTH {
            let parameters = match algorithm {
                SpmmAlgorithm::Merge => vec![("tile_length".to_owned(), 128)],
                _ => vec![("rows_at_once".to_owned(), 1)],
            };
            let case = SpmmCase { parameters, ..SpmmCase::new(Some(algorithm), columns) };
            check(&queue, &matrix, &case);
        }
    }
}

#[test]
fn rows_that_many_groups_share_are_right_and_the_same_every_time() {
    let queue = queue();
    // Pieces that begin and end in one row, rows that end just behind a border, and rows between.
    let mut lengths = [20_000, 0, 3, 513, 511, 512, 1, 64, 65, 9000, 0];
    let mut widths = vec![(4, 0.5), (33, 0.0), (130, 0.0)];
    if is_interpreter(queue.context().device()) {
        (lengths[0], lengths[9]) = (2000, 600);
        widths.truncate(1);
    }
    let matrix = csr(5000, lengths.len() * 2, |row| lengths[row % lengths.len()]);
    for (columns, beta) in widths {
        let case = SpmmCase { beta, ..SpmmCase::new(Some(SpmmAlgorithm::Merge), columns) };
        check(&queue, &matrix, &case);
    }
}

#[test]
fn the_published_form_looks_at_the_mean_row_alone_and_takes_rows_whole() {
    let queue = queue();
    // Neighbours have the same columns, one row is long, and the mean row is 9 or 10.
    for (length, algorithm) in [(9, SpmmAlgorithm::Merge), (10, SpmmAlgorithm::RowSplit)] {
        let matrix = csr(3000, 200, |row| if row == 100 { length + 200 } else { length - 1 });
        let device_matrix = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
        let shape = |rows| DenseShape::packed(rows, 7, Layout::RowMajor).unwrap();
        let variant = SpmmVariant::Published;
        let options = SpmmOptions { variant, ..SpmmOptions::default() };
        let (b_shape, c_shape) = (shape(3000), shape(200));
        let plan = SpmmPlan::<f64, u32, f64>::new_blocking(
            &queue,
            &device_matrix,
            b_shape,
            c_shape,
            &options,
        );
        let plan = plan.unwrap();
        assert_eq!(plan.choice().algorithm, Some(algorithm), "{}", plan.choice().reason);
        if algorithm == SpmmAlgorithm::Merge {
            assert!(plan.key().source.contains("nonzero_split"), "{}", plan.key());
        } else {
            let parameters = plan.parameters();
            assert!(parameters.contains("rows_at_once=1,part_nnz=1048576"), "{parameters}");
            assert_eq!((plan.mean_inode(), plan.plan_bytes()), (1.0, 0));
        }
        for algorithm in [None, Some(SpmmAlgorithm::RowSplit), Some(SpmmAlgorithm::Merge)] {
            let case = SpmmCase { variant, beta: 0.5, ..SpmmCase::new(algorithm, 7) };
            check(&queue, &matrix, &case);
        }
    }
}

#[test]
fn nonzeros_are_split_wherever_rows_begin_and_empty_ones_are_stored() {
    let queue = queue();
    let variant = SpmmVariant::Published;
    let tiles_of = |tile_length: u32, columns| SpmmCase {
        variant,
        parameters: vec![("tile_length".to_owned(), tile_length)],
        ..SpmmCase::new(Some(SpmmAlgorithm::Merge), columns)
    };
    let of = |columns| tiles_of(32, columns);
    // Rows that end at a boundary of 32 nonzeros, just before and behind it, that several tiles share, and runs of empty
    // ones at the begin, between and at the end.
    let lengths = [0, 0, 32, 31, 1, 33, 0, 0, 0, 200, 95, 1, 0, 64, 0];
    let matrix = csr(500, 4 * lengths.len(), |row| lengths[row % lengths.len()]);
    let widths: &[usize] =
        if is_interpreter(queue.context().device()) { &[5] } else { &[1, 4, 33, 130] };
    for &columns in widths {
        for (beta, layout) in [(0.0, Layout::RowMajor), (-0.5, Layout::ColumnMajor)] {
            check(&queue, &matrix, &SpmmCase { beta, c: (layout, 1), shift: 1, ..of(columns) });
        }
    }
    let mut case = tiles_of(7, 5);
    case.parameters.push(("nnz_at_once".to_owned(), 4));
    check(&queue, &matrix, &case);
    // Nothing but empty rows, and no row.
    check(&queue, &csr(10, 300, |_| 0), &SpmmCase { beta: 2.0, ..of(3) });
    check(&queue, &csr(10, 0, |_| 0), &of(3));
}

#[test]
fn one_column_is_a_product_with_a_vector() {
    let queue = queue();
    let matrix = csr(50, 40, |row| row % 7);
    let device_matrix = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let plan = |layout, leading: [usize; 2], algorithm| {
        let b = DenseShape::new(50, 1, layout, leading[0]).unwrap();
        let c = DenseShape::new(40, 1, layout, leading[1]).unwrap();
        let options = SpmmOptions { algorithm, ..SpmmOptions::default() };
        SpmmPlan::<f64, u32, f64>::new_blocking(&queue, &device_matrix, b, c, &options).unwrap()
    };
    let vector = plan(Layout::RowMajor, [1, 1], None);
    assert!(vector.choice().algorithm.is_none(), "{:?}", vector.choice());
    assert!(!vector.algorithm_name().starts_with("spmm"));
    assert!(plan(Layout::ColumnMajor, [60, 70], None).choice().algorithm.is_none());
    // Elements apart, or an algorithm asked for.
    assert!(plan(Layout::RowMajor, [2, 1], None).choice().algorithm.is_some());
    assert!(
        plan(Layout::RowMajor, [1, 1], Some(SpmmAlgorithm::Merge)).choice().algorithm.is_some()
    );
    for layout in [Layout::RowMajor, Layout::ColumnMajor] {
        for gap in [0, 1] {
            let case = SpmmCase {
                b: (layout, gap),
                c: (layout, gap),
                shift: 3,
                beta: -1.0,
                ..SpmmCase::new(None, 1)
            };
            check(&queue, &matrix, &case);
        }
    }
}

#[test]
fn a_transposed_copy_multiplies_and_follows_new_values() {
    let queue = queue();
    let matrix = csr(30, 20, |row| row % 5 + 1);
    let mut a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let b_shape = DenseShape::new(20, 6, Layout::RowMajor, 7).unwrap();
    let c_shape = DenseShape::packed(30, 6, Layout::ColumnMajor).unwrap();
    let options = SpmmOptions { op: Op::Transpose, ..SpmmOptions::default() };
    let mut plan =
        SpmmPlan::<f64, u32, f64>::new_blocking(&queue, &a, b_shape, c_shape, &options).unwrap();
    assert!(plan.plan_bytes() >= a.size_bytes());
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let b_host: Vec<f64> = csr_core::random_vector(5, b_shape.span());
    let b = DeviceArray::upload_blocking(&queue, &b_host).unwrap();
    let mut c = DeviceArray::upload_blocking(&queue, &vec![f64::NAN; c_shape.span()]).unwrap();
    let transposed = |scale: f64| {
        let values = matrix.values().iter().map(|value| scale * value).collect();
        let pattern = matrix.view().pattern();
        let (offsets, columns) = (pattern.offsets().to_vec(), pattern.columns().to_vec());
        let scaled = Csr::<f64>::new(30, offsets, columns, values).unwrap();
        let pattern = scaled.view().pattern().transpose();
        let values = pattern.sources.iter().map(|&at| scaled.values()[at as usize]).collect();
        let view = pattern.pattern.view();
        Csr::<f64>::new(20, view.offsets().to_vec(), view.columns().to_vec(), values).unwrap()
    };
    for (scale, expected) in [(1.0, transposed(1.0)), (3.0, transposed(3.0))] {
        if scale != 1.0 {
            let values: Vec<f64> = matrix.values().iter().map(|value| scale * value).collect();
            a.write_values_blocking(&queue, &values).unwrap();
            let product =
                SpmmOperands { alpha: 1.0.into(), a: &a, b: &b, beta: 0.0.into(), c: &mut c };
            let error = plan.launch(&queue, &mut workspace, product, &[]).unwrap_err().to_string();
            assert!(error.contains("update_values_blocking"), "{error}");
            plan.update_values_blocking(&queue, &a).unwrap();
        }
        let product = SpmmOperands { alpha: 1.0.into(), a: &a, b: &b, beta: 0.0.into(), c: &mut c };
        plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
        let found = c.read_blocking(&queue).unwrap();
        let mut host = vec![0.0; c_shape.span()];
        let (b, c) = ((b_shape, &b_host[..]), (c_shape, &mut host[..]));
        dense_product(1.0, expected.view(), b, 0.0, c).unwrap();
        for (at, (found, expected)) in found.iter().zip(&host).enumerate() {
            assert!((found - expected).abs() < 1e-13, "{at}: {found} is not {expected}");
        }
    }
}

#[test]
fn rows_are_not_looked_at_with_parameters_that_break_a_rule() {
    let queue = queue();
    let matrix = csr(30, 20, |_| 3);
    let a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let default = SpmmRowSplit::default_for(queue.context().device().traits(), ValueType::F64);
    // As a device table might say: a node has at most eight rows.
    let parameters = SpmmRowSplit { rows_at_once: 9, ..default };
    let error = RowFacts::find_blocking(&queue, &a, &parameters).unwrap_err().to_string();
    assert!(error.contains("rows_at_once") && error.contains("1 to 8"), "{error}");
}

#[test]
fn products_with_zeros_written_out_are_right() {
    let queue = queue();
    // Across tiles of rows, columns and depth; empty rows; columns that stand twice in a row.
    let on_interpreter = is_interpreter(queue.context().device());
    let shapes = if on_interpreter { vec![(3, 20, 5)] } else { vec![(130, 97, 65), (1, 1, 1)] };
    for (rows, cols, width) in shapes {
        let matrix = csr(cols, rows, |row| row % 5);
        let a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
        let mut dense = DenseMatrix::write_out_blocking(&queue, &a).unwrap();
        assert_eq!(dense.size_bytes(), rows * cols * 8);
        let b_shape = DenseShape::packed(cols, width, Layout::RowMajor).unwrap();
        let c_shape = DenseShape::packed(rows, width, Layout::RowMajor).unwrap();
        let b_host: Vec<f64> = csr_core::random_vector(5, b_shape.span());
        let b = DeviceArray::upload_blocking(&queue, &b_host).unwrap();
        let mut c = DeviceArray::upload_blocking(&queue, &vec![f64::NAN; c_shape.span()]).unwrap();
        dense.launch(&queue, &b, &mut c, width).unwrap();
        queue.finish_blocking().unwrap();
        let found = c.read_blocking(&queue).unwrap();
        let mut host = vec![0.0; c_shape.span()];
        dense_product(1.0, matrix.view(), (b_shape, &b_host), 0.0, (c_shape, &mut host)).unwrap();
        for (at, (found, expected)) in found.iter().zip(&host).enumerate() {
            assert!((found - expected).abs() < 1e-13, "{at}: {found} is not {expected}");
        }
        let error = dense.launch(&queue, &b, &mut c, width + 1).unwrap_err().to_string();
        let has = format!("B has {}", sparrow::counted(b.len(), "element"));
        assert!(error.contains(&has), "{error}");
    }
}

#[test]
fn operands_that_do_not_fit_are_refused_by_name() {
    let queue = queue();
    let matrix = csr(30, 20, |_| 3);
    let a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let shape = |rows, cols| DenseShape::packed(rows, cols, Layout::RowMajor).unwrap();
    let refused_plan = |b, c| {
        let options = SpmmOptions::default();
        let plan = SpmmPlan::<f64, u32, f64>::new_blocking(&queue, &a, b, c, &options);
        plan.unwrap_err().to_string()
    };
    for (found, expected) in [
        (
            refused_plan(shape(29, 4), shape(20, 4)),
            "B has 29 rows where 30 are needed: as many as A has columns",
        ),
        (
            refused_plan(shape(30, 4), shape(21, 4)),
            "C has 21 rows where 20 are needed: as many as A has",
        ),
        (
            refused_plan(shape(30, 4), shape(20, 5)),
            "C has 5 columns where 4 are needed: as many as B has",
        ),
    ] {
        assert_eq!(found, expected);
    }
    let wide = DenseShape::new(30, 4, Layout::RowMajor, 1 << 30).unwrap();
    let error = refused_plan(wide, shape(20, 4));
    assert!(
        error.contains("from one row of B to the next is 1073741824, above the limit"),
        "{error}"
    );

    let (b_shape, c_shape) = (shape(30, 4), shape(20, 4));
    let options = SpmmOptions::default();
    let plan =
        SpmmPlan::<f64, u32, f64>::new_blocking(&queue, &a, b_shape, c_shape, &options).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let memory = DeviceArray::upload_blocking(&queue, &vec![1.0; 400]).unwrap();
    let mut launch = |a: &Matrix<f64>, b: std::ops::Range<usize>, c: std::ops::Range<usize>| {
        let (b, mut c) = (memory.slice(b).unwrap(), memory.slice(c).unwrap());
        let product = SpmmOperands { alpha: 1.0.into(), a, b: &b, beta: 0.0.into(), c: &mut c };
        plan.launch(&queue, &mut workspace, product, &[]).map(|event| event.wait().unwrap())
    };
    let refused = |found: sparrow::Result<()>| found.unwrap_err().to_string();
    let error = refused(launch(&a, 0..119, 200..280));
    assert_eq!(
        error,
        "B has 119 elements where 120 are needed: 30 x 4 with a leading dimension of 4"
    );
    let error = refused(launch(&a, 0..120, 200..279));
    assert_eq!(
        error,
        "C has 79 elements where 80 are needed: 20 x 4 with a leading dimension of 4"
    );
    let error = refused(launch(&a, 0..120, 119..199));
    assert!(error.contains("overlap"), "{error}");
    let error = refused(launch(&a, 79..199, 0..80));
    assert!(error.contains("overlap"), "{error}");
    launch(&a, 0..120, 120..200).unwrap();
    launch(&a, 80..200, 0..80).unwrap();
    let other = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let error = refused(launch(&other, 0..120, 120..200));
    assert!(error.contains("does not share the pattern"), "{error}");

    let unknown =
        SpmmOptions { parameters: vec![("width".to_owned(), 3)], ..SpmmOptions::default() };
    // One column, which would be a vector, is no way past it.
    for (b_shape, c_shape) in [(b_shape, c_shape), (shape(30, 1), shape(20, 1))] {
        let plan = SpmmPlan::<f64, u32, f64>::new_blocking(&queue, &a, b_shape, c_shape, &unknown);
        let error = plan.unwrap_err().to_string();
        assert!(error.contains("has no parameter \"width\""), "{error}");
    }
}
