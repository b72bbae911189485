//! Products with vectors in the order of a plan.

#![expect(clippy::unwrap_used, reason = "support code of tests")]

use sparrow::{
    Accumulate, Csr, DeviceArray, Matrix, Op, Operands, Plan, PlanOptions, Queue, RealValue, Value,
    VectorOrder, Wait,
};

use crate::check_product;

/// Computes y = 2 A x - y, or with A transposed, with vectors in the order that `options` ask for, and holds it against the
/// matrix; square where x is in the order.
///
/// # Panics
/// A result beyond its bound, or the driver's own failure.
pub fn check_in_order<V: RealValue>(queue: &Queue, host: &Csr<V>, options: &PlanOptions) {
    check_in_order_after(queue, host, options, &[][..]);
}

/// As [`check_in_order`], with a launch after these events, or without an event of its own.
///
/// # Panics
/// As there.
pub fn check_in_order_after<V: RealValue, W: Wait>(
    queue: &Queue,
    host: &Csr<V>,
    options: &PlanOptions,
    wait: W,
) {
    let a = Matrix::upload_blocking(queue, host.view()).unwrap();
    let plan = Plan::new_blocking(queue, &a, options).unwrap();
    let transposed;
    let host = match options.op {
        Op::Normal => host,
        Op::Transpose => {
            transposed = host.view().transpose();
            &transposed
        }
    };
    let rows = plan.row_order().unwrap().read_blocking(queue).unwrap();
    let x: Vec<V::Accum> = csr_core::random_vector(5, host.cols());
    let y_before: Vec<V::Accum> = csr_core::random_vector(3, host.rows());
    let in_rows = |vector: &[V::Accum], is_in_order: bool| -> Vec<V::Accum> {
        match is_in_order {
            true => rows.iter().map(|&row| vector[row as usize]).collect(),
            false => vector.to_vec(),
        }
    };
    let (x_is_in_order, y_is_in_order) =
        (options.order == VectorOrder::Symmetric, options.order != VectorOrder::Original);
    let device_x = DeviceArray::upload_blocking(queue, &in_rows(&x, x_is_in_order)).unwrap();
    let mut y = DeviceArray::upload_blocking(queue, &in_rows(&y_before, y_is_in_order)).unwrap();
    let (alpha, beta) = (V::Accum::from_f64(2.0), V::Accum::from_f64(-1.0));
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let product =
        Operands { alpha: alpha.into(), a: &a, x: &device_x, beta: beta.into(), y: &mut y };
    plan.launch(queue, &mut workspace, product, wait).unwrap();
    queue.finish_blocking().unwrap();
    let found = y.read_blocking(queue).unwrap();
    let mut in_order = found.clone();
    if y_is_in_order {
        for (index, row) in rows.iter().enumerate() {
            in_order[*row as usize] = found[index];
        }
    }
    check_product(host, alpha, &x, beta, &y_before, &in_order, Accumulate::Plain);
}
