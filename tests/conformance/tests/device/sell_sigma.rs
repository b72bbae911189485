//! What SELL-C-sigma promises beyond the suite: rows of every number of lanes and parts, near and far columns, and padding
//! that multiplies nothing.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{check_product, queue};
use sparrow::{
    Accumulate, Algorithm, Csr, DeviceArray, Matrix, Operands, Plan, PlanOptions, Queue, RealValue,
    Value,
};

/// Rows of more than 3 nonzeros are shared; of more than 96, cut.
fn options(pairs_at_once: u32, accumulate: Accumulate) -> PlanOptions {
    let parameters = [
        ("group_size", 64),
        ("lane_nnz", 3),
        ("window_rows", 50),
        ("pairs_at_once", pairs_at_once),
    ];
    PlanOptions {
        algorithm: Some(Algorithm::SellSigma),
        accumulate,
        parameters: parameters.map(|(name, value)| (name.to_owned(), value)).into(),
        ..PlanOptions::default()
    }
}

const COLS: usize = 90_000;

/// Rows without nonzeros, of each number of lanes, and of up to eight parts, in no order; in windows whose columns are
/// near and in others whose columns are far; the last window is not full.
fn every_kind<V: RealValue>(seed: u64) -> Csr<V> {
    let lengths = [0, 1, 3, 4, 6, 7, 12, 13, 24, 25, 48, 49, 96, 97, 193, 700];
    let (mut offsets, mut columns) = (vec![0u32], Vec::new());
    for row in 0..233u32 {
        let length = match row % 5 {
            4 => lengths[(row * 7 % 16) as usize],
            _ => 2 + row % 3,
        };
        // Further apart than 16 bits count, in every other window.
        let stride = if row / 50 % 2 == 0 { 3 } else { 23_003 };
        columns.extend((0..length).map(|at| (row + at * stride) % COLS as u32));
        offsets.push(columns.len() as u32);
    }
    let values: Vec<V> =
        csr_core::random_vector::<f64>(seed, columns.len()).into_iter().map(V::from_f64).collect();
    Csr::new(COLS, offsets, columns, values).unwrap()
}

/// y = 1.5 A x - y by `plan`.
fn multiply<V: RealValue>(
    queue: &Queue,
    plan: &Plan<V>,
    a: &Matrix<V>,
    x: &[V::Accum],
    y_before: &[V::Accum],
) -> Vec<V::Accum> {
    let x = DeviceArray::upload_blocking(queue, x).unwrap();
    let mut y = DeviceArray::upload_blocking(queue, y_before).unwrap();
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let (alpha, beta) = (V::Accum::from_f64(1.5), V::Accum::from_f64(-1.0));
    let product = Operands { alpha: alpha.into(), a, x: &x, beta: beta.into(), y: &mut y };
    plan.launch(queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    y.read_blocking(queue).unwrap()
}

fn check<V: RealValue>(queue: &Queue, pairs_at_once: u32, accumulate: Accumulate) {
    let host = every_kind::<V>(4);
    let a = Matrix::upload_blocking(queue, host.view()).unwrap();
    let plan = Plan::new_blocking(queue, &a, &options(pairs_at_once, accumulate)).unwrap();
    let x: Vec<V::Accum> = csr_core::random_vector(5, COLS);
    let y_before: Vec<V::Accum> = csr_core::random_vector(6, host.rows());
    let y = multiply(queue, &plan, &a, &x, &y_before);
    let (alpha, beta) = (V::Accum::from_f64(1.5), V::Accum::from_f64(-1.0));
    check_product(&host, alpha, &x, beta, &y_before, &y, accumulate);
}

#[test]
fn rows_of_every_number_of_lanes_and_parts_are_right() {
    let queue = queue();
    let has_f64 = queue.context().device().traits().has_f64;
    for accumulate in [Accumulate::Plain, Accumulate::Compensated] {
        check::<f32>(&queue, 1, accumulate);
        check::<half::bf16>(&queue, 2, accumulate);
        check::<half::f16>(&queue, 3, accumulate);
        if has_f64 {
            check::<f64>(&queue, 2, accumulate);
        }
    }
}

#[test]
fn padding_multiplies_nothing_even_where_x_is_infinite() {
    let queue = queue();
    let host = every_kind::<f32>(7);
    // The lowest columns of slices are where padding points to.
    let mut x: Vec<f32> = csr_core::random_vector(5, COLS);
    x[..64].fill(f32::INFINITY);
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let plan = Plan::new_blocking(&queue, &a, &options(2, Accumulate::Plain)).unwrap();
    let y_before = vec![0.0; host.rows()];
    let y = multiply(&queue, &plan, &a, &x, &y_before);
    check_product(&host, 1.5, &x, -1.0, &y_before, &y, Accumulate::Plain);
}
