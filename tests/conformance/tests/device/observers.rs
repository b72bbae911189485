//! What an observer of a solve may do to the solver: nothing, whatever becomes of the observer.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use conformance::queue;
use sparrow::{
    AnyLinearSystem, AnyMatrix, AnySolver, Csr, DeviceArray, Outcome, SolverOptions,
    SolverProgress, StopRule,
};

#[test]
fn an_observer_that_panics_leaves_a_solver_that_solves() {
    const N: u32 = 30;
    let queue = queue();
    // 2.5 on the diagonal and -1 beside it.
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..N {
        for (column, value) in [(row.wrapping_sub(1), -1.0f32), (row, 2.5), (row + 1, -1.0)] {
            if column < N {
                columns.push(column);
                values.push(value);
            }
        }
        offsets.push(columns.len() as u32);
    }
    let host = Csr::new(N as usize, offsets, columns, values).unwrap();
    let a = AnyMatrix::upload_blocking(&queue, host.view().into()).unwrap();
    let options = SolverOptions { check_every: Some(1), ..SolverOptions::default() };
    let mut solver = AnySolver::new_blocking(&queue, &a, &options).unwrap();
    let b = DeviceArray::upload_blocking(&queue, &[1.0f32; N as usize]).unwrap().into_any();
    let mut x = DeviceArray::upload_blocking(&queue, &[0.0f32; N as usize]).unwrap().into_any();
    let rule = StopRule { relative: 1e-5, ..StopRule::default() };
    let mut looks = 0;
    let mut observe = |_: &SolverProgress<'_>| {
        looks += 1;
        if looks == 2 { panic!("the observer's own") } else { ControlFlow::Continue(()) }
    };
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let system = AnyLinearSystem { a: &a, b: &b, x: &mut x };
        solver.solve_observed_blocking(&queue, system, &rule, &[], &mut observe).map(drop)
    }));
    let panic = ended.err().and_then(|panic| panic.downcast_ref::<&str>().copied());
    assert_eq!(panic, Some("the observer's own"));
    let system = AnyLinearSystem { a: &a, b: &b, x: &mut x };
    let solution = solver.solve_blocking(&queue, system, &rule, &[]).unwrap();
    assert_eq!(solution.outcome, Outcome::Converged);
}
