//! `sparrow.h` from an application's side: A x = b.
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use conformance::c_application::*;
use conformance::{device, is_interpreter, say};
use half::f16;
use sparrow::{Offset, Real, RealValue};
use sparrow_c::*;

pub(super) const ORDER: usize = 40;

/// -u'' with a multiple of u, as buffers.
pub(super) fn chain<V: RealValue, O: Offset>(application: &mut Application) -> sparrow_csr_buffers {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..ORDER {
        for (column, value) in [(row.wrapping_sub(1), -1.0), (row, 2.25), (row + 1, -1.0)] {
            if column < ORDER {
                columns.push(column as u32);
                values.push(value);
            }
        }
        offsets.push(columns.len());
    }
    application.csr_of::<V, O>(ORDER, &offsets, &columns, &values)
}

/// b - A x of it.
fn residual(b: &[f64], x: &[f64]) -> f64 {
    let at = |row: usize| x.get(row).copied().unwrap_or(0.0);
    let squares = (0..ORDER).map(|row| {
        let left = b[row] - 2.25 * x[row] + at(row.wrapping_sub(1)) + at(row + 1);
        left * left
    });
    squares.sum::<f64>().sqrt()
}

pub(super) fn right_side() -> Vec<f64> {
    (0..ORDER).map(|row| ((row * 7 + 3) % 11) as f64 / 8.0 - 0.5).collect()
}

pub(super) fn solver(
    application: &Application,
    a: *const sparrow_matrix,
    options: &sparrow_solver_options,
) -> *mut sparrow_solver {
    // SAFETY: everything is valid.
    made(|out| unsafe {
        sparrow_solver_create_blocking(a, application.queue, options, 0, null(), out)
    })
}

pub(super) fn try_solve(
    application: &Application,
    solver: *const sparrow_solver,
    system: &sparrow_linear_system,
) -> (sparrow_status, sparrow_solution) {
    let mut solution = empty_solution();
    // SAFETY: everything is valid but what a test made wrong.
    let status = unsafe {
        let (queue, solution) = (application.queue, &raw mut solution);
        sparrow_solver_solve_blocking(solver, queue, system, 0, null(), solution)
    };
    (status, solution)
}

pub(super) fn solve(
    application: &Application,
    solver: *const sparrow_solver,
    system: &sparrow_linear_system,
) -> sparrow_solution {
    let (status, solution) = try_solve(application, solver, system);
    expect_success(status);
    solution
}

pub(super) fn end(solver: *mut sparrow_solver, matrix: *mut sparrow_matrix) {
    // SAFETY: each is released once, the matrix first.
    unsafe {
        expect_success(sparrow_matrix_release(matrix));
        expect_success(sparrow_solver_release(solver));
    }
}

pub(super) fn stop(relative: f64, max_iterations: u32) -> sparrow_stop_rule {
    let size = size_of::<sparrow_stop_rule>();
    sparrow_stop_rule { size, relative, relative_to_first: 0.0, absolute: 0.0, max_iterations }
}

