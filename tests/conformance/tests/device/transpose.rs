//! y = alpha A^T x + beta y, through the plan's transposed copy, and new values for the copy.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::{queue, shapes};
use csr_core::verify::{Oracle, Summation};
use csr_core::{Csr, RealValue, Value as _, bf16};
use sparrow::{Algorithm, DeviceArray, Matrix, Op, Operands, Plan, PlanOptions, Queue, Workspace};
use sparrow_bench::selftest::Limits;

const LIMITS: Limits = Limits { group_size: 64, nnz_per_wg: 128, share: 256, tile: 32 };

fn options(algorithm: Algorithm) -> PlanOptions {
    PlanOptions { op: Op::Transpose, algorithm: Some(algorithm), ..PlanOptions::default() }
}

/// What a launch used. Kept to the end of a test: Oclgrind's shadow memory takes a buffer made in place of
/// a released, smaller one for uninitialised where kernels write it.
type Kept<T> = (DeviceArray<T>, DeviceArray<T>, Workspace);

/// Launches y = 2 A^T x - y and holds it against the transposed matrix's oracle.
fn check<V: RealValue>(
    queue: &Queue,
    plan: &Plan<V>,
    on_device: &Matrix<V>,
    matrix: &Csr<V>,
) -> Kept<V::Accum> {
    let transposed = matrix.view().transpose();
    let x: Vec<V::Accum> = csr_core::random_vector(5, matrix.rows());
    let y_before: Vec<V::Accum> = csr_core::random_vector(3, matrix.cols());
    let (alpha, beta) = (V::Accum::from_f64(2.0), V::Accum::from_f64(-1.0));
    let device_x = DeviceArray::upload_blocking(queue, &x).unwrap();
    let mut y = DeviceArray::upload_blocking(queue, &y_before).unwrap();
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let product =
        Operands { alpha: alpha.into(), a: on_device, x: &device_x, beta: beta.into(), y: &mut y };
    plan.launch(queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    let oracle = Oracle::new(alpha, transposed.view(), &x, beta, &y_before).unwrap();
    let found = oracle.verify(&y.read_blocking(queue).unwrap(), Summation::Plain).unwrap();
    assert!(found.passed(), "{} x {}: {found:?}", matrix.rows(), matrix.cols());
    (device_x, y, workspace)
}

#[test]
fn transposed_products_are_right_on_every_shape() {
    let queue = queue();
    let mut kept = Vec::new();
    for shape in shapes(&LIMITS) {
        for algorithm in [Algorithm::CsrScalar, Algorithm::CsrAdaptive] {
            let matrix: Csr<f32> = shape.matrix().unwrap();
            let on_device = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
            let plan = Plan::new_blocking(&queue, &on_device, &options(algorithm)).unwrap();
            let used = check(&queue, &plan, &on_device, &matrix);
            kept.push((on_device, plan, used));
        }
    }
}

#[test]
fn new_values_reach_the_copy_and_old_ones_are_refused() {
    let queue = queue();
    let shapes = shapes(&LIMITS);
    let shape = shapes.iter().find(|shape| shape.name == "flat").unwrap();
    let mut matrix: Csr<bf16> = shape.matrix().unwrap();
    let mut on_device = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let pattern = matrix.pattern().view();
    let options = options(Algorithm::CsrScalar);
    let mut plan = Plan::with_pattern_blocking(&queue, &on_device, pattern, &options).unwrap();
    assert!(plan.plan_bytes() >= matrix.size_bytes());
    let _kept = check(&queue, &plan, &on_device, &matrix);

    matrix.values_mut().iter_mut().for_each(|value| *value = bf16::from_f64(value.to_f64() * 3.0));
    on_device.write_values_blocking(&queue, matrix.values()).unwrap();
    let x = DeviceArray::allocate(queue.context(), matrix.rows()).unwrap();
    let mut y = DeviceArray::allocate(queue.context(), matrix.cols()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let product = Operands { alpha: 1.0.into(), a: &on_device, x: &x, beta: 0.0.into(), y: &mut y };
    let refusal = plan.launch(&queue, &mut workspace, product, &[]).unwrap_err();
    assert!(refusal.to_string().contains("update_values_blocking"), "{refusal}");

    plan.update_values_blocking(&queue, &on_device).unwrap();
    check(&queue, &plan, &on_device, &matrix);
}
