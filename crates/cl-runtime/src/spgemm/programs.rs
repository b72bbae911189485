//! Programs and launches of SpGEMM's kernels.

use std::sync::Arc;

use cl_kernels::spgemm_rows::{self, SpgemmRows};
use cl_kernels::{Accumulate, KernelKey, Parameters, spgemm_values};
use csr_core::{OffsetType, ValueType};

use crate::arguments::Arguments;
use crate::launch::{Size, launch_next};
use crate::{Program, Queue, Result};

/// Items of a compute unit that groups are made for: several times what it runs at once, so that the groups of long
/// rows are not the last.
const ITEMS_PER_UNIT: usize = 1 << 14;

/// A program and the items of its groups.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    program: Arc<Program>,
    group_size: usize,
}

impl Groups {
    /// Of a program for groups of so many items.
    pub(super) fn new(program: Arc<Program>, group_size: usize) -> Self {
        Groups { program, group_size }
    }

    /// Runs the kernel that takes these arguments with an item for each of `items`.
    ///
    /// # Safety
    /// As [`launch_next`].
    #[expect(unsafe_code, reason = "as `launch_next`")]
    pub(super) unsafe fn run_items<'m>(
        &self,
        queue: &Queue,
        arguments: &dyn Arguments<'m>,
        items: usize,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.run(queue, arguments, items.div_ceil(self.group_size)) }
    }

    /// The same with a group for each of `tasks`, or as many as keep the device busy.
    ///
    /// # Safety
    /// As [`launch_next`].
    #[expect(unsafe_code, reason = "as `launch_next`")]
    pub(super) unsafe fn run_tasks<'m>(
        &self,
        queue: &Queue,
        arguments: &dyn Arguments<'m>,
        tasks: usize,
    ) -> Result<()> {
        let units = queue.context().device().traits().compute_units as usize;
        let most = units * (ITEMS_PER_UNIT / self.group_size).max(1);
        // SAFETY: the caller's promise.
        unsafe { self.run(queue, arguments, tasks.min(most)) }
    }

    /// Runs so many groups.
    ///
    /// # Safety
    /// As [`launch_next`].
    #[expect(unsafe_code, reason = "as `launch_next`")]
    pub(super) unsafe fn run<'m>(
        &self,
        queue: &Queue,
        arguments: &dyn Arguments<'m>,
        groups: usize,
    ) -> Result<()> {
        if groups == 0 {
            return Ok(());
        }
        let mut kernel = self.program.kernel(arguments.kernel_name())?;
        let size = Size { groups, group_size: self.group_size };
        // SAFETY: the caller's promise.
        unsafe { launch_next(queue, &mut kernel, arguments, size) }
    }

    /// Items of a group.
    pub(super) fn group_size(&self) -> usize {
        self.group_size
    }
}

/// The program of `source` with `parameters`, of which `group_size` is one.
pub(super) fn groups<P: Parameters>(
    queue: &Queue,
    source: &'static str,
    (value_type, offset_type): (ValueType, OffsetType),
    parameters: &P,
    group_size: u32,
) -> Result<Groups> {
    let key = KernelKey::new(source, value_type, offset_type, Accumulate::Plain, false, parameters);
    Ok(Groups { program: queue.context().program(&key)?, group_size: group_size as usize })
}

/// The program that looks at rows.
pub(super) fn row_groups(
    queue: &Queue,
    offset_type: OffsetType,
    parameters: &SpgemmRows,
) -> Result<Groups> {
    let types = (ValueType::F32, offset_type);
    groups(queue, spgemm_rows::SOURCE, types, parameters, parameters.group_size)
}

/// The program that sums the rows of C of `class`; one class comes in windows.
pub(super) fn value_groups(
    queue: &Queue,
    (value_type, offset_type): (ValueType, OffsetType),
    parameters: &SpgemmRows,
    class: usize,
) -> Result<Groups> {
    let most_items = SpgemmRows::most_items(queue.context().device().traits());
    let kernel = parameters.value_kernel(class, most_items);
    let source = spgemm_values::SOURCE;
    let mut key =
        KernelKey::new(source, value_type, offset_type, Accumulate::Plain, false, &kernel);
    if class == spgemm_rows::WINDOW_ROWS {
        key = key.with_feature(spgemm_values::WINDOWS);
    }
    let program = queue.context().program(&key)?;
    Ok(Groups { program, group_size: kernel.group_size as usize })
}
