//! Measuring and judging devices: benchmark inputs, records and reports, and the conformance cases that
//! `sparrow selftest` and the tests share.

mod input;
mod record;

pub mod selftest;

pub use input::{Input, Making};
pub use record::{Record, SCHEMA};
