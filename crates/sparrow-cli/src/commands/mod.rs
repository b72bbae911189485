//! One module a subcommand.

mod batch;
pub(crate) mod bench;
mod convert;
pub(crate) mod devices;
pub(crate) mod generate;
mod hetero;
pub(crate) mod info;
pub(crate) mod selftest;
pub(crate) mod solve;
mod spgemm;
mod spmm;
pub(crate) mod spmv;
pub(crate) mod tune;
mod vector;

use csr_core::{Csr, Offset, Value};
use sparrow_bench::{Input, Making};

use crate::failure::Failure;
use crate::output::BytesProgress;

/// Reads or generates a matrix, with a progress bar on large files.
pub(crate) fn load<V: Value, O: Offset>(
    input: &Input,
    making: Making,
) -> Result<Csr<V, O>, Failure> {
    let progress = BytesProgress::new(&format!("reading {}", input.name()));
    Ok(input.load(making, &|done, total| progress.update(done, total))?)
}