fn check<V: RealValue, O: Offset>(tolerance: f64) {
    let mut application = Application::new();
    let buffers = chain::<V, O>(&mut application);
    let a = application.over(&buffers);
    let b = right_side();
    let of_b = residual(&b, &[0.0; ORDER]);
    for method in [SPARROW_SOLVER_METHOD_CG, SPARROW_SOLVER_METHOD_BICGSTAB] {
        for preconditioner in [SPARROW_PRECONDITIONER_NONE, SPARROW_PRECONDITIONER_JACOBI] {
            let options = sparrow_solver_options { method, preconditioner, ..solver_options() };
            let solver = solver(&application, a, &options);
            let right = application.vector::<V>(3, &b);
            let x = application.vector::<V>(before_what_is_written(5), &[0.0; ORDER]);
            let rule = stop(tolerance, 1000);
            let mut history = [-1.0; 200];
            let (stop, history_start) = (&raw const rule, history.as_mut_ptr());
            let system = system(a, right, x);
            let system =
                sparrow_linear_system { stop, history: history_start, history_room: 200, ..system };
            let solution = solve(&application, solver, &system);
            assert_eq!(solution.outcome, SPARROW_OUTCOME_CONVERGED);
            assert_eq!((solution.breakdown, solution.breakdown_iteration), (0, 0));
            let iterations = solution.iterations as usize;
            assert!((1..100).contains(&iterations), "{iterations}");
            assert!(solution.launched >= solution.iterations);
            assert!(solution.nanoseconds > 0);
            let (told, rest) = history.split_at(iterations + 1);
            assert_eq!(told[iterations], solution.residual);
            assert!((told[0] / of_b - 1.0).abs() < 1e-3, "{} {of_b}", told[0]);
            assert!(told[..iterations].iter().all(|residual| *residual > solution.threshold));
            assert!(rest.iter().all(|residual| *residual == -1.0));
            assert!(solution.residual <= solution.threshold);
            assert!((solution.threshold / (tolerance * of_b) - 1.0).abs() < 1e-3);
            let found: Vec<V::Accum> = application.read(x, ORDER, null_mut());
            let found: Vec<f64> = found.into_iter().map(Real::to_f64).collect();
            let left = residual(&b, &found);
            assert!(left <= 1.5 * tolerance * of_b, "{left}");
            assert!((solution.true_residual - left).abs() <= 0.5 * tolerance * of_b, "{left}");
            // SAFETY: released once.
            expect_success(unsafe { sparrow_solver_release(solver) });
        }
    }
    // SAFETY: as before.
    expect_success(unsafe { sparrow_matrix_release(a) });
}

#[test]
pub(crate) fn both_methods_solve_in_every_type_and_say_how_it_went() {
    check::<f32, u64>(1e-4);
    check::<f16, u32>(1e-4);
    if device().traits().has_f64 {
        check::<f64, u32>(1e-10);
    }
}

/// Whether no second thread may solve, as one does where there is an observer.
pub(super) fn solves_alone() -> bool {
    let is_alone = is_interpreter(&device());
    if is_alone {
        say("skipped: Oclgrind 21.10 crashes when a second thread calls it");
    }
    is_alone
}

/// Counts its calls, and ends the solve at the second.
unsafe extern "C-unwind" fn second(
    progress: *const sparrow_solver_progress,
    seen: *mut c_void,
) -> u32 {
    // SAFETY: the library's, and what `system.user_data` points to.
    let (progress, seen) = unsafe { (&*progress, &mut *seen.cast::<Vec<(u32, f64)>>()) };
    assert_eq!(progress.size, size_of::<sparrow_solver_progress>());
    assert!(progress.b_norm > progress.threshold);
    // SAFETY: it has iteration + 1 elements.
    let last = unsafe { *progress.history.add(progress.iteration as usize) };
    seen.push((progress.iteration, last));
    u32::from(seen.len() == 2)
}

#[test]
pub(crate) fn an_observer_sees_every_look_and_may_stop() {
    if solves_alone() {
        return;
    }
    let mut application = Application::new();
    let buffers = chain::<f32, u32>(&mut application);
    let a = application.over(&buffers);
    let options = sparrow_solver_options { check_every: 3, ..solver_options() };
    let solver = solver(&application, a, &options);
    let (b, x) =
        (application.vector::<f32>(0, &right_side()), application.vector::<f32>(0, &[0.0; ORDER]));
    let mut seen: Vec<(u32, f64)> = Vec::new();
    let mut history = [-1.0; 3];
    let system = sparrow_linear_system {
        observe: Some(second),
        user_data: (&raw mut seen).cast(),
        history: history.as_mut_ptr(),
        // Less than there are.
        history_room: 2,
        ..system(a, b, x)
    };
    let solution = solve(&application, solver, &system);
    assert_eq!((solution.outcome, solution.iterations), (SPARROW_OUTCOME_STOPPED, 6));
    assert_eq!(seen.iter().map(|(iteration, _)| *iteration).collect::<Vec<_>>(), [3, 6]);
    assert_eq!(seen[1].1, solution.residual);
    assert!(history[0] > history[1] && history[1] > seen[0].1 && history[2] == -1.0);
    end(solver, a);
}

