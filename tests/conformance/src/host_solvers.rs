//! CG and BiCGStab as textbooks have them, on the host, beside those of the device under test.

#![expect(clippy::unwrap_used, reason = "support code of tests")]

use csr_core::generate::Class;
use csr_core::verify::Oracle;
use sparrow::{
    Csr, LinearSystem, Matrix, Norm, Outcome, Preconditioner, Queue, Real, RealValue, Solution,
    Solver, SolverMethod, SolverOptions, StopRule, Value,
};
use sparrow_bench::selftest::Guarded;

use crate::is_interpreter;

/// Hyper-parameters of the kernels between products.
pub type Groups = [(&'static str, u32); 3];

/// Groups of several items, which take several tiles each, one after the other.
pub const SMALL: Groups = [("group_size", 4), ("batch", 2), ("groups_per_unit", 2)];
/// Groups more like those of GPUs.
pub const LARGE: Groups = [("group_size", 64), ("batch", 1), ("groups_per_unit", 2)];

/// A likeness or problem of about this many rows.
///
/// # Panics
/// No class has that name.
pub fn class(name: &str, rows: usize) -> Csr<f64> {
    let class = Class::all().find(|class| class.name() == name).unwrap();
    let full: Csr<f64> = class.generate(0.0001, 1).unwrap();
    let scale = 0.0001 * rows as f64 / full.rows() as f64;
    class.generate(scale, 1).unwrap()
}

/// The matrix of these rows; what is 0 is no entry.
///
/// # Panics
/// Rows of different lengths.
pub fn dense(rows: &[&[f64]]) -> Csr<f64> {
    let (mut offsets, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
    for row in rows {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            columns.push(column as u32);
            values.push(value);
        }
        offsets.push(columns.len() as u32);
    }
    Csr::new(rows.len(), offsets, columns, values).unwrap()
}

/// Options of a solver, all others the defaults.
pub fn options(method: SolverMethod, preconditioner: Preconditioner) -> SolverOptions {
    SolverOptions { method, preconditioner, ..SolverOptions::default() }
}

/// The same with these hyper-parameters.
pub fn in_groups(options: SolverOptions, groups: Groups) -> SolverOptions {
    let parameters = groups.map(|(name, value)| (name.to_owned(), value)).to_vec();
    SolverOptions { parameters, ..options }
}

/// x from the device, which stood between canaries, and what is said of it.
///
/// # Panics
/// Something of that is wrong, or the device fails.
#[track_caller]
pub fn solve<V: RealValue>(
    queue: &Queue,
    matrix: &Csr<V>,
    options: &SolverOptions,
    b: &[f64],
    x: &[f64],
    stop: &StopRule,
) -> (Vec<f64>, Solution) {
    try_solve(queue, matrix, options, b, x, stop).unwrap()
}

/// The same, or what of it is wrong.
///
/// # Errors
/// What changed, or is not as the host has it.
///
/// # Panics
/// The device fails.
pub fn try_solve<V: RealValue>(
    queue: &Queue,
    matrix: &Csr<V>,
    options: &SolverOptions,
    b: &[f64],
    x: &[f64],
    stop: &StopRule,
) -> Result<(Vec<f64>, Solution), String> {
    let a = Matrix::upload_blocking(queue, matrix.view()).unwrap();
    let mut solver = Solver::new_blocking(queue, &a, options).unwrap();
    let on_device = |values: &[f64]| {
        let values: Vec<_> = values.iter().map(|&value| V::Accum::from_f64(value)).collect();
        Guarded::upload_blocking(queue, &values, 3).unwrap()
    };
    let on_host = |array: &Guarded<V::Accum>| -> Vec<f64> {
        array.read_blocking(queue).unwrap().into_iter().map(Real::to_f64).collect()
    };
    let (b, mut x) = (on_device(b), on_device(x));
    let system = LinearSystem { a: &a, b: b.array(), x: x.array_mut() };
    let solution = solver.solve_blocking(queue, system, stop, &[]).unwrap();
    let is_told = solution.history.len() == solution.iterations as usize + 1;
    for (is_kept, what) in [
        (b.damaged_anywhere(queue).unwrap().is_none(), "b has changed"),
        (x.damaged_canary(queue).unwrap().is_none(), "something beside x has changed"),
        (is_told, "the history is not of all iterations"),
    ] {
        if !is_kept {
            return Err(what.to_owned());
        }
    }
    let (b, x) = (on_host(&b), on_host(&x));
    if b.iter().chain(&x).all(|value| value.is_finite()) {
        let right = norm(&residual(&matrix.map_values::<f64>(), &b, &x), options.norm);
        let eps = if size_of::<V::Accum>() == 8 { 1e-13 } else { 1e-5 };
        let scale = norm(&b, options.norm) + 100.0 * norm(&x, options.norm);
        let said = solution.true_residual;
        // Both are infinite where x is too large.
        if said != right && !is_within(said - right, eps * scale) {
            return Err(format!("the true residual is {right}, and not {said}"));
        }
    }
    Ok((x, solution))
}

/// A x, in twice the precision and rounded.
///
/// # Panics
/// x of another length.
pub fn product(matrix: &Csr<f64>, x: &[f64]) -> Vec<f64> {
    let zeros = vec![0.0; matrix.rows()];
    let oracle = Oracle::new(1.0, matrix.view(), x, 0.0, &zeros).unwrap();
    (0..matrix.rows()).map(|row| oracle.value(row)).collect()
}

/// b - A x.
pub fn residual(matrix: &Csr<f64>, b: &[f64], x: &[f64]) -> Vec<f64> {
    b.iter().zip(product(matrix, x)).map(|(b, ax)| b - ax).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The norm of r, also where its squares vanish or overflow.
pub fn norm(r: &[f64], norm: Norm) -> f64 {
    let largest = r.iter().fold(0.0, |largest: f64, r| largest.max(r.abs()));
    match norm {
        Norm::Two if !(1e-100..1e100).contains(&largest) && largest.is_normal() => {
            largest * r.iter().map(|r| (r / largest).powi(2)).sum::<f64>().sqrt()
        }
        Norm::Two => dot(r, r).sqrt(),
        Norm::One => r.iter().map(|r| r.abs()).sum(),
    }
}

fn inverse(matrix: &Csr<f64>, preconditioner: Preconditioner) -> Vec<f64> {
    let of_row = |row: usize| {
        let (columns, values) = matrix.view().row(row);
        let entries = columns.iter().zip(values).filter(|(column, _)| **column as usize == row);
        1.0 / entries.map(|(_, value)| value).sum::<f64>()
    };
    match preconditioner {
        Preconditioner::Jacobi => (0..matrix.rows()).map(of_row).collect(),
        _ => vec![1.0; matrix.rows()],
    }
}

fn scaled(inverse: &[f64], r: &[f64]) -> Vec<f64> {
    inverse.iter().zip(r).map(|(inverse, r)| inverse * r).collect()
}

/// a + factor b
pub fn sum(a: &[f64], factor: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

/// CG as textbooks have it: x and the residuals.
fn host_cg(
    matrix: &Csr<f64>,
    inverse: &[f64],
    b: &[f64],
    x: &[f64],
    stop: &StopRule,
) -> (Vec<f64>, Vec<f64>) {
    let mut x = x.to_vec();
    let mut r = residual(matrix, b, &x);
    let mut p = scaled(inverse, &r);
    let mut rho = dot(&r, &p);
    let mut history = vec![norm(&r, Norm::Two)];
    while history[history.len() - 1] > stop.relative * norm(b, Norm::Two)
        && history.len() <= stop.max_iterations as usize
    {
        let q = product(matrix, &p);
        let alpha = rho / dot(&p, &q);
        x = sum(&x, alpha, &p);
        r = sum(&r, -alpha, &q);
        let z = scaled(inverse, &r);
        let next = dot(&r, &z);
        p = sum(&z, next / rho, &p);
        rho = next;
        history.push(norm(&r, Norm::Two));
    }
    (x, history)
}

/// BiCGStab as textbooks have it, which looks after half an iteration too.
fn host_bicgstab(
    matrix: &Csr<f64>,
    inverse: &[f64],
    b: &[f64],
    x: &[f64],
    stop: &StopRule,
) -> (Vec<f64>, Vec<f64>) {
    let threshold = stop.relative * norm(b, Norm::Two);
    let mut x = x.to_vec();
    let mut r = residual(matrix, b, &x);
    let shadow = r.clone();
    let mut p = r.clone();
    let mut rho = dot(&shadow, &r);
    let mut history = vec![norm(&r, Norm::Two)];
    while history[history.len() - 1] > threshold && history.len() <= stop.max_iterations as usize {
        let p_hat = scaled(inverse, &p);
        let v = product(matrix, &p_hat);
        let alpha = rho / dot(&shadow, &v);
        let s = sum(&r, -alpha, &v);
        x = sum(&x, alpha, &p_hat);
        if norm(&s, Norm::Two) <= threshold {
            history.push(norm(&s, Norm::Two));
            break;
        }
        let s_hat = scaled(inverse, &s);
        let t = product(matrix, &s_hat);
        let omega = dot(&t, &s) / dot(&t, &t);
        x = sum(&x, omega, &s_hat);
        r = sum(&s, -omega, &t);
        let next = dot(&shadow, &r);
        p = sum(&r, next / rho * alpha / omega, &sum(&p, -omega, &v));
        rho = next;
        history.push(norm(&r, Norm::Two));
    }
    (x, history)
}

/// What the host finds: x, and the norms of residuals.
pub fn host(
    method: SolverMethod,
    preconditioner: Preconditioner,
    matrix: &Csr<f64>,
    b: &[f64],
    x: &[f64],
    stop: &StopRule,
) -> (Vec<f64>, Vec<f64>) {
    let inverse = inverse(matrix, preconditioner);
    match method {
        SolverMethod::Cg => host_cg(matrix, &inverse, b, x, stop),
        _ => host_bicgstab(matrix, &inverse, b, x, stop),
    }
}

/// Rows that the device can be asked for.
pub fn rows(queue: &Queue, many: usize) -> usize {
    if is_interpreter(queue.context().device()) { 64 } else { many }
}

/// Both agree for the first iterations to rounding, which then grows, and faster in f32; and on how many there are.
///
/// # Panics
/// They do not.
#[track_caller]
pub fn assert_like(found: &(Vec<f64>, Solution), right: &(Vec<f64>, Vec<f64>), eps: f64) {
    like(found, right, eps).unwrap();
}

/// NaN is not.
fn is_within(difference: f64, bound: f64) -> bool {
    difference.abs() <= bound
}

/// As [`assert_like`].
///
/// # Errors
/// What differs.
pub fn like(
    (x, solution): &(Vec<f64>, Solution),
    (host_x, host_history): &(Vec<f64>, Vec<f64>),
    eps: f64,
) -> Result<(), String> {
    if solution.outcome != Outcome::Converged {
        return Err(format!("{} after {} iterations", solution.outcome, solution.iterations));
    }
    let (found, right) = (solution.history.len(), host_history.len());
    if found.abs_diff(right) > 2 {
        return Err(format!("{found} iterations, and {right} on the host"));
    }
    let of_both = solution.history.iter().zip(host_history).enumerate();
    for (iteration, (found, right)) in of_both.take(if eps > 1e-6 { 4 } else { 8 }) {
        if !is_within(found / right - 1.0, eps) {
            return Err(format!("iteration {iteration}: {found}, and not {right}"));
        }
    }
    if solution.true_residual > (1.0 + 1e3 * eps) * solution.threshold {
        let (left, wanted) = (solution.true_residual, solution.threshold);
        return Err(format!("the true residual is {left}, and was to be {wanted}"));
    }
    let difference = norm(&sum(x, -1.0, host_x), Norm::Two);
    let of_x = norm(host_x, Norm::Two);
    if !is_within(difference, 1e5 * eps * of_x) {
        return Err(format!("x differs by {difference} of {of_x}"));
    }
    Ok(())
}
