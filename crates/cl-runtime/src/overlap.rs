//! Which arrays share memory: by whatever handles, parts of one buffer and shared virtual memory included.

use std::ops::Range;

use crate::{AnyArray, Error, Result};

/// What two arrays share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// No byte.
    Nothing,
    /// Some bytes of one, or of both.
    Part,
    /// All bytes of both.
    Whole,
}

/// What two arrays share.
pub fn overlap(a: &AnyArray, b: &AnyArray) -> Overlap {
    match common_bytes(a, b) {
        Some((a, b)) if a.is_empty() || b.is_empty() => Overlap::Nothing,
        Some((a, b)) if a == b => Overlap::Whole,
        Some((a, b)) if a.start < b.end && b.start < a.end => Overlap::Part,
        _ => Overlap::Nothing,
    }
}

/// The bytes of both arrays, counted from a zero that both have in common; `None` where they lie in different memory.
pub fn common_bytes(a: &AnyArray, b: &AnyArray) -> Option<(Range<usize>, Range<usize>)> {
    let (of_a, of_b) = a.origin().in_common(b.origin())?;
    let bytes = |array: &AnyArray, origin: usize| {
        let start = origin + array.memory().1;
        start..start + array.size_bytes()
    };
    Some((bytes(a, of_a), bytes(b, of_b)))
}

/// Refuses a result that shares bytes with what is read for it, by their names: other groups would read what was
/// written.
///
/// # Errors
/// The first operand that the result overlaps.
pub fn check_apart<'a>(
    (name, result): (&str, &AnyArray),
    operands: impl IntoIterator<Item = (&'a str, &'a AnyArray)>,
) -> Result<()> {
    for (operand_name, operand) in operands {
        if overlap(operand, result) != Overlap::Nothing {
            return refuse((name, result), (operand_name, operand), false);
        }
    }
    Ok(())
}

/// Refuses an operand of which the result is a part or the other way about.
///
/// # Errors
/// Such an operand.
pub fn check_same_or_apart(
    (name, result): (&str, &AnyArray),
    (operand_name, operand): (&str, &AnyArray),
) -> Result<()> {
    if overlap(operand, result) != Overlap::Part {
        return Ok(());
    }
    refuse((name, result), (operand_name, operand), true)
}

/// Refuses two arrays that share bytes, and none that lie in different memory.
fn refuse(
    (name, result): (&str, &AnyArray),
    (operand_name, operand): (&str, &AnyArray),
    may_be_same: bool,
) -> Result<()> {
    let Some((bytes, result_bytes)) = common_bytes(operand, result) else { return Ok(()) };
    let [bytes, result_bytes] =
        [bytes, result_bytes].map(|bytes| bytes.start as u64..bytes.end as u64);
    let (what, result) = (operand_name.to_owned(), name.to_owned());
    Err(Error::Overlap { what, result, bytes, result_bytes, may_be_same })
}
