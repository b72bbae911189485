//! Row lengths of a matrix whose offsets are on the device.

use cl_kernels::row_lengths::{Arguments, RowLengthsKernel, SOURCE, WORDS};
use cl_kernels::{Accumulate, DeviceTraits, DeviceType, KernelKey};
use csr_core::{RowLengths, ValueType, for_offset_type};

use crate::launch::{Size, launch_next};
use crate::on_host::OnHost;
use crate::{AnyArray, DeviceArray, Error, Queue, Result};

/// Whether the host does what takes one pass over a number a row: the device is the same processor and has the same
/// memory, and building a kernel takes longer than the pass.
pub(crate) fn is_for_the_host(device: &DeviceTraits) -> bool {
    device.device_type == DeviceType::Cpu && device.has_host_memory
}

/// What rules ask of the rows of a pattern with these offsets: where they lie, or on the device, and 16 bytes are read
/// back.
#[expect(unsafe_code, reason = "maps offsets")]
pub(crate) fn row_lengths_blocking(queue: &Queue, offsets: &AnyArray) -> Result<RowLengths> {
    if is_for_the_host(queue.context().device().traits()) {
        return for_offset_type!(offsets.offset_type()?, O => {
            // SAFETY: a matrix's offsets never change, as the caller that makes it of arrays of its own has promised.
            let offsets = unsafe { OnHost::<O>::read_blocking(queue, offsets.typed()?)? };
            let found = RowLengths::of(&offsets);
            offsets.release_blocking()?;
            Ok(found)
        });
    }
    let lengths = DeviceArray::upload_blocking(queue, &[0u32; WORDS])?;
    enqueue(queue, offsets, &lengths)?;
    Ok(of_words(&lengths.read_blocking(queue)?))
}

/// Has the device look at the rows, and write what [`of_words`] reads to `lengths`, all 0 before.
pub(crate) fn enqueue(queue: &Queue, offsets: &AnyArray, lengths: &DeviceArray<u32>) -> Result<()> {
    queue.fitting(Error::kernel_group_limit, |queue| enqueue_fitted(queue, offsets, lengths))
}

fn enqueue_fitted(queue: &Queue, offsets: &AnyArray, lengths: &DeviceArray<u32>) -> Result<()> {
    let context = queue.context();
    let traits = context.device().traits();
    let rows = offsets.len().saturating_sub(1);
    let group_size = 1usize << traits.max_group_size.clamp(1, 256).ilog2();
    let parameters = RowLengthsKernel { group_size: group_size as u32 };
    let key = KernelKey::new(
        SOURCE,
        ValueType::F32,
        offsets.offset_type()?,
        Accumulate::Plain,
        false,
        &parameters,
    );
    let mut kernel = context.program(&key)?.kernel("row_lengths")?;
    let arguments =
        Arguments { rows: rows as u32, offsets: offsets.argument(), lengths: lengths.argument() };
    let groups = rows.div_ceil(RowLengths::BUNDLE * group_size);
    let groups = groups.min(traits.compute_units as usize * 16);
    // SAFETY: there are rows + 1 offsets and as many words as the result has.
    #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
    unsafe {
        launch_next(queue, &mut kernel, &arguments, Size { groups, group_size })
    }
}

/// What the kernel found. The longest row saturates at 2^32 - 1.
pub(crate) fn of_words(words: &[u32]) -> RowLengths {
    RowLengths {
        longest: u64::from(words[0]),
        in_step: u64::from(words[1]) | u64::from(words[2]) << 32,
        changes: u64::from(words[3]),
    }
}
