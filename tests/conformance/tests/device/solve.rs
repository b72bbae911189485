//! CG and BiCGStab: beside plain ones on the host, at their edges, and where they break down.

use std::ops::ControlFlow;

use conformance::host_solvers::*;
use conformance::{bits, device, is_full, is_interpreter, queue};
use sparrow::{
    Breakdown, Csr, DeviceArray, LinearSystem, Matrix, Norm, Outcome, Preconditioner, Queue,
    Solution, Solver, SolverMethod, SolverOptions, StopRule, Verdict,
};

/// A user's groups, small ones and large ones; on an interpreter two of them, others for the next `number`.
fn groupings(default: SolverOptions, number: usize) -> Vec<SolverOptions> {
    let (small, large) = (in_groups(default.clone(), SMALL), in_groups(default.clone(), LARGE));
    let mut all = vec![default, small, large];
    if is_interpreter(&device()) && !is_full() {
        all.remove(number % 3);
    }
    all
}

#[test]
fn cg_on_poissons_equation_is_the_hosts() {
    let queue = queue();
    for (class_number, (name, many)) in
        [("poisson5", 900), ("poisson7", 1000)].into_iter().enumerate()
    {
        let matrix = class(name, rows(&queue, many));
        let b = csr_core::random_vector::<f64>(1, matrix.rows());
        let x = csr_core::random_vector::<f64>(2, matrix.rows());
        let stop = StopRule { relative: 1e-9, ..StopRule::default() };
        for (number, preconditioner) in Preconditioner::ALL.into_iter().enumerate() {
            let right = host(SolverMethod::Cg, preconditioner, &matrix, &b, &x, &stop);
            let default = options(SolverMethod::Cg, preconditioner);
            for options in groupings(default, class_number + number) {
                assert_like(&solve(&queue, &matrix, &options, &b, &x, &stop), &right, 1e-10);
            }
        }
    }
}

#[test]
fn bicgstab_on_convection_and_diffusion_is_the_hosts() {
    let queue = queue();
    let matrix = class("convection", rows(&queue, 100));
    let b = csr_core::random_vector::<f64>(1, matrix.rows());
    let x = csr_core::random_vector::<f64>(2, matrix.rows());
    let stop = StopRule { relative: 1e-6, ..StopRule::default() };
    for (number, preconditioner) in Preconditioner::ALL.into_iter().enumerate() {
        let right = host(SolverMethod::BiCgStab, preconditioner, &matrix, &b, &x, &stop);
        let default = options(SolverMethod::BiCgStab, preconditioner);
        for options in groupings(default, number + 1) {
            assert_like(&solve(&queue, &matrix, &options, &b, &x, &stop), &right, 1e-8);
        }
    }
}

#[test]
fn f32_solves_as_far_as_it_reaches() {
    let queue = queue();
    let stop = StopRule { relative: 1e-3, ..StopRule::default() };
    // BiCGStab's rounding grows fast: on more rows, its number of iterations is that of the order of additions.
    for (method, name, many) in
        [(SolverMethod::Cg, "poisson7", 700), (SolverMethod::BiCgStab, "convection", 100)]
    {
        let matrix = class(name, rows(&queue, many));
        let b = csr_core::random_vector::<f64>(1, matrix.rows());
        let x = vec![0.0; matrix.rows()];
        for preconditioner in Preconditioner::ALL {
            let right = host(method, preconditioner, &matrix, &b, &x, &stop);
            let options = in_groups(options(method, preconditioner), SMALL);
            let found = solve(&queue, &matrix.map_values::<f32>(), &options, &b, &x, &stop);
            assert_like(&found, &right, 1e-3);
            assert!(found.1.true_relative_residual() < 2e-3, "{:?}", found.1);
        }
    }
}

#[test]
fn sixteen_bit_values_are_multiplied_and_solved_in_f32() {
    let queue = queue();
    let matrix = class("poisson5", 64).map_values::<half::f16>();
    let stop = StopRule { relative: 1e-4, ..StopRule::default() };
    let options = options(SolverMethod::Cg, Preconditioner::Jacobi);
    let (_, solution) = solve(
        &queue,
        &matrix,
        &options,
        &vec![1.0; matrix.rows()],
        &vec![0.0; matrix.rows()],
        &stop,
    );
    assert_eq!(solution.outcome, Outcome::Converged);
}

