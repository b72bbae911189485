//! The values of one block of text, and what happened to them on the way from text to a type.

use std::path::Path;

use super::fault::Fault;
use super::header::{Field, quoted};
use super::number::{integer, real};
use crate::{Error, Occurrences, Value};

/// What a reader did to values that the type cannot hold as they are written; lines count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadReport {
    /// Whether the file says that its values are integers.
    pub is_integer: bool,
    /// Columns that the file has.
    pub columns: u32,
    /// Integers of an integer file that were rounded.
    pub inexact_integers: Occurrences,
    /// Sums of integers of one row and column that were rounded; the first by the index of its entry in the matrix, or
    /// of its element in the vector. Triplets are not summed.
    pub inexact_sums: Occurrences,
    /// Numbers other than 0 that are too small for the type, and read as 0.
    pub underflows: Occurrences,
    /// Numbers too large for the type, and read as infinity as
    /// [`ReadOptions::allow_overflow`](super::ReadOptions::allow_overflow) says.
    pub overflows: Occurrences,
}

impl ReadReport {
    /// With those of a later part, whose positions count on.
    pub(super) fn and(self, later: Self) -> Self {
        ReadReport {
            is_integer: self.is_integer,
            columns: self.columns,
            inexact_integers: self.inexact_integers.and(later.inexact_integers),
            // Sums are made when all parts are there.
            inexact_sums: self.inexact_sums,
            underflows: self.underflows.and(later.underflows),
            overflows: self.overflows.and(later.overflows),
        }
    }

    /// With other lines in place of the first ones.
    pub(super) fn map_lines(mut self, line: impl Fn(u64) -> u64) -> Self {
        for kind in [&mut self.inexact_integers, &mut self.underflows, &mut self.overflows] {
            kind.first = kind.first.map(&line);
        }
        self
    }

    /// Whether there is anything to report.
    pub(super) fn is_empty(&self) -> bool {
        let kinds = [self.inexact_integers, self.inexact_sums, self.underflows, self.overflows];
        kinds.iter().all(|kind| kind.count == 0)
    }
}

/// The values of one block. Kept and filled again, so that the memory is reused.
pub(super) struct Values<V> {
    pub(super) list: Vec<V>,
    /// What happened to them, by index.
    pub(super) report: ReadReport,
    pub(super) allows_overflow: bool,
}

impl<V: Value> Values<V> {
    pub(super) fn new() -> Self {
        Values { list: Vec::new(), report: ReadReport::default(), allows_overflow: false }
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.report = ReadReport::default();
    }

    /// Takes the real value that begins at `at`, and returns where it ends.
    #[inline(always)]
    pub(super) fn push_real(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let (value, end) = real::<V>(text, at)?;
        let size = value.norm();
        // One comparison each for zeros, infinities and NaN.
        if !(size > 0.0 && size < f64::INFINITY) {
            self.note_special(size, &text[at..end])?;
        }
        self.list.push(value);
        Some(end)
    }

    /// Takes the integer that begins at `at`, and returns where it ends.
    #[inline(always)]
    pub(super) fn push_integer(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let (value, end) = integer::<V>(text, at)?;
        let size = value.norm();
        if size >= V::TYPE.exact_whole_numbers() {
            self.note_large_integer(size, &text[at..end])?;
        }
        self.list.push(value);
        Some(end)
    }

    /// `None` for an overflow, where it is an error.
    #[cold]
    fn note_special(&mut self, size: f64, word: &[u8]) -> Option<()> {
        let index = self.list.len() as u64;
        if size == 0.0 {
            if has_a_digit_but_0(word) {
                self.report.underflows.add(index);
            }
        } else if is_overflow(size, word) {
            if !self.allows_overflow {
                return None;
            }
            self.report.overflows.add(index);
        }
        Some(())
    }

    /// `None` for an overflow, where it is an error.
    #[cold]
    fn note_large_integer(&mut self, size: f64, word: &[u8]) -> Option<()> {
        if !size.is_finite() {
            return self.note_special(size, word);
        }
        // The standard library writes every digit of a whole number.
        let exact = size.to_string();
        let digits = word.trim_ascii_start();
        let digits = digits.strip_prefix(b"-").or(digits.strip_prefix(b"+")).unwrap_or(digits);
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        if exact.as_bytes() != &digits[zeros..] {
            self.report.inexact_integers.add(self.list.len() as u64);
        }
        Some(())
    }

    /// What is wrong with a word that should be a value.
    pub(super) fn explain(&self, word: &[u8], field: Field) -> Option<Fault> {
        let (read, kind) = match field {
            Field::Integer => (integer::<V>(word, 0), "an integer"),
            _ => (real::<V>(word, 0), "a number"),
        };
        match read {
            Some((value, end)) if end == word.len() => {
                let refused = !self.allows_overflow && is_overflow(value.norm(), word);
                refused.then(|| Fault::Overflow { value: quoted(word), value_type: V::TYPE })
            }
            _ => Some(Fault::Text(format!("value {} is not {kind}", quoted(word)))),
        }
    }
}

/// Whether a word that is read as this size spells a finite number.
fn is_overflow(size: f64, word: &[u8]) -> bool {
    size.is_infinite() && word.iter().any(u8::is_ascii_digit)
}

/// Whether the digits before an exponent spell another number than 0.
fn has_a_digit_but_0(word: &[u8]) -> bool {
    let mut digits = word.iter().take_while(|byte| !matches!(byte, b'e' | b'E' | b'd' | b'D'));
    digits.any(|byte| matches!(byte, b'1'..=b'9'))
}

/// The error of entries of one place, given from 0, that add up to more than the type holds.
pub(super) fn sum_overflows<V: Value>((row, column): (usize, u32), path: &Path) -> Error {
    let (row, column) = (row + 1, u64::from(column) + 1);
    let place = format!("mtx file {path:?}, row {row}, column {column}");
    Error::Overflow { place, value: "the sum of its entries".to_owned(), value_type: V::TYPE }
}
