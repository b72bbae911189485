//! What clSPARSE has and this library has not yet: refused by name, never silently wrong.
//!
//! Each function looks at its arguments as it will when it computes, and then says `NotImplemented`.

use crate::boundary::status_of;
use crate::control::Control;
use crate::solver_control::is_solver_control;
use crate::status::{Result, Status};
use crate::types::{
    clSParseSolverControl, cldenseMatrix, cldenseVector, clsparseControl, clsparseCooMatrix,
    clsparseCsrMatrix,
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
    clsparseScsrSpGemm(sparseMatA: *const clsparseCsrMatrix, sparseMatB: *const clsparseCsrMatrix, sparseMatC: *mut clsparseCsrMatrix);
    clsparseScsr2coo(csr: *const clsparseCsrMatrix, coo: *mut clsparseCooMatrix);
    clsparseDcsr2coo(csr: *const clsparseCsrMatrix, coo: *mut clsparseCooMatrix);
    clsparseScoo2csr(coo: *const clsparseCooMatrix, csr: *mut clsparseCsrMatrix);
    clsparseDcoo2csr(coo: *const clsparseCooMatrix, csr: *mut clsparseCsrMatrix);
    clsparseScsr2dense(csr: *const clsparseCsrMatrix, A: *mut cldenseMatrix);
    clsparseDcsr2dense(csr: *const clsparseCsrMatrix, A: *mut cldenseMatrix);
    clsparseSdense2csr(A: *const cldenseMatrix, csr: *mut clsparseCsrMatrix);
    clsparseDdense2csr(A: *const cldenseMatrix, csr: *mut clsparseCsrMatrix);
}

absent_solvers! { clsparseScsrcg clsparseDcsrcg clsparseScsrbicgStab clsparseDcsrbicgStab }
