//! Conformance: one product on one device, checked as a stranger's device must be.
//!
//! A [`Case`] is a shape, an algorithm and everything the kernel is specialised by. Running it puts
//! every array between canaries, poisons y with NaN, launches, and holds each row against the oracle.

mod case;
mod guarded;
mod shapes;

pub use case::{Case, CaseError, Placement, run};
pub use guarded::Guarded;
pub use shapes::{Limits, Shape, shapes};
