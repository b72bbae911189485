//! `hyb_plan`: compressed rows brought into the parts of `hyb` on the device (`cl/spmv/hyb_plan.cl`).

use crate::arguments::arguments;
use crate::parameters::{check_group_size, parameters};
use crate::{Array, DeviceTraits, ParameterError};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/hyb_plan.cl";

parameters! {
    /// Parameters of `hyb_plan`.
    pub struct HybPlan for "hyb_plan" {
        /// Items of a work-group: each takes a row.
        group_size: [1, 16, 32, 64],
    }
}

impl HybPlan {
    /// As many items as the device allows, up to 64.
    pub fn default_for(device: &DeviceTraits) -> Self {
        let allowed = device.max_group_size.clamp(1, 64) as u32;
        HybPlan { group_size: if allowed < 16 { 1 } else { 1 << allowed.ilog2() } }
    }

    /// Checks the parameters against the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, device: &DeviceTraits) -> Result<(), ParameterError> {
        check_group_size("hyb_plan", self.group_size, device)
    }
}

arguments! {
    /// Arguments of the kernel `hyb_plan`.
    pub struct PlanArguments<M> for "hyb_plan" {
        /// Rows of A.
        rows: u32,
        /// Slots of a row.
        width: u32,
        /// Slots from one of a row to its next.
        pitch: u64,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Entries of the rest before each row: rows + 1.
        rest_offsets: Array<M>,
        /// Column indices of compressed rows: nnz.
        source: Array<M>,
        /// Columns of the slots.
        slot_columns: Array<M>,
        /// The row of each entry of the rest.
        rest_rows: Array<M>,
        /// The column of each.
        rest_columns: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `hyb_values`.
    pub struct ValuesArguments<M> for "hyb_values" {
        /// Rows of A.
        rows: u32,
        /// Slots of a row.
        width: u32,
        /// Slots from one of a row to its next.
        pitch: u64,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Entries of the rest before each row: rows + 1.
        rest_offsets: Array<M>,
        /// Values of compressed rows: nnz.
        source: Array<M>,
        /// Values of the slots.
        slot_values: Array<M>,
        /// The value of each entry of the rest.
        rest_values: Array<M>,
    }
}