#[test]
pub(crate) fn what_is_known_of_a_solver_can_be_asked() {
    let mut application = Application::new();
    let buffers = chain::<f32, u32>(&mut application);
    let a = application.over(&buffers);
    let plan = sparrow_plan_options { algorithm: c"csr_vector".as_ptr(), ..plan_options() };
    let options = sparrow_solver_options {
        plan: &raw const plan,
        parameters: c"batch=2".as_ptr(),
        check_every: 5,
        ..solver_options()
    };
    let solver = solver(&application, a, &options);
    let mut info = empty_solver_info();
    // SAFETY: everything is valid.
    expect_success(unsafe { sparrow_solver_get_info(solver, &raw mut info) });
    assert_eq!((text(info.algorithm).as_str(), info.check_every), ("csr_vector", 5));
    assert!(!text(info.reason).is_empty());
    assert!(text(info.plan_parameters).contains("group_size="), "{}", text(info.plan_parameters));
    assert!(text(info.parameters).contains("batch=2"), "{}", text(info.parameters));
    // x, r, p and q at least; and the product's matrix and vectors, with ten passes over vectors.
    assert!(info.size_bytes >= 4 * 4 * ORDER as u64);
    let nnz = 3 * ORDER as u64 - 2;
    let bytes = 8 * nnz + 4 * (ORDER as u64 + 1) + 4 * 12 * ORDER as u64;
    assert_eq!(info.bytes_per_iteration, bytes);
    end(solver, a);
}

/// Solves with b where x is, to 1e-5.
fn in_place(
    application: &mut Application,
    solver: *const sparrow_solver,
    a: *const sparrow_matrix,
) -> Vec<f64> {
    let x = application.vector::<f32>(0, &right_side());
    let rule = stop(1e-5, 1000);
    let system = sparrow_linear_system { stop: &raw const rule, ..system(a, x, x) };
    let solution = solve(application, solver, &system);
    assert_eq!(solution.outcome, SPARROW_OUTCOME_CONVERGED);
    application.read::<f32>(x, ORDER, null_mut()).into_iter().map(f64::from).collect()
}

#[test]
pub(crate) fn b_may_be_where_x_is_and_new_values_are_seen() {
    let mut application = Application::new();
    let buffers = chain::<f32, u32>(&mut application);
    let a = application.over(&buffers);
    let preconditioner = SPARROW_PRECONDITIONER_JACOBI;
    let options = sparrow_solver_options { preconditioner, ..solver_options() };
    let solver = solver(&application, a, &options);
    let first = in_place(&mut application, solver, a);
    let b = right_side();
    assert!(residual(&b, &first) <= 2e-5 * residual(&b, &[0.0; ORDER]));
    let doubled: Vec<f32> = (0..ORDER)
        .flat_map(|row| [(row > 0, -2.0), (true, 4.5), (row + 1 < ORDER, -2.0)])
        .filter_map(|(is_there, value)| is_there.then_some(value))
        .collect();
    let (queue, values) = (application.queue, doubled.as_ptr().cast());
    // SAFETY: one value a nonzero.
    expect_success(unsafe { sparrow_matrix_write_values_blocking(a, queue, values, 0, null()) });
    for (half, whole) in in_place(&mut application, solver, a).into_iter().zip(first) {
        assert!((2.0 * half - whole).abs() < 1e-3, "{half} {whole}");
    }
    end(solver, a);
}

#[test]
pub(crate) fn a_queue_may_be_out_of_order() {
    let mut application = Application::new();
    let buffers = chain::<f32, u32>(&mut application);
    let a = application.over(&buffers);
    let solver = solver(&application, a, &solver_options());
    let expected = in_place(&mut application, solver, a);
    let order = opencl3::command_queue::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let default = application.queue;
    // SAFETY: the device belongs to the context; the queue is released once.
    unsafe {
        let (context, device) = (application.context, application.device);
        let queue = opencl3::command_queue::create_command_queue(context, device, order).unwrap();
        application.queue = queue;
        assert_eq!(in_place(&mut application, solver, a), expected);
        application.queue = default;
        opencl3::command_queue::release_command_queue(queue).unwrap();
    }
    end(solver, a);
}

