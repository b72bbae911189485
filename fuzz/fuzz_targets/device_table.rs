//! Any text to the device-table reader. What is claimed stands in `claims/device_table.rs`.

#![no_main]

#[path = "../claims/device_table.rs"]
mod claims;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| claims::check(bytes));