#[test]
fn how_often_it_looks_changes_neither_x_nor_any_number() {
    let queue = queue();
    for (method, name) in [(SolverMethod::Cg, "poisson5"), (SolverMethod::BiCgStab, "convection")] {
        let matrix = class(name, rows(&queue, 200));
        let b = csr_core::random_vector::<f64>(1, matrix.rows());
        let x = vec![0.0; matrix.rows()];
        let stop = StopRule { relative: 1e-6, ..StopRule::default() };
        let every = |check_every| {
            let options = SolverOptions {
                check_every: Some(check_every),
                ..options(method, Preconditioner::Jacobi)
            };
            solve(&queue, &matrix, &options, &b, &x, &stop)
        };
        let (x, first) = every(1);
        assert_eq!(first.outcome, Outcome::Converged);
        assert_eq!(first.launched, first.iterations);
        for check_every in [2, 10, 1000] {
            let (other_x, other) = every(check_every);
            assert_eq!(bits(&x), bits(&other_x), "{method}, {check_every}");
            assert_eq!(bits(&first.history), bits(&other.history), "{method}, {check_every}");
            assert_eq!(first.iterations, other.iterations);
            assert_eq!(other.launched, first.iterations.next_multiple_of(check_every));
        }
    }
}

#[test]
fn it_is_small_enough_in_the_first_iteration_that_says_so() {
    let queue = queue();
    let matrix = class("poisson5", 64);
    let b = csr_core::random_vector::<f64>(1, matrix.rows());
    let x = vec![0.0; matrix.rows()];
    let options = options(SolverMethod::Cg, Preconditioner::None);
    let rules = [
        StopRule { relative: 1e-3, ..StopRule::default() },
        StopRule { relative: 0.0, relative_to_first: 1e-3, ..StopRule::default() },
        StopRule { relative: 0.0, absolute: 1e-3, ..StopRule::default() },
    ];
    for stop in rules {
        let (_, solution) = solve(&queue, &matrix, &options, &b, &x, &stop);
        let (last, before) = solution.history.split_last().unwrap();
        assert!(*last <= solution.threshold, "{solution:?}");
        assert!(before.iter().all(|residual| *residual > solution.threshold), "{solution:?}");
    }
}

#[test]
fn the_norm_may_be_the_sum_of_magnitudes() {
    let queue = queue();
    let matrix = class("poisson5", 64);
    let b = csr_core::random_vector::<f64>(1, matrix.rows());
    let zeros = vec![0.0; matrix.rows()];
    for method in SolverMethod::ALL {
        let options = SolverOptions {
            norm: Norm::One,
            ..in_groups(options(method, Preconditioner::Jacobi), LARGE)
        };
        let (x, solution) = solve(&queue, &matrix, &options, &b, &zeros, &StopRule::default());
        assert_eq!(solution.outcome, Outcome::Converged);
        assert!((solution.b_norm / norm(&b, Norm::One) - 1.0).abs() < 1e-14);
        assert!(norm(&residual(&matrix, &b, &x), Norm::One) <= 1.1e-8 * solution.b_norm);
    }
}

#[test]
fn iterations_end_where_they_are_used_up() {
    let queue = queue();
    let matrix = class("poisson5", 64);
    let b = csr_core::random_vector::<f64>(1, matrix.rows());
    let zeros = vec![0.0; matrix.rows()];
    for method in SolverMethod::ALL {
        for max_iterations in [0, 1, 5] {
            let stop = StopRule { relative: 0.0, max_iterations, ..StopRule::default() };
            let verdict = Verdict::Recurrence;
            let options = SolverOptions { verdict, ..options(method, Preconditioner::None) };
            let (x, solution) = solve(&queue, &matrix, &options, &b, &zeros, &stop);
            assert_eq!(solution.outcome, Outcome::MaxIterations);
            assert_eq!((solution.iterations, solution.launched), (max_iterations, max_iterations));
            let (right, _) = host(method, Preconditioner::None, &matrix, &b, &zeros, &stop);
            let difference = norm(&sum(&x, -1.0, &right), Norm::Two);
            assert!(difference <= 1e-10 * (1.0 + norm(&right, Norm::Two)), "{difference}");
        }
    }
}

