//! What launches and plans refuse, whatever they compute: queues of another context, matrices of other types, lengths.

use cl_runtime::{Context, Queue, check_size};

use crate::{Error, Result, RuntimeError};

/// What brings a plan's copy of the values up to date.
pub(crate) const UPDATE: &str = "update_values_blocking brings it up to date";

/// Makes something in `queue`, fitted to the groups that its compiled kernels turn out to run in: [`Queue::fitting`].
pub(crate) fn fitting<T>(queue: &Queue, make: impl FnMut(&Queue) -> Result<T>) -> Result<T> {
    let limit_of = |error: &Error| match error {
        Error::Runtime(error) => error.kernel_group_limit(),
        _ => None,
    };
    queue.fitting(limit_of, make)
}

/// Refuses a queue whose kernels cannot reach the arrays of `of`: every device of their OpenCL context can.
pub(crate) fn check_context(queue: &Queue, context: &Context, of: &str) -> Result<()> {
    if !queue.context().shares_memory_with(context) {
        return Err(RuntimeError::context("the queue", format!("the {of}")).into());
    }
    Ok(())
}

/// Refuses a queue that cannot run the kernels of `of`: they were built for one device of one context.
pub(crate) fn check_device(queue: &Queue, context: &Context, of: &str) -> Result<()> {
    check_context(queue, context, of)?;
    if !queue.context().is_same(context) {
        let [found, needed] =
            [queue.context(), context].map(|context| context.device().traits().name.clone());
        return Err(RuntimeError::Device { what: format!("the {of}"), found, needed }.into());
    }
    Ok(())
}

pub(crate) fn check_length(what: &str, found: usize, of: &str, expected: usize) -> Result<()> {
    Ok(check_size(what, (found, "element"), expected, format_args!("one for each {of}"))?)
}
