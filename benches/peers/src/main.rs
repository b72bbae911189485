//! Times other libraries beside Sparrow.
//!
//! Without a task it times cuSPARSE's SpMM, or with --spgemm its SpGEMM, in one process with Sparrow's:
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml -- --columns 32,64 pwtk ldoor stencil27
//! ```
//!
//! Prints a line for each matrix, value type and number of columns, and geometric means; `--json FILE` keeps Sparrow's
//! records and the peer's times. `figure` times a library on a paper's figure (`cargo xtask figure`). The other tasks are what `cargo xtask compare` runs: each is a process of its own, and they
//! exchange matrices and vectors in the files that `exchange.rs` describes. Other libraries are opened at run time.

mod cusparse;
mod exchange;
mod figure;
mod foreign;
mod mkl;
mod spgemm;
mod spmm;
mod spmv;
mod timed;
mod verify;
mod write;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Times other libraries beside Sparrow", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
    #[command(flatten)]
    spmm: spmm::Arguments,
}

#[derive(Subcommand)]
enum Task {
    /// Time a library on a paper's figure: what `sparrow bench figure --peers` draws beside ours
    Figure(figure::Arguments),
    /// Write a matrix and an x for peers to read
    Write(write::Arguments),
    /// Write a matrix whose rows all have as many nonzeros, anywhere, as a Matrix Market file
    Even(write::EvenArguments),
    /// Time y = A x by one library; a line of JSON for each of its algorithms, and the y of each in a file
    Spmv(spmv::Arguments),
    /// Open a library and stop
    Probe(spmv::ProbeArguments),
    /// Hold vectors y = A x against the oracle; a line of JSON for each
    Verify(verify::Arguments),
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match &arguments.task {
        None => spmm::run(&arguments.spmm),
        Some(Task::Figure(task)) => figure::run(task),
        Some(Task::Write(task)) => write::run(task),
        Some(Task::Even(task)) => write::run_even(task),
        Some(Task::Spmv(task)) => spmv::run(task),
        Some(Task::Probe(task)) => spmv::probe(task),
        Some(Task::Verify(task)) => verify::run(task),
    }
}
