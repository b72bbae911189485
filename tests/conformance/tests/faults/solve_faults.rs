//! Every allocation, build, enqueue and wait of a solve fails in turn: as `faults.rs`, for solvers.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::fault::{Kind, arm};
use conformance::{alone, assert_names, bits, device, fail_each, is_interpreter, names, say};
use sparrow::{
    Algorithm, BinaryCache, Context, Csr, DeviceArray, LinearSystem, Matrix, Outcome, PlanOptions,
    Preconditioner, Queue, Result, Solver, SolverMethod, SolverOptions, StopRule,
};

/// Where the iterations begin.
const START: f32 = 0.25;

/// -u'' with a multiple of u on a few points.
fn matrix() -> Csr<f32> {
    let order = 8usize;
    let (mut offsets, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
    for row in 0..order {
        for (column, value) in [(row.wrapping_sub(1), -1.0), (row, 3.0), (row + 1, -1.0)] {
            if column < order {
                columns.push(column as u32);
                values.push(value);
            }
        }
        offsets.push(columns.len() as u32);
    }
    Csr::new(order, offsets, columns, values).unwrap()
}

fn options(method: SolverMethod) -> SolverOptions {
    let algorithm = Some(Algorithm::CsrScalar);
    SolverOptions {
        method,
        preconditioner: Preconditioner::Jacobi,
        check_every: Some(2),
        plan: PlanOptions { algorithm, ..PlanOptions::default() },
        ..SolverOptions::default()
    }
}

const STOP: StopRule =
    StopRule { relative: 1e-3, relative_to_first: 0.0, absolute: 0.0, max_iterations: 100 };

fn solve_with(
    queue: &Queue,
    solver: &mut Solver<f32>,
    (a, b): (&Matrix<f32>, &DeviceArray<f32>),
    x: &mut DeviceArray<f32>,
) -> Result<Vec<u64>> {
    let solution = solver.solve_blocking(queue, LinearSystem { a, b, x }, &STOP, &[])?;
    assert_eq!(solution.outcome, Outcome::Converged);
    Ok(bits(&solution.history))
}

/// All of it: upload, plan, solve, read back; x and the residuals.
fn solve(queue: &Queue, method: SolverMethod) -> Result<(Vec<u64>, Vec<u64>)> {
    let host = matrix();
    let a = Matrix::upload_blocking(queue, host.view())?;
    let b = DeviceArray::upload_blocking(queue, &vec![1.0; host.rows()])?;
    let mut x = DeviceArray::upload_blocking(queue, &vec![START; host.rows()])?;
    let mut solver = Solver::new_blocking(queue, &a, &options(method))?;
    let history = solve_with(queue, &mut solver, (&a, &b), &mut x)?;
    Ok((bits(&x.read_blocking(queue)?), history))
}

fn stage() -> Queue {
    Queue::new(&Context::with_cache(&device(), BinaryCache::Off).unwrap()).unwrap()
}

#[test]
fn a_solve_fails_at_any_call_and_the_next_is_right() {
    let _turn = alone();
    if is_interpreter(&device()) {
        say("skipped: Oclgrind takes what kernels write to memory used before for uninitialised");
        return;
    }
    for method in SolverMethod::ALL {
        let expected = solve(&stage(), method).unwrap();
        let run = |queue: &Queue| solve(queue, method);
        let queue = stage();
        run(&queue).unwrap();
        let fail = |kind| fail_each(method.name(), (kind, None), || queue.clone(), run, &expected);
        assert_eq!(names(&fail(Kind::Allocation)), names(&["clCreateBuffer", "clCreateKernel"]));
        let enqueues = names(&fail(Kind::Enqueue));
        for call in ["clEnqueueWriteBuffer", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer"] {
            assert!(enqueues.contains(call), "{enqueues:?}");
        }
        assert!(names(&fail(Kind::Wait)).contains("clFinish"));
        let builds = fail_each(method.name(), (Kind::Build, None), stage, run, &expected);
        // The product, the method, what is around it, and the inverse diagonal.
        let each = ["clCreateProgramWithSource", "clBuildProgram"];
        assert_eq!(names(&builds), names(&each));
        assert!(builds.len() >= each.len() * 4, "{builds:?}");
    }
}

#[test]
fn a_solver_that_failed_serves_again_and_x_is_as_it_was_or_the_solution() {
    let _turn = alone();
    let queue = stage();
    let host = matrix();
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let b = DeviceArray::upload_blocking(&queue, &vec![1.0; host.rows()]).unwrap();
    let start = vec![START; host.rows()];
    let mut x = DeviceArray::upload_blocking(&queue, &start).unwrap();
    for method in SolverMethod::ALL {
        let mut solver = Solver::new_blocking(&queue, &a, &options(method)).unwrap();
        x.write_blocking(&queue, &start).unwrap();
        let history = solve_with(&queue, &mut solver, (&a, &b), &mut x).unwrap();
        let solution = bits(&x.read_blocking(&queue).unwrap());
        for kind in [Kind::Enqueue, Kind::Wait] {
            for k in 1.. {
                x.write_blocking(&queue, &start).unwrap();
                let armed = arm(kind, k);
                let solved = solve_with(&queue, &mut solver, (&a, &b), &mut x);
                let failed = armed.disarm();
                let found = bits(&x.read_blocking(&queue).unwrap());
                let Some(call) = failed else {
                    assert_eq!(solved.unwrap(), history);
                    assert_eq!(found, solution);
                    assert!(k > 1, "{kind:?}: nothing failed");
                    break;
                };
                let at = format!("{method}, {kind:?} {k}");
                assert_names(&solved.unwrap_err(), call, None, &at);
                assert!(found == bits(&start) || found == solution, "{at}: {found:?}");
                x.write_blocking(&queue, &start).unwrap();
                let again = solve_with(&queue, &mut solver, (&a, &b), &mut x).unwrap();
                assert_eq!(again, history, "{at}");
                assert_eq!(bits(&x.read_blocking(&queue).unwrap()), solution, "{at}");
            }
        }
    }
}
