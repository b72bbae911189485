//! What clSPARSE has and this library has not yet: refused by name, never silently wrong.
//!
//! Each function looks at its arguments as it will when it computes, and then says `NotImplemented`.

use crate::boundary::status_of;
use crate::control::Control;
use crate::solver_control::is_solver_control;
use crate::status::{Result, Status};
use crate::types::{
    clSParseSolverControl, cldenseVector, clsparseControl, clsparseCsrMatrix, clsparseScalar,
};

/// Refuses what would be refused anyway, then everything.
fn refuse(control: clsparseControl, has_null: bool) -> Result<()> {
    Control::of(control)?;
    Err(if has_null { Status::InvalidValue } else { Status::NotImplemented })
}

/// Functions whose last argument is the control.
macro_rules! absent {
    ($($name:ident($($argument:ident: $type:ty),+);)+) => {$(
        /// Not yet.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $type,)+ control: clsparseControl) -> Status {
            status_of(|| refuse(control, [$($argument.is_null()),+].contains(&true)))
        }
    )+};
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

absent! {
    cldenseSscale(r: *mut cldenseVector, alpha: *const clsparseScalar, y: *const cldenseVector);
    cldenseDscale(r: *mut cldenseVector, alpha: *const clsparseScalar, y: *const cldenseVector);
    cldenseSaxpy(r: *mut cldenseVector, alpha: *const clsparseScalar, x: *const cldenseVector, y: *const cldenseVector);
    cldenseDaxpy(r: *mut cldenseVector, alpha: *const clsparseScalar, x: *const cldenseVector, y: *const cldenseVector);
    cldenseSaxpby(r: *mut cldenseVector, alpha: *const clsparseScalar, x: *const cldenseVector, beta: *const clsparseScalar, y: *const cldenseVector);
    cldenseDaxpby(r: *mut cldenseVector, alpha: *const clsparseScalar, x: *const cldenseVector, beta: *const clsparseScalar, y: *const cldenseVector);
    cldenseIreduce(s: *mut clsparseScalar, x: *const cldenseVector);
    cldenseSreduce(s: *mut clsparseScalar, x: *const cldenseVector);
    cldenseDreduce(s: *mut clsparseScalar, x: *const cldenseVector);
    cldenseSnrm1(s: *mut clsparseScalar, x: *const cldenseVector);
    cldenseDnrm1(s: *mut clsparseScalar, x: *const cldenseVector);
    cldenseSnrm2(s: *mut clsparseScalar, x: *const cldenseVector);
    cldenseDnrm2(s: *mut clsparseScalar, x: *const cldenseVector);
    cldenseSdot(r: *mut clsparseScalar, x: *const cldenseVector, y: *const cldenseVector);
    cldenseDdot(r: *mut clsparseScalar, x: *const cldenseVector, y: *const cldenseVector);
    cldenseSadd(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector);
    cldenseDadd(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector);
    cldenseSsub(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector);
    cldenseDsub(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector);
    cldenseSmul(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector);
    cldenseDmul(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector);
    cldenseSdiv(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector);
    cldenseDdiv(r: *mut cldenseVector, x: *const cldenseVector, y: *const cldenseVector);
}

absent_solvers! { clsparseScsrcg clsparseDcsrcg clsparseScsrbicgStab clsparseDcsrbicgStab }
