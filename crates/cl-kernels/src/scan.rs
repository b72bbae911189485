//! `scan`: offsets of counts (`cl/format/scan.cl`).

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::{Array, DeviceTraits, ParameterError};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "format/scan.cl";

parameters! {
    /// Parameters of `scan`.
    pub struct Scan for "scan" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Neighbouring counts that an item adds up.
        counts_per_item: [4, 8, 16],
    }
}

impl Scan {
    /// Refuses what the kernels or the device cannot do.
    ///
    /// # Errors
    /// A group size that is no power of two or above the device's limit, or an item without counts.
    pub fn check(&self, device: &DeviceTraits) -> Result<(), ParameterError> {
        check_group_size("scan", self.group_size, device)?;
        if self.counts_per_item == 0 {
            let (algorithm, name, rule) = ("scan", "counts_per_item", "it must be at least 1");
            return Err(ParameterError::Invalid { algorithm, name, value: 0, rule: rule.into() });
        }
        Ok(())
    }

    /// Counts that a group takes at once, and the most runs that they are cut into.
    pub fn tile(&self) -> usize {
        (self.group_size * self.counts_per_item) as usize
    }
}

arguments! {
    /// Arguments of the kernel `sum_runs`.
    pub struct SumArguments<M> for "sum_runs" {
        /// Counts.
        count: u64,
        /// Tiles of a run.
        run_tiles: u32,
        /// The counts.
        counts: Array<M>,
        /// The sum of each run.
        sums: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `scan_runs`.
    pub struct ScanArguments<M> for "scan_runs" {
        /// Runs: at most a tile.
        runs: u32,
        /// The sum of each run; becomes the sum of those before it.
        sums: Array<M>,
        /// The sum of all: an array of one.
        total: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `write_offsets`.
    pub struct OffsetArguments<M> for "write_offsets" {
        /// Counts.
        count: u64,
        /// Tiles of a run.
        run_tiles: u32,
        /// The counts.
        counts: Array<M>,
        /// The sum of the counts before each run.
        sums: Array<M>,
        /// The sum of all: an array of one.
        total: Array<M>,
        /// The sum of the counts before each, and of all: count + 1.
        offsets: Array<M>,
    }
}
