//! C = A B, all three sparse.

use opencl3::types::{cl_command_queue, cl_event, cl_uint};
use sparrow::{AnySpgemmPlan, SpgemmOptions};

use crate::events::{queue as queue_of, wait_blocking};
use crate::failure::{Failure, guard};
use crate::pointer::{Out, handle, shared};
use crate::{sparrow_matrix, sparrow_status};

/// Makes C = A B in buffers of its own, after the events of the wait list: columns ascend in each row, and entries whose
/// products cancel stay. A and B store the same type, SPARROW_VALUE_TYPE_F32 or _F64, with offsets of one type, which
/// C has too; their columns may stand in any order and repeat. Lists of rows take no more than `scratch_bytes` at a
/// time (0: 64 MiB), 10 for each row: more rows are computed in parts. C has the same bits every time.
/// sparrow_matrix_copy_blocking copies it into buffers of the application's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparrow_matrix_multiply_blocking(
    a: *const sparrow_matrix,
    b: *const sparrow_matrix,
    queue: cl_command_queue,
    scratch_bytes: u64,
    num_events_in_wait_list: cl_uint,
    event_wait_list: *const cl_event,
    c: *mut *mut sparrow_matrix,
) -> sparrow_status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new(c, "c")? };
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (handle(a, "a")?, handle(b, "b")?) };
        // SAFETY: the caller's promise.
        let queue = unsafe { queue_of(&a.home().context, queue)? };
        // SAFETY: the caller's promise.
        unsafe { wait_blocking((num_events_in_wait_list, event_wait_list))? };
        let mut options = SpgemmOptions::default();
        if scratch_bytes > 0 {
            options.scratch_bytes = scratch_bytes;
        }
        let locked = shared(a.inner(), "a")?;
        // A lock that is held is not taken twice.
        let other = (!std::ptr::eq(a, b)).then(|| shared(b.inner(), "b")).transpose()?;
        let (first, second) = (&*locked, other.as_deref().unwrap_or(&locked));
        let stored = first.value_type();
        if stored != stored.accumulator() {
            let text = format!("a stores {stored}: sparse products take f32 and f64");
            return Err(Failure::mismatch(text));
        }
        let mut plan = AnySpgemmPlan::new_blocking(&queue, first, second, &options)?;
        let made = plan.multiply_blocking(&queue, first, second)?;
        queue.finish_blocking()?;
        out.give(sparrow_matrix::new(a.home(), made));
        Ok(())
    })
}
