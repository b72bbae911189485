//! The longest row of a matrix whose offsets are on the device.

use cl_kernels::longest_row::{Arguments, LongestRow, SOURCE};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::{Offset, ValueType};

use crate::launch::{Size, launch};
use crate::{DeviceArray, Queue, Result};

/// Nonzeros of the longest row of a pattern with these offsets; reads 4 bytes back. Saturates at 2^32 - 1.
pub(crate) fn longest_row_blocking<O: Offset>(
    queue: &Queue,
    offsets: &DeviceArray<O>,
) -> Result<usize> {
    let context = queue.context();
    let traits = context.device().traits();
    let rows = offsets.len().saturating_sub(1);
    let group_size = 1usize << traits.max_group_size.clamp(1, 256).ilog2();
    let parameters = LongestRow { group_size: group_size as u32 };
    let key =
        KernelKey::new(SOURCE, ValueType::F32, O::TYPE, Accumulate::Plain, false, &parameters);
    let mut kernel = context.program(&key)?.kernel("longest_row")?;
    let longest = DeviceArray::upload_blocking(queue, &[0u32])?;
    let arguments =
        Arguments { rows: rows as u32, offsets: offsets.argument(), longest: longest.argument() };
    let groups = rows.div_ceil(group_size).min(traits.compute_units as usize * 16);
    // SAFETY: there are rows + 1 offsets and one result.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    let found =
        unsafe { launch(queue, &mut kernel, &arguments, Size { groups, group_size }, &[])? };
    queue.settle_blocking(&found)?;
    Ok(longest.read_blocking(queue)?[0] as usize)
}
