//! `rates`: reading and copying memory as fast as the device can (`cl/measure/rates.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::parameters;

/// Path of the source below `cl/`.
pub const SOURCE: &str = "measure/rates.cl";

parameters! {
    /// Parameters of `rates`.
    pub struct Rates for "rates" {
        /// Items of a work-group.
        group_size: [1, 64, 128, 256, 512, 1024],
    }
}

arguments! {
    /// Arguments of the kernel `read_stream`.
    pub struct ReadArguments<M> for "read_stream" {
        /// Elements of 16 bytes.
        count: u32,
        /// How often all of them are read.
        passes: u32,
        /// What is read.
        source: Array<M>,
        /// Never written, but the compiler cannot know.
        target: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `copy_stream`.
    pub struct CopyArguments<M> for "copy_stream" {
        /// Elements of 16 bytes.
        count: u32,
        /// What is read.
        source: Array<M>,
        /// What is written.
        target: Array<M>,
    }
}
