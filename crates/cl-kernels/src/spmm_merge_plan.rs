//! `spmm_merge_plan`: where pieces begin (`cl/spmm/spmm_merge_plan.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmm/spmm_merge_plan.cl";

parameters! {
    /// Parameters of `spmm_merge_plan`.
    pub struct SpmmMergePlan for "spmm_merge_plan" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
        /// Rows and nonzeros of a piece, together.
        piece: [256, 512, 1024, 2048],
        /// Nonzeros by which a border may move to the beginning of its row.
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
        /// Pieces.
        pieces: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The row each border falls into: pieces + 1.
        border_rows: Array<M>,
        /// The first nonzero behind each border: pieces + 1.
        border_nonzeros: Array<M>,
        /// The place of each border's carries: pieces + 1.
        slots: Array<M>,
        /// The first border of each row that several groups share: room for pieces.
        chain_borders: Array<M>,
        /// Borders that cut a row, and rows they cut; 0 before.
        counts: Array<M>,
    }
}
