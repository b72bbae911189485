//! What launches and plans refuse, whatever they compute: queues of another context, matrices of other types, lengths.

use cl_runtime::{Context, MatrixTypes, Queue};
use csr_core::{are, counted};

use crate::{Error, Result};

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
        let text = format!("the queue belongs to another context than the {of}");
        return Err(Error::Mismatch(text));
    }
    Ok(())
}

/// Refuses a queue that cannot run the kernels of `of`: they were built for one device of one context.
pub(crate) fn check_device(queue: &Queue, context: &Context, of: &str) -> Result<()> {
    check_context(queue, context, of)?;
    if !queue.context().is_same(context) {
        let text = format!(
            "the queue is one of the device {}, and the {of} was made for another device of its context, {}",
            queue.context().device().traits().name,
            context.device().traits().name
        );
        return Err(Error::Mismatch(text));
    }
    Ok(())
}

/// Refuses a matrix of other types than the plan's.
pub(crate) fn check_types(plan: MatrixTypes, matrix: MatrixTypes) -> Result<()> {
    if plan != matrix {
        return Err(Error::Mismatch(format!(
            "the matrix stores {} with offsets of {}, and the plan was made for {} with offsets of {}",
            matrix.value_type, matrix.offset_type, plan.value_type, plan.offset_type
        )));
    }
    Ok(())
}

pub(crate) fn check_length(what: &str, found: usize, of: &str, expected: usize) -> Result<()> {
    if found != expected {
        return Err(Error::Mismatch(format!(
            "{what} has {}, and there {} {}",
            counted(found, "element"),
            are(expected),
            counted(expected, of)
        )));
    }
    Ok(())
}
