//! The calls, from the least that OpenCL can be asked for to whole solves, by the Rust library.

use std::ptr::{null, null_mut};
use std::time::Instant;

use opencl3::{command_queue, event, kernel, program};
use sparrow::{
    Batch, BatchCoefficient, BatchOperands, BatchOptions, BatchPlan, ColumnWidth, CooToCsr,
    DenseShape, DenseToCsr, DeviceArray, Duplicates, HostBatch, Layout, LinearSystem, Operands,
    Plan, PlanOptions, Queue, Reuse, Solver, SolverMethod, SolverOptions, SpgemmOptions,
    SpgemmPlan, SpmmOperands, SpmmOptions, SpmmPlan, StopRule, TransposedMatrix, VectorOptions,
    Vectors,
};

use crate::c_calls;
use crate::problem::{Problem, queue, stencil};

/// A first call. It returns milliseconds from when its operands were on the device until its result was there.
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) run: fn() -> f64,
}

/// A call with operands of its own.
macro_rules! call {
    ($name:literal, $function:path) => {
        Call { name: $name, run: || timed($function) }
    };
}

pub(super) const CALLS: [Call; 24] = [
    call!("open", nothing),
    call!("one-line kernel", one_line_kernel),
    call!("spmv", spmv),
    call!("spmv, many products", spmv_many),
    call!("dot", dot),
    call!("axpy", axpy),
    call!("cg set-up", cg_set_up),
    call!("cg", cg),
    call!("cg, many products", cg_many),
    call!("bicgstab", bicgstab),
    call!("spmm", spmm),
    call!("spgemm", spgemm),
    call!("batch", batch),
    call!("coo2csr", coo_to_csr),
    call!("csr2coo", csr_to_coo),
    call!("csr2dense", csr_to_dense),
    call!("dense2csr", dense_to_csr),
    call!("transpose", transpose),
    call!("sparrow.h dot", c_calls::sparrow_dot),
    call!("clSPARSE dot", c_calls::clsparse_dot),
    call!("clSPARSE csrmv", c_calls::clsparse_csrmv),
    call!("clSPARSE meta", c_calls::clsparse_meta),
    call!("clSPARSE meta, csrmv", c_calls::clsparse_meta_and_csrmv),
    call!("clSPARSE cg", c_calls::clsparse_cg),
];

fn timed(call: impl FnOnce(Problem) -> sparrow::Result<()>) -> f64 {
    let problem = Problem::new(queue());
    let start = Instant::now();
    call(problem).expect("a call that succeeds");
    start.elapsed().as_secs_f64() * 1e3
}

/// The device is found, a context and a queue are made, and operands uploaded.
fn nothing(_: Problem) -> sparrow::Result<()> {
    Ok(())
}

/// What an OpenCL implementation takes for any first kernel, without Sparrow.
fn one_line_kernel(problem: Problem) -> sparrow::Result<()> {
    let queue = problem.queue;
    let source = "kernel void one(global int *x) { x[get_global_id(0)] = 1; }";
    let x = DeviceArray::upload_blocking(&queue, &[0i32; 64])?;
    // SAFETY: the context, the queue and the buffer live; the kernel writes 64 integers.
    #[expect(unsafe_code, reason = "calls OpenCL as an application does")]
    unsafe {
        let (device, context) = (queue.context().device().id().as_raw(), queue.context().as_raw());
        let made = program::create_program_with_source(context, &[source]).expect("a program");
        program::build_program(made, &[device], c"", None, null_mut()).expect("a build");
        let kernel = kernel::create_kernel(made, c"one").expect("a kernel");
        let memory = x.memory().0.as_raw().expect("a buffer");
        kernel::set_kernel_arg(kernel, 0, size_of_val(&memory), (&raw const memory).cast())
            .expect("an argument");
        let (global, local) = ([64usize], [64usize]);
        let event = command_queue::enqueue_nd_range_kernel(
            queue.as_raw(),
            kernel,
            1,
            null(),
            global.as_ptr(),
            local.as_ptr(),
            0,
            null(),
        );
        event::release_event(event.expect("a launch")).expect("an event");
        kernel::release_kernel(kernel).expect("a kernel");
        program::release_program(made).expect("a program");
    }
    x.read_blocking(&queue)?;
    Ok(())
}

