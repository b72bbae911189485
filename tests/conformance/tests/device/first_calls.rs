//! A first call builds what it needs and no more: compiling is what first calls wait for.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::fault::live;
use conformance::{csr, device, queue, say};
use csr_core::RowLengths;
use sparrow::{
    Algorithm, Context, CooToCsr, Csr, DeviceArray, DeviceType, Duplicates, KernelBuild,
    LinearSystem, Matrix, MatrixShape, Plan, PlanOptions, Queue, Reduction, Solver, SolverOptions,
    SpgemmOptions, SpgemmPlan, StopRule, VectorOptions, Vectors,
};

/// Programs that `call` builds in the queue's context.
fn programs(call: impl FnOnce()) -> isize {
    let before = live().programs;
    call();
    live().programs - before
}

/// A queue on the device under test as if it shared its memory with the host, or did not.
fn queue_with_host_memory(has_host_memory: bool) -> Queue {
    let device = device().masked(|traits| traits.has_host_memory = has_host_memory);
    Queue::new(&Context::new(&device).unwrap()).unwrap()
}

/// Whether the host looks at what lies in its memory.
fn is_processor(queue: &Queue) -> bool {
    let traits = queue.context().device().traits();
    traits.device_type == DeviceType::Cpu && traits.has_host_memory
}

fn host() -> Csr<f32> {
    csr::<f32>(50, &[3, 0, 50, 5, 1, 9, 0, 2].repeat(6), 3)
}

/// A matrix over arrays of the application's.
fn adopted(queue: &Queue, host: &Csr<f32>) -> Matrix<f32> {
    let pattern = host.view().pattern();
    let offsets = DeviceArray::upload_blocking(queue, pattern.offsets()).unwrap();
    let columns = DeviceArray::upload_blocking(queue, pattern.columns()).unwrap();
    let values = DeviceArray::upload_blocking(queue, host.values()).unwrap();
    // SAFETY: the arrays hold a checked pattern.
    #[expect(unsafe_code, reason = "arrays that are on the device already")]
    unsafe {
        Matrix::from_arrays_blocking(queue, host.cols(), offsets, columns, values).unwrap()
    }
}

#[test]
fn a_first_dot_product_builds_one_program() {
    let queue = queue();
    let x = DeviceArray::upload_blocking(&queue, &[2f32; 100]).unwrap();
    let mut vectors = None;
    let made = programs(|| {
        vectors = Some(Vectors::<f32>::new_blocking(&queue, &VectorOptions::default()).unwrap());
    });
    assert_eq!(made, 0, "nothing has been launched");
    let mut vectors = vectors.unwrap();
    let dot = || assert_eq!(vectors.dot_blocking(&queue, &x, &x, &[]).unwrap(), 400.0);
    assert_eq!(programs(dot), 1);
    assert_eq!(programs(|| drop(vectors.dot_blocking(&queue, &x, &x, &[]))), 0, "a second one");
    let norm =
        || assert_eq!(vectors.reduce_blocking(&queue, Reduction::Norm1, &x, &[]).unwrap(), 200.0);
    assert_eq!(programs(norm), 1);
}

#[test]
fn vectors_that_are_built_at_once_build_nothing_later() {
    let queue = queue();
    let x = DeviceArray::upload_blocking(&queue, &[2f32; 100]).unwrap();
    let options = VectorOptions { build: KernelBuild::AtOnce, ..VectorOptions::default() };
    let mut vectors = Vectors::<f32>::new_blocking(&queue, &options).unwrap();
    let dot = || assert_eq!(vectors.dot_blocking(&queue, &x, &x, &[]).unwrap(), 400.0);
    assert_eq!(programs(dot), 0);
}

#[test]
fn a_first_sparse_product_on_a_processor_builds_one_program() {
    let queue = queue();
    let a = Matrix::upload_blocking(&queue, csr::<f32>(48, &[3; 48], 1).view()).unwrap();
    let multiply = || {
        let mut plan = SpgemmPlan::new_blocking(&queue, &a, &a, &SpgemmOptions::default()).unwrap();
        plan.multiply_blocking(&queue, &a, &a).unwrap();
    };
    let built = programs(multiply);
    assert!(!is_processor(&queue) || built == 1, "{built} programs");
}

#[test]
fn row_offsets_by_the_host_are_those_of_the_device() {
    let squares = [true, false].map(|has_host_memory| {
        let queue = queue_with_host_memory(has_host_memory);
        let host = csr::<f32>(48, &[3, 0, 48, 5, 1, 9, 0, 2].repeat(6), 3);
        let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
        let mut plan = SpgemmPlan::new_blocking(&queue, &a, &a, &SpgemmOptions::default()).unwrap();
        let c = plan.multiply_blocking(&queue, &a, &a).unwrap();
        let values = c.values().read_blocking(&queue).unwrap();
        let bits: Vec<u32> = values.into_iter().map(f32::to_bits).collect();
        let columns = c.columns().read_blocking(&queue).unwrap();
        (c.offsets().read_blocking(&queue).unwrap(), columns, bits, lengths(c.shape()))
    });
    assert_eq!(squares[0], squares[1]);
}

