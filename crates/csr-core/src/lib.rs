//! Sparse matrices in plain Rust: formats, files, generators, statistics, plans, and the host's
//! products that judge every device.
//!
//! The way of the data is file -> [`Coo`] -> [`Csr`] (checked once, then trusted) -> plan -> device.
//! This crate covers everything left of the device: it knows nothing of OpenCL, and reads or writes
//! files only inside `io`.
//!
//! A matrix is a *pattern* (row offsets and column indices) and *values*, kept apart: plans belong to
//! the pattern, so new values need no new plan.

mod any_csr;
mod any_vector;
pub mod batch;
mod check;
mod coo;
mod csr;
mod dense;
mod error;
pub mod evc_hyb;
mod host_sell;
pub mod io;
mod memory;
mod narrow;
mod offset;
mod parallel;
mod product;
mod reorder;
pub mod segmented_sum;
mod statistics;
mod symmetry;
mod untyped;
mod value;
mod value_coding;
mod words;

pub mod generate;
pub mod model;
pub mod plan;
pub mod verify;

pub use any_csr::AnyCsr;
pub use any_vector::AnyVector;
pub use coo::Coo;
pub use csr::{Csr, CsrPattern, CsrView, PatternView, Transposed};
pub use dense::{DenseShape, Layout, dense_product};
pub use error::{Error, Result};
pub use host_sell::HostSell;
pub use memory::check_memory;
pub use narrow::{Narrowing, Occurrences, check_narrowing};
pub use offset::{Offset, OffsetType};
pub use product::{part_of_row, product, product_of_rows, random_vector};
pub use reorder::{MatrixOrder, Reordered, Reordering};
pub use statistics::{RowLengths, RowStatistics};
pub use symmetry::Asymmetry;
pub use untyped::{AnyCsrView, AnyOffsets, AnyPatternView, AnyValues, ColumnType};
pub use value::{Accumulator, Number, Real, RealValue, Value, ValueType, spelled};
pub use value_coding::{ValueCoding, ValueSurvey};
pub use words::{are, counted};

// The 16-bit storage types, so that callers need not name the `half` crate themselves.
pub use half::{bf16, f16};
