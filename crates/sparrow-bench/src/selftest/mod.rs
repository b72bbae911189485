//! Conformance: products on one device, checked as a stranger's device must be.
//!
//! A [`Case`] is an algorithm and everything the kernel is specialised by, on one matrix. Running it puts
//! every array between canaries, poisons y with NaN, launches, and holds each row against the oracle. The
//! suite ([`run_suite`]) runs every [`Configuration`] on every [`Shape`], with the combinations of [`Axes`]
//! that an [`Extent`] asks for; [`run_batches`] does the same with batches of small problems, and
//! [`run_spmms`] with dense matrices. `sparrow selftest` and the tests share it.

mod axes;
mod batch_case;
mod batch_forms;
mod batch_suite;
mod case;
mod configuration;
mod guarded;
mod record;
mod report;
mod shapes;
mod spmm_case;
mod spmm_suite;
mod suite;

pub use axes::{Axes, Content, Extent};
pub use batch_case::{BatchCase, BatchCoefficients, run_batch};
pub use batch_suite::{
    BatchConfiguration, mixed_batch, mixed_problems, run_batches, small_parameters,
};
pub use case::{Case, CaseError, Placement, run};
pub use cl_kernels::Limits;
/// The numbers at which kernels change their ways with the hyper-parameters of [`Configuration::small`].
pub use cl_kernels::TEST_LIMITS as LIMITS;
pub use configuration::Configuration;
pub use guarded::{AnyGuarded, Guarded};
pub use record::{SelftestRecord, records};
pub use report::{Count, Failure, Progress, Report, Tally, Tested};
pub use shapes::{Amount, Shape, shapes};
pub use spmm_case::{SpmmCase, run_spmm};
pub use spmm_suite::{SpmmConfiguration, run_spmms};
pub use suite::run_suite;

/// Whether an interpreter runs kernels, on which each launch takes long.
fn is_interpreted(device: &sparrow::DeviceTraits) -> bool {
    device.platform.contains("Oclgrind")
}
