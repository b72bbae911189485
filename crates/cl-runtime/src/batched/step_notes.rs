//! What a plan notes of each step, where sub-groups walk by themselves.

use cl_kernels::batched::Batched as Parameters;
use cl_kernels::batched::step_notes::{StepColumns, StepRows};

use super::AnyBatch;
use super::tasks::DeviceTasks;
use crate::launch::{Size, launch_after};
use crate::scratch::small_for_a_kernel_to_write;
use crate::{DeviceArray, Program, Queue, Result};

/// Has the device find it, by the program FORWARD that will read it; nothing where that wants none.
pub(super) fn find_blocking(
    queue: &Queue,
    batch: &AnyBatch,
    tasks: &DeviceTasks,
    program: &Program,
    parameters: &Parameters,
) -> Result<DeviceArray<u32>> {
    if parameters.notes_rows(batch.value_type()) {
        find_rows_blocking(queue, batch, tasks, program, parameters)
    } else if parameters.notes_columns(batch.value_type()) {
        find_columns_blocking(queue, batch, tasks, program, parameters)
    } else {
        DeviceArray::allocate(queue.context(), 0)
    }
}

fn find_rows_blocking(
    queue: &Queue,
    batch: &AnyBatch,
    tasks: &DeviceTasks,
    program: &Program,
    parameters: &Parameters,
) -> Result<DeviceArray<u32>> {
    let step_rows = small_for_a_kernel_to_write(queue, tasks.noted_words as usize)?;
    let arguments = StepRows {
        listed: tasks.form.listed,
        range_count: tasks.form.range_count,
        last: tasks.form.last,
        before_last: tasks.form.before_last,
        tasks: tasks.words.argument(),
        ranges: tasks.ranges.argument(),
        offsets: batch.offsets().argument(),
        step_rows: step_rows.argument(),
    };
    let mut kernel = program.kernel("find_step_rows")?;
    let size = Size { groups: tasks.count, group_size: parameters.group_size() };
    // SAFETY: the array is as long as its layout asks; where row offsets lie was checked.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let found =
        unsafe { launch_after(queue, &mut kernel, &arguments, size, &tasks.written(queue))? };
    found.wait()?;
    Ok(step_rows)
}

fn find_columns_blocking(
    queue: &Queue,
    batch: &AnyBatch,
    tasks: &DeviceTasks,
    program: &Program,
    parameters: &Parameters,
) -> Result<DeviceArray<u32>> {
    let steps = parameters.steps_of_a_copy(tasks.nnz());
    let words = parameters.step_columns_words(tasks.nnz());
    let step_columns = small_for_a_kernel_to_write(queue, words)?;
    let arguments = StepColumns {
        steps: steps as u32,
        range: tasks.form.last,
        offsets: batch.offsets().argument(),
        columns: batch.columns().argument(),
        step_columns: step_columns.argument(),
    };
    let mut kernel = program.kernel("find_step_columns")?;
    let size = Size { groups: 2 * steps, group_size: parameters.group_size() };
    // SAFETY: the array is as long as its layout asks; where the pattern lies was checked.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let found = unsafe { launch_after(queue, &mut kernel, &arguments, size, &[])? };
    found.wait()?;
    Ok(step_columns)
}
