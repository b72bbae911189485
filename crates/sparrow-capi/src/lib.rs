//! Sparrow's own C interface: `include/sparrow.h`, `libsparrow.so.1`.
//!
//! Each exported function is thin: `failure::guard` around it keeps panics in and writes down why it failed,
//! `pointer` turns arguments into values or refuses them by name, and the rest is a call of the untyped Rust face:
//! the handles are `sparrow::AnyMatrix`, `AnyPlan` and their like; `types` goes from numbers to types.
//!
//! Names are C's, in Rust too: a search for `sparrow_plan_launch` finds it.
//!
//! **What every function relies on**: a pointer that is not NULL points to what its type says, a handle was made by
//! this library and not yet released, an OpenCL object is valid. The header says so at its head, and each SAFETY
//! line below means it by "the caller's promise".
#![expect(unsafe_code, reason = "a C interface")]
#![expect(non_camel_case_types, reason = "the names are C's")]
#![expect(clippy::missing_safety_doc, reason = "the head of this crate says it once for all")]

mod batch;
mod batch_plan;
mod buffer;
mod context;
mod conversions;
mod events;
mod failure;
mod hyb_matrix;
mod hyb_plan;
mod info;
mod matrix;
mod observer;
mod options;
mod plan;
mod pointer;
mod recording;
mod solution;
mod solver;
mod solver_options;
mod spgemm;
mod spmm;
mod status;
mod types;
mod vectors;
mod version;
mod workspace;

pub use batch::*;
pub use batch_plan::*;
pub use buffer::{sparrow_buffer, sparrow_scalar};
pub use context::*;
pub use conversions::*;
pub use hyb_matrix::*;
pub use hyb_plan::*;
pub use info::sparrow_plan_info;
pub use matrix::*;
pub use options::*;
pub use plan::*;
pub use recording::*;
pub use solution::*;
pub use solver::*;
pub use solver_options::*;
pub use spgemm::*;
pub use spmm::*;
pub use status::*;
pub use types::*;
pub use vectors::*;
pub use version::*;
pub use workspace::*;
