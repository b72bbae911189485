//! Compressed rows from entries that are on the device and sorted by row.

use cl_kernels::row_offsets::{Arguments, RowOffsetsKernel, SOURCE};
use cl_kernels::{Accumulate, KernelKey};
use csr_core::{OffsetType, ValueType};

use crate::launch::{Size, launch_after};
use crate::raw::Kernel;
use crate::scratch::for_a_kernel_to_write;
use crate::{Context, DeviceArray, Error, Event, Queue, Result};

/// Counts the entries before each row, of one matrix after another; keeps its memory for the next.
#[derive(Debug)]
pub struct RowOffsets {
    kernel: Kernel,
    group_size: usize,
    offsets: Option<DeviceArray<u32>>,
}

impl RowOffsets {
    /// Builds the program.
    ///
    /// # Errors
    /// A kernel that does not build, or the driver's own failure.
    pub fn new(context: &Context) -> Result<Self> {
        match Self::of(context) {
            Err(Error::KernelGroup { limit, .. }) if limit > 0 => {
                Self::new(&context.with_groups(limit))
            }
            made => made,
        }
    }

    fn of(context: &Context) -> Result<Self> {
        let traits = context.device().traits();
        let group_size = 1u32 << traits.max_group_size.clamp(1, 256).ilog2();
        let parameters = RowOffsetsKernel { group_size };
        let (value_type, offset_type) = (ValueType::F32, OffsetType::U32);
        let key =
            KernelKey::new(SOURCE, value_type, offset_type, Accumulate::Plain, false, &parameters);
        let kernel = context.program(&key)?.kernel("row_offsets")?;
        Ok(RowOffsets { kernel, group_size: group_size as usize, offsets: None })
    }

    /// The offsets of `rows` rows of entries whose rows these are, after the events in `wait`; `None` where entries
    /// are not sorted by row, or a row lies outside. Reads 4 bytes back.
    ///
    /// The offsets are good until the next call: whatever uses those of the last must have ended, or be in `wait`.
    ///
    /// # Errors
    /// More rows or entries than 32 bits count, an array of another context, or the driver's own failure.
    pub fn find_blocking(
        &mut self,
        queue: &Queue,
        rows: usize,
        row_indices: &DeviceArray<u32>,
        wait: &[Event],
    ) -> Result<Option<DeviceArray<u32>>> {
        queue.context().check_typed("the array of row indices", row_indices)?;
        let nnz = row_indices.len();
        for (what, value) in [("the number of rows", rows), ("the number of entries", nnz)] {
            if value >= u32::MAX as usize {
                let (what, value) = (what.to_owned(), value as u64);
                let rule = format!("it must be below {}", u32::MAX);
                return Err(Error::Range { what, value, rule });
            }
        }
        let kept = self.offsets.take().filter(|kept| {
            kept.len() > rows && queue.context().check_array("the offsets", kept).is_ok()
        });
        let kept = match kept {
            Some(kept) => kept,
            None => for_a_kernel_to_write(queue, rows + 1)?,
        };
        let offsets = kept.slice(0..rows + 1)?;
        self.offsets = Some(kept);
        let fault = DeviceArray::upload_blocking(queue, &[0u32])?;
        let arguments = Arguments {
            rows: rows as u32,
            nnz: nnz as u32,
            row_indices: row_indices.argument(),
            offsets: offsets.argument(),
            fault: fault.argument(),
        };
        let groups = (rows + 1).max(nnz).div_ceil(self.group_size);
        let size = Size { groups, group_size: self.group_size };
        // SAFETY: there are nnz row indices, rows + 1 offsets and one word.
        #[expect(unsafe_code, reason = "arrays that were checked, or are this module's own")]
        let found = unsafe { launch_after(queue, &mut self.kernel, &arguments, size, wait)? };
        queue.settle_blocking(&found)?;
        let is_sorted = fault.read_blocking(queue)? == [0];
        Ok(is_sorted.then_some(offsets))
    }
}
