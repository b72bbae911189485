//! `spmm_merge_plan`: where tiles begin (`cl/spmm/spmm_merge_plan.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmm/spmm_merge_plan.cl";

/// Tiles are of nonzeros alone.
pub const FEATURE_BY_NONZEROS: &str = "BY_NONZEROS";

parameters! {
    /// Parameters of `spmm_merge_plan`.
    pub struct SpmmMergePlan for "spmm_merge_plan" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// Rows and nonzeros of a tile, together; with [`FEATURE_BY_NONZEROS`] nonzeros.
        tile_length: [256, 512, 1024, 2048],
        /// Nonzeros by which a boundary may move to the beginning of its row.
        slack: [0, 32, 64, 128],
    }
}

arguments! {
    /// Arguments of the kernel `spmm_merge_plan`.
    pub struct Arguments<M> for "spmm_merge_plan" {
        /// Rows of A.
        rows: u32,
        /// Nonzeros of A.
        nnz: u64,
        /// Tiles.
        tiles: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The row each boundary falls into: tiles + 1.
        boundary_rows: Array<M>,
        /// The first nonzero after each boundary: tiles + 1.
        boundary_nonzeros: Array<M>,
        /// The slot of each boundary's carries: tiles + 1.
        slots: Array<M>,
        /// The first boundary of each row that several groups share: as many as tiles at most.
        chain_boundaries: Array<M>,
        /// Boundaries that cut a row, and rows they cut; 0 before.
        counts: Array<M>,
    }
}
