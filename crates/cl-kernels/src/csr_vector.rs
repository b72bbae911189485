//! `csr_vector`: several items a row (`cl/spmv/csr_vector.cl`).

use csr_core::ValueType;

use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, check_group_size, parameters};
use crate::{Accumulate, Array, DeviceTraits, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_vector.cl";

parameters! {
    /// Parameters of `csr_vector`.
    pub struct CsrVector for "csr_vector" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// Items that share a row: a power of two, 1 to 64, at most `group_size`.
        items_per_row: [1, 2, 4, 8, 16, 32, 64],
    }
}

impl CsrVector {
    /// The published choice: about as many items as the mean row has nonzeros, rounded down to a power
    /// of two (Reguly and Giles 2012).
    pub fn default_for_mean_row(mean_row_length: f64) -> Self {
        // At most 64, so the conversion is exact.
        let items = mean_row_length.clamp(1.0, 64.0) as u32;
        CsrVector { group_size: 256, items_per_row: 1 << items.ilog2() }
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
        const ALGORITHM: &str = "csr_vector";
        check_group_size(ALGORITHM, self.group_size, device)?;
        let limit = self.group_size.min(64);
        if !self.items_per_row.is_power_of_two() || self.items_per_row > limit {
            return Err(ParameterError::Invalid {
                algorithm: ALGORITHM,
                name: "items_per_row",
                value: self.items_per_row.into(),
                rule: format!("it must be a power of two, at most {limit}"),
            });
        }
        let sums = u64::from(self.group_size);
        device.check_local_sums(ALGORITHM, "group_size", sums, value_type, accumulate)
    }
}

arguments! {
    /// Arguments of the kernel `csr_vector`.
    pub struct Arguments<M> for "csr_vector" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values of A: nnz.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_per_row_follow_the_mean_row() {
        for (mean, items) in [(0.0, 1), (1.9, 1), (2.0, 2), (7.9, 4), (64.0, 64), (5000.0, 64)] {
            assert_eq!(CsrVector::default_for_mean_row(mean).items_per_row, items, "{mean}");
        }
    }
}
