//! `bicgstab`: stabilised bi-conjugate gradients (`cl/solver/bicgstab.cl`).

use crate::arguments::arguments;
use crate::parameters::{check_group_size, parameters};
use crate::{Array, DeviceTraits, DeviceType, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "solver/bicgstab.cl";

parameters! {
    /// Parameters of the kernels of `bicgstab`.
    pub struct BiCgStab for "bicgstab" {
        /// Items of a work-group: a power of two.
        group_size: [64, 128, 256, 512],
        /// Chunks of 16 bytes that an item has under way, of each vector.
        batch: [1, 2, 4],
        /// Groups for each compute unit.
        groups_per_unit: [2, 4, 8, 16] => host,
    }
}

impl BiCgStab {
    /// What GPUs are given.
    pub fn default_for_gpu() -> Self {
        BiCgStab { group_size: 256, batch: 2, groups_per_unit: 4 }
    }

    /// On a CPU an item is a loop, and a group of one reads memory in its order.
    pub fn default_for(device: &DeviceTraits) -> Self {
        match device.device_type {
            DeviceType::Cpu => BiCgStab { group_size: 1, batch: 4, groups_per_unit: 4 },
            _ => {
                // Up to two sums of f64 an item.
                let group_size = device.group_size(256, 16);
                BiCgStab { group_size, ..BiCgStab::default_for_gpu() }
            }
        }
    }

    /// Checks the parameters against the kernels' rules and the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, device: &DeviceTraits) -> Result<(), ParameterError> {
        check_group_size("bicgstab", self.group_size, device)?;
        let counts = [("batch", self.batch), ("groups_per_unit", self.groups_per_unit)];
        match counts.into_iter().find(|(_, value)| !(1..=64).contains(value)) {
            None => Ok(()),
            Some((name, value)) => Err(ParameterError::Invalid {
                algorithm: "bicgstab",
                name,
                value: value.into(),
                rule: "it must be 1 to 64".to_owned(),
            }),
        }
    }
}

arguments! {
    /// Arguments of the kernel `bicgstab_alpha`.
    pub struct AlphaArguments<M> for "bicgstab_alpha" {
        /// Tiles of each vector.
        tiles: u32,
        /// The iteration it belongs to.
        iteration: u32,
        /// 0.
        zero: u32,
        /// The first residual.
        shadow: Array<M>,
        /// A times the direction.
        v: Array<M>,
        /// Where groups put their sums: `cl/group/launch_sum.h`.
        sums_space: Array<M>,
        /// `cl/solver/state.h`.
        state: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `bicgstab_half`.
    pub struct HalfArguments<M> for "bicgstab_half" {
        /// Tiles of each vector.
        tiles: u32,
        /// The iteration it belongs to.
        iteration: u32,
        /// Where its residual goes, if it is enough.
        slot: u32,
        /// 0.
        zero: u32,
        /// The residual that is small enough.
        threshold: Scalar<M>,
        /// With `JACOBI`, what multiplies s.
        inverse_diagonal: Array<M>,
        /// The residual.
        r: Array<M>,
        /// A times the direction.
        v: Array<M>,
        /// The residual after half an iteration.
        s: Array<M>,
        /// With `JACOBI`, s times the inverse diagonal.
        s_hat: Array<M>,
        /// Where groups put their sums: `cl/group/launch_sum.h`.
        sums_space: Array<M>,
        /// `cl/solver/state.h`.
        state: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `bicgstab_omega`.
    pub struct OmegaArguments<M> for "bicgstab_omega" {
        /// Tiles of each vector.
        tiles: u32,
        /// The iteration it belongs to.
        iteration: u32,
        /// 0.
        zero: u32,
        /// The residual after half an iteration.
        s: Array<M>,
        /// A times it.
        t: Array<M>,
        /// Where groups put their sums: `cl/group/launch_sum.h`.
        sums_space: Array<M>,
        /// `cl/solver/state.h`.
        state: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `bicgstab_residual`.
    pub struct ResidualArguments<M> for "bicgstab_residual" {
        /// Tiles of each vector.
        tiles: u32,
        /// The iteration it belongs to.
        iteration: u32,
        /// Where its residual goes.
        slot: u32,
        /// 0.
        zero: u32,
        /// The residual that is small enough.
        threshold: Scalar<M>,
        /// A larger residual is divergence.
        limit: Scalar<M>,
        /// Iterations that may pass without a new least residual.
        patience: u32,
        /// The residual after half an iteration.
        s: Array<M>,
        /// A times it.
        t: Array<M>,
        /// The first residual.
        shadow: Array<M>,
        /// The residual.
        r: Array<M>,
        /// Where groups put their sums: `cl/group/launch_sum.h`.
        sums_space: Array<M>,
        /// `cl/solver/state.h`.
        state: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `bicgstab_direction`.
    pub struct DirectionArguments<M> for "bicgstab_direction" {
        /// Tiles of each vector.
        tiles: u32,
        /// The iteration it belongs to.
        iteration: u32,
        /// With `JACOBI`, what multiplies p and s.
        inverse_diagonal: Array<M>,
        /// The residual.
        r: Array<M>,
        /// A times the direction.
        v: Array<M>,
        /// The residual after half an iteration.
        s: Array<M>,
        /// The direction.
        p: Array<M>,
        /// With `JACOBI`, p times the inverse diagonal.
        p_hat: Array<M>,
        /// The solution.
        x: Array<M>,
        /// Where x of the least residual is kept.
        best: Array<M>,
        /// `cl/solver/state.h`.
        state: Array<M>,
    }
}
