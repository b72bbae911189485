//! Solves A x = b by conjugate gradients, and prints the residual as it falls:
//! `cargo run --release --example solve -- YOUR.mtx` (without a file: Poisson's equation on 100 x 100 points).

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::ops::ControlFlow;
use std::path::Path;

use sparrow::host::io::read_matrix_market_csr;
use sparrow::{
    Context, Csr, Device, DeviceArray, LinearSystem, Matrix, Preconditioner, Queue, Solver,
    SolverMethod, SolverOptions, SolverProgress, StopRule,
};

fn main() -> Result<(), sparrow::Error> {
    let a: Csr<f64> = match std::env::args().nth(1) {
        Some(path) => read_matrix_market_csr(Path::new(&path))?,
        None => poisson(100)?,
    };

    let context = Context::new(&Device::best()?)?;
    let queue = Queue::new(&context)?;
    let matrix = Matrix::upload_blocking(&queue, a.view())?;
    let b = DeviceArray::upload_blocking(&queue, &vec![1.0; a.rows()])?;
    let mut x = DeviceArray::upload_blocking(&queue, &vec![0.0; a.rows()])?;

    // Once: the product is planned, kernels are built, vectors are allocated. Good for new values and any b.
    let options = SolverOptions {
        method: SolverMethod::Cg,
        preconditioner: Preconditioner::Jacobi,
        ..SolverOptions::default()
    };
    let mut solver = Solver::new_blocking(&queue, &matrix, &options)?;

    // Called whenever the host looks at the residual; ControlFlow::Break would end the solve there.
    let mut observe = |progress: &SolverProgress<'_>| {
        let residual = progress.residual() / progress.b_norm;
        println!("iteration {}: residual {residual:.2e}", progress.iteration);
        ControlFlow::Continue(())
    };
    let stop = StopRule { relative: 1e-8, ..StopRule::default() };
    let system = LinearSystem { a: &matrix, b: &b, x: &mut x };
    let solution = solver.solve_observed_blocking(&queue, system, &stop, &[], &mut observe)?;
    println!(
        "{} after {} iterations on {}; b - A x is {:.2e} of b",
        solution.outcome,
        solution.iterations,
        context.device().traits().name,
        solution.true_relative_residual()
    );
    Ok(())
}

/// Five-point differences on a square of `side` x `side` points.
fn poisson(side: usize) -> Result<Csr<f64>, sparrow::Error> {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..side * side {
        let (i, j) = (row / side, row % side);
        for (is_inside, column, value) in [
            (i > 0, row.wrapping_sub(side), -1.0),
            (j > 0, row.wrapping_sub(1), -1.0),
            (true, row, 4.0),
            (j + 1 < side, row + 1, -1.0),
            (i + 1 < side, row + side, -1.0),
        ] {
            if is_inside {
                columns.push(column as u32);
                values.push(value);
            }
        }
        offsets.push(columns.len() as u32);
    }
    Ok(Csr::new(side * side, offsets, columns, values)?)
}
