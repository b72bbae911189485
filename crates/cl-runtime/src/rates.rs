//! How fast a device moves memory: measured, never looked up.

use std::time::{Duration, Instant};

use cl_kernels::rates::{CopyArguments, ReadArguments, SOURCE};
use cl_kernels::{Accumulate, DeviceType, KernelArguments, KernelKey};
use csr_core::{OffsetType, ValueType};

use crate::launch::{Size, launch};
use crate::raw::Memory;
use crate::{DeviceArray, Queue, Result};

/// Rates of device memory, in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Of reading alone.
    pub read: f64,
    /// Of copying: bytes read plus bytes written.
    pub copy: f64,
}

/// Samples of each rate; the best counts, since nothing makes memory faster than it is.
const SAMPLES: usize = 12;

impl Rates {
    /// Measures both on arrays of several times the device's cache.
    ///
    /// # Errors
    /// The driver's own failure, or no memory for the arrays.
    pub fn measure_blocking(queue: &Queue) -> Result<Self> {
        let context = queue.context();
        let traits = context.device().traits();
        // On a CPU an item is a loop, and a group of one walks memory in its order.
        let group_size = match traits.device_type {
            DeviceType::Cpu => 1,
            _ => 1 << traits.max_group_size.clamp(1, 256).ilog2(),
        };
        let parameters = cl_kernels::rates::Rates { group_size: group_size as u32 };
        let key = KernelKey::new(
            SOURCE,
            ValueType::F32,
            OffsetType::U32,
            Accumulate::Plain,
            false,
            &parameters,
        );
        let program = context.program(&key)?;

        // Past any cache by far (a GPU may answer for its first level only), yet small enough for the
        // smallest device: an eighth of what it gives at once.
        let least = if traits.device_type == DeviceType::Cpu { 64 << 20 } else { 1 << 30 };
        let largest = (traits.max_allocation_bytes / 8).max(1 << 20);
        let bytes = (4 * traits.cache_bytes).clamp(least, 1 << 30).min(largest) as usize;
        let source = DeviceArray::<[f32; 4]>::upload_blocking(queue, &vec![[1.0; 4]; bytes / 16])?;
        let target = DeviceArray::<[f32; 4]>::upload_blocking(queue, &vec![[0.0; 4]; bytes / 16])?;
        let count = source.len() as u32;
        let groups = (traits.compute_units as usize * 64).min(source.len().div_ceil(group_size));
        let size = Size { groups, group_size };

        let read = ReadArguments { count, source: source.argument(), target: target.argument() };
        let copy = CopyArguments { count, source: source.argument(), target: target.argument() };
        let read_time = fastest(queue, &mut program.kernel("read_stream")?, &read, size)?;
        let copy_time = fastest(queue, &mut program.kernel("copy_stream")?, &copy, size)?;
        Ok(Rates {
            read: bytes as f64 / read_time.as_secs_f64(),
            copy: 2.0 * bytes as f64 / copy_time.as_secs_f64(),
        })
    }

    /// The larger of the two, which limits are computed from.
    pub fn best(&self) -> f64 {
        self.read.max(self.copy)
    }
}

/// Time of one launch, from several launches between two finishes.
fn fastest<'a, A: KernelArguments<&'a Memory>>(
    queue: &Queue,
    kernel: &mut crate::raw::Kernel,
    arguments: &A,
    size: Size,
) -> Result<Duration> {
    const LAUNCHES: u32 = 8;
    let mut best = Duration::MAX;
    for _ in 0..SAMPLES {
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            // SAFETY: both arrays hold `count` elements.
            #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
            unsafe {
                launch(queue, kernel, arguments, size, &[])?
            };
        }
        queue.finish_blocking()?;
        best = best.min(start.elapsed() / LAUNCHES);
    }
    Ok(best)
}
