//! Plans: what an algorithm computes once from the pattern, before any product.
//!
//! A plan is a pure function of the pattern and its parameters, never of the number of cores; it owns
//! nothing of OpenCL, and new values need no new plan.

pub mod batched;
pub mod csr_adaptive;
pub mod csr_flat;
pub mod csr_tiles;
pub mod evc_hyb;
pub mod hyb;
pub mod sell;
