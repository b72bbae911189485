//! Measuring and judging devices: the conformance cases that `sparrow selftest` and the tests share.

pub mod selftest;
