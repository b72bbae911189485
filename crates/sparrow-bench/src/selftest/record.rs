//! What a selftest found, as JSON Lines for the caller: one object a configuration.

use serde::{Deserialize, Serialize};

use super::Report;

/// One configuration on one device, in the form `sparrow-selftest/1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelftestRecord {
    /// "sparrow-selftest/1".
    pub schema: String,
    /// This library's.
    pub version: String,
    /// The device's name.
    pub device: String,
    /// Its platform's name.
    pub platform: String,
    /// Its driver's version.
    pub driver: String,
    /// The OpenCL version it states.
    pub opencl: String,
    /// "cover", "programs" or "full".
    pub extent: String,
    /// The algorithm.
    pub algorithm: String,
    /// The steps of CSR-Adaptive; empty for others.
    pub variant: String,
    /// `name=value` of hyper-parameters that were set; empty: those a user gets.
    pub params: String,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed.
    pub failed: usize,
    /// Cases that cannot run on the device.
    pub not_applicable: usize,
    /// Why, each once.
    pub reasons: Vec<String>,
    /// The largest error of those that passed, as a multiple of the tolerance.
    pub error_in_tolerance: f64,
    /// What was wrong with the first failures.
    pub failures: Vec<String>,
}

/// Failures that a record tells of; the rest are only counted.
const TOLD: usize = 10;

/// The records of a report, one a configuration, without the first `skipped`.
pub fn records(report: &Report, skipped: usize) -> Vec<SelftestRecord> {
    let record = |(tested, tally): &(super::Tested, super::Tally)| SelftestRecord {
        schema: "sparrow-selftest/1".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        device: report.device.clone(),
        platform: report.platform.clone(),
        driver: report.driver.clone(),
        opencl: report.opencl.clone(),
        extent: report.extent.name().to_owned(),
        algorithm: tested.algorithm.clone(),
        variant: tested.variant.clone(),
        params: tested.parameters.clone(),
        passed: tally.passed,
        failed: tally.failures.len(),
        not_applicable: tally.not_applicable.values().sum(),
        reasons: tally.not_applicable.keys().map(|&reason| reason.to_owned()).collect(),
        error_in_tolerance: tally.error_in_tolerance,
        failures: tally.failures.iter().take(TOLD).map(ToString::to_string).collect(),
    };
    report.tallies.iter().skip(skipped).map(record).collect()
}

#[cfg(test)]
mod tests {
    use csr_core::{OffsetType, ValueType};
    use expect_test::expect;
    use sparrow::{Accumulate, Algorithm, Variant};

    use super::super::{
        Axes, CaseError, Configuration, Content, Extent, Failure, Placement, Tally,
    };
    use super::*;

    fn failure() -> Failure {
        let axes = Axes {
            value_type: ValueType::F32,
            offset_type: OffsetType::U64,
            accumulate: Accumulate::Plain,
            scalars_on_device: false,
            alpha: 1.0,
            beta: 0.5,
            placement: Placement::SubBuffers(3),
            content: Content::Finite,
        };
        let error = CaseError::Wrong { row: 7, found: 1.5, expected: 1.0, error: 12.0 };
        Failure {
            tested: "csr_adaptive/full".to_owned(),
            shape: "tall".to_owned(),
            case: format!("{axes:?}"),
            error,
        }
    }

    #[test]
    fn the_form_of_a_record_is_the_published_one() {
        let configuration = Configuration::small(Algorithm::CsrAdaptive, Variant::Full);
        let tally = Tally {
            passed: 78,
            failures: vec![failure()],
            not_applicable: [("the device has no f64", 1)].into(),
            error_in_tolerance: 0.25,
        };
        let report = Report {
            device: "Example GPU".to_owned(),
            platform: "Example Platform".to_owned(),
            driver: "1.0".to_owned(),
            opencl: "OpenCL 3.0".to_owned(),
            extent: Extent::Cover,
            tallies: vec![((&configuration).into(), tally)],
        };
        let line = serde_json::to_string(&records(&report, 0)[0]).unwrap();
        expect![[r#"{"schema":"sparrow-selftest/1","version":"0.1.0","device":"Example GPU","platform":"Example Platform","driver":"1.0","opencl":"OpenCL 3.0","extent":"cover","algorithm":"csr_adaptive","variant":"full","params":"group_size=64,nnz_per_wg=128,nnz_multiplier=2","passed":78,"failed":1,"not_applicable":1,"reasons":["the device has no f64"],"error_in_tolerance":0.25,"failures":["csr_adaptive/full on tall: row 7 is 1.5 where 1 is right: 12.000 times what it may be off; Axes { value_type: F32, offset_type: U64, accumulate: Plain, scalars_on_device: false, alpha: 1.0, beta: 0.5, placement: SubBuffers(3), content: Finite }"]}"#]].assert_eq(&line);
        let back: SelftestRecord = serde_json::from_str(&line).unwrap();
        assert_eq!(back, records(&report, 0)[0]);
        let expected = "Example Platform, Example GPU, driver 1.0: 78 passed, 1 failed, 1 not applicable \
                        (1: the device has no f64)";
        assert_eq!(report.line(), expected);
    }
}
