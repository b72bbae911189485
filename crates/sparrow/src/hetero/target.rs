//! Where the partner's rows of y come to lie while the first device writes those before them.

use cl_kernels::Array;
use cl_runtime::DeviceArray;
use cl_runtime::raw::Memory;
use csr_core::Accumulator;

use crate::Result;

/// The memory that the partner's rows are written to.
#[derive(Debug)]
pub(super) enum Target<T> {
    /// y itself, which the host addresses at any time.
    Direct(DeviceArray<T>),
    /// A part of y that the first device has no part in: from this row on. The few rows between are not in it.
    Part {
        /// What the first device gets for y.
        first: DeviceArray<T>,
        /// The host's, from `first_row` on.
        its: DeviceArray<T>,
        /// Its first row.
        first_row: usize,
    },
    /// Memory of their own, from which they are copied.
    Aside,
}

impl<T: Accumulator> Target<T> {
    /// For the rows of y from `first_row` on, which the host writes while the first device writes those before, if it
    /// `has_part`. OpenCL lets two sides write a buffer at once through sub-buffers that do not overlap, which begin at
    /// multiples of `align` bytes; those of a y that is a part of another buffer are that one's. Coarse-grained shared
    /// virtual memory has none: while the host may write a part of it, no kernel may touch any.
    pub(super) fn of(
        y: &DeviceArray<T>,
        first_row: usize,
        has_part: bool,
        align: usize,
    ) -> Result<Self> {
        let rows = y.len();
        let (memory, start) = y.memory();
        match memory {
            Memory::Svm(allocation) if allocation.is_fine_grained() => {
                return Ok(Target::Direct(y.slice(first_row..rows)?));
            }
            _ if !has_part => return Ok(Target::Direct(y.slice(first_row..rows)?)),
            _ => {}
        }
        let Some((whole, before)) = memory.whole_buffer()? else { return Ok(Target::Aside) };
        let bytes = size_of::<T>();
        let end = before + start + first_row * bytes;
        let its_start = end.next_multiple_of(align);
        let its_row = first_row + (its_start - end) / bytes;
        let is_in_step = (its_start - end).is_multiple_of(bytes);
        if first_row == 0 || its_row >= rows || !is_in_step {
            return Ok(Target::Aside);
        }
        let first = whole.sub_buffer(before, end - before)?;
        let its = whole.sub_buffer(its_start, (rows - its_row) * bytes)?;
        Ok(Target::Part {
            first: DeviceArray::of_memory(first, start, first_row)?,
            its: DeviceArray::of_memory(its, 0, rows - its_row)?,
            first_row: its_row,
        })
    }

    /// y as the first device is given it.
    pub(super) fn of_first<'t>(&'t self, y: &'t DeviceArray<T>) -> Array<&'t Memory> {
        match self {
            Target::Part { first, .. } => first.argument(),
            Target::Direct(_) | Target::Aside => y.argument(),
        }
    }
}
