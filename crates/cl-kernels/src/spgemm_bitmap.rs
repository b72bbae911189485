//! `spgemm_bitmap`: columns of rows of C by a bitmap in local memory (`cl/spgemm/spgemm_bitmap.cl`).

use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spgemm/spgemm_bitmap.cl";

parameters! {
    /// Parameters of `spgemm_bitmap`.
    pub struct SpgemmBitmap for "spgemm_bitmap" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Words of the bitmap, of 32 columns each.
        words: [512, 1024, 2048, 4096, 8192],
    }
}
