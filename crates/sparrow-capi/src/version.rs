//! Which version this is.

use std::ffi::c_char;

/// The header's version: the first number changes where programs must be built anew.
pub const SPARROW_VERSION_MAJOR: u32 = 0;
/// The second number.
pub const SPARROW_VERSION_MINOR: u32 = 1;
/// The third number.
pub const SPARROW_VERSION_PATCH: u32 = 0;

const TEXT: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes(),
) {
    Ok(text) => text,
    Err(_) => c"",
};

/// The library's version as a number: 10000 MAJOR + 100 MINOR + PATCH.
#[unsafe(no_mangle)]
pub extern "C" fn sparrow_version_number() -> u32 {
    10_000 * SPARROW_VERSION_MAJOR + 100 * SPARROW_VERSION_MINOR + SPARROW_VERSION_PATCH
}

/// The library's version as text, "0.1.0"; valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn sparrow_version_text() -> *const c_char {
    TEXT.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_package() {
        let numbers = [SPARROW_VERSION_MAJOR, SPARROW_VERSION_MINOR, SPARROW_VERSION_PATCH];
        assert_eq!(numbers.map(|number| number.to_string()).join("."), env!("CARGO_PKG_VERSION"));
        assert_eq!(TEXT.to_str(), Ok(env!("CARGO_PKG_VERSION")));
    }
}
