//! What a share of more than 100% of the limit means.

use crate::record::Record;
use crate::units::{bytes, counted};

/// Why results of a device are faster than its memory: a line for those that its last cache may hold, and one for the
/// others, whose limit is wrong.
pub fn above_the_limit<'a>(
    records: impl Iterator<Item = &'a Record>,
    cache_bytes: u64,
) -> Vec<String> {
    /// A share of the limit up to which a result is at the limit.
    const AT_THE_LIMIT: f64 = 1.03;
    let is_above =
        |record: &&Record| record.limit_fraction.is_some_and(|share| share > AT_THE_LIMIT);
    // Part of twice the cache is still there in the next launch.
    let is_cached = |record: &&Record| {
        let moved = record.gbytes_per_s.zip(record.median_us).map(|(rate, us)| rate * us * 1e3);
        record.cache == "hot" && moved.is_some_and(|moved| moved < 2.0 * cache_bytes as f64)
    };
    let (cached, others): (Vec<_>, Vec<_>) = records.filter(is_above).partition(is_cached);
    let line = |results: &[&Record], why: &str| {
        let are = if results.len() == 1 { "is" } else { "are" };
        format!("{} {are} above 100% of the limit: {why}", counted(results.len(), "result"))
    };
    let cache = bytes(cache_bytes);
    let mut lines = Vec::new();
    if !cached.is_empty() {
        let why = format!(
            "the last cache ({cache}) holds what is read, or the rates of memory were measured while other work ran, \
             and --measure measures them again"
        );
        lines.push(line(&cached, &why));
    }
    if !others.is_empty() {
        let why = format!(
            "the last cache ({cache}) does not hold what is read, so other work ran when the rates of memory were measured; \
             --measure measures them again"
        );
        lines.push(line(&others, &why));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::sample;

    /// At a share of the limit, moving 24 MB.
    fn at(share: f64, cache: &str) -> Record {
        Record {
            limit_fraction: Some(share),
            gbytes_per_s: Some(24.0),
            median_us: Some(1000.0),
            cache: cache.to_owned(),
            ..sample("m", "csr_flat")
        }
    }

    fn lines(records: &[Record], cache_bytes: u64) -> Vec<String> {
        above_the_limit(records.iter(), cache_bytes)
    }

    #[test]
    fn what_is_faster_than_memory_is_explained_by_the_cache_or_by_rates_that_are_measured_again() {
        let records = [at(0.9, "hot"), at(1.02, "hot"), at(4.0, "hot"), at(1.1, "hot")];
        assert_eq!(
            lines(&records, 16 << 20),
            [
                "2 results are above 100% of the limit: the last cache (16 MiB) holds what is read, or the rates of \
              memory were measured while other work ran, and --measure measures them again"
            ]
        );
        // No cache holds what exceeds it twice, nor what was not read just before.
        let wrong = "1 result is above 100% of the limit: the last cache (1 MiB) does not hold what is read, so \
                     other work ran when the rates of memory were measured; --measure measures them again";
        assert_eq!(lines(&records[3..], 1 << 20), [wrong]);
        assert_eq!(lines(&[at(1.1, "cold")], 16 << 20), [wrong.replace("(1 ", "(16 ")]);
        assert!(lines(&records[..2], 1 << 20).is_empty());
        assert!(lines(&[sample("m", "csr_flat")], 0).is_empty());
    }
}