fn lengths(shape: MatrixShape) -> RowLengths {
    RowLengths { longest: shape.longest_row, in_step: shape.in_step, changes: shape.changes }
}

#[test]
fn a_pattern_on_a_processor_is_looked_at_without_a_program() {
    for has_host_memory in [true, false] {
        let queue = queue_with_host_memory(has_host_memory);
        let host = host();
        let expected = RowLengths::of(host.view().pattern().offsets());
        let mut found = None;
        let built = programs(|| found = Some(adopted(&queue, &host)));
        assert_eq!(built, isize::from(!is_processor(&queue)));
        assert_eq!(lengths(found.unwrap().shape()), expected);
    }
}

#[test]
fn a_first_conversion_from_entries_builds_what_sorts_and_what_moves_values() {
    let queue = queue();
    let coo = host().to_coo();
    let upload = |indices: &[u32]| DeviceArray::upload_blocking(&queue, indices).unwrap();
    let (rows, columns) = (upload(coo.row_indices()), upload(coo.column_indices()));
    let values = DeviceArray::upload_blocking(&queue, coo.values()).unwrap();
    let convert = || {
        let shape = (coo.rows(), coo.cols());
        let order =
            CooToCsr::new_blocking(&queue, shape, &rows, &columns, Duplicates::Keep).unwrap();
        order.matrix_blocking::<f32, u32>(&queue, &values).unwrap();
    };
    let built = programs(convert);
    assert!(!is_processor(&queue) || built <= 3, "{built} programs");
}

#[test]
fn sell_on_a_processor_builds_its_product_and_with_new_values_what_reorders_them() {
    let queue = queue();
    if queue.context().device().traits().device_type != DeviceType::Cpu {
        say("first calls: sell is for CPU devices");
        return;
    }
    let a = Matrix::upload_blocking(&queue, host().view()).unwrap();
    let options = PlanOptions { algorithm: Some(Algorithm::Sell), ..PlanOptions::default() };
    let mut plan = None;
    let made = programs(|| plan = Some(Plan::new_blocking(&queue, &a, &options).unwrap()));
    let mut plan = plan.unwrap();
    let values = DeviceArray::upload_blocking(&queue, &vec![1f32; a.nnz()]).unwrap();
    let renewed = a.with_values(values).unwrap();
    let updated = programs(|| plan.update_values_blocking(&queue, &renewed).unwrap());
    let by_host = is_processor(&queue);
    assert_eq!((made, updated), if by_host { (1, 1) } else { (2, 0) });
}

#[test]
fn sell_is_compiled_without_what_its_matrix_has_none_of() {
    let queue = queue();
    if queue.context().device().traits().device_type != DeviceType::Cpu {
        say("first calls: sell is for CPU devices");
        return;
    }
    // Strips of near columns; a row that is far longer than its neighbours; columns that are far apart.
    let cases = [
        (csr::<f32>(64, &[2; 64], 1), [true, true]),
        (csr::<f32>(64, &[[2; 15].as_slice(), &[60]].concat().repeat(4), 1), [false, true]),
        (csr::<f32>(200_000, &[10_000; 16], 1), [true, false]),
    ];
    for (host, has) in cases {
        let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
        let options = PlanOptions { algorithm: Some(Algorithm::Sell), ..PlanOptions::default() };
        let key = Plan::new_blocking(&queue, &a, &options).unwrap().key().to_string();
        assert_eq!(
            [".strips", ".narrow_columns"].map(|feature| key.contains(feature)),
            has,
            "{key}"
        );
    }
}

#[test]
fn a_solver_builds_its_product_and_two_programs() {
    let queue = queue();
    let host = csr::<f32>(48, &[1; 48], 1);
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let b = DeviceArray::upload_blocking(&queue, &[0f32; 48]).unwrap();
    let mut x = DeviceArray::upload_blocking(&queue, &[0f32; 48]).unwrap();
    let plan = PlanOptions { algorithm: Some(Algorithm::CsrScalar), ..PlanOptions::default() };
    let options = SolverOptions { plan, ..SolverOptions::default() };
    let product = programs(|| drop(Plan::new_blocking(&queue, &a, &options.plan).unwrap()));
    let solve = || {
        let mut solver = Solver::new_blocking(&queue, &a, &options).unwrap();
        let system = LinearSystem { a: &a, b: &b, x: &mut x };
        solver.solve_blocking(&queue, system, &StopRule::default(), &[]).unwrap();
    };
    assert_eq!((product, programs(solve)), (1, 2));
}
