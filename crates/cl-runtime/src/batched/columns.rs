//! Copies of the columns of a pattern that pairs of problems have, where items take two entries at a time.

use cl_kernels::batched::Batched as Parameters;
use cl_kernels::batched::columns::CopyArguments;

use super::AnyBatch;
use super::tasks::DeviceTasks;
use crate::launch::{Size, launch_after};
use crate::scratch::small_for_a_kernel_to_write;
use crate::{DeviceArray, Program, Queue, Result};

/// Has the device make them, by the program that will read them.
pub(super) fn copy_blocking(
    queue: &Queue,
    batch: &AnyBatch,
    tasks: &DeviceTasks,
    program: &Program,
    parameters: &Parameters,
) -> Result<DeviceArray<u32>> {
    let nnz = tasks.most_nnz;
    let steps = parameters.steps_of_a_copy(nnz);
    let copies = small_for_a_kernel_to_write(queue, parameters.copied_columns_words(nnz))?;
    let arguments = CopyArguments {
        steps: steps as u32,
        range: tasks.range.unwrap_or_default(),
        offsets: batch.offsets().argument(),
        columns: batch.columns().argument(),
        copies: copies.argument(),
    };
    let mut kernel = program.kernel("copy_columns")?;
    let size = Size { groups: 2 * steps, group_size: parameters.group_size() };
    // SAFETY: the array is as long as its layout asks; where the pattern lies was checked.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let copied = unsafe { launch_after(queue, &mut kernel, &arguments, size, &[])? };
    copied.wait()?;
    Ok(copies)
}