fn spmv(problem: Problem) -> sparrow::Result<()> {
    product(problem, Reuse::default())
}

fn spmv_many(problem: Problem) -> sparrow::Result<()> {
    product(problem, Reuse::Many)
}

fn product(problem: Problem, products: Reuse) -> sparrow::Result<()> {
    let Problem { queue, a, x, mut y, .. } = problem;
    let options = PlanOptions { reuse: products, ..PlanOptions::default() };
    let plan = Plan::new_blocking(&queue, &a, &options)?;
    let mut workspace = plan.workspace_blocking(&queue)?;
    let product = Operands { alpha: 1.0.into(), a: &a, x: &x, beta: 0.0.into(), y: &mut y };
    plan.launch(&queue, &mut workspace, product, &[])?;
    y.read_blocking(&queue)?;
    Ok(())
}

fn dot(problem: Problem) -> sparrow::Result<()> {
    let Problem { queue, x, y, .. } = problem;
    Vectors::new_blocking(&queue, &VectorOptions::default())?.dot_blocking(&queue, &x, &y, &[])?;
    Ok(())
}

fn axpy(problem: Problem) -> sparrow::Result<()> {
    let Problem { queue, x, mut y, .. } = problem;
    let of_y = y.slice(0..y.len())?;
    let mut vectors = Vectors::new_blocking(&queue, &VectorOptions::default())?;
    vectors.axpy(&queue, (2.0.into(), &x), &of_y, &mut y, &[])?.wait()?;
    Ok(())
}

fn cg(problem: Problem) -> sparrow::Result<()> {
    solve(problem, SolverMethod::Cg, Reuse::default())
}

/// What `sparrow solve` takes: a copy of the matrix that pays with many products.
fn cg_many(problem: Problem) -> sparrow::Result<()> {
    solve(problem, SolverMethod::Cg, Reuse::Many)
}

/// A product is planned, kernels are built, vectors allocated; no kernel of the method runs.
fn cg_set_up(problem: Problem) -> sparrow::Result<()> {
    let options = SolverOptions { method: SolverMethod::Cg, ..SolverOptions::default() };
    Solver::new_blocking(&problem.queue, &problem.a, &options)?;
    Ok(())
}

fn bicgstab(problem: Problem) -> sparrow::Result<()> {
    solve(problem, SolverMethod::BiCgStab, Reuse::default())
}

fn solve(problem: Problem, method: SolverMethod, products: Reuse) -> sparrow::Result<()> {
    let Problem { queue, a, x: b, y: mut x, .. } = problem;
    let plan = PlanOptions { reuse: products, ..PlanOptions::default() };
    let options = SolverOptions { method, plan, ..SolverOptions::default() };
    let mut solver = Solver::new_blocking(&queue, &a, &options)?;
    let stop = StopRule { max_iterations: 10, ..StopRule::default() };
    solver.solve_blocking(&queue, LinearSystem { a: &a, b: &b, x: &mut x }, &stop, &[])?;
    Ok(())
}

fn spmm(problem: Problem) -> sparrow::Result<()> {
    const COLUMNS: usize = 16;
    let Problem { queue, host, a, .. } = problem;
    let shape = DenseShape::packed(host.rows(), COLUMNS, Layout::RowMajor)?;
    let b = DeviceArray::upload_blocking(&queue, &vec![1.0; shape.span()])?;
    let mut c = DeviceArray::allocate(queue.context(), shape.span())?;
    let plan = SpmmPlan::new_blocking(&queue, &a, shape, shape, &SpmmOptions::default())?;
    let mut workspace = plan.workspace_blocking(&queue)?;
    let product = SpmmOperands { alpha: 1.0.into(), a: &a, b: &b, beta: 0.0.into(), c: &mut c };
    plan.launch(&queue, &mut workspace, product, &[])?;
    c.read_blocking(&queue)?;
    Ok(())
}

