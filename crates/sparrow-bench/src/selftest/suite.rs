//! The conformance suite: every configuration on every shape, with the combinations of an extent.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use csr_core::{Csr, Offset, OffsetType, Value, ValueType, bf16, f16};
use sparrow::{Queue, usual_tables};

use super::axes::combinations;
use super::{Axes, Case, CaseError, Configuration, Content, Extent, LIMITS, Shape, run, shapes};

/// A case that failed.
#[derive(Debug)]
pub struct Failure {
    /// The configuration's name.
    pub configuration: String,
    /// The shape's name.
    pub shape: &'static str,
    /// The combination.
    pub axes: Axes,
    /// What was wrong.
    pub error: CaseError,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {}: {}; {:?}", self.configuration, self.shape, self.error, self.axes)
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

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Cases run, or found not applicable.
    pub done: usize,
    /// Cases in all.
    pub all: usize,
    /// Cases that failed.
    pub failed: usize,
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
    /// By configuration name.
    pub tallies: Vec<(Configuration, Tally)>,
}

impl Report {
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

/// Runs `configurations` on the queue's device. `observe` hears cases done, in all and failed so far before
/// each, and may end the run there.
///
/// # Errors
/// A device table that cannot be read; what a case finds is in the report.
pub fn run_suite(
    queue: &Queue,
    configurations: &[Configuration],
    extent: Extent,
    observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> sparrow::Result<Report> {
    let device = queue.context().device().traits();
    let groups_progress = usual_tables()?.groups_progress(device);
    let shapes = shapes(&LIMITS);
    let combinations = combinations(extent, configurations.len(), shapes.len());
    let all = combinations.iter().map(Vec::len).sum();
    let mut progress = Progress { done: 0, all, failed: 0 };
    let mut slots = combinations.iter();
    let mut report = Report {
        device: device.name.clone(),
        platform: device.platform.clone(),
        driver: device.driver.clone(),
        opencl: device.version.clone(),
        extent,
        tallies: Vec::new(),
    };
    for configuration in configurations {
        let mut tally = Tally::default();
        let cases = shapes.iter().zip(&mut slots);
        let cases = cases.flat_map(|(shape, slot)| slot.iter().map(move |axes| (shape, axes)));
        let mut ends = false;
        for (shape, axes) in cases {
            if observe(progress).is_break() {
                ends = true;
                break;
            }
            progress.done += 1;
            if let Some(why) = configuration.obstacle(device, groups_progress, axes) {
                *tally.not_applicable.entry(why).or_default() += 1;
                continue;
            }
            match run_one(queue, configuration, shape, axes) {
                Ok(error) => {
                    tally.passed += 1;
                    tally.error_in_tolerance = tally.error_in_tolerance.max(error);
                }
                Err(error) => {
                    progress.failed += 1;
                    tally.failures.push(Failure {
                        configuration: configuration.name(),
                        shape: shape.name,
                        axes: *axes,
                        error,
                    });
                }
            }
        }
        report.tallies.push((configuration.clone(), tally));
        if ends {
            break;
        }
    }
    Ok(report)
}

/// Runs one case; the largest error as a multiple of the tolerance.
fn run_one(
    queue: &Queue,
    configuration: &Configuration,
    shape: &Shape,
    axes: &Axes,
) -> Result<f64, CaseError> {
    match (axes.value_type, axes.offset_type) {
        (ValueType::F32, OffsetType::U32) => typed::<f32, u32>(queue, configuration, shape, axes),
        (ValueType::F32, OffsetType::U64) => typed::<f32, u64>(queue, configuration, shape, axes),
        (ValueType::F64, OffsetType::U32) => typed::<f64, u32>(queue, configuration, shape, axes),
        (ValueType::F64, OffsetType::U64) => typed::<f64, u64>(queue, configuration, shape, axes),
        (ValueType::F16, OffsetType::U32) => typed::<f16, u32>(queue, configuration, shape, axes),
        (ValueType::F16, OffsetType::U64) => typed::<f16, u64>(queue, configuration, shape, axes),
        (ValueType::Bf16, OffsetType::U32) => typed::<bf16, u32>(queue, configuration, shape, axes),
        (ValueType::Bf16, OffsetType::U64) => typed::<bf16, u64>(queue, configuration, shape, axes),
    }
}

fn typed<V: Value, O: Offset>(
    queue: &Queue,
    configuration: &Configuration,
    shape: &Shape,
    axes: &Axes,
) -> Result<f64, CaseError> {
    let mut matrix: Csr<V, O> = shape.matrix()?;
    let mut x: Vec<V::Accum> = csr_core::random_vector(5, matrix.cols());
    if axes.content == Content::NonFinite {
        spoil(&mut matrix, &mut x);
    }
    let case = Case {
        algorithm: configuration.algorithm,
        variant: configuration.variant,
        parameters: configuration.parameters.clone(),
        accumulate: axes.accumulate,
        scalars_on_device: axes.scalars_on_device,
        alpha: axes.alpha,
        beta: axes.beta,
        placement: axes.placement,
        launches: launches(queue, axes),
    };
    run(queue, &matrix, &x, &case).map(|(error, _)| error)
}

/// Launches of a case: two, so that what one leaves behind is seen in the next; on an interpreter, where a launch
/// takes long, for every other case.
fn launches(queue: &Queue, axes: &Axes) -> usize {
    let is_interpreted = queue.context().device().traits().platform.contains("Oclgrind");
    if is_interpreted && axes.scalars_on_device { 1 } else { 2 }
}

/// An infinity in the middle of A and a NaN at its end, another infinity in x.
fn spoil<V: Value, O: Offset>(matrix: &mut Csr<V, O>, x: &mut [V::Accum]) {
    let values = matrix.values_mut();
    let middle = values.len() / 2;
    if let Some(value) = values.get_mut(middle) {
        *value = V::from_f64(f64::INFINITY);
    }
    if let Some(value) = values.last_mut() {
        *value = V::from_f64(f64::NAN);
    }
    if let Some(first) = x.first_mut() {
        *first = V::Accum::from_f64(f64::NEG_INFINITY);
    }
}
