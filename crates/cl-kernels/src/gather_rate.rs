//! `gather_rate`: loading single elements from all over an array (`cl/measure/gather_rate.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "measure/gather_rate.cl";

/// Elements that an item of the kernel `gather_rate` loads.
pub const GATHERS: usize = 64;

/// Iterations of an item of the kernel `gather_chain`.
pub const CHAIN: usize = 512;

parameters! {
    /// Parameters of `gather_rate`.
    pub struct GatherRate for "gather_rate" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `gather_rate`.
    pub struct Arguments<M> for "gather_rate" {
        /// Elements of `source`, a power of two, less one.
        mask: u32,
        /// Random numbers: [`GATHERS`] an item.
        indices: Array<M>,
        /// What is loaded from, elements of the accumulator's type.
        source: Array<M>,
        /// Sums: one an item.
        target: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `gather_rows`.
    pub struct RowArguments<M> for "gather_rows" {
        /// Rows.
        rows: u32,
        /// Elements of `source`, a power of two, less one.
        mask: u32,
        /// Where rows of indices begin: rows + 1.
        offsets: Array<M>,
        /// Random numbers: one a gather.
        indices: Array<M>,
        /// What is gathered is multiplied by: one a gather.
        weights: Array<M>,
        /// What is loaded from, elements of the accumulator's type.
        source: Array<M>,
        /// Sums: rows.
        target: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `gather_chain`.
    pub struct ChainArguments<M> for "gather_chain" {
        /// Elements of `indices` that are read, a power of two, less one.
        mask: u32,
        /// Random numbers.
        indices: Array<M>,
        /// Where each item ended.
        target: Array<M>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_have_the_same_constants() {
        let source = crate::kernel_source(SOURCE).unwrap();
        assert!(source.contains(&format!("#define GATHERS {GATHERS}\n")));
        assert!(source.contains(&format!("#define CHAIN {CHAIN}\n")));
    }
}
