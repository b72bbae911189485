//! What a plan notes of the rows of each step, of problems alike whose bunches walk by themselves.

use cl_kernels::batched::Batched as Parameters;
use cl_kernels::batched::step_rows::Arguments;
use csr_core::{Offset, Value};

use super::Batch;
use super::tasks::DeviceTasks;
use crate::launch::{Size, launch};
use crate::spmv::workspace::small_for_a_kernel_to_write;
use crate::{DeviceArray, Program, Queue, Result};

/// Has the device find it, by the program FORWARD that will read it.
pub(super) fn find_blocking<V: Value, O: Offset>(
    queue: &Queue,
    batch: &Batch<V, O>,
    tasks: &DeviceTasks,
    program: &Program,
    parameters: &Parameters,
) -> Result<DeviceArray<u32>> {
    let words = parameters.step_rows_words(tasks.count, tasks.nnz());
    let step_rows = small_for_a_kernel_to_write(queue, words)?;
    let arguments = Arguments {
        problems: tasks.count as u32,
        stretch: tasks.form.last,
        offsets: batch.offsets().argument(),
        step_rows: step_rows.argument(),
    };
    let mut kernel = program.kernel("find_step_rows")?;
    let size = Size { groups: tasks.count, group_size: parameters.group_size() };
    // SAFETY: the array is as long as its layout asks; where row offsets lie was checked.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let found = unsafe { launch(queue, &mut kernel, &arguments, size, &[])? };
    found.wait()?;
    Ok(step_rows)
}
