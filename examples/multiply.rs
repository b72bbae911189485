//! Multiplies a Matrix Market file by a vector, a hundred times, without building anything twice:
//! `cargo run --release --example multiply -- YOUR.mtx` (without a file: a small matrix from the text).

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::path::Path;

use sparrow::host::io::{ReadOptions, read_matrix_market_csr};
use sparrow::{Context, Csr, Device, DeviceArray, Matrix, Operands, Plan, PlanOptions, Queue};

const SMALL: &str = "%%MatrixMarket matrix coordinate real general\n\
                     3 3 4\n1 1 5\n1 3 1\n3 2 7\n3 3 3\n";

fn main() -> Result<(), sparrow::Error> {
    let a: Csr<f64> = match std::env::args().nth(1) {
        Some(path) => read_matrix_market_csr(Path::new(&path))?,
        None => ReadOptions::new().csr_from(SMALL.as_bytes(), "the small matrix")?,
    };

    let context = Context::new(&Device::best()?)?;
    let queue = Queue::new(&context)?;
    let matrix = Matrix::upload_blocking(&queue, a.view())?;
    let x = DeviceArray::upload_blocking(&queue, &vec![1.0; a.cols()])?;
    let mut y = DeviceArray::allocate(&context, a.rows())?;

    // Once: the algorithm is chosen, built and bound to the pattern.
    let plan = Plan::new_blocking(&queue, &matrix, &PlanOptions::default())?;
    let mut workspace = plan.workspace_blocking(&queue)?;

    // As often as you like: nothing is allocated, built or copied.
    for _ in 0..100 {
        let product =
            Operands { alpha: 1.0.into(), a: &matrix, x: &x, beta: 0.0.into(), y: &mut y };
        plan.launch(&queue, &mut workspace, product, &[])?;
    }
    let y = y.read_blocking(&queue)?;
    let sum: f64 = y.iter().sum();
    println!("{} on {}: the sum of y is {sum}", plan.algorithm(), context.device().traits().name);
    Ok(())
}
