//! Measuring and judging devices: benchmark inputs, records and reports, and the conformance cases that
//! `sparrow selftest` and the tests share.

mod input;
mod measure;
mod record;

pub mod selftest;

pub use input::{Input, Making};
pub use measure::{
    Budget, MeasureError, Origin, Samples, Subject, host_rates, measure_on_device, measure_on_host,
};
pub use record::{Record, SCHEMA};
