//! Applications that turn floating-point traps on: what IEEE 754 has a value for ends in no signal, and their traps are
//! on again afterwards.

#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

use clSPARSE::{
    Status, clsparseDcsrbicgStab, clsparseDcsrcg, clsparseScalar, clsparseScsrbicgStab,
    clsparseScsrcg, clsparseScsrmv, clsparseSolverPrintMode,
};
use conformance::{device, queue};
use sparrow::{Csr, DeviceArray, RealValue};

use crate::traps;

use super::problem::{Control, raw};
use super::solvers::{Solve, SolverControl, System, matrix};

#[test]
fn no_signal_comes_of_what_ieee_754_has_a_value_for() {
    traps::ends_without_a_signal(
        "clsparse::traps::no_signal_comes_of_what_ieee_754_has_a_value_for",
        with_traps,
    );
}

fn with_traps() {
    // The driver's own threads are made without traps: they run kernels.
    let queue = queue();
    let control = Control::new(&queue);
    let warm = System::<f32>::new(&queue, matrix(8, 0.0), vec![1.0; 8], 0.0);
    let solver = SolverControl::new(0, 10, 1e-5, 0.0);
    assert_eq!(warm.solve(clsparseScsrcg, &solver, &control), Status::Success);

    traps::turn_on();
    solve_all::<f32>(&queue, &control, [clsparseScsrcg, clsparseScsrbicgStab], 1e30);
    if device().traits().has_f64 {
        solve_all::<f64>(&queue, &control, [clsparseDcsrcg, clsparseDcsrbicgStab], 1e200);
    }
    // y = alpha A x + beta y with numbers that are none.
    let system = System::<f32>::new(&queue, matrix(8, 0.0), vec![f64::NAN; 8], f64::INFINITY);
    for number in [f32::NAN, f32::INFINITY, f32::MAX] {
        let scalar = DeviceArray::upload_blocking(&queue, &[number]).unwrap();
        let scalar = clsparseScalar { value: raw(&scalar), off_value: 0 };
        let (mut x, b) = system.vectors();
        let csr = system.csr();
        // SAFETY: all structures and buffers live.
        let status = unsafe {
            let (scalar, y) = (&raw const scalar, &raw mut x);
            clsparseScsrmv(scalar, &raw const csr, &raw const b, scalar, y, control.0)
        };
        assert_eq!(status, Status::Success);
    }
    traps::are_on();
}

/// With b of NaN, infinities, numbers whose squares overflow or vanish, zeros; with tolerances that overflow.
fn solve_all<T: RealValue<Accum = T>>(
    queue: &sparrow::Queue,
    control: &Control,
    methods: [Solve; 2],
    large: f64,
) {
    for solve in methods {
        for (relative, absolute) in [(1e-5, 0.0), (f64::INFINITY, f64::INFINITY), (1e300, 1e300)] {
            for b in [f64::NAN, f64::INFINITY, large, 1.0 / large, 0.0, 1.0] {
                for start in [0.0, large, f64::NAN] {
                    let solver = SolverControl::new(1, 5, relative, absolute);
                    assert_eq!(clsparseSolverPrintMode(solver.0, 2), Status::Success);
                    let host: Csr<T> = matrix(8, 0.0);
                    let system = System::<T>::new(queue, host, vec![b; 8], start);
                    // However it ends.
                    let _ = system.solve(solve, &solver, control);
                }
            }
        }
    }
}
