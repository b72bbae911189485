//! What a plan notes of each step, of problems alike whose bunches walk by themselves.

use cl_kernels::batched::Batched as Parameters;
use cl_kernels::batched::step_notes::{StepColumns, StepRows};
use csr_core::{Offset, Value};

use super::Batch;
use super::tasks::DeviceTasks;
use crate::launch::{Size, launch};
use crate::spmv::workspace::small_for_a_kernel_to_write;
use crate::{DeviceArray, Program, Queue, Result};

/// Has the device find it, by the program FORWARD that will read it; nothing where that wants none.
pub(super) fn find_blocking<V: Value, O: Offset>(
    queue: &Queue,
    batch: &Batch<V, O>,
    tasks: &DeviceTasks,
    program: &Program,
    parameters: &Parameters,
) -> Result<DeviceArray<u32>> {
    let (nnz, group_size) = (tasks.nnz(), parameters.group_size());
    let (stretch, offsets) = (tasks.form.last, batch.offsets().argument());
    let (notes, found);
    if parameters.notes_rows(V::TYPE) {
        notes = small_for_a_kernel_to_write(queue, parameters.step_rows_words(tasks.count, nnz))?;
        let (problems, step_rows) = (tasks.count as u32, notes.argument());
        let arguments = StepRows { problems, stretch, offsets, step_rows };
        let mut kernel = program.kernel("find_step_rows")?;
        let size = Size { groups: tasks.count, group_size };
        // SAFETY: the array is as long as its layout asks; where row offsets lie was checked.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let launched = unsafe { launch(queue, &mut kernel, &arguments, size, &[])? };
        found = launched;
    } else if parameters.notes_columns(V::TYPE) {
        notes = small_for_a_kernel_to_write(queue, parameters.step_columns_words(nnz))?;
        let steps = parameters.steps_of_a_copy(nnz);
        let (columns, step_columns) = (batch.columns().argument(), notes.argument());
        let arguments =
            StepColumns { steps: steps as u32, stretch, offsets, columns, step_columns };
        let mut kernel = program.kernel("find_step_columns")?;
        let size = Size { groups: 2 * steps, group_size };
        // SAFETY: the array is as long as its layout asks; where the pattern lies was checked.
        #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
        let launched = unsafe { launch(queue, &mut kernel, &arguments, size, &[])? };
        found = launched;
    } else {
        return DeviceArray::allocate(queue.context(), 0);
    }
    found.wait()?;
    Ok(notes)
}
