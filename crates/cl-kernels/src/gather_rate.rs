//! `gather_rate`: loading single elements from all over an array (`cl/measure/gather_rate.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "measure/gather_rate.cl";

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
        /// Elements that each item loads.
        gathers: u32,
        /// Elements of `source`.
        count: u32,
        /// What is loaded from, elements of the accumulator's type.
        source: Array<M>,
        /// Never written, but the compiler cannot know.
        target: Array<M>,
    }
}
