//! What solvers are told.

use std::ptr;
use std::sync::{Mutex, PoisonError};

use crate::boundary::{status_of, value_of};
use crate::handles::Handles;
use crate::status::{Result, Status};
use crate::types::{clSParseSolverControl, clsparseCreateSolverResult};

static SOLVER_CONTROLS: Handles<Mutex<SolverControl>> = Handles::new();

/// What lives behind a `clSParseSolverControl`.
#[derive(Clone, Copy)]
pub(crate) struct SolverControl {
    pub(crate) parameters: SolverParameters,
    /// 0 for nothing, 1 for how it ended, 2 for every iteration.
    pub(crate) print_mode: i32,
}

/// When a solver stops, and what it multiplies by before.
#[derive(Clone, Copy)]
pub(crate) struct SolverParameters {
    /// 0 for none, 1 for the inverse diagonal.
    pub(crate) preconditioner: i32,
    /// 0 or more.
    pub(crate) max_iterations: i32,
    /// 0 or more.
    pub(crate) relative_tolerance: f64,
    /// 0 or more.
    pub(crate) absolute_tolerance: f64,
}

impl SolverParameters {
    /// Refuses a preconditioner that there is not, and limits that are none.
    fn checked(self) -> Result<Self> {
        const PRECONDITIONERS: std::ops::RangeInclusive<i32> = 0..=1;
        let is_none = |tolerance: f64| tolerance.is_nan() || tolerance < 0.0;
        let is_wrong = !PRECONDITIONERS.contains(&self.preconditioner)
            || self.max_iterations < 0
            || is_none(self.relative_tolerance)
            || is_none(self.absolute_tolerance);
        if is_wrong { Err(Status::InvalidValue) } else { Ok(self) }
    }
}

/// Changes what is behind a handle.
fn change(
    handle: clSParseSolverControl,
    how: impl FnOnce(&mut SolverControl) -> Result<()>,
) -> Status {
    status_of(|| {
        let control = SOLVER_CONTROLS.get(handle).ok_or(Status::InvalidSolverControlObject)?;
        how(&mut control.lock().unwrap_or_else(PoisonError::into_inner))
    })
}

impl SolverControl {
    /// What is behind a handle, as it is now: a solve leaves it alone.
    pub(crate) fn of(handle: clSParseSolverControl) -> Result<Self> {
        let control = SOLVER_CONTROLS.get(handle).ok_or(Status::InvalidSolverControlObject)?;
        Ok(*control.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A control for solvers.
#[unsafe(no_mangle)]
pub extern "C" fn clsparseCreateSolverControl(
    precond: i32,
    maxIters: i32,
    relTol: f64,
    absTol: f64,
) -> clsparseCreateSolverResult {
    let (status, control) = value_of(ptr::null_mut(), || {
        let parameters = SolverParameters {
            preconditioner: precond,
            max_iterations: maxIters,
            relative_tolerance: relTol,
            absolute_tolerance: absTol,
        };
        let control = SolverControl { parameters: parameters.checked()?, print_mode: 0 };
        Ok(SOLVER_CONTROLS.add(Mutex::new(control)))
    });
    clsparseCreateSolverResult { status, control }
}

/// Ends a control.
#[unsafe(no_mangle)]
pub extern "C" fn clsparseReleaseSolverControl(solverControl: clSParseSolverControl) -> Status {
    status_of(|| match SOLVER_CONTROLS.remove(solverControl) {
        Some(_) => Ok(()),
        None => Err(Status::InvalidSolverControlObject),
    })
}

/// Tells solvers something else.
#[unsafe(no_mangle)]
pub extern "C" fn clsparseSetSolverParams(
    solverControl: clSParseSolverControl,
    precond: i32,
    maxIters: i32,
    relTol: f64,
    absTol: f64,
) -> Status {
    change(solverControl, |control| {
        let parameters = SolverParameters {
            preconditioner: precond,
            max_iterations: maxIters,
            relative_tolerance: relTol,
            absolute_tolerance: absTol,
        };
        control.parameters = parameters.checked()?;
        Ok(())
    })
}

/// How much a solver says: 0 nothing, 1 how it ended, 2 every iteration.
#[unsafe(no_mangle)]
pub extern "C" fn clsparseSolverPrintMode(
    solverControl: clSParseSolverControl,
    mode: i32,
) -> Status {
    change(solverControl, |control| {
        if !(0..=2).contains(&mode) {
            return Err(Status::InvalidValue);
        }
        control.print_mode = mode;
        Ok(())
    })
}