fn spgemm(problem: Problem) -> sparrow::Result<()> {
    let Problem { queue, a, .. } = problem;
    let mut plan = SpgemmPlan::new_blocking(&queue, &a, &a, &SpgemmOptions::default())?;
    plan.multiply_blocking(&queue, &a, &a)?.values().read_blocking(&queue)?;
    Ok(())
}

fn batch(problem: Problem) -> sparrow::Result<()> {
    let queue = problem.queue;
    let mut host = HostBatch::new();
    let one = stencil(10);
    for _ in 0..100 {
        host.push_csr(one.view())?;
    }
    let a = Batch::upload_blocking(&queue, &host, ColumnWidth::default())?;
    let x = DeviceArray::upload_blocking(&queue, &vec![1.0; 100 * one.cols()])?;
    let mut y = DeviceArray::allocate(queue.context(), 100 * one.rows())?;
    let plan = BatchPlan::new_blocking(&queue, &a, &BatchOptions::default())?;
    let mut workspace = plan.workspace_blocking(&queue)?;
    let (alpha, beta) = (BatchCoefficient::Value(1.0), BatchCoefficient::Value(0.0));
    let product = BatchOperands { alpha, a: &a, x: &x, beta, y: &mut y };
    plan.launch(&queue, &mut workspace, product, &[])?;
    y.read_blocking(&queue)?;
    Ok(())
}

/// Row indices of the entries, on the host.
fn row_indices(problem: &Problem) -> Vec<u32> {
    let pattern = problem.host.view().pattern();
    let of = |row| std::iter::repeat_n(row as u32, pattern.row_len(row));
    (0..problem.host.rows()).flat_map(of).collect()
}

fn coo_to_csr(problem: Problem) -> sparrow::Result<()> {
    let (queue, a) = (&problem.queue, &problem.a);
    let rows = DeviceArray::upload_blocking(queue, &row_indices(&problem))?;
    let shape = (a.rows(), a.cols());
    let order = CooToCsr::new_blocking(queue, shape, &rows, a.columns(), Duplicates::Keep)?;
    let found = order.matrix_blocking::<f64, u32>(queue, a.values())?;
    found.values().read_blocking(queue)?;
    Ok(())
}

fn csr_to_coo(problem: Problem) -> sparrow::Result<()> {
    let Problem { queue, a, .. } = problem;
    let mut rows = DeviceArray::allocate(queue.context(), a.nnz())?;
    a.write_row_indices(&queue, &mut rows)?.wait()?;
    Ok(())
}

/// A dense matrix is of the stencil on 30 x 30 points.
fn small_dense(queue: &Queue) -> sparrow::Result<(sparrow::Matrix<f64>, DenseShape)> {
    let host = stencil(30);
    let shape = DenseShape::packed(host.rows(), host.cols(), Layout::RowMajor)?;
    Ok((sparrow::Matrix::upload_blocking(queue, host.view())?, shape))
}

fn csr_to_dense(problem: Problem) -> sparrow::Result<()> {
    let queue = problem.queue;
    let (a, shape) = small_dense(&queue)?;
    let mut dense = DeviceArray::allocate(queue.context(), shape.span())?;
    a.write_dense(&queue, shape, &mut dense)?.wait()?;
    Ok(())
}

fn dense_to_csr(problem: Problem) -> sparrow::Result<()> {
    let queue = problem.queue;
    let host = stencil(30);
    let shape = DenseShape::packed(host.rows(), host.cols(), Layout::RowMajor)?;
    let mut elements = vec![0.0; shape.span()];
    for row in 0..host.rows() {
        let (columns, values) = host.view().row(row);
        for (&column, &value) in columns.iter().zip(values) {
            elements[shape.at(row, column as usize)] = value;
        }
    }
    let dense = DeviceArray::upload_blocking(&queue, &elements)?;
    let stored = DenseToCsr::<f64, u32>::new_blocking(&queue, shape, &dense, 0.0)?;
    stored.matrix_blocking(&queue, &dense)?.values().read_blocking(&queue)?;
    Ok(())
}

fn transpose(problem: Problem) -> sparrow::Result<()> {
    let Problem { queue, a, .. } = problem;
    TransposedMatrix::new_blocking(&queue, &a, None)?.matrix().values().read_blocking(&queue)?;
    Ok(())
}