#[test]
pub(crate) fn it_ends_where_iterations_are_used_up_or_the_method_breaks_down() {
    let mut application = Application::new();
    let indefinite = application.csr_of::<f32, u32>(2, &[0, 1, 2], &[0, 1], &[1.0, -1.0]);
    let a = application.over(&indefinite);
    let solver = solver(&application, a, &solver_options());
    let (b, x) =
        (application.vector::<f32>(0, &[1.0, 1.0]), application.vector::<f32>(0, &[5.0, 6.0]));
    let rule = stop(1e-5, 0);
    let none = sparrow_linear_system { stop: &raw const rule, ..system(a, b, x) };
    let solution = solve(&application, solver, &none);
    assert_eq!((solution.outcome, solution.iterations), (SPARROW_OUTCOME_MAX_ITERATIONS, 0));
    assert!((solution.true_residual - 65f64.sqrt()).abs() < 1e-5, "{}", solution.true_residual);
    assert_eq!(application.read::<f32>(x, 2, null_mut()), [5.0, 6.0]);
    let zeros = application.vector::<f32>(0, &[0.0, 0.0]);
    // b = 0 has the solution 0, but x is to stay.
    let solution = solve(&application, solver, &sparrow_linear_system { b: zeros, ..none });
    assert_eq!((solution.outcome, solution.iterations), (SPARROW_OUTCOME_MAX_ITERATIONS, 0));
    assert!((solution.true_residual - 61f64.sqrt()).abs() < 1e-5, "{}", solution.true_residual);
    assert_eq!(application.read::<f32>(x, 2, null_mut()), [5.0, 6.0]);
    // From x = 0: p'Ap = 0 at once.
    let solution = solve(&application, solver, &system(a, b, zeros));
    assert_eq!(solution.outcome, SPARROW_OUTCOME_BREAKDOWN);
    assert_eq!(solution.breakdown, SPARROW_BREAKDOWN_CURVATURE_ZERO);
    assert!((solution.true_residual - 2f64.sqrt()).abs() < 1e-6, "{}", solution.true_residual);
    assert_eq!((solution.breakdown_iteration, solution.iterations), (1, 0));
    assert_eq!(application.read::<f32>(zeros, 2, null_mut()), [0.0, 0.0]);
    end(solver, a);
}

/// Solves a system of two rows from x = 0.
fn of_two(values: [f32; 4], b: [f64; 2], start: f64) -> (sparrow_solution, Vec<f32>) {
    let mut application = Application::new();
    let buffers =
        application.csr_of::<f32, u32>(2, &[0, 2, 4], &[0, 1, 0, 1], &values.map(f64::from));
    let a = application.over(&buffers);
    let solver = solver(&application, a, &solver_options());
    let b = application.vector::<f32>(0, &b);
    let x = application.vector::<f32>(0, &[start, start]);
    let rule = stop(1e-5, 1000);
    let system = sparrow_linear_system { stop: &raw const rule, ..system(a, b, x) };
    let solution = solve(&application, solver, &system);
    let x = application.read::<f32>(x, 2, null_mut());
    end(solver, a);
    (solution, x)
}

#[test]
pub(crate) fn the_outcome_rests_on_what_x_leaves_and_divergence_and_stagnation_are_told() {
    // From far away the recurrence's residual is small long before that of x is.
    let (solution, _) = of_two([2.0, -1.0, -1.0, 2.0], [1.0, 1.0], 1e6);
    assert_eq!(solution.outcome, SPARROW_OUTCOME_CONVERGED);
    assert!(solution.true_residual <= solution.threshold, "{solution:?}");
    assert_eq!(solution.x_iteration, solution.iterations);
    // Negative definite, which is definite.
    let (solution, x) = of_two([-2.0, 1.0, 1.0, -2.0], [1.0, 1.0], 0.0);
    assert_eq!((solution.outcome, x), (SPARROW_OUTCOME_CONVERGED, vec![-1.0, -1.0]));
    let (solution, x) = of_two([1.0, 5.0, -5.0, 1.0], [1.0, 2.0], 0.0);
    assert_eq!((solution.outcome, solution.x_iteration), (SPARROW_OUTCOME_DIVERGED, 0));
    assert_eq!(x, [0.0, 0.0]);
    let (solution, _) = of_two([2.0, 1.0, 0.0, 3.0], [1.0, 2.0], 0.0);
    assert!(solution.outcome >= SPARROW_OUTCOME_STAGNATED, "{solution:?}");
    assert!(solution.true_residual < solution.b_norm && solution.iterations < 500, "{solution:?}");
}
