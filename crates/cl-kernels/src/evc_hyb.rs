//! `evc_hyb`: rows in order of length, short ones in strips, long ones in compressed rows (`cl/spmv/evc_hyb.cl`).

use csr_core::ValueType;

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::{Accumulate, Array, DeviceTraits, DeviceType, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/evc_hyb.cl";

/// Feature: y stays in order of length.
pub const FEATURE_PERMUTED: &str = "PERMUTED";

parameters! {
    /// Parameters of `evc_hyb`.
    pub struct EvcHyb for "evc_hyb" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Nonzeros of the longest row that is short.
        longest_short_row: [16, 32, 64, 128, 256],
        /// Rows of a strip and elements of a long row are multiples of it: what runs in step.
        alignment: [8, 16, 32, 64],
        /// Elements of short rows that an item takes, at most those of the longest.
        nnz_per_item: [4, 8, 16, 32, 64, 128],
        /// The most short rows that an item takes; as published it follows from their length alone.
        rows_per_item: [1, 2, 4, 128],
        /// Elements of a long row that an item takes.
        long_nnz_per_item: [4, 8, 16, 32],
        /// Elements whose loads an item has under way together.
        nnz_at_once: [1, 4, 8],
    }
}

parameters! {
    /// What the kernel is compiled with: the other parameters are the plan's.
    pub struct EvcHybKernel for "evc_hyb" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Elements whose loads an item has under way together.
        nnz_at_once: [1, 4, 8],
    }
}

impl EvcHyb {
    /// The published figures for the format; for what an item takes, a GPU of many more items than the paper's is
    /// thought of. A CPU's items run side by side in its vectors, and wait for nothing.
    pub fn usual(device_type: DeviceType) -> Self {
        let format = EvcHyb {
            group_size: 256,
            longest_short_row: 128,
            alignment: 32,
            nnz_per_item: 16,
            rows_per_item: 1,
            long_nnz_per_item: 16,
            nnz_at_once: 4,
        };
        match device_type {
            DeviceType::Cpu => {
                EvcHyb { group_size: 64, nnz_per_item: 128, nnz_at_once: 1, ..format }
            }
            _ => format,
        }
    }
}

impl EvcHyb {
    /// What the kernel is compiled with.
    pub fn kernel(&self) -> EvcHybKernel {
        EvcHybKernel { group_size: self.group_size, nnz_at_once: self.nnz_at_once }
    }

    /// Checks the parameters against the kernel's rules and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(
        &self,
        device: &DeviceTraits,
        value_type: ValueType,
        accumulate: Accumulate,
    ) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "evc_hyb";
        let invalid = |name, value: u32, rule: &str| {
            let (value, rule) = (u64::from(value), rule.to_owned());
            Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule })
        };
        check_group_size(ALGORITHM, self.group_size, device)?;
        for (name, value) in [
            ("alignment", self.alignment),
            ("nnz_per_item", self.nnz_per_item),
            ("rows_per_item", self.rows_per_item),
            ("long_nnz_per_item", self.long_nnz_per_item),
        ] {
            if !(1..=1024).contains(&value) {
                return invalid(name, value, "it must be 1 to 1024");
            }
        }
        if !(1..=16).contains(&self.nnz_at_once) {
            return invalid("nnz_at_once", self.nnz_at_once, "it must be 1 to 16");
        }
        if self.longest_short_row > 1024 {
            return invalid("longest_short_row", self.longest_short_row, "it must be at most 1024");
        }
        let sums = u64::from(self.group_size);
        device.check_local_sums(ALGORITHM, "group_size", sums, value_type, accumulate)
    }
}

arguments! {
    /// Arguments of the kernel `evc_hyb`.
    pub struct Arguments<M> for "evc_hyb" {
        /// What each work-group takes (`csr_core::plan::evc_hyb::Task`).
        tasks: Array<M>,
        /// The row at each place: rows.
        row_order: Array<M>,
        /// The nonzeros of the row at each place: rows.
        row_lengths: Array<M>,
        /// Where each long row begins.
        long_starts: Array<M>,
        /// The column of each element.
        columns: Array<M>,
        /// The value of each element.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
    }
}
