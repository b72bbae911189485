//! What `csr_tiles` promises beyond the suite: columns in any order, rows across many slices, and padding that no row sees.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{check_product, device, is_interpreter, queue};
use sparrow::{
    Accumulate, Algorithm, Csr, DeviceArray, Matrix, Operands, Plan, PlanOptions, Queue, RealValue,
    Value,
};

const COLS: usize = 1_000;

/// Tiles of 64 columns, slices of 32 lanes with `lane_nnz` nonzeros.
fn options(lane_nnz: u32, accumulate: Accumulate) -> PlanOptions {
    let parameters = [("group_size", 64), ("tile_columns", 64), ("lane_nnz", lane_nnz)];
    PlanOptions {
        algorithm: Some(Algorithm::CsrTiles),
        accumulate,
        parameters: parameters.map(|(name, value)| (name.to_owned(), value)).into(),
        ..PlanOptions::default()
    }
}

/// Rows without nonzeros, of one, and of more than a slice has; columns in order, backwards, and to and fro, so that rows
/// come back to a tile. On an interpreter, to which each nonzero is a loop, every length in every order once.
fn every_kind<V: RealValue>(seed: u64) -> Csr<V> {
    let (mut offsets, mut columns) = (vec![0u32], Vec::new());
    let rows = if is_interpreter(&device()) { 36 } else { 150 };
    for row in 0..rows as u32 {
        let length = [0, 1, 2, 5, 31, 64, 65, 200, 900][(row * 7 % 9) as usize];
        let column = |at: u32| match row % 4 {
            0 => (row + at) % COLS as u32,
            1 => COLS as u32 - 1 - at,
            2 => (row * 31 + at * 389) % COLS as u32,
            _ => at / 2 + (at % 2) * 500,
        };
        columns.extend((0..length).map(column));
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

fn check<V: RealValue>(queue: &Queue, host: &Csr<V>, x: &[V::Accum], options: &PlanOptions) {
    let a = Matrix::upload_blocking(queue, host.view()).unwrap();
    let plan = Plan::new_blocking(queue, &a, options).unwrap();
    let y_before: Vec<V::Accum> = csr_core::random_vector(6, host.rows());
    let y = multiply(queue, &plan, &a, x, &y_before);
    let (alpha, beta) = (V::Accum::from_f64(1.5), V::Accum::from_f64(-1.0));
    check_product(host, alpha, x, beta, &y_before, &y, options.accumulate);
}

#[test]
fn columns_in_any_order_and_rows_across_slices_are_right() {
    let queue = queue();
    let has_f64 = queue.context().device().traits().has_f64;
    let x: Vec<f32> = csr_core::random_vector(5, COLS);
    for (lane_nnz, accumulate) in [(2, Accumulate::Plain), (16, Accumulate::Compensated)] {
        let options = options(lane_nnz, accumulate);
        check::<f32>(&queue, &every_kind(4), &x, &options);
        check::<half::bf16>(&queue, &every_kind(4), &x, &options);
        check::<half::f16>(&queue, &every_kind(4), &x, &options);
        if has_f64 {
            let x: Vec<f64> = csr_core::random_vector(5, COLS);
            check::<f64>(&queue, &every_kind(4), &x, &options);
        }
    }
}

#[test]
fn padding_is_in_no_row_even_where_x_is_infinite() {
    let queue = queue();
    // Padding points to the first column of each tile.
    let mut x: Vec<f32> = csr_core::random_vector(5, COLS);
    x.iter_mut().step_by(64).for_each(|x| *x = f32::INFINITY);
    check::<f32>(&queue, &every_kind(7), &x, &options(4, Accumulate::Plain));
}
