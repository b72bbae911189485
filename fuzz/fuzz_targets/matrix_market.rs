//! Any bytes to the Matrix Market reader. What is claimed stands in `claims/matrix_market.rs`.

#![no_main]

#[path = "../claims/matrix_market.rs"]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::check(bytes));
