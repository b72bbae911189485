//! `sparrow gen`: a matrix of the suite as a Matrix Market file.

use csr_core::Csr;
use csr_core::generate::Class;

use crate::arguments::Gen;
use crate::failure::Failure;

pub(crate) fn run(arguments: &Gen) -> Result<(), Failure> {
    let class: Class = arguments.class.parse()?;
    let matrix: Csr<f64, u64> = class.generate(arguments.making.scale, arguments.making.seed)?;
    csr_core::io::write_matrix_market(&arguments.out, matrix.view())?;
    println!(
        "{}: {} x {}, {} nonzeros, to {}",
        class.display_name(),
        matrix.rows(),
        matrix.cols(),
        matrix.nnz(),
        arguments.out.display()
    );
    Ok(())
}
