//! What the suites found on a device.

use std::collections::BTreeMap;

use sparrow::DeviceTraits;

use super::{CaseError, Configuration, Extent};

/// What was tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tested {
    /// As reports name it.
    pub name: String,
    /// The algorithm.
    pub algorithm: String,
    /// Its variant; empty where it has one only.
    pub variant: String,
    /// `name=value` of hyper-parameters that were set; empty: those a user gets.
    pub parameters: String,
}

impl From<&Configuration> for Tested {
    fn from(configuration: &Configuration) -> Self {
        Tested {
            name: configuration.name(),
            algorithm: configuration.algorithm.to_string(),
            variant: configuration.variant_name().to_owned(),
            parameters: parameter_text(&configuration.parameters),
        }
    }
}

/// Hyper-parameters as records spell them.
pub(super) fn parameter_text(parameters: &[(String, u32)]) -> String {
    let each = parameters.iter().map(|(name, value)| format!("{name}={value}"));
    each.collect::<Vec<_>>().join(",")
}

/// A case that failed.
#[derive(Debug)]
pub struct Failure {
    /// What was tested, by name.
    pub tested: String,
    /// What it was tested on.
    pub shape: String,
    /// In which way.
    pub case: String,
    /// What was wrong.
    pub error: CaseError,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {}: {}; {}", self.tested, self.shape, self.error, self.case)
    }
}

/// What one configuration did.
#[derive(Debug, Default)]
pub struct Tally {
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed, in order.
    pub failures: Vec<Failure>,
    /// Cases that cannot run on the device, by reason.
    pub not_applicable: BTreeMap<&'static str, usize>,
    /// The largest error of those that passed, as a multiple of the tolerance.
    pub error_in_tolerance: f64,
}

impl Tally {
    /// Whether a case was run, or found not applicable.
    pub fn has_cases(&self) -> bool {
        self.passed > 0 || !self.failures.is_empty() || !self.not_applicable.is_empty()
    }
}

/// How many cases a run has done.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// Cases run, or found not applicable.
    pub done: usize,
    /// Cases in all.
    pub all: usize,
    /// Cases that failed.
    pub failed: usize,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Its cases.
    pub count: Count,
    /// What the configurations did that are done.
    pub report: &'a Report,
    /// Whether the case that was just run has failed, which is not counted yet: a run that is ended there leaves it out.
    /// What interrupts a program may make a driver's compiler fail first.
    pub has_failed: bool,
}

/// What all configurations did, in order.
#[derive(Debug)]
pub struct Report {
    /// The device's name.
    pub device: String,
    /// Its platform's name.
    pub platform: String,
    /// Its driver's version.
    pub driver: String,
    /// The OpenCL version it states.
    pub opencl: String,
    /// What was run.
    pub extent: Extent,
    /// In the order in which it was tested.
    pub tallies: Vec<(Tested, Tally)>,
}

impl Report {
    /// Of nothing yet.
    pub(super) fn new(device: &DeviceTraits, extent: Extent) -> Self {
        Report {
            device: device.name.clone(),
            platform: device.platform.clone(),
            driver: device.driver.clone(),
            opencl: device.version.clone(),
            extent,
            tallies: Vec::new(),
        }
    }

    /// Adds what one configuration did; where the run ends with it, only if it has begun.
    pub(super) fn push(&mut self, tested: Tested, tally: Tally, ends: bool) {
        if !ends || tally.has_cases() {
            self.tallies.push((tested, tally));
        }
    }

    /// Adds what else was tested on the same device.
    pub fn append(&mut self, other: Report) {
        self.tallies.extend(other.tallies);
    }

    /// Cases that passed.
    pub fn passed(&self) -> usize {
        self.tallies.iter().map(|(_, tally)| tally.passed).sum()
    }

    /// Cases that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.tallies.iter().flat_map(|(_, tally)| &tally.failures)
    }

    /// Cases that cannot run on the device, by reason.
    pub fn not_applicable(&self) -> BTreeMap<&'static str, usize> {
        let mut all = BTreeMap::new();
        for (_, tally) in &self.tallies {
            for (reason, count) in &tally.not_applicable {
                *all.entry(*reason).or_default() += count;
            }
        }
        all
    }

    /// One line: implementation, version, cases passed, failed, not applicable and why.
    pub fn line(&self) -> String {
        let not_applicable = self.not_applicable();
        let reasons: Vec<String> =
            not_applicable.iter().map(|(reason, count)| format!("{count}: {reason}")).collect();
        let why =
            if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
        format!(
            "{}, {}, driver {}: {} passed, {} failed, {} not applicable{why}",
            self.platform,
            self.device,
            self.driver,
            self.passed(),
            self.failures().count(),
            not_applicable.values().sum::<usize>(),
        )
    }
}
