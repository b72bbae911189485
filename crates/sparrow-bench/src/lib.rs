//! Measuring and judging devices: the conformance cases that `sparrow selftest` and the tests share,
//! the record of one measured product, and the three forms records are shown in: JSON Lines for
//! programs, a table for a terminal, an HTML report for a browser.

mod group;
mod json;
mod record;
mod report;
pub mod selftest;
mod table;
mod units;

pub use json::json_lines;
pub use record::{Record, SCHEMA};
pub use report::{ReportError, html};
pub use table::table;

#[cfg(test)]
mod samples;