#[test]
fn an_observer_sees_every_look_and_may_stop() {
    let queue = queue();
    let matrix = class("poisson5", 64);
    let a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let options = SolverOptions { check_every: Some(3), ..SolverOptions::default() };
    let mut solver = Solver::new_blocking(&queue, &a, &options).unwrap();
    let b = DeviceArray::upload_blocking(&queue, &vec![1.0; matrix.rows()]).unwrap();
    let mut x = DeviceArray::upload_blocking(&queue, &vec![0.0; matrix.rows()]).unwrap();
    let mut seen = Vec::new();
    let stop = StopRule { relative: 0.0, ..StopRule::default() };
    let system = LinearSystem { a: &a, b: &b, x: &mut x };
    let solution = solver
        .solve_observed_blocking(&queue, system, &stop, &[], &mut |progress| {
            seen.push((progress.iteration, progress.history.len()));
            if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(seen, [(3, 4), (6, 7)]);
    assert_eq!((solution.outcome, solution.iterations), (Outcome::Stopped, 6));
    let x = x.read_blocking(&queue).unwrap();
    let left = norm(&residual(&matrix, &vec![1.0; matrix.rows()], &x), Norm::Two);
    assert!((left / solution.residual() - 1.0).abs() < 1e-10, "{left}, {solution:?}");
}

#[test]
fn nothing_to_do_takes_no_iteration() {
    let queue = queue();
    let matrix = class("poisson5", 64);
    let n = matrix.rows();
    let x = csr_core::random_vector::<f64>(1, n);
    for method in SolverMethod::ALL {
        let options = options(method, Preconditioner::Jacobi);
        let stop = StopRule::default();
        // b = 0, from any x.
        let (zeros, solution) = solve(&queue, &matrix, &options, &vec![0.0; n], &x, &stop);
        assert_eq!((solution.outcome, solution.iterations), (Outcome::Converged, 0));
        assert_eq!(zeros, vec![0.0; n]);
        assert_eq!((solution.relative_residual(), solution.true_relative_residual()), (0.0, 0.0));
        // x is the solution.
        let b = product(&matrix, &x);
        let (same, solution) = solve(&queue, &matrix, &options, &b, &x, &stop);
        assert_eq!((solution.outcome, solution.iterations), (Outcome::Converged, 0));
        assert_eq!(bits(&same), bits(&x));
        // No rows.
        let empty: Csr<f64> = Csr::new(0, vec![0], vec![], vec![]).unwrap();
        let (none, solution) = solve(&queue, &empty, &options, &[], &[], &stop);
        assert_eq!((solution.outcome, solution.iterations), (Outcome::Converged, 0));
        assert!(none.is_empty());
        // One row.
        let (one, solution) = solve(&queue, &dense(&[&[4.0]]), &options, &[2.0], &[7.0], &stop);
        assert_eq!((solution.outcome, solution.iterations), (Outcome::Converged, 1));
        assert_eq!(one, [0.5]);
    }
}

#[track_caller]
fn assert_breaks(
    queue: &Queue,
    matrix: &Csr<f64>,
    options: &SolverOptions,
    b: &[f64],
    kind: Breakdown,
    iteration: u32,
) -> (Vec<f64>, Solution) {
    let x = vec![0.0; b.len()];
    let found = solve(queue, matrix, options, b, &x, &StopRule::default());
    assert_eq!(found.1.outcome, Outcome::Breakdown { kind, iteration }, "{:?}", found.1);
    found
}

#[test]
fn breakdowns_are_told_by_kind_and_iteration_and_x_is_that_of_the_least_residual() {
    let queue = queue();
    let cg = options(SolverMethod::Cg, Preconditioner::None);
    let bicgstab = options(SolverMethod::BiCgStab, Preconditioner::None);

    // p'Ap = 0 at once, and < 0 later.
    let indefinite = dense(&[&[1.0, 0.0], &[0.0, -1.0]]);
    let (x, _) = assert_breaks(&queue, &indefinite, &cg, &[1.0, 1.0], Breakdown::CurvatureZero, 1);
    assert_eq!(x, [0.0, 0.0]);
    let later = dense(&[&[1.0, 0.0], &[0.0, -0.1]]);
    let (x, solution) = assert_breaks(&queue, &later, &cg, &[1.0, 1.0], Breakdown::Indefinite, 2);
    // The first iteration's residual is larger than b.
    assert_eq!((solution.iterations, solution.x_iteration), (1, 0));
    assert_eq!(x, [0.0, 0.0]);
    // r0'A p = 0; then A s = 0; then a residual orthogonal to the first.
    let turn = dense(&[&[0.0, 1.0], &[-1.0, 0.0]]);
    assert_breaks(&queue, &turn, &bicgstab, &[1.0, 0.0], Breakdown::ShadowZero, 1);
    let singular = dense(&[&[1.0, 0.0], &[1.0, 0.0]]);
    assert_breaks(&queue, &singular, &bicgstab, &[1.0, 0.0], Breakdown::OmegaZero, 1);
    // What is not finite, from the start and on the way.
    let one = dense(&[&[1.0, 0.0], &[0.0, 1.0]]);
    for options in [&cg, &bicgstab] {
        assert_breaks(&queue, &one, options, &[1.0, f64::NAN], Breakdown::NotFinite, 0);
        assert_breaks(&queue, &one, options, &[1.0, f64::INFINITY], Breakdown::NotFinite, 0);
        assert_breaks(&queue, &one, options, &[1e-200, 0.0], Breakdown::OutOfRange, 0);
        assert_breaks(&queue, &one, options, &[1e200, 0.0], Breakdown::OutOfRange, 0);
        let huge = dense(&[&[1e300, 0.0], &[0.0, 1e300]]);
        let (x, _) = assert_breaks(&queue, &huge, options, &[1e10, 1.0], Breakdown::NotFinite, 1);
        assert_eq!(x, [0.0, 0.0]);
    }
}

#[test]
fn a_diagonal_without_an_inverse_is_named_by_its_row() {
    let queue = queue();
    let options = options(SolverMethod::Cg, Preconditioner::Jacobi);
    let absent = dense(&[&[1.0, 0.0, 0.0], &[0.0, 0.0, 1.0], &[0.0, 1.0, 0.0]]);
    let cancelled =
        Csr::new(3, vec![0, 1, 3, 4], vec![0, 1, 1, 2], vec![1.0, 2.0, -2.0, 1.0]).unwrap();
    for matrix in [absent, cancelled] {
        let a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
        let mut solver = Solver::new_blocking(&queue, &a, &options).unwrap();
        let b = DeviceArray::upload_blocking(&queue, &[1.0; 3]).unwrap();
        let mut x = DeviceArray::upload_blocking(&queue, &[5.0; 3]).unwrap();
        let system = LinearSystem { a: &a, b: &b, x: &mut x };
        let error = solver.solve_blocking(&queue, system, &StopRule::default(), &[]).unwrap_err();
        assert!(error.to_string().contains("row 1 "), "{error}");
        assert_eq!(x.read_blocking(&queue).unwrap(), [5.0; 3]);
    }
}

#[test]
fn new_values_are_taken_and_a_solver_serves_again() {
    let queue = queue();
    let matrix = class("poisson5", 64);
    let mut a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    let options = options(SolverMethod::Cg, Preconditioner::Jacobi);
    let mut solver = Solver::new_blocking(&queue, &a, &options).unwrap();
    let b = vec![1.0; matrix.rows()];
    let on_device = DeviceArray::upload_blocking(&queue, &b).unwrap();
    let mut solve = |a: &Matrix<f64>| {
        let mut x = DeviceArray::upload_blocking(&queue, &vec![0.0; b.len()]).unwrap();
        let system = LinearSystem { a, b: &on_device, x: &mut x };
        let found = solver.solve_blocking(&queue, system, &StopRule::default(), &[]).unwrap();
        (x.read_blocking(&queue).unwrap(), found.history)
    };
    let first = solve(&a);
    assert_eq!(bits(&first.0), bits(&solve(&a).0));
    let doubled: Vec<f64> =
        (0..matrix.rows()).flat_map(|row| matrix.view().row(row).1).map(|v| 2.0 * v).collect();
    a.write_values_blocking(&queue, &doubled).unwrap();
    let halves: Vec<f64> = first.0.iter().map(|x| x / 2.0).collect();
    assert_eq!(bits(&solve(&a).0), bits(&halves));
}

#[test]
fn a_solver_that_has_overflowed_serves_again() {
    let queue = queue();
    let one = dense(&[&[2.0, 0.0], &[0.0, 2.0]]);
    let a = Matrix::upload_blocking(&queue, one.view()).unwrap();
    for method in SolverMethod::ALL {
        let options = options(method, Preconditioner::Jacobi);
        let mut solver = Solver::new_blocking(&queue, &a, &options).unwrap();
        let mut solve = |b: [f64; 2]| {
            let b = DeviceArray::upload_blocking(&queue, &b).unwrap();
            let mut x = DeviceArray::upload_blocking(&queue, &[0.0; 2]).unwrap();
            let system = LinearSystem { a: &a, b: &b, x: &mut x };
            let solution =
                solver.solve_blocking(&queue, system, &StopRule::default(), &[]).unwrap();
            (solution.outcome, x.read_blocking(&queue).unwrap())
        };
        // What vectors hold from before the start means nothing, NaN included.
        let kind = Breakdown::NotFinite;
        assert_eq!(solve([f64::NAN, 1.0]).0, Outcome::Breakdown { kind, iteration: 0 });
        assert_eq!(solve([1.0, 1.0]), (Outcome::Converged, vec![0.5, 0.5]));
    }
}

#[test]
fn what_cannot_be_solved_is_refused_before_anything_runs() {
    let queue = queue();
    let tall: Csr<f64> = Csr::new(2, vec![0, 1, 2, 2], vec![0, 1], vec![1.0, 1.0]).unwrap();
    let tall = Matrix::upload_blocking(&queue, tall.view()).unwrap();
    let error = Solver::new_blocking(&queue, &tall, &SolverOptions::default()).unwrap_err();
    assert!(error.to_string().contains("3 x 2"), "{error}");

    let matrix = dense(&[&[1.0, 0.0], &[0.0, 1.0]]);
    let a = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    for check_every in [0, 1 << 20] {
        let options = SolverOptions { check_every: Some(check_every), ..SolverOptions::default() };
        let error = Solver::new_blocking(&queue, &a, &options).unwrap_err();
        assert!(error.to_string().contains("check_every"), "{error}");
    }
    let plan = sparrow::PlanOptions { scalars_on_device: true, ..Default::default() };
    let options = SolverOptions { plan, ..SolverOptions::default() };
    assert!(Solver::new_blocking(&queue, &a, &options).is_err());
    let options = SolverOptions {
        parameters: vec![("group_size".to_owned(), 3)],
        ..SolverOptions::default()
    };
    assert!(Solver::new_blocking(&queue, &a, &options).is_err());

    let mut solver = Solver::new_blocking(&queue, &a, &SolverOptions::default()).unwrap();
    let mut refuse = |b: usize, x: usize, stop: &StopRule, a: &Matrix<f64>| {
        let b = DeviceArray::upload_blocking(&queue, &vec![1.0; b]).unwrap();
        let mut x = DeviceArray::upload_blocking(&queue, &vec![7.0; x]).unwrap();
        let system = LinearSystem { a, b: &b, x: &mut x };
        let error = solver.solve_blocking(&queue, system, stop, &[]).unwrap_err();
        assert!(x.read_blocking(&queue).unwrap().iter().all(|x| *x == 7.0));
        error.to_string()
    };
    let default = StopRule::default();
    assert!(refuse(3, 2, &default, &a).contains("b has 3 elements"));
    assert!(refuse(2, 1, &default, &a).contains("x has 1 element"));
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        let stop = StopRule { relative: wrong, ..default };
        assert!(refuse(2, 2, &stop, &a).contains("relative"));
    }
    let other = Matrix::upload_blocking(&queue, matrix.view()).unwrap();
    assert!(refuse(2, 2, &default, &other).contains("pattern"));
}
