//! What clSPARSE has and this library has not yet: refused by name, never silently wrong.
//!
//! Each function looks at its arguments as it will when it computes, and then says `NotImplemented`.

use crate::boundary::status_of;
use crate::control::Control;
use crate::solver_control::is_solver_control;
use crate::status::{Result, Status};
use crate::types::{clSParseSolverControl, cldenseVector, clsparseControl, clsparseCsrMatrix};

/// Refuses what would be refused anyway, then everything.
fn refuse(control: clsparseControl, has_null: bool) -> Result<()> {
    Control::of(control)?;
    Err(if has_null { Status::InvalidValue } else { Status::NotImplemented })
}

/// Solvers, whose last arguments are both controls.
macro_rules! absent_solvers {
    ($($name:ident)+) => {$(
        /// Not yet.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(
            x: *mut cldenseVector,
            A: *const clsparseCsrMatrix,
            b: *const cldenseVector,
            solverControl: clSParseSolverControl,
            control: clsparseControl,
        ) -> Status {
            status_of(|| {
                Control::of(control)?;
                if !is_solver_control(solverControl) {
                    return Err(Status::InvalidSolverControlObject);
                }
                refuse(control, x.is_null() || A.is_null() || b.is_null())
            })
        }
    )+};
}

absent_solvers! { clsparseScsrcg clsparseDcsrcg clsparseScsrbicgStab clsparseDcsrbicgStab }
