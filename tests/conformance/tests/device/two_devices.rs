//! A context with two devices: arrays and matrices serve both, and what was built for one is refused on the other.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test panics when its claim is broken")]

use conformance::host_solvers::{self, class};
use conformance::{Fixture, check_product, csr, queues_on_two_devices, say};
use csr_core::Csr;
use sparrow::{
    Accumulate, Batch, BatchOperands, BatchOptions, BatchPlan, ColumnWidth, DenseShape, DenseToCsr,
    DeviceArray, HeteroPlan, HostBatch, Layout, LinearSystem, Matrix, Operands, Partner, Plan,
    PlanOptions, Preconditioner, Queue, RowOffsets, Share, Solver, SolverMethod, SpgemmOptions,
    SpgemmPlan, SpmmOperands, SpmmOptions, SpmmPlan, StopRule, VectorOptions, Vectors,
};

/// Two queues, or a word that they were not to be had.
fn queues() -> Option<[Queue; 2]> {
    let found = queues_on_two_devices();
    if found.is_none() {
        say("one device that cannot be parted: nothing was tested on two of one context");
    }
    found
}

#[test]
fn a_matrix_serves_every_device_of_its_context() {
    let Some([one, other]) = queues() else { return };
    let fixture = Fixture::<f32>::new(&one, 3);
    for queue in [&other, &one] {
        let (plan, mut workspace) = fixture.plan(queue, &PlanOptions::default());
        let mut y = fixture.poisoned_y(&one);
        let launch = fixture.launch(queue, (&plan, &mut workspace), &mut y, &[]);
        launch.unwrap().wait().unwrap();
        fixture.check(&y.read_blocking(&one).unwrap(), Accumulate::Plain);
    }
    let square = csr::<f32>(40, &[3; 40], 1);
    let a = Matrix::upload_blocking(&one, square.view()).unwrap();
    let options = SpgemmOptions::default();
    let mut plan = SpgemmPlan::new_blocking(&other, &a, &a, &options).unwrap();
    assert_eq!(plan.multiply_blocking(&other, &a, &a).unwrap().rows(), 40);
}

#[track_caller]
fn assert_names_the_device<T>(result: Result<T, impl std::fmt::Display>) {
    let Err(error) = result else { panic!("a queue of another device was taken") };
    let message = error.to_string();
    assert!(message.contains("another device"), "{message}");
}

#[test]
fn what_was_built_for_one_device_is_refused_on_the_other() {
    let Some([one, other]) = queues() else { return };
    let fixture = Fixture::<f32>::new(&one, 3);
    let (plan, mut workspace) = fixture.plan(&one, &PlanOptions::default());
    let mut y = fixture.poisoned_y(&one);
    assert_names_the_device(plan.workspace_blocking(&other));
    assert_names_the_device(fixture.launch(&other, (&plan, &mut workspace), &mut y, &[]));

    let host = csr::<f32>(30, &[3; 30], 1);
    let a = Matrix::upload_blocking(&one, host.view()).unwrap();
    products_of_matrices(&one, &other, &host, &a);
    batches(&one, &other, &host);
    solvers_and_vectors(&one, &other);
    conversions(&one, &other);

    // None of it was enqueued, and all of it goes on.
    fixture.launch(&one, (&plan, &mut workspace), &mut y, &[]).unwrap();
    fixture.check(&y.read_blocking(&one).unwrap(), Accumulate::Plain);
}

