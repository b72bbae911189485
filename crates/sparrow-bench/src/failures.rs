//! Results that are wrong, in words.

use crate::record::Record;
use crate::units::counted;

/// How many results failed verification, and which is the first: who sees no table reads it here. `None` where none did.
pub fn failure_in_words(records: &[Record]) -> Option<String> {
    let mut failed = records.iter().filter(|record| !record.verified);
    let Record { matrix, algorithm, value_type, .. } = failed.next()?;
    let count = failed.count() + 1;
    let all = counted(records.len(), "result");
    Some(format!(
        "{count} of {all} failed verification; the first is {matrix}, {algorithm}, {value_type}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{failed, sample};

    #[test]
    fn results_that_failed_are_counted_and_the_first_is_named() {
        let right = sample("a", "csr_flat");
        let records = [right.clone(), failed("b", "csr_scalar"), failed("c", "csr_scalar")];
        assert_eq!(
            failure_in_words(&records).as_deref(),
            Some("2 of 3 results failed verification; the first is b, csr_scalar, f64")
        );
        assert_eq!(failure_in_words(&[right]), None);
        assert_eq!(failure_in_words(&[]), None);
    }
}
