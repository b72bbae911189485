//! Sparse matrices in plain Rust: formats, files, generators, statistics, plans, and the host's
//! products that judge every device.
//!
//! The way of the data is file -> [`Coo`] -> [`Csr`] (checked once, then trusted) -> plan -> device.
//! This crate covers everything left of the device: it knows nothing of OpenCL, and reads or writes
//! files only inside `io`.
//!
//! A matrix is a *pattern* (row offsets and column indices) and *values*, kept apart: plans belong to
//! the pattern, so new values need no new plan.

pub mod batch;
mod coo;
mod csr;
mod dense;
mod error;
pub mod evc_hyb;
mod host_sell;
pub mod io;
mod memory;
mod offset;
mod product;
pub mod segmented_sum;
mod statistics;
mod value;

pub mod generate;
pub mod model;
pub mod plan;
pub mod verify;

pub use coo::Coo;
pub use csr::{Csr, CsrPattern, CsrView, PatternView, Transposed};
pub use dense::{DenseShape, Layout, dense_product};
pub use error::{Error, Result};
pub use host_sell::HostSell;
pub use offset::{Offset, OffsetType};
pub use product::{part_of_row, product, product_of_rows, random_vector};
pub use statistics::{RowLengths, RowStatistics};
pub use value::{Accumulator, Value, ValueType};

// The 16-bit storage types, so that callers need not name the `half` crate themselves.
pub use half::{bf16, f16};
