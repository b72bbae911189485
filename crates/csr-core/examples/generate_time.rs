//! Times the generators: `cargo run --release --example generate_time -p csr-core -- CLASS... [SCALE]`.
//!
//! Prints seconds, nonzeros and row lengths of each class at f64 and u32, on rayon's threads
//! (`RAYON_NUM_THREADS`).
#![allow(clippy::print_stdout, reason = "an example that prints is what was asked for")]

use std::time::Instant;

use csr_core::generate::{Class, DEFAULT_SEED};
use csr_core::{Error, RowStatistics};

fn main() -> Result<(), Error> {
    let mut classes = Vec::new();
    let mut scale = 1.0;
    for argument in std::env::args().skip(1) {
        match argument.parse::<f64>() {
            Ok(number) => scale = number,
            Err(_) => classes.push(argument.parse::<Class>()?),
        }
    }
    for class in classes {
        let start = Instant::now();
        let matrix = class.generate::<f64, u32>(scale, DEFAULT_SEED)?;
        let seconds = start.elapsed().as_secs_f64();
        let rows = RowStatistics::of(matrix.view().pattern());
        println!(
            "{class:24} {seconds:8.3} s {:11} nnz {:9} rows {:9} cols, {}/{:.2}/{} a row, {:.3} long",
            rows.nnz,
            rows.rows,
            rows.cols,
            rows.shortest,
            rows.mean,
            rows.longest,
            rows.long_row_share,
        );
    }
    Ok(())
}
