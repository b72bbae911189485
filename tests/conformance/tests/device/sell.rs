//! What sliced ELL promises beyond the suite: every kind of slice at every width, padding that multiplies nothing, and a
//! clear answer where it cannot be laid out.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{Parts, check_product, queue};
use sparrow::{
    Accumulate, Algorithm, Csr, DeviceArray, Matrix, Operands, Plan, PlanOptions, Planning, Queue,
    RealValue, Reuse, Value,
};

fn options(slice_rows: u32, accumulate: Accumulate) -> PlanOptions {
    let named = |name: &str, value| (name.to_owned(), value);
    PlanOptions {
        algorithm: Some(Algorithm::Sell),
        accumulate,
        parameters: vec![named("slice_rows", slice_rows), named("chunks_per_unit", 7)],
        ..PlanOptions::default()
    }
}

const COLS: usize = 90_000;

/// Strips of runs, of near and of far columns, with rows that end early, rows so uneven that they lie one after
/// another, near and far, and nodes of two to six rows that have the same columns; not a multiple of any number of lanes.
fn every_kind<V: RealValue>(seed: u64) -> Csr<V> {
    let (mut offsets, mut columns) = (vec![0u32], Vec::new());
    for row in 0..243u32 {
        let of_block = row % 48;
        let length = match row / 48 {
            0 => 5,
            1 => 9 - u32::from(of_block % 7 == 3),
            2 => of_block * of_block % 37,
            3 => 6,
            _ => 2,
        };
        let is_far = of_block >= 24;
        columns.extend((0..length).map(|at| match (row / 48, at) {
            (0, _) => row + at * if is_far { 17_000 } else { 300 },
            (_, 0) => row,
            _ if is_far => (row * 701 + at * 23_003) % COLS as u32,
            _ => row * 3 + at * at,
        }));
        offsets.push(columns.len() as u32);
    }
    for of_node in 2..=6 {
        for row in 0..48u32 {
            let (node, step) = (row / of_node, if row < 24 { 3 } else { 2_003 });
            let length = 16 + (node * 5 + of_node) % 29;
            columns.extend((0..length).map(|at| (node * 11 + at * step) % COLS as u32));
            offsets.push(columns.len() as u32);
        }
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

fn check<V: RealValue>(queue: &Queue, slice_rows: u32, accumulate: Accumulate) {
    let host = every_kind::<V>(4);
    let a = Matrix::upload_blocking(queue, host.view()).unwrap();
    let plan = Plan::new_blocking(queue, &a, &options(slice_rows, accumulate)).unwrap();
    let x: Vec<V::Accum> = csr_core::random_vector(5, COLS);
    let y_before: Vec<V::Accum> = csr_core::random_vector(6, host.rows());
    let y = multiply(queue, &plan, &a, &x, &y_before);
    let (alpha, beta) = (V::Accum::from_f64(1.5), V::Accum::from_f64(-1.0));
    check_product(&host, alpha, &x, beta, &y_before, &y, accumulate);
}

#[test]
fn every_kind_of_slice_is_right_at_every_width() {
    let queue = queue();
    let has_f64 = queue.context().device().traits().has_f64;
    let mut parts = Parts::of("types and sums of slices");
    for (number, slice_rows) in [4, 8, 16].into_iter().enumerate() {
        for (sum, accumulate) in
            [Accumulate::Plain, Accumulate::Compensated].into_iter().enumerate()
        {
            let types: [fn(&Queue, u32, Accumulate); 4] =
                [check::<f32>, check::<half::bf16>, check::<half::f16>, check::<f64>];
            let types = &types[..if has_f64 { 4 } else { 3 }];
            for (value_type, check) in types.iter().enumerate() {
                if parts.takes(number + sum + value_type) {
                    check(&queue, slice_rows, accumulate);
                }
            }
        }
    }
}

#[test]
fn padding_multiplies_nothing_even_where_x_is_infinite() {
    let queue = queue();
    let host = every_kind::<f32>(7);
    // The lowest columns of padded slices are where padding points to.
    let mut x: Vec<f32> = csr_core::random_vector(5, COLS);
    x[48..96].fill(f32::INFINITY);
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let plan = Plan::new_blocking(&queue, &a, &options(8, Accumulate::Plain)).unwrap();
    let y_before = vec![0.0; host.rows()];
    let y = multiply(&queue, &plan, &a, &x, &y_before);
    check_product(&host, 1.5, &x, -1.0, &y_before, &y, Accumulate::Plain);
}

#[test]
fn a_layout_on_the_device_is_refused_by_name() {
    let queue = queue();
    let host = every_kind::<f32>(4);
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let options = PlanOptions { planning: Planning::OnDevice, ..options(8, Accumulate::Plain) };
    let refused = Plan::new_blocking(&queue, &a, &options).unwrap_err();
    assert!(refused.to_string().contains("sell: it is laid out on the host"), "{refused}");
}

#[test]
fn the_automatic_choice_makes_no_copy_on_the_host_where_plans_are_made_on_the_device() {
    let queue = queue();
    let host = every_kind::<f32>(4);
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let x: Vec<f32> = csr_core::random_vector(5, COLS);
    let y_before = vec![0.0; host.rows()];
    for planning in [Planning::OnDevice, Planning::Automatic] {
        let options = PlanOptions { planning, reuse: Reuse::Many, ..PlanOptions::default() };
        let plan = Plan::new_blocking(&queue, &a, &options).unwrap();
        if planning == Planning::OnDevice {
            assert_ne!(plan.choice().algorithm, Algorithm::Sell);
        }
        let y = multiply(&queue, &plan, &a, &x, &y_before);
        check_product(&host, 1.5, &x, -1.0, &y_before, &y, Accumulate::Plain);
    }
}
