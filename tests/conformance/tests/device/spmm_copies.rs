//! SpMM with a row-major B that a launch copies to rows which begin where vectors may.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{device, is_interpreter};
use sparrow::{
    Context, Csr, DenseShape, DeviceType, Layout, Matrix, Queue, SpmmAlgorithm, SpmmOptions,
    SpmmPlan, SpmmVariant,
};
use sparrow_bench::selftest::SpmmCase;

use crate::spmm::{check, csr};

fn queues() -> [Queue; 2] {
    let gpu = device().masked(|traits| traits.device_type = DeviceType::Gpu);
    [device(), gpu].map(|device| Queue::new(&Context::new(&device).unwrap()).unwrap())
}

/// As CPUs copy, and GPUs; rows of B and of C with gaps, which are poisoned, and where vectors may not begin.
#[test]
fn copied_rows_of_b_give_the_same_product() {
    // More rows of B than a group copies.
    let matrix = csr(300, 40, |row| row * row % 70);
    for queue in queues() {
        let is_slow = is_interpreter(queue.context().device());
        let columns: &[usize] = if is_slow { &[3, 9] } else { &[3, 5, 6, 9, 15, 17, 31, 33, 130] };
        let cases = columns.iter().flat_map(|columns| SpmmAlgorithm::ALL.map(|it| (*columns, it)));
        for (number, (columns, algorithm)) in cases.enumerate() {
            let gap = [0, 1, 4][number % 3];
            let c_layout =
                [Layout::RowMajor, Layout::RowMajor, Layout::ColumnMajor][number / 2 % 3];
            let case = SpmmCase {
                parameters: vec![("copy_b".to_owned(), 2)],
                b: (Layout::RowMajor, gap),
                c: (c_layout, gap),
                shift: number % 2,
                beta: 0.5,
                ..SpmmCase::new(Some(algorithm), columns)
            };
            check(&queue, &matrix, &case);
        }
    }
}

#[test]
fn a_plan_says_that_it_copies_b_and_what_that_takes() {
    let [queue, _] = queues();
    let matrix = csr(300, 40, |row| row % 7);
    let matrix = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let plan_with = |b: DenseShape, options: SpmmOptions| {
        let c = DenseShape::new(40, b.cols(), Layout::RowMajor, b.cols()).unwrap();
        SpmmPlan::<f64, u32, f64>::new_blocking(&queue, &matrix, b, c, &options).unwrap()
    };
    let packed = |columns| DenseShape::new(300, columns, Layout::RowMajor, columns).unwrap();
    let copying = |copy_b| SpmmOptions {
        parameters: vec![("copy_b".to_owned(), copy_b)],
        ..SpmmOptions::default()
    };
    let plan = plan_with(packed(5), copying(2));
    assert!(
        plan.choice().reason.contains("copies B to rows of 8 elements"),
        "{}",
        plan.choice().reason
    );
    assert!(plan.workspace_bytes() >= 300 * 8 * 8);
    let by_columns = DenseShape::new(300, 5, Layout::ColumnMajor, 300).unwrap();
    let plan = plan_with(by_columns, copying(0));
    assert!(plan.choice().reason.contains("copies B"), "{}", plan.choice().reason);

    let published = SpmmOptions {
        algorithm: Some(SpmmAlgorithm::RowSplit),
        variant: SpmmVariant::Published,
        ..copying(2)
    };
    // Rows of whole vectors, a parameter that forbids it, too little to spare, and the paper's algorithm.
    for (columns, options) in
        [(8, copying(2)), (5, copying(0)), (5, SpmmOptions::default()), (5, published)]
    {
        let plan = plan_with(packed(columns), options);
        assert!(!plan.choice().reason.contains("copies B"), "{}", plan.choice().reason);
        assert!(plan.workspace_bytes() < 300 * 5 * 8);
    }
}

#[test]
fn an_unknown_rule_for_copies_is_refused() {
    let [queue, _] = queues();
    let matrix: Csr<f64> = csr(30, 4, |row| row);
    let matrix = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let shape = |rows| DenseShape::new(rows, 3, Layout::RowMajor, 3).unwrap();
    for algorithm in SpmmAlgorithm::ALL {
        let options = SpmmOptions {
            algorithm: Some(algorithm),
            parameters: vec![("copy_b".to_owned(), 3)],
            ..SpmmOptions::default()
        };
        let error =
            SpmmPlan::<f64, u32, f64>::new_blocking(&queue, &matrix, shape(30), shape(4), &options)
                .map(|_| ())
                .unwrap_err();
        assert!(error.to_string().contains("copy_b"), "{error}");
    }
}
