//! Which arrays share memory.

use cl_runtime::raw::Memory;
use cl_runtime::{DeviceArray, Pod};

use crate::{Error, Result};

/// What two arrays share; which bytes, in words.
pub(crate) enum Overlap {
    Nothing,
    Part(String),
    Whole(String),
}

/// Buffers are told apart by their handle, shared virtual memory by its address.
pub(crate) fn overlap<E: Pod>(a: &DeviceArray<E>, b: &DeviceArray<E>) -> Overlap {
    let ((a_memory, a_start), (b_memory, b_start)) = (a.memory(), b.memory());
    let (a_start, b_start) = match (a_memory, b_memory) {
        (Memory::Buffer(of_a), Memory::Buffer(of_b)) if of_a.as_raw() == of_b.as_raw() => {
            (a_start, b_start)
        }
        (Memory::Svm(of_a), Memory::Svm(of_b)) => {
            (of_a.as_raw().addr() + a_start, of_b.as_raw().addr() + b_start)
        }
        _ => return Overlap::Nothing,
    };
    let (a_end, b_end) = (a_start + a.size_bytes(), b_start + b.size_bytes());
    if a_start >= b_end || b_start >= a_end || a.is_empty() || b.is_empty() {
        return Overlap::Nothing;
    }
    let bytes = format!("bytes {a_start} to {a_end} and {b_start} to {b_end}");
    if (a_start, a_end) == (b_start, b_end) { Overlap::Whole(bytes) } else { Overlap::Part(bytes) }
}

/// Refuses an operand of which r is a part or the other way about: other groups would read what was written.
pub(crate) fn check_same_or_apart<E: Pod>(
    name: &str,
    operand: &DeviceArray<E>,
    r: &DeviceArray<E>,
) -> Result<()> {
    match overlap(operand, r) {
        Overlap::Part(bytes) => Err(Error::Mismatch(format!(
            "{name} and r overlap in part ({bytes}); they may be the same, or apart"
        ))),
        Overlap::Whole(_) | Overlap::Nothing => Ok(()),
    }
}
