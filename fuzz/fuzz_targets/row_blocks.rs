//! Any row offsets to the pattern's check and the builder of row blocks. What is claimed stands in `claims/row_blocks.rs`.

#![no_main]

#[path = "../claims/row_blocks.rs"]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::check(bytes));
