//! A x = b by CG and BiCGStab, from the x that is there.
//!
//! Residuals are sums of magnitudes. A solve ends where the residual is at most `relTol` of b's, or at most `absTol`
//! of the first residual, or after `maxIters` iterations: success, all three, as programs for clSPARSE expect. The
//! residual is the recurrence's, as in the original; what is printed is also computed from x. Nothing else ends a solve
//! but a zero to divide by or a number that is not finite: `clsparseSolverError`, and x is that of the last iteration
//! that ended well.

use std::io::Write;
use std::ops::ControlFlow;

use sparrow::{
    AnyLinearSystem, AnyMatrix, AnySolver, Norm, Outcome, Preconditioner, SolverMethod,
    SolverOptions, SolverProgress, StopRule, ValueType, Verdict, are, counted,
};

use crate::boundary::status_of;
use crate::control::Control;
use crate::meta::Meta;
use crate::operands::{CsrArrays, vector};
use crate::solver_control::SolverControl;
use crate::status::Status;
use crate::types::{clSParseSolverControl, cldenseVector, clsparseControl, clsparseCsrMatrix};

/// `print_mode` that asks for how a solve ended, and more.
const NORMAL: i32 = 1;
/// `print_mode` that asks for every iteration.
const VERBOSE: i32 = 2;

/// # Safety
/// As types.rs says of all functions.
unsafe fn solve(
    (method, value_type): (SolverMethod, ValueType),
    x: *mut cldenseVector,
    A: *const clsparseCsrMatrix,
    b: *const cldenseVector,
    solverControl: clSParseSolverControl,
    control: clsparseControl,
) -> Status {
    status_of(|| {
        let control = Control::of(control)?;
        let told = SolverControl::of(solverControl)?;
        let mut printer = Printer { method, mode: told.print_mode, printed: 0 };
        // SAFETY: the caller's promise.
        let solved =
            unsafe { solve_on(&control, (method, value_type), (x, A, b), &told, &mut printer) };
        match solved {
            Ok(is_solved) => {
                if is_solved {
                    Ok(())
                } else {
                    Err(Status::SolverError)
                }
            }
            Err(Refusal { status, reason }) => {
                printer.line(NORMAL, &format!("{method}: refused: {reason}"));
                Err(status)
            }
        }
    })
}

/// Why there was no solve, or not all of one.
struct Refusal {
    status: Status,
    reason: String,
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Refusal { status, reason: format!("clsparse{status:?}") }
    }
}

impl From<sparrow::Error> for Refusal {
    fn from(error: sparrow::Error) -> Self {
        let reason = error.to_string();
        Refusal { status: error.into(), reason }
    }
}

impl From<sparrow::RuntimeError> for Refusal {
    fn from(error: sparrow::RuntimeError) -> Self {
        sparrow::Error::from(error).into()
    }
}

/// Whether the solve ended well; how it ended is printed.
///
/// # Safety
/// As types.rs says of all functions.
unsafe fn solve_on(
    control: &Control,
    (method, value_type): (SolverMethod, ValueType),
    (x, A, b): (*mut cldenseVector, *const clsparseCsrMatrix, *const cldenseVector),
    told: &SolverControl,
    printer: &mut Printer,
) -> Result<bool, Refusal> {
    // SAFETY: the caller's promise.
    let (x, matrix, b) = unsafe { (control.read(x)?, control.read(A)?, control.read(b)?) };
    let (x, matrix, b) = (&x, &matrix, &b);
    let order = matrix.num_rows;
    let lengths = [
        ("column", "A", matrix.num_cols),
        ("value", "x", x.num_values),
        ("value", "b", b.num_values),
    ];
    for (noun, of, length) in lengths {
        // A length of a vector that was not set is 0.
        let is_set = length != 0 || of == "A";
        if is_set && length != order {
            let reason = format!(
                "there {} {} of {of}, and A has {}",
                are(length),
                counted(length, noun),
                counted(order, "row")
            );
            return Err(Refusal { status: Status::InvalidSystemSize, reason });
        }
    }
    if order == 0 {
        printer.ending(Outcome::Converged, 0, 0.0);
        control.state().end_blocking(&control.queue)?;
        return Ok(true);
    }
    let arrays = CsrArrays::of(control, value_type, matrix)?;
    let mut x = vector(control, value_type, x, order as usize)?;
    let b = vector(control, value_type, b, order as usize)?;
    let a = match Meta::of(matrix)? {
        Some(meta) => meta.matrix(control, arrays)?,
        None => {
            let CsrArrays { offsets, columns, values } = arrays;
            let (queue, cols) = (&control.queue, order as usize);
            // SAFETY: that the pattern is one is the application's promise.
            unsafe { AnyMatrix::from_arrays_blocking(queue, cols, offsets, columns, values)? }
        }
    };
    let mut solver = AnySolver::new_blocking(&control.queue, &a, &options(method, told))?;
    // Infinite ones are met at once.
    let finite = |tolerance: f64| tolerance.min(f64::MAX);
    let stop = StopRule {
        relative: finite(told.parameters.relative_tolerance),
        relative_to_first: finite(told.parameters.absolute_tolerance),
        absolute: 0.0,
        max_iterations: told.parameters.max_iterations as u32,
    };
    let system = AnyLinearSystem { a: &a, b: &b, x: &mut x };
    let observe = &mut |progress: &SolverProgress<'_>| {
        printer.iterations(progress.history, progress.b_norm);
        ControlFlow::Continue(())
    };
    let solution = solver.solve_observed_blocking(&control.queue, system, &stop, &[], observe)?;
    printer.iterations(&solution.history, solution.b_norm);
    let residual = solution.true_relative_residual();
    printer.ending(solution.outcome, solution.iterations, residual);
    control.state().end_blocking(&control.queue)?;
    Ok(matches!(solution.outcome, Outcome::Converged | Outcome::MaxIterations))
}

fn options(method: SolverMethod, told: &SolverControl) -> SolverOptions {
    let preconditioner = match told.parameters.preconditioner {
        0 => Preconditioner::None,
        _ => Preconditioner::Jacobi,
    };
    SolverOptions {
        method,
        preconditioner,
        norm: Norm::One,
        verdict: Verdict::Recurrence,
        ..SolverOptions::default()
    }
}

/// What an application asks to be printed, and nothing else.
struct Printer {
    method: SolverMethod,
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

    /// With the relative residual computed from x: the recurrence's, which has ended the solve, may be another.
    fn ending(&self, outcome: Outcome, iterations: u32, residual: f64) {
        let method = self.method;
        let text = format!("{method}: {outcome}; iterations {iterations}, residual {residual:e}");
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
    unsafe { solve((SolverMethod::Cg, ValueType::F32), x, A, b, solverControl, control) }
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
    unsafe { solve((SolverMethod::Cg, ValueType::F64), x, A, b, solverControl, control) }
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
    unsafe { solve((SolverMethod::BiCgStab, ValueType::F32), x, A, b, solverControl, control) }
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
    unsafe { solve((SolverMethod::BiCgStab, ValueType::F64), x, A, b, solverControl, control) }
}
