//! libclSPARSE.so.1: the C interface of clSPARSE 0.10, on Sparrow.
//!
//! Programs that were written for clSPARSE, or linked against it, run with this library in its place. `types.rs`
//! holds its structures as they lie in memory, `status.rs` its codes; the other modules one group of functions each,
//! under clSPARSE's own names and with its habits (docs/c-api.md lists both, and what was mended).
//!
//! What every function has in common is in `boundary.rs` (nothing unwinds into C, pointers are looked at before they
//! are followed) and `handles.rs` (controls and metas are numbers of a table, so that one that was freed is told from
//! one that lives). `structures.rs` reads the application's structures in either layout. `operands.rs` makes arrays of the application's buffers, and refuses what does not fit them; `product.rs`
//! puts them together for a product, by a plan of a meta (`meta.rs`) or of a control (`known.rs`).

#![allow(non_snake_case, non_camel_case_types, reason = "clSPARSE's names")]
#![allow(unsafe_code, reason = "a C interface: every function takes raw pointers and handles")]
#![allow(
    clippy::missing_safety_doc,
    reason = "types.rs says once what all functions ask of callers"
)]

mod boundary;
mod control;
mod conversions;
mod coomv;
mod csrmm;
mod csrmv;
mod files;
mod handles;
mod initialize;
mod known;
mod meta;
mod operands;
mod product;
mod solve;
mod solver_control;
mod spgemm;
mod status;
mod structures;
mod types;
mod vectors;

pub use control::*;
pub use conversions::{
    clsparseDcoo2csr, clsparseDcsr2coo, clsparseDcsr2dense, clsparseDdense2csr, clsparseScoo2csr,
    clsparseScsr2coo, clsparseScsr2dense, clsparseSdense2csr,
};
pub use coomv::{clsparseDcoomv, clsparseScoomv};
pub use csrmm::{clsparseDcsrmm, clsparseScsrmm};
pub use csrmv::{clsparseDcsrmv, clsparseScsrmv};
pub use files::*;
pub use initialize::*;
pub use meta::{
    clsparseCsrMetaCreate, clsparseCsrMetaDelete, clsparseCsrMetaDeleteSvm, clsparseCsrMetaSize,
};
pub use solve::*;
pub use solver_control::*;
pub use spgemm::clsparseScsrSpGemm;
pub use status::Status;
pub use types::*;
pub use vectors::*;
