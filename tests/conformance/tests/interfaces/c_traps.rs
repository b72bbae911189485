//! `sparrow.h` from the side of an application that turns floating-point traps on.
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#![expect(unsafe_code, reason = "stands for an application in C")]

use std::ffi::c_void;

use conformance::c_application::*;
use sparrow_c::*;

use super::c_solvers::{ORDER, chain, solver, solves_alone, stop, try_solve};
use crate::traps;

type Observer = unsafe extern "C-unwind" fn(*const sparrow_solver_progress, *mut c_void) -> u32;

unsafe extern "C-unwind" fn looks(_: *const sparrow_solver_progress, _: *mut c_void) -> u32 {
    0
}

#[test]
fn a_solve_ends_without_a_signal_whatever_the_numbers() {
    let name = "c_traps::a_solve_ends_without_a_signal_whatever_the_numbers";
    traps::ends_without_a_signal(name, with_traps);
}

fn with_traps() {
    let mut application = Application::new();
    let buffers = chain::<f32, u32>(&mut application);
    let a = application.over(&buffers);
    let rule = stop(1e-5, 5);
    // The driver's own threads are made without traps, by the first solve: they run kernels.
    for number in [1.0, f64::NAN, f64::INFINITY, 1e30, 1e-30, 0.0] {
        for method in [SPARROW_SOLVER_METHOD_CG, SPARROW_SOLVER_METHOD_BICGSTAB] {
            for preconditioner in [SPARROW_PRECONDITIONER_NONE, SPARROW_PRECONDITIONER_JACOBI] {
                let options = sparrow_solver_options {
                    method,
                    preconditioner,
                    check_every: 1,
                    ..solver_options()
                };
                let solver = solver(&application, a, &options);
                let b = application.vector::<f32>(0, &[number; ORDER]);
                for observe in [None, Some(looks as Observer)] {
                    if observe.is_some() && solves_alone() {
                        continue;
                    }
                    let x = application.vector::<f32>(0, &[0.0; ORDER]);
                    let stop = &raw const rule;
                    let system = sparrow_linear_system { stop, observe, ..system(a, b, x) };
                    // However it ends.
                    let (status, _) = try_solve(&application, solver, &system);
                    expect_success(status);
                }
                // SAFETY: released once.
                unsafe { expect_success(sparrow_solver_release(solver)) };
                traps::turn_on();
            }
        }
    }
    traps::are_on();
    // SAFETY: released once.
    unsafe { expect_success(sparrow_matrix_release(a)) };
}
