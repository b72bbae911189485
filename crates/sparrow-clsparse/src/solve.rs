//! A x = b by CG and BiCGStab, from the x that is there.
//!
//! Residuals are sums of magnitudes. A solve ends where the residual is at most `relTol` of b's, or at most `absTol`
//! of the first residual, or after `maxIters` iterations: success, all three, as programs for clSPARSE expect. Where
//! the method breaks down it is `clsparseSolverError`, and x is that of the last iteration that ended well.

use std::io::Write;
use std::ops::ControlFlow;

use sparrow::{
    LinearSystem, Matrix, Norm, Outcome, Preconditioner, Solution, Solver, SolverMethod,
    SolverOptions, SolverProgress, StopRule,
};

use crate::boundary::{read, status_of};
use crate::control::Control;
use crate::meta::Meta;
use crate::operands::{CsrArrays, Real, vector};
use crate::solver_control::SolverControl;
use crate::status::Status;
use crate::types::{clSParseSolverControl, cldenseVector, clsparseControl, clsparseCsrMatrix};

/// `print_mode` that asks for how a solve ended, and more.
const NORMAL: i32 = 1;
/// `print_mode` that asks for every iteration.
const VERBOSE: i32 = 2;

/// # Safety
/// As types.rs says of all functions.
unsafe fn solve<T: Real>(
    method: SolverMethod,
    x: *mut cldenseVector,
    A: *const clsparseCsrMatrix,
    b: *const cldenseVector,
    solverControl: clSParseSolverControl,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        let told = SolverControl::of(solverControl)?;
        // SAFETY: the caller's promise.
        let (x, matrix, b) = unsafe { (read(x)?, read(A)?, read(b)?) };
        let order = matrix.num_rows;
        // A length that nobody set is 0.
        let is_other = |length: u32| length != 0 && length != order;
        if matrix.num_cols != order || is_other(x.num_values) || is_other(b.num_values) {
            return Err(Status::InvalidSystemSize);
        }
        if order == 0 {
            return Ok(());
        }
        let arrays = CsrArrays::<T>::of(&control, matrix)?;
        let mut x = vector::<T>(&control, x, order as usize)?;
        let b = vector::<T>(&control, b, order as usize)?;
        let a = match Meta::of(matrix)? {
            Some(meta) => meta.matrix(&control, arrays)?,
            None => {
                let CsrArrays { offsets, columns, values } = arrays;
                let (queue, cols) = (&control.queue, order as usize);
                // SAFETY: that the pattern is one is the application's promise.
                unsafe { Matrix::from_arrays_blocking(queue, cols, offsets, columns, values)? }
            }
        };
        let mut solver = Solver::new_blocking(&control.queue, &a, &options(method, &told))?;
        // Infinite ones are met at once.
        let finite = |tolerance: f64| tolerance.min(f64::MAX);
        let stop = StopRule {
            relative: finite(told.parameters.relative_tolerance),
            relative_to_first: finite(told.parameters.absolute_tolerance),
            absolute: 0.0,
            max_iterations: told.parameters.max_iterations as u32,
        };
        let system = LinearSystem { a: &a, b: &b, x: &mut x };
        let mut printer = Printer { mode: told.print_mode, printed: 0 };
        let observe = &mut |progress: &SolverProgress<'_>| {
            printer.iterations(progress.history, progress.b_norm);
            ControlFlow::Continue(())
        };
        let solution =
            solver.solve_observed_blocking(&control.queue, system, &stop, &[], observe)?;
        printer.iterations(&solution.history, solution.b_norm);
        printer.ending(method, &solution);
        control.state().end_blocking();
        match solution.outcome {
            Outcome::Converged | Outcome::MaxIterations => Ok(()),
            _ => Err(Status::SolverError),
        }
    })
}

fn options(method: SolverMethod, told: &SolverControl) -> SolverOptions {
    let preconditioner = match told.parameters.preconditioner {
        0 => Preconditioner::None,
        _ => Preconditioner::Jacobi,
    };
    SolverOptions { method, preconditioner, norm: Norm::One, ..SolverOptions::default() }
}

/// What an application asks to be printed, and nothing else.
struct Printer {
    mode: i32,
    /// Residuals so far.
    printed: usize,
}

impl Printer {
    fn line(&self, from: i32, text: &str) {
        if self.mode >= from {
            // A standard output that is closed is the application's choice too.
            let _ = writeln!(std::io::stdout(), "{text}");
        }
    }

    /// Those that were not printed yet.
    fn iterations(&mut self, history: &[f64], b_norm: f64) {
        for (iteration, residual) in history.iter().enumerate().skip(self.printed) {
            let relative = if b_norm > 0.0 { residual / b_norm } else { 0.0 };
            self.line(VERBOSE, &format!("Iteration {iteration}: residual {relative:e}"));
        }
        self.printed = history.len();
    }

    fn ending(&self, method: SolverMethod, solution: &Solution) {
        let text = format!(
            "{method}: {}; iterations {}, residual {:e}",
            solution.outcome,
            solution.iterations,
            solution.relative_residual()
        );
        self.line(NORMAL, &text);
    }
}

/// Conjugate gradients in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScsrcg(
    x: *mut cldenseVector,
    A: *const clsparseCsrMatrix,
    b: *const cldenseVector,
    solverControl: clSParseSolverControl,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { solve::<f32>(SolverMethod::Cg, x, A, b, solverControl, control) }
}

/// Conjugate gradients in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcsrcg(
    x: *mut cldenseVector,
    A: *const clsparseCsrMatrix,
    b: *const cldenseVector,
    solverControl: clSParseSolverControl,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { solve::<f64>(SolverMethod::Cg, x, A, b, solverControl, control) }
}

/// Stabilised bi-conjugate gradients in single precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseScsrbicgStab(
    x: *mut cldenseVector,
    A: *const clsparseCsrMatrix,
    b: *const cldenseVector,
    solverControl: clSParseSolverControl,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { solve::<f32>(SolverMethod::BiCgStab, x, A, b, solverControl, control) }
}

/// Stabilised bi-conjugate gradients in double precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clsparseDcsrbicgStab(
    x: *mut cldenseVector,
    A: *const clsparseCsrMatrix,
    b: *const cldenseVector,
    solverControl: clSParseSolverControl,
    control: clsparseControl,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { solve::<f64>(SolverMethod::BiCgStab, x, A, b, solverControl, control) }
}
