//! `batched_plan`: tasks of a batch, made on the device (`cl/batched/batched_plan.cl`).

use crate::Array;
use crate::arguments::arguments;
use crate::parameters::{GROUP_SIZES, parameters};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "batched/batched_plan.cl";

/// 64-bit words of a draft: a task's, which part of its problem it is and of how many, and what a part holds.
pub const DRAFT_WORDS: usize = 10;

parameters! {
    /// Parameters of `batched_plan`.
    pub struct BatchedPlan for "batched_plan" {
        /// Items of a work-group.
        group_size: GROUP_SIZES,
    }
}

arguments! {
    /// Arguments of the kernel `plan_batch`.
    pub struct Arguments<M> for "plan_batch" {
        /// Tasks.
        task_count: u32,
        /// The drafts: [`DRAFT_WORDS`] each.
        drafts: Array<M>,
        /// Row offsets of CSR problems.
        offsets: Array<M>,
        /// Row indices of COO problems, and where the slices of sliced ELL begin.
        indices: Array<M>,
        /// The tasks: [`crate::batched::TASK_WORDS`] each.
        tasks: Array<M>,
    }
}
