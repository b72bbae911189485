//! How solves end: by b - A x, by stagnation, by divergence, and where A is definite but not positive; on the device,
//! and on the host by the same rules.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ops::ControlFlow;

use conformance::host_solvers::*;
use conformance::{bits, queue};
use csr_core::AnyCsrView;
use sparrow::{
    Breakdown, Csr, Norm, Outcome, Preconditioner, Queue, Solution, SolverMethod, SolverOptions,
    StopRule, Verdict, solve_on_host,
};

/// -u'' on `order` points.
fn chain(order: usize) -> Csr<f64> {
    let row = |row: usize| {
        let entry = |column: usize| match column.abs_diff(row) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        (0..order).map(entry).collect::<Vec<f64>>()
    };
    of_rows(&(0..order).map(row).collect::<Vec<_>>())
}

/// Hilbert's matrix: positive definite, of a condition that grows thirtyfold a row.
fn hilbert(order: usize) -> Csr<f64> {
    let row = |row: usize| (0..order).map(|column| 1.0 / (row + column + 1) as f64).collect();
    of_rows(&(0..order).map(row).collect::<Vec<_>>())
}

fn of_rows(rows: &[Vec<f64>]) -> Csr<f64> {
    dense(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn on_host(
    matrix: &Csr<f64>,
    options: &SolverOptions,
    b: &[f64],
    x: &[f64],
    stop: &StopRule,
) -> (Vec<f64>, Solution) {
    let (view, mut x) = (AnyCsrView::from(matrix.view()), x.to_vec());
    let observe = &mut |_: &sparrow::SolverProgress<'_>| ControlFlow::Continue(());
    let solution = solve_on_host(view, b, &mut x, options, stop, observe).unwrap();
    (x, solution)
}

/// On the device and on the host; what is said of the residual is what x leaves, and x is of the iteration it is said
/// to be of.
fn on_both(
    queue: &Queue,
    matrix: &Csr<f64>,
    options: &SolverOptions,
    (b, x): (&[f64], &[f64]),
    stop: &StopRule,
) -> [(Vec<f64>, Solution); 2] {
    let both = [solve(queue, matrix, options, b, x, stop), on_host(matrix, options, b, x, stop)];
    for (x, solution) in &both {
        let left = norm(&residual(matrix, b, x), options.norm);
        let rounding = 1e-13 * (norm(b, options.norm) + 10.0 * norm(x, options.norm));
        let said = solution.true_residual;
        assert!((said - left).abs() <= rounding, "{said} was said, and {left} is left");
        assert_eq!(solution.history.len(), solution.iterations as usize + 1);
        assert!(solution.x_iteration <= solution.iterations);
    }
    both
}

#[test]
fn it_has_converged_where_what_x_leaves_is_small_enough_and_not_where_the_recurrence_says_so() {
    let queue = queue();
    let matrix = chain(20);
    let (b, far) = (vec![1.0; 20], vec![1e12; 20]);
    let stop = StopRule::default();
    for method in SolverMethod::ALL {
        let options = options(method, Preconditioner::None);
        for (x, solution) in on_both(&queue, &matrix, &options, (&b, &far), &stop) {
            assert_eq!(solution.outcome, Outcome::Converged, "{solution:?}");
            let left = norm(&residual(&matrix, &b, &x), options.norm);
            assert!(left <= 1.01 * solution.threshold, "{method}: {left}, {solution:?}");
            assert_eq!(solution.x_iteration, solution.iterations);
        }
        // The recurrence alone is wrong here, as it is in textbooks.
        let options = SolverOptions { verdict: Verdict::Recurrence, ..options };
        for (_, solution) in on_both(&queue, &matrix, &options, (&b, &far), &stop) {
            assert_eq!(solution.outcome, Outcome::Converged, "{solution:?}");
            assert!(solution.residual() <= solution.threshold);
            assert!(solution.true_residual > 100.0 * solution.threshold, "{solution:?}");
        }
    }
}

#[test]
fn how_often_it_looks_does_not_change_where_it_begins_again() {
    let queue = queue();
    let (matrix, b, far) = (chain(20), vec![1.0; 20], vec![1e12; 20]);
    let every = |check_every| {
        let options = SolverOptions { check_every: Some(check_every), ..SolverOptions::default() };
        solve(&queue, &matrix, &options, &b, &far, &StopRule::default())
    };
    let (x, first) = every(1);
    for check_every in [7, 100] {
        let (other_x, other) = every(check_every);
        assert_eq!(bits(&x), bits(&other_x), "{check_every}");
        assert_eq!(bits(&first.history), bits(&other.history), "{check_every}");
        assert_eq!((first.iterations, first.outcome), (other.iterations, other.outcome));
    }
}

#[test]
fn what_no_restart_mends_has_stagnated_and_x_is_the_best_there_is() {
    let queue = queue();
    let (matrix, b, zeros) = (hilbert(8), vec![1.0; 8], vec![0.0; 8]);
    let stop = StopRule { relative: 1e-15, ..StopRule::default() };
    for method in SolverMethod::ALL {
        let options = options(method, Preconditioner::None);
        for (_, solution) in on_both(&queue, &matrix, &options, (&b, &zeros), &stop) {
            assert!(solution.outcome != Outcome::Converged, "{solution:?}");
            assert!(solution.true_residual > solution.threshold);
            assert!(solution.true_residual < 1e-3 * solution.b_norm, "{solution:?}");
            assert!(solution.iterations < 1000, "{}", solution.iterations);
            if method == SolverMethod::Cg {
                assert_eq!(solution.outcome, Outcome::Stagnated);
            }
        }
    }
}

#[test]
fn a_residual_that_grows_ends_a_solve_and_x_is_that_of_the_least() {
    let queue = queue();
    let (b, zeros) = ([1.0, 2.0], [0.0, 0.0]);
    let (cg, stop) = (options(SolverMethod::Cg, Preconditioner::None), StopRule::default());
    // Slowly: p'Ap is |p|^2, and the residual grows by five times the first in each iteration.
    let slowly = dense(&[&[1.0, 5.0], &[-5.0, 1.0]]);
    for (x, solution) in on_both(&queue, &slowly, &cg, (&b, &zeros), &stop) {
        assert_eq!(solution.outcome, Outcome::Diverged, "{solution:?}");
        assert_eq!((x, solution.x_iteration, solution.iterations), (zeros.to_vec(), 0, 120));
        assert_eq!(solution.true_relative_residual(), 1.0);
    }
    // Fast, beyond any bound.
    let fast = dense(&[&[1.0, 1e3, 0.0], &[0.0, 1.0, 1e3], &[0.0, 0.0, 1.0]]);
    let of_three = ([1.0, 2.0, 3.0], [0.0; 3]);
    for (_, solution) in on_both(&queue, &fast, &cg, (&of_three.0, &of_three.1), &stop) {
        assert_eq!(solution.outcome, Outcome::Diverged, "{solution:?}");
        assert!(solution.iterations < 100, "{}", solution.iterations);
        assert!(solution.true_relative_residual() <= 1.0, "{solution:?}");
    }
    // In between.
    let hovers = dense(&[&[2.0, 1.0], &[0.0, 3.0]]);
    for (_, solution) in on_both(&queue, &hovers, &cg, (&b, &zeros), &stop) {
        assert!(solution.outcome != Outcome::Converged, "{solution:?}");
        assert!(solution.iterations < 500, "{}", solution.iterations);
        let least = solution.history.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(solution.residual(), least);
        assert!((solution.true_residual / least - 1.0).abs() < 1e-6, "{solution:?}");
    }
}

#[test]
fn where_iterations_are_used_up_x_is_that_of_the_least_residual_whenever_that_was() {
    let queue = queue();
    let (matrix, b, zeros) = (hilbert(6), vec![1.0; 6], vec![0.0; 6]);
    for method in SolverMethod::ALL {
        let options = options(method, Preconditioner::None);
        for max_iterations in 0..12 {
            let stop = StopRule { relative: 0.0, max_iterations, ..StopRule::default() };
            for (_, solution) in on_both(&queue, &matrix, &options, (&b, &zeros), &stop) {
                if solution.outcome != Outcome::MaxIterations {
                    continue;
                }
                let least = solution.history.iter().copied().fold(f64::INFINITY, f64::min);
                assert_eq!(solution.residual(), least, "{method}, {max_iterations}");
                let difference = (solution.true_residual - least).abs();
                assert!(difference < 1e-9, "{method}, {max_iterations}: {solution:?}");
            }
        }
    }
}

#[test]
fn negative_definite_systems_are_solved_as_their_negatives_are() {
    let queue = queue();
    let matrix = chain(12);
    let values = matrix.values().iter().map(|value| -value).collect();
    let negative = Csr::from_pattern(matrix.pattern().clone(), values).unwrap();
    let b = csr_core::random_vector::<f64>(1, 12);
    let minus_b: Vec<f64> = b.iter().map(|b| -b).collect();
    let (zeros, stop) = (vec![0.0; 12], StopRule::default());
    for preconditioner in Preconditioner::ALL {
        let options = options(SolverMethod::Cg, preconditioner);
        let positive = on_both(&queue, &matrix, &options, (&b, &zeros), &stop);
        let negative = on_both(&queue, &negative, &options, (&minus_b, &zeros), &stop);
        for ((x, of_x), (y, of_y)) in positive.iter().zip(&negative) {
            assert_eq!(of_y.outcome, Outcome::Converged, "{of_y:?}");
            assert_eq!(bits(x), bits(y));
            assert_eq!(bits(&of_x.history), bits(&of_y.history));
        }
    }
}

#[test]
fn cg_says_which_kind_of_breakdown_it_has_met_and_goes_on_where_the_recurrence_rules() {
    let queue = queue();
    let none = options(SolverMethod::Cg, Preconditioner::None);
    let jacobi = options(SolverMethod::Cg, Preconditioner::Jacobi);
    let (ones, zeros, stop) = ([1.0, 1.0], [0.0, 0.0], StopRule::default());
    let zero = dense(&[&[1.0, 0.0], &[0.0, -1.0]]);
    let sign = dense(&[&[1.0, 0.0], &[0.0, -0.1]]);
    let of_z = dense(&[&[1.0, 2.0], &[2.0, -1.0]]);
    for (matrix, options, kind, iteration) in [
        (&zero, &none, Breakdown::CurvatureZero, 1),
        (&sign, &none, Breakdown::Indefinite, 2),
        (&of_z, &jacobi, Breakdown::PreconditionerIndefinite, 0),
    ] {
        for (x, solution) in on_both(&queue, matrix, options, (&ones, &zeros), &stop) {
            assert_eq!(solution.outcome, Outcome::Breakdown { kind, iteration });
            assert_eq!((x, solution.true_relative_residual()), (zeros.to_vec(), 1.0));
        }
    }
    let any_sign = SolverOptions { verdict: Verdict::Recurrence, ..none };
    for (x, solution) in on_both(&queue, &sign, &any_sign, (&ones, &zeros), &stop) {
        assert_eq!(solution.outcome, Outcome::Converged);
        assert!((x[0] - 1.0).abs() < 1e-7 && (x[1] + 10.0).abs() < 1e-7, "{x:?}");
    }
}

#[test]
fn a_b_whose_squares_vanish_or_overflow_has_a_norm_and_x_of_zeros_leaves_all_of_it() {
    let queue = queue();
    let one = dense(&[&[1.0, 0.0], &[0.0, 1.0]]);
    for method in SolverMethod::ALL {
        let options = options(method, Preconditioner::None);
        for scale in [1e-200, 1e200] {
            let b = [3.0 * scale, 4.0 * scale];
            let [(_, on_device), (_, on_host)] =
                on_both(&queue, &one, &options, (&b, &[0.0, 0.0]), &StopRule::default());
            for solution in [on_device, on_host] {
                let kind = Breakdown::OutOfRange;
                assert_eq!(solution.outcome, Outcome::Breakdown { kind, iteration: 0 });
                assert!((solution.b_norm / (5.0 * scale) - 1.0).abs() < 1e-14, "{solution:?}");
                assert!((solution.true_relative_residual() - 1.0).abs() < 1e-14, "{solution:?}");
            }
        }
    }
}

/// The sum of magnitudes is one all the same: the method goes on, and meets products that are 0.
#[test]
fn squares_that_vanish_are_not_said_to_be_a_fault_of_the_matrix() {
    let queue = queue();
    let one = dense(&[&[1.0, 0.0], &[0.0, 1.0]]);
    for method in SolverMethod::ALL {
        let options = SolverOptions { norm: Norm::One, ..options(method, Preconditioner::None) };
        let (b, zeros) = ([3e-200, 4e-200], [0.0, 0.0]);
        for (_, solution) in on_both(&queue, &one, &options, (&b, &zeros), &StopRule::default()) {
            let outcome = solution.outcome;
            let kind = Breakdown::OutOfRange;
            assert!(
                matches!(outcome, Outcome::Breakdown { kind: k, .. } if k == kind),
                "{outcome:?}"
            );
        }
    }
}

#[test]
fn the_host_is_held_to_the_textbooks_too_and_refuses_what_a_device_refuses() {
    let matrix = class("poisson5", 64);
    let b = csr_core::random_vector::<f64>(1, matrix.rows());
    let x = csr_core::random_vector::<f64>(2, matrix.rows());
    let stop = StopRule { relative: 1e-9, ..StopRule::default() };
    for method in SolverMethod::ALL {
        for preconditioner in Preconditioner::ALL {
            let right = host(method, preconditioner, &matrix, &b, &x, &stop);
            let found = on_host(&matrix, &options(method, preconditioner), &b, &x, &stop);
            assert_like(&found, &right, 1e-8);
        }
    }
    let refuse = |matrix: &Csr<f64>, b: &[f64], options: &SolverOptions, stop: &StopRule| {
        let mut x = vec![7.0; matrix.cols()];
        let observe = &mut |_: &sparrow::SolverProgress<'_>| ControlFlow::Continue(());
        let view = AnyCsrView::from(matrix.view());
        let error = solve_on_host(view, b, &mut x, options, stop, observe).unwrap_err();
        assert!(x.iter().all(|x| *x == 7.0));
        error.to_string()
    };
    let jacobi = options(SolverMethod::Cg, Preconditioner::Jacobi);
    let turn = dense(&[&[1.0, 1.0], &[1.0, 0.0]]);
    let tall = Csr::new(1, vec![0, 1, 1], vec![0], vec![1.0]).unwrap();
    let wrong = StopRule { relative: f64::NAN, ..stop };
    assert!(refuse(&tall, &[1.0; 2], &jacobi, &stop).contains("2 x 1"));
    assert!(refuse(&turn, &[1.0; 3], &jacobi, &stop).contains("b has 3 elements"));
    assert!(refuse(&turn, &[1.0; 2], &jacobi, &stop).contains("row 1 "));
    assert!(refuse(&turn, &[1.0; 2], &jacobi, &wrong).contains("relative is NaN"));
}
