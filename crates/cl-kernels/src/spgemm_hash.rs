//! `spgemm_hash`: columns of rows of C by a hash table in local memory (`cl/spgemm/spgemm_hash.cl`).

use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spgemm/spgemm_hash.cl";

parameters! {
    /// Parameters of `spgemm_hash`.
    pub struct SpgemmHash for "spgemm_hash" {
        /// Items of a work-group: a power of two.
        group_size: GROUP_SIZES,
        /// Products of a row, at most: a power of two.
        capacity: [256, 512, 1024, 2048],
    }
}
