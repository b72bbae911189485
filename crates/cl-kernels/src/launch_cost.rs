//! `launch_cost`: kernels with nothing to do (`cl/measure/launch_cost.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "measure/launch_cost.cl";

parameters! {
    /// Parameters of `launch_cost`.
    pub struct LaunchCost for "launch_cost" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `launch_cost`.
    pub struct Arguments<M> for "launch_cost" {
        /// Not 0: with 0, the first word of `target` is cleared.
        busy: u32,
        /// One word.
        target: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `launch_cost_of_three`.
    pub struct ArgumentsOfThree<M> for "launch_cost_of_three" {
        /// Not 0: with 0, all words are read and the first word of `target` is written.
        busy: u32,
        /// One word.
        x: Array<M>,
        /// One word.
        y: Array<M>,
        /// One word.
        target: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `launch_cost_of_four`.
    pub struct ArgumentsOfFour<M> for "launch_cost_of_four" {
        /// Not 0: with 0, all words are read and the first word of `target` is written.
        busy: u32,
        /// One word.
        x: Array<M>,
        /// One word.
        y: Array<M>,
        /// One word.
        z: Array<M>,
        /// One word.
        target: Array<M>,
    }
}
