//! Arrays whose sizes files and users dictate: no memory for them is an error.

use crate::{Error, Result};

/// An empty array with capacity for `len` elements, or an error where there is no memory for them: sizes
/// come from files and users. Capacity costs addresses; memory only when it is used.
pub(crate) fn with_capacity<T>(what: &'static str, len: usize) -> Result<Vec<T>> {
    let mut array = Vec::new();
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    array.try_reserve_exact(len).map_err(|_| Error::Memory { what, bytes })?;
    Ok(array)
}

/// An error where there is no memory for an array of `len` elements that is about to be made.
///
/// # Errors
/// No memory.
pub fn check_memory<T>(what: &'static str, len: usize) -> Result<()> {
    with_capacity::<T>(what, len).map(drop)
}

/// Zeros, or an error where there is no memory for them.
pub(crate) fn zeroed<T: bytemuck::Zeroable + Clone>(
    what: &'static str,
    len: usize,
) -> Result<Vec<T>> {
    check_memory::<T>(what, len)?;
    // Not written into that array, which would touch all of it here: zeros fresh from the system are
    // touched first by the tasks that fill them.
    Ok(vec![T::zeroed(); len])
}
