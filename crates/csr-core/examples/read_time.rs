//! Reads a Matrix Market file and prints how long that took: the command behind the figures of
//! docs/notebook/2026-11-21-matrix-market-reading.md.
//!
//! ```text
//! cargo run --release -p csr-core --example read_time -- FILE.mtx [coo|csr]
//! ```

#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

use std::path::PathBuf;
use std::time::Instant;

use csr_core::{Csr, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let path: PathBuf = arguments.next().ok_or("usage: read_time FILE.mtx [coo|csr]")?.into();
    let form = arguments.next().unwrap_or_else(|| "csr".into());
    let start = Instant::now();
    let (nnz, bytes) = match form.to_str() {
        Some("coo") => {
            let coo = io::read_matrix_market::<f64>(&path)?;
            (coo.nnz(), coo.nnz() * 16)
        }
        Some("csr") => {
            let csr: Csr<f64, u32> = io::read_matrix_market_csr(&path)?;
            (csr.nnz(), csr.size_bytes())
        }
        _ => return Err("the form is coo or csr".into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    println!("{seconds:.3} s, {nnz} nonzeros, matrix of {bytes} bytes");
    Ok(())
}
