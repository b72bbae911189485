//! What follows from a record of `bench spmv --model`: the paper's figures, computed once for table and report.

use crate::record::{ModelRecord, Record};

/// A prediction is good within this share of the measured time.
pub(crate) const GOOD: f64 = 0.2;

/// The records that the model has something to say of.
pub(crate) fn with_model<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<&'a Record> {
    records.into_iter().filter(|record| record.model().is_some()).collect()
}

/// Operations as the paper counts them, in 10^9 a second, in a time of microseconds.
pub(crate) fn gflops(record: &Record, us: f64) -> f64 {
    (2.0 * record.nnz as f64 + 3.0 * record.rows as f64) / us / 1e3
}

/// The paper's P_max = b / B, with the measured rate of a copy, in 10^9 operations a second.
pub(crate) fn p_max(record: &Record) -> Option<f64> {
    let balance = record.model()?.code_balance;
    record.copy_gbytes_per_s.map(|rate| rate / balance).filter(|p_max| p_max.is_finite())
}

/// T_A, T_X and T_Y as shares of their sum (section 3.3): of T_A + T_Y, T_X + T_Y and T_Y, which were measured.
/// A part below 0 is an experiment that was disturbed, or a kernel that does not get faster without the loads: it stays, as
/// it would else look like a result.
pub(crate) fn parts(model: &ModelRecord) -> Option<[f64; 3]> {
    let y = model.both_constant_us?;
    let parts = [model.x_constant_us? - y, model.a_constant_us? - y, y];
    let total: f64 = parts.iter().sum();
    (total > 0.0).then(|| parts.map(|part| part / total))
}

/// Whether a prediction is good; `None` where nothing was measured.
pub(crate) fn is_good(record: &Record) -> Option<bool> {
    let over = record.model()?.predicted_over_measured?;
    Some((over - 1.0).abs() <= GOOD)
}

/// "predictions within 20% of the measured time: 19 of 24".
pub(crate) fn verdict(records: &[&Record]) -> String {
    let judged: Vec<bool> = records.iter().filter_map(|record| is_good(record)).collect();
    let good = judged.iter().filter(|&&good| good).count();
    format!(
        "predictions within {:.0}% of the measured time: {good} of {}",
        100.0 * GOOD,
        judged.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{model_mut, model_sample};

    #[test]
    fn parts_come_out_of_the_three_experiments_and_sum_to_one() {
        // 120 = T_A + T_Y, 100 = T_X + T_Y, 40 = T_Y.
        let record = model_sample("m", "a");
        let [a, x, y] = parts(record.model().unwrap()).unwrap();
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        assert!(close(a, 80.0 / 180.0) && close(x, 60.0 / 180.0) && close(y, 40.0 / 180.0));
        let without = ModelRecord { x_constant_us: None, ..record.model().unwrap().clone() };
        assert_eq!(parts(&without), None);
    }

    #[test]
    fn a_part_below_0_stays() {
        let record = model_sample("m", "a");
        let disturbed =
            ModelRecord { x_constant_us: Some(30.0), ..record.model().unwrap().clone() };
        // T_A is 30 - 40, T_X 100 - 40, T_Y 40: of 90.
        let [a, _, _] = parts(&disturbed).unwrap();
        assert!((a + 10.0 / 90.0).abs() < 1e-12, "{a}");
    }

    #[test]
    fn a_prediction_is_good_within_a_fifth_either_way() {
        let with = |over: f64| {
            let mut record = model_sample("m", "a");
            model_mut(&mut record).predicted_over_measured = Some(over);
            is_good(&record)
        };
        assert_eq!([0.79, 0.81, 1.19, 1.21].map(with), [false, true, true, false].map(Some));
    }

    #[test]
    fn p_max_is_bandwidth_over_code_balance() {
        let record = model_sample("m", "a");
        assert_eq!(p_max(&record), Some(380.0 / 7.6));
    }
}
