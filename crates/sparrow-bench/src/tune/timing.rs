//! One candidate on one matrix as a line of JSON: the raw timings that tables and rules come from, on this machine or
//! on one of the project's.

use std::path::Path;

use cl_kernels::{DeviceEntry, DeviceTraits, DeviceType, Features, MatrixShape};
use csr_core::ValueType;
use serde::{Deserialize, Serialize};

use super::{Candidate, TuneError};

/// The form's name; a change that breaks readers changes the number.
pub const TUNE_SCHEMA: &str = "sparrow-tune/2";

/// The device that was tuned: what an entry is about, and what rules weigh a matrix against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedDevice {
    /// The name that entries are matched by.
    pub device: String,
    /// The platform's name.
    pub platform: String,
    /// The device's vendor.
    pub vendor: String,
    /// Its architecture, or empty.
    pub architecture: String,
    /// What kind of device it is.
    #[serde(rename = "type")]
    pub device_type: DeviceType,
    /// The driver's version.
    pub driver: String,
    /// Compute units.
    pub compute_units: u32,
    /// Bytes of the last cache before memory.
    pub cache_bytes: u64,
}

impl TunedDevice {
    /// From what the device says, and what tables know of its cache.
    pub fn of(traits: &DeviceTraits, cache_bytes: u64) -> Self {
        TunedDevice {
            device: traits.table_name().to_owned(),
            platform: traits.platform.clone(),
            vendor: traits.vendor.clone(),
            architecture: traits.architecture.clone(),
            device_type: traits.device_type,
            driver: traits.driver.clone(),
            compute_units: traits.compute_units,
            cache_bytes,
        }
    }

    /// An entry about this device that says nothing yet.
    pub fn entry(&self, origin: String) -> DeviceEntry {
        DeviceEntry {
            name: Some(self.device.clone()),
            platform: Some(self.platform.clone()),
            device_type: Some(self.device_type),
            driver: Some(self.driver.clone()),
            origin,
            ..DeviceEntry::default()
        }
    }
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// Verified, and timed.
    Timed(Times),
    /// Verified; so much slower than the best that it was timed once.
    Slow(Times),
    /// The library or the driver refused it: it did not build, or does not fit.
    Refused {
        /// Why.
        message: String,
    },
    /// A row was wrong, or something was overwritten.
    Wrong {
        /// What and where.
        message: String,
    },
    /// Nothing came within the deadline, and the process was ended.
    Hung {
        /// The deadline.
        seconds: f64,
    },
    /// The process ended by itself.
    Crashed {
        /// How.
        message: String,
    },
}

/// Samples of a candidate and of the reference, in turn: what slows the machine for a while slows both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Microseconds of one launch of the candidate, sample by sample.
    pub samples_us: Vec<f64>,
    /// The same of the reference, each taken just before.
    pub reference_us: Vec<f64>,
    /// From matrix on the device and program built to the first launch ready.
    pub setup_us: f64,
}

impl Times {
    /// The candidate's time over the reference's: the median over pairs of samples.
    pub fn ratio(&self) -> f64 {
        let pairs = self.samples_us.iter().zip(&self.reference_us);
        median(&pairs.map(|(sample, reference)| sample / reference).collect::<Vec<_>>())
    }
}

impl Outcome {
    /// The times, where it verified.
    pub fn times(&self) -> Option<&Times> {
        match self {
            Outcome::Timed(times) | Outcome::Slow(times) => Some(times),
            _ => None,
        }
    }
}

/// What was tried on what, and how it went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// [`TUNE_SCHEMA`].
    pub schema: String,
    /// Version of Sparrow.
    pub version: String,
    /// The device.
    #[serde(flatten)]
    pub device: TunedDevice,
    /// What A stores.
    #[serde(with = "value_type_name")]
    pub value_type: ValueType,
    /// Name of the matrix.
    pub matrix: String,
    /// Rows of A.
    pub rows: u64,
    /// Nonzeros of A.
    pub nnz: u64,
    /// Nonzeros of the longest row.
    pub longest_row: u64,
    /// What neighbouring rows take in step.
    pub in_step: u64,
    /// Rows whose length is not that of the row before.
    pub changes: u64,
    /// What was tried.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// What it was timed with.
    pub reference: Candidate,
    /// Whether it was a trial of what had been found: nothing is fitted to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_validation: bool,
    /// How it went.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Timing {
    /// What one pass over the matrix' offsets says.
    pub fn shape(&self) -> MatrixShape {
        let Timing { rows, nnz, longest_row, in_step, changes, .. } = *self;
        MatrixShape { rows, nnz, longest_row, in_step, changes }
    }

    /// What rules ask of the matrix on this device.
    pub fn features(&self) -> Features {
        let TunedDevice { compute_units, cache_bytes, .. } = self.device;
        Features::of(&self.shape(), self.value_type, compute_units, cache_bytes)
    }
}

/// Timings from the lines of a file; hyper-parameters may have their names of device tables of format 1.
///
/// # Errors
/// A file that cannot be read, or a line that is none, with its number.
pub fn read_timings(path: &Path) -> Result<Vec<Timing>, TuneError> {
    let refuse = |message: String| TuneError::File { path: path.to_owned(), message };
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    parse_timings(&text, path)
}

/// Reads raw timings from text; `path` is what errors call it.
///
/// # Errors
/// A line that is none, with its number.
pub fn parse_timings(text: &str, path: &Path) -> Result<Vec<Timing>, TuneError> {
    let refuse = |message: String| TuneError::File { path: path.to_owned(), message };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let timings = lines.map(|(k, line)| match serde_json::from_str::<Timing>(line) {
        Ok(timing) if timing.schema == TUNE_SCHEMA => Ok(Timing {
            candidate: timing.candidate.with_current_names(),
            reference: timing.reference.with_current_names(),
            ..timing
        }),
        Ok(timing) => Err(refuse(format!(
            "line {}: schema \"{}\" is not {TUNE_SCHEMA}",
            k + 1,
            timing.schema
        ))),
        Err(error) => Err(refuse(format!("line {}: {error}", k + 1))),
    });
    timings.collect()
}

/// Value types by their names.
mod value_type_name {
    use csr_core::ValueType;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        value_type: &ValueType,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(value_type.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<ValueType, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The middle one, the lower of two; infinite without any.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(f64::INFINITY)
}
