//! `csr_flat_plan`: where the tiles of `csr_flat` begin, found on the device (`cl/spmv/csr_flat_plan.cl`).

use crate::arguments::arguments;
use crate::parameters::{check_group_size, parameters};
use crate::{Array, DeviceTraits, ParameterError};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_flat_plan.cl";

parameters! {
    /// Parameters of `csr_flat_plan`.
    pub struct CsrFlatPlan for "csr_flat_plan" {
        /// Items of a work-group: each looks for one boundary.
        group_size: [1, 16, 32, 64],
    }
}

impl CsrFlatPlan {
    /// As many items as the device allows, up to 64: searches are few, and are best spread over the device.
    pub fn default_for(device: &DeviceTraits) -> Self {
        let allowed = device.max_group_size.clamp(1, 64) as u32;
        CsrFlatPlan { group_size: if allowed < 16 { 1 } else { 1 << allowed.ilog2() } }
    }

    /// Checks the parameters against the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, device: &DeviceTraits) -> Result<(), ParameterError> {
        check_group_size("csr_flat_plan", self.group_size, device)
    }
}

arguments! {
    /// Arguments of the kernel `csr_flat_plan`.
    pub struct Arguments<M> for "csr_flat_plan" {
        /// Rows of A: at least 1.
        rows: u32,
        /// Nonzeros of A.
        nnz: u64,
        /// Nonzeros of a tile.
        tile_nnz: u32,
        /// Rows of at most this many nonzeros are never cut.
        whole_row: u32,
        /// Tiles.
        tiles: u32,
        /// 32-bit words of the arena.
        arena_words: u64,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Where tiles begin, 64-bit entries: tiles + 1; and after them what becomes 0. Aligned to 8 bytes.
        arena: Array<M>,
    }
}
