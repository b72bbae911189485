//! The figures of one result of `bench hetero`: bandwidth as the paper counts it, stages, and what two
//! devices gain, as numbers and as the words that the terminal table and the HTML report share.

use csr_core::{OffsetType, ValueType};

use crate::hetero::{Mean, is_both};
use crate::record::{Operation, Record};
use crate::units::{ABSENT, bytes, percent_or_absent, significant, significant_or_absent};

/// What stands for a figure of a wrong result.
pub(crate) const FAILED: &str = "FAILED";

/// Names of what [`stages`] gives, in lines.
pub(crate) const STAGES: [&str; 9] = [
    "stage 1\nµs",
    "stage 2\nµs",
    "stage\n2 / 1",
    "dirty\n%",
    "in place",
    "copied",
    "GB/s",
    "share",
    "×\nsingle",
];

/// What the words of [`STAGES`] mean, one line each.
pub(crate) const STAGES_LEGEND: [(&str, &str); 6] = [
    (
        "stage 1, stage 2",
        "the work on the device (of two devices, the slower), and what comes after.",
    ),
    ("dirty", "tiles with empty rows, of all tiles: they are what stage 2 must finish."),
    (
        "in place, copied",
        "bytes that the CPU reached where they lie, and that were copied, a product.",
    ),
    ("GB/s", "bytes as Liu and Vinter (2015) count them, x once for every nonzero, over the time."),
    ("share", "the second device's part of the nonzeros; 0 where it does not help."),
    ("× single", "how many times as fast as the fastest single device."),
];

/// GFLOP/s of a result; [`FAILED`] for a wrong one, [`ABSENT`] where there is none.
pub(crate) fn throughput(result: Option<&Record>) -> String {
    match result {
        Some(record) if !record.verified => FAILED.to_owned(),
        Some(record) => significant_or_absent(record.gflops),
        None => ABSENT.to_owned(),
    }
}

/// A mean over `matrices`, with the number it is over in parentheses where it is over fewer.
pub(crate) fn mean(mean: Mean, matrices: usize) -> String {
    match mean {
        Mean::Over(value, count) if count == matrices => significant(value),
        Mean::Over(value, count) => format!("{} ({count})", significant(value)),
        Mean::Failed => FAILED.to_owned(),
        Mean::Absent => ABSENT.to_owned(),
    }
}

/// The figures of a result in stages under [`STAGES`]; a wrong result has none. `single_us` is the fastest
/// single device's time where the record does not say it.
pub(crate) fn stages(record: &Record, single_us: Option<f64>) -> [String; 9] {
    let Some(hetero) = record.hetero().filter(|_| record.verified) else {
        let mut cells = std::array::from_fn(|_| ABSENT.to_owned());
        if !record.verified {
            cells[0] = FAILED.to_owned();
        }
        return cells;
    };
    [
        significant_or_absent(hetero.stage1_us),
        significant_or_absent(hetero.stage2_us),
        significant_or_absent(stage_ratio(record)),
        percent_or_absent(hetero.dirty_tile_share),
        bytes(hetero.svm_bytes),
        bytes(hetero.copied_bytes),
        significant_or_absent(paper_gbytes_per_s(record)),
        significant_or_absent(is_both(record).then_some(hetero.share)),
        significant_or_absent(times_single(record, single_us)),
    ]
}

/// 10^9 bytes a second as Liu and Vinter count them: ((m + 1 + nnz) x index + (nnz + nnz + m) x value
/// bytes) / time, x once for every nonzero. Offsets and columns count with their own widths, and 16-bit
/// values with 4 bytes in x and y. `None` for a result without a time or of another operation.
pub(crate) fn paper_gbytes_per_s(record: &Record) -> Option<f64> {
    let median_us = record.median_us.filter(|_| record.verified && record.op == Operation::Spmv)?;
    let value: ValueType = record.value_type.parse().ok()?;
    let offset = match record.offset_type.as_str() {
        "u32" => OffsetType::U32,
        "u64" => OffsetType::U64,
        _ => return None,
    };
    let (rows, nnz) = (record.rows as f64, record.nnz as f64);
    let bytes = (rows + 1.0) * offset.size_bytes() as f64
        + nnz * (size_of::<u32>() + value.size_bytes()) as f64
        + (nnz + rows) * value.accumulator().size_bytes() as f64;
    (median_us > 0.0).then(|| bytes / (median_us * 1e3))
}

/// Stage 2's time as a multiple of stage 1's, where the result is right and has both.
pub(crate) fn stage_ratio(record: &Record) -> Option<f64> {
    let hetero = record.hetero().filter(|_| record.verified)?;
    let stage1 = hetero.stage1_us.filter(|us| *us > 0.0)?;
    hetero.stage2_us.map(|stage2| stage2 / stage1)
}

/// How many times as fast as the fastest single device on the same matrix, as the record says or else
/// `single_us`.
pub(crate) fn times_single(record: &Record, single_us: Option<f64>) -> Option<f64> {
    let hetero = record.hetero().filter(|_| record.verified)?;
    let median_us = record.median_us.filter(|us| *us > 0.0)?;
    hetero.single_us.or(single_us).map(|single| single / median_us)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{hetero_mut, hetero_sample};

    #[test]
    fn bytes_are_counted_as_the_paper_counts_them() {
        let mut record = hetero_sample("m", "segmented_sum", &["GPU"]);
        (record.rows, record.cols, record.nnz) = (10, 1000, 100);
        record.median_us = Some(1.0);
        // (10 + 1 + 100) x 4 + (100 + 100 + 10) x 8 bytes in 1 us.
        assert_eq!(paper_gbytes_per_s(&record), Some(2.124));
        record.value_type = "f32".to_owned();
        assert_eq!(paper_gbytes_per_s(&record), Some(1.284));
        // 16-bit values are 2 bytes in A and 4 in x and y.
        record.value_type = "f16".to_owned();
        assert_eq!(paper_gbytes_per_s(&record), Some(1.084));
        record.verified = false;
        assert_eq!(paper_gbytes_per_s(&record), None);
    }

    #[test]
    fn ratios_need_a_right_result_with_both_times() {
        let mut record = hetero_sample("a", "segmented_sum", &["GPU"]);
        assert_eq!(stage_ratio(&record), Some(0.25));
        assert_eq!(times_single(&record, Some(1.0)), Some(0.5));
        let hetero = hetero_mut(&mut record);
        (hetero.stage2_us, hetero.single_us) = (None, None);
        assert_eq!(times_single(&record, Some(401.0)), Some(2.0));
        assert_eq!(stage_ratio(&record), None);
        record.verified = false;
        assert_eq!(times_single(&record, Some(1.0)), None);
    }

    #[test]
    fn a_failed_result_has_no_figure_even_if_its_record_holds_one() {
        let record = Record { verified: false, ..hetero_sample("a", "segmented_sum", &["GPU"]) };
        let cells = stages(&record, None);
        assert_eq!(cells[0], FAILED);
        assert!(cells[1..].iter().all(|cell| cell == ABSENT), "{cells:?}");
        assert_eq!(throughput(Some(&record)), FAILED);
    }

    #[test]
    fn a_mean_says_how_many_matrices_it_is_over_where_some_are_missing() {
        let means = [Mean::Over(5.0, 20), Mean::Over(5.0, 18), Mean::Failed, Mean::Absent];
        assert_eq!(means.map(|m| mean(m, 20)), ["5.00", "5.00 (18)", FAILED, ABSENT]);
    }
}
