//! `jacobi`: the inverse of a matrix's diagonal (`cl/solver/jacobi.cl`).

use crate::arguments::arguments;
use crate::parameters::{check_group_size, parameters};
use crate::{Array, DeviceTraits, DeviceType, ParameterError};
use csr_core::counted;

/// Path of the source below `cl/`.
pub const SOURCE: &str = "solver/jacobi.cl";

parameters! {
    /// Parameters of `jacobi`.
    pub struct Jacobi for "jacobi" {
        /// Items of a work-group.
        group_size: [1, 64, 128, 256],
        /// Items that share a row: a power of two, at most `group_size`.
        items_per_row: [1, 8],
    }
}

impl Jacobi {
    /// What GPUs are given.
    pub fn default_for_gpu() -> Self {
        Jacobi { group_size: 128, items_per_row: 8 }
    }

    /// On a CPU an item takes a row.
    pub fn default_for(device: &DeviceTraits) -> Self {
        match device.device_type {
            DeviceType::Cpu => Jacobi { group_size: 1, items_per_row: 1 },
            _ => {
                let group_size = device.group_size(128, 16);
                Jacobi { group_size, items_per_row: group_size.min(8) }
            }
        }
    }

    /// Checks the parameters against the kernel's rules and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, device: &DeviceTraits) -> Result<(), ParameterError> {
        check_group_size("jacobi", self.group_size, device)?;
        if self.items_per_row.is_power_of_two() && self.items_per_row <= self.group_size {
            return Ok(());
        }
        Err(ParameterError::Invalid {
            algorithm: "jacobi",
            name: "items_per_row",
            value: self.items_per_row.into(),
            rule: format!(
                "it must be a power of two of at most {}",
                counted(self.group_size, "item")
            ),
        })
    }
}

arguments! {
    /// Arguments of the kernel `inverse_diagonal`.
    pub struct Arguments<M> for "inverse_diagonal" {
        /// Rows.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values: nnz.
        values: Array<M>,
        /// The inverse of each row's diagonal.
        inverse: Array<M>,
        /// Becomes the least row whose diagonal has no inverse, where that is less.
        flawed: Array<M>,
    }
}