fn products_of_matrices(one: &Queue, other: &Queue, host: &Csr<f32>, a: &Matrix<f32>) {
    let shape = DenseShape::new(30, 2, Layout::RowMajor, 2).unwrap();
    let options = SpmmOptions::default();
    let plan = SpmmPlan::<f32, u32, f32>::new_blocking(one, a, shape, shape, &options).unwrap();
    let mut workspace = plan.workspace_blocking(one).unwrap();
    let b = DeviceArray::upload_blocking(one, &[1f32; 60]).unwrap();
    let mut c = DeviceArray::upload_blocking(one, &[1f32; 60]).unwrap();
    let product = SpmmOperands { alpha: 1.0.into(), a, b: &b, beta: 0.0.into(), c: &mut c };
    assert_names_the_device(plan.launch(other, &mut workspace, product, &[]));
    assert_names_the_device(plan.workspace_blocking(other));

    let mut plan = SpgemmPlan::new_blocking(one, a, a, &SpgemmOptions::default()).unwrap();
    assert_names_the_device(plan.multiply_blocking(other, a, a));

    let (partner, share) = (Partner::Host, Share::Fixed(0.5));
    let options = PlanOptions::default();
    let mut plan = HeteroPlan::new_blocking(one, a, partner, share, &options).unwrap();
    let (x, mut y) = (b.slice(0..30).unwrap(), c.slice(0..30).unwrap());
    let product = Operands { alpha: 1.0.into(), a, x: &x, beta: 0.0.into(), y: &mut y };
    // SAFETY: the host's arrays are those that were uploaded, and nothing else uses x and y meanwhile.
    #[expect(unsafe_code, reason = "the host's copy of the matrix is trusted")]
    let refused = unsafe { plan.product_blocking(other, product, &[]) };
    assert_names_the_device(refused);

    // The other makes its own, of the same arrays.
    let plan = Plan::new_blocking(other, a, &options).unwrap();
    let mut workspace = plan.workspace_blocking(other).unwrap();
    let product = Operands { alpha: 1.0.into(), a, x: &x, beta: 0.0.into(), y: &mut y };
    plan.launch(other, &mut workspace, product, &[]).unwrap().wait().unwrap();
    let y = y.read_blocking(one).unwrap();
    check_product(host, 1.0, &[1.0; 30], 0.0, &y, &y, Accumulate::Plain);
}

fn batches(one: &Queue, other: &Queue, host: &Csr<f32>) {
    let mut problems = HostBatch::new();
    problems.push_csr(host.view()).unwrap();
    let batch = Batch::upload_blocking(one, &problems, ColumnWidth::Automatic).unwrap();
    let plan = BatchPlan::new_blocking(one, &batch, &BatchOptions::default()).unwrap();
    assert_names_the_device(plan.workspace_blocking(other));
    let mut workspace = plan.workspace_blocking(one).unwrap();
    let x = DeviceArray::upload_blocking(one, &[1f32; 30]).unwrap();
    let mut y = DeviceArray::upload_blocking(one, &[1f32; 30]).unwrap();
    let product =
        BatchOperands { alpha: 1.0.into(), a: &batch, x: &x, beta: 0.0.into(), y: &mut y };
    assert_names_the_device(plan.launch(other, &mut workspace, product, &[]));
}

fn solvers_and_vectors(one: &Queue, other: &Queue) {
    let host = class("poisson5", 16).map_values::<f32>();
    let a = Matrix::upload_blocking(one, host.view()).unwrap();
    let options = host_solvers::options(SolverMethod::Cg, Preconditioner::None);
    let mut solver = Solver::new_blocking(one, &a, &options).unwrap();
    let b = DeviceArray::upload_blocking(one, &vec![1f32; host.rows()]).unwrap();
    let mut x = DeviceArray::upload_blocking(one, &vec![0f32; host.rows()]).unwrap();
    let system = LinearSystem { a: &a, b: &b, x: &mut x };
    assert_names_the_device(solver.solve_blocking(other, system, &StopRule::default(), &[]));

    let mut vectors = Vectors::<f32>::new_blocking(one, &VectorOptions::default()).unwrap();
    assert_names_the_device(vectors.scale(other, (2.0.into(), &b), &mut x, &[]));
    assert_names_the_device(vectors.dot_blocking(other, &b, &b, &[]));
}

/// What keeps a program of its own between two calls.
fn conversions(one: &Queue, other: &Queue) {
    let rows = DeviceArray::upload_blocking(one, &[0u32, 1, 1]).unwrap();
    let mut offsets = RowOffsets::new(one.context()).unwrap();
    assert_names_the_device(offsets.find_blocking(other, 2, &rows, &[]));
    assert!(offsets.find_blocking(one, 2, &rows, &[]).unwrap().is_some());

    let shape = DenseShape::new(2, 2, Layout::RowMajor, 2).unwrap();
    let dense = DeviceArray::upload_blocking(one, &[1f32, 0.0, 2.0, 3.0]).unwrap();
    let counted = DenseToCsr::<f32, u32>::new_blocking(one, shape, &dense, 0.0).unwrap();
    assert_names_the_device(counted.matrix_blocking(other, &dense));
    assert_eq!(counted.matrix_blocking(one, &dense).unwrap().nnz(), 3);
}
