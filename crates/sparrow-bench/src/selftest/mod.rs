//! Conformance: products on one device, checked as a stranger's device must be.
//!
//! A [`Case`] is an algorithm and everything the kernel is specialised by, on one matrix. Running it puts
//! every array between canaries, poisons y with NaN, launches, and holds each row against the oracle. The
//! suite ([`run_suite`]) runs every [`Configuration`] on every [`Shape`], with the combinations of [`Axes`]
//! that an [`Extent`] asks for. `sparrow selftest` and the tests share it.

mod axes;
mod case;
mod configuration;
mod guarded;
mod record;
mod shapes;
mod suite;

pub use axes::{Axes, Content, Extent};
pub use case::{Case, CaseError, Placement, run};
pub use configuration::{Configuration, LIMITS};
pub use guarded::Guarded;
pub use record::{SelftestRecord, records};
pub use shapes::{Limits, Shape, shapes};
pub use suite::{Failure, Progress, Report, Tally, run_suite};
