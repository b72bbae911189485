//! What every algorithm promises that has a copy of A's values: new values reach it when it is told, old ones are never used
//! unasked, and there may be none.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{check_product, device, is_interpreter, queue};
use sparrow::{
    Accumulate, Algorithm, Csr, DeviceArray, Matrix, Operands, Plan, PlanOptions, Queue,
};

const COLS: usize = 1_000;

/// Each algorithm with a copy that the device runs, with small parameters.
fn copying(queue: &Queue) -> Vec<PlanOptions> {
    let own = |(name, value): &(&str, u32)| ((*name).to_owned(), *value);
    let options = |algorithm: Algorithm| PlanOptions {
        algorithm: Some(algorithm),
        parameters: algorithm.spec().test_parameters.iter().map(own).collect(),
        ..PlanOptions::default()
    };
    let found: Vec<_> =
        Algorithm::ALL.into_iter().filter(|one| one.spec().copies_values).map(options).collect();
    assert!(found.len() >= 5, "{} on {}", found.len(), queue.context().device().traits().name);
    found
}

/// Rows without nonzeros, of one, and of many, with columns in order and not; nine kinds, each often, or on an interpreter
/// five times.
fn matrix(seed: u64) -> Csr<f32> {
    let (mut offsets, mut columns) = (vec![0u32], Vec::new());
    let rows = if is_interpreter(&device()) { 45 } else { 150 };
    for row in 0..rows {
        let length = [0, 1, 2, 5, 31, 64, 65, 200, 900][(row * 7 % 9) as usize];
        let column = |at: u32| match row % 3 {
            0 => (row + at) % COLS as u32,
            1 => COLS as u32 - 1 - at,
            _ => (row * 31 + at * 389) % COLS as u32,
        };
        columns.extend((0..length).map(column));
        offsets.push(columns.len() as u32);
    }
    let values = csr_core::random_vector(seed, columns.len());
    Csr::new(COLS, offsets, columns, values).unwrap()
}

#[test]
fn new_values_need_no_new_copy_and_old_ones_are_not_used_unasked() {
    let queue = queue();
    let (host, other) = (matrix(4), matrix(40));
    let x: Vec<f32> = csr_core::random_vector(5, COLS);
    let y_before: Vec<f32> = csr_core::random_vector(6, host.rows());
    let device_x = DeviceArray::upload_blocking(&queue, &x).unwrap();
    for options in copying(&queue) {
        let name = options.algorithm.unwrap().name();
        let mut a = Matrix::upload_blocking(&queue, host.view()).unwrap();
        let mut plan = Plan::new_blocking(&queue, &a, &options).unwrap();
        a.write_values_blocking(&queue, other.values()).unwrap();
        let mut y = DeviceArray::upload_blocking(&queue, &y_before).unwrap();
        let mut workspace = plan.workspace_blocking(&queue).unwrap();
        let mut launch = |plan: &Plan<f32>, y: &mut DeviceArray<f32>| {
            let (alpha, beta) = (1.5f32.into(), (-1.0f32).into());
            let product = Operands { alpha, a: &a, x: &device_x, beta, y };
            plan.launch(&queue, &mut workspace, product, &[])
        };
        let refused = launch(&plan, &mut y).unwrap_err();
        assert!(refused.to_string().contains("update_values_blocking"), "{name}: {refused}");
        plan.update_values_blocking(&queue, &a).unwrap();
        launch(&plan, &mut y).unwrap().wait().unwrap();
        let found = y.read_blocking(&queue).unwrap();
        check_product(&other, 1.5, &x, -1.0, &y_before, &found, Accumulate::Plain);
    }
}

#[test]
fn rows_without_nonzeros_and_matrices_without_rows_are_right() {
    let queue = queue();
    let x = DeviceArray::upload_blocking(&queue, &csr_core::random_vector::<f32>(5, 10)).unwrap();
    for options in copying(&queue) {
        for rows in [0, 1, 70] {
            let host = Csr::<f32>::new(10, vec![0; rows + 1], vec![], vec![]).unwrap();
            let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
            let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
            let y_before: Vec<f32> = csr_core::random_vector(6, rows);
            let mut y = DeviceArray::upload_blocking(&queue, &y_before).unwrap();
            let mut workspace = plan.workspace_blocking(&queue).unwrap();
            let (alpha, beta) = (1.5f32.into(), (-1.0f32).into());
            let product = Operands { alpha, a: &a, x: &x, beta, y: &mut y };
            plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
            let negated: Vec<f32> = y_before.iter().map(|y| -y).collect();
            assert_eq!(y.read_blocking(&queue).unwrap(), negated, "{:?}", options.algorithm);
        }
    }
}
