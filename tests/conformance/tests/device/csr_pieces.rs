//! What `csr_pieces` promises beyond the suite: what follows a row, and is loaded with its end, is not in its sum.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{Parts, check_product, queue};
use csr_core::Real;
use sparrow::{
    Accumulate, Algorithm, Csr, DeviceArray, Matrix, Operands, Plan, PlanOptions, Queue, RealValue,
    Value,
};

const COLS: usize = 90;

/// `lanes` and `masks_ends`.
type Ends = (u32, u32);

/// Rows of 0 to 20 nonzeros, every second one finite, the others of values and columns that make an infinity or NaN.
fn finite_among_infinite<V: RealValue>() -> Csr<V> {
    let (mut offsets, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
    for row in 0..121usize {
        let is_finite = row % 2 == 0;
        for at in 0..row * 8 % 21 {
            // Columns of the second half are those where x is infinite.
            columns.push(
                ((row * 7 + at * 11) % (COLS / 2) + if is_finite { 0 } else { COLS / 2 }) as u32,
            );
            values.push(V::from_f64(match (is_finite, at % 3) {
                (false, 0) => f64::NAN,
                (false, 1) => 0.0,
                _ => (at + row) as f64 / 64.0 - 1.0,
            }));
        }
        offsets.push(columns.len() as u32);
    }
    Csr::new(COLS, offsets, columns, values).unwrap()
}

fn check<V: RealValue>(queue: &Queue, (lanes, masks_ends): Ends, accumulate: Accumulate) {
    let host = finite_among_infinite::<V>();
    let a = Matrix::upload_blocking(queue, host.view()).unwrap();
    let named = |name: &str, value| (name.to_owned(), value);
    let options = PlanOptions {
        algorithm: Some(Algorithm::CsrPieces),
        accumulate,
        parameters: vec![
            named("lanes", lanes),
            named("masks_ends", masks_ends),
            named("least_chunk", 50),
            named("chunks_per_unit", 1024),
        ],
        ..PlanOptions::default()
    };
    let plan = Plan::new_blocking(queue, &a, &options).unwrap();
    let mut host_x: Vec<V::Accum> = csr_core::random_vector(5, COLS);
    host_x[COLS / 2..].fill(V::Accum::from_f64(f64::INFINITY));
    let before: Vec<V::Accum> = csr_core::random_vector(6, host.rows());
    let x = DeviceArray::upload_blocking(queue, &host_x).unwrap();
    let mut y = DeviceArray::upload_blocking(queue, &before).unwrap();
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let (alpha, beta) = (V::Accum::from_f64(1.5), V::Accum::from_f64(-1.0));
    let product = Operands { alpha: alpha.into(), a: &a, x: &x, beta: beta.into(), y: &mut y };
    plan.launch(queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    let found = y.read_blocking(queue).unwrap();
    let is_finite = |row: usize| found[row].to_f64().is_finite();
    assert!((0..host.rows()).step_by(2).all(is_finite), "{lanes} lanes: {found:?}");
    check_product(&host, alpha, &host_x, beta, &before, &found, accumulate);
}

#[test]
fn what_follows_a_row_is_not_in_its_sum_even_where_it_is_no_number() {
    let queue = queue();
    let has_f64 = queue.context().device().traits().has_f64;
    let mut parts = Parts::of("types and sums of rows' ends");
    for (number, ends) in [(1, 1), (4, 0), (4, 1), (8, 1), (16, 1)].into_iter().enumerate() {
        for (sum, accumulate) in
            [Accumulate::Plain, Accumulate::Compensated].into_iter().enumerate()
        {
            let types: [fn(&Queue, Ends, Accumulate); 3] =
                [check::<f32>, check::<half::bf16>, check::<f64>];
            let types = &types[..if has_f64 { 3 } else { 2 }];
            for (value_type, check) in types.iter().enumerate() {
                if parts.takes(number + sum + value_type) {
                    check(&queue, ends, accumulate);
                }
            }
        }
    }
}
