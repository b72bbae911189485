//! Sizes that are refused: above what indices count, or other than what belongs together.

use crate::{Error, Result};

/// Rows and columns are counted in `u32`, on the host as on the device.
pub(crate) fn check_size(what: &'static str, value: usize) -> Result<()> {
    let limit = u64::from(u32::MAX);
    if value as u64 > limit {
        return Err(Error::TooLarge { what, value: value as u64, limit });
    }
    Ok(())
}

/// Refuses an array that has not the length another thing demands.
pub(crate) fn check_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found != expected {
        return Err(Error::Length { what, found, expected });
    }
    Ok(())
}
