//! How fast a device moves memory: measured, never looked up.

use std::time::{Duration, Instant};

use cl_kernels::rates::{CopyArguments, ReadArguments, SOURCE};
use cl_kernels::{Accumulate, DeviceTraits, DeviceType, KernelKey, Parameters};
use csr_core::{OffsetType, ValueType};

use crate::arguments::Arguments;
use crate::launch::{Size, launch_after};
use crate::scratch::zeros_blocking;
use crate::{DeviceArray, Queue, Result};

/// Rates of device memory, in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Of reading alone.
    pub read: f64,
    /// Of copying: bytes read plus bytes written.
    pub copy: f64,
}

/// How often a kernel is timed; the best counts, since nothing makes memory faster than it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Samples, at least.
    pub(crate) samples: usize,
    /// Until which more are taken, for a moment in which nothing else runs.
    pub(crate) time: Duration,
    /// Launches of each, between two finishes.
    pub(crate) launches: u32,
}

/// That of a stream: enough on a GPU, where a launch takes a millisecond, and not many seconds on a CPU.
const EFFORT: Effort = Effort { samples: 3, time: Duration::from_millis(150), launches: 2 };

/// Bytes of each array that is streamed on a CPU, where its cache is not larger: both together are twice the cache.
const BYTES_ON_CPU: u64 = 64 << 20;

impl Rates {
    /// Measures both on arrays of several times the device's cache.
    ///
    /// # Errors
    /// The driver's own failure, or no memory for the arrays.
    pub fn measure_blocking(queue: &Queue) -> Result<Self> {
        let context = queue.context();
        let traits = context.device().traits();
        let group_size = stream_group_size(queue);
        let parameters = cl_kernels::rates::Rates { group_size: group_size as u32 };
        let program = context.program(&measure_key(SOURCE, ValueType::F32, &parameters))?;

        let bytes = stream_bytes(traits) as usize;
        let source: DeviceArray<[f32; 4]> = zeros_blocking(queue, bytes / 16)?;
        let target: DeviceArray<[f32; 4]> = zeros_blocking(queue, bytes / 16)?;
        let count = source.len() as u32;
        let size = stream_size(queue, source.len());

        let (reads, writes) = (source.argument(), target.argument());
        let read = ReadArguments { count, passes: 1, source: reads, target: writes };
        let copy = CopyArguments { count, source: source.argument(), target: target.argument() };
        let read_time = fastest(queue, &mut program.kernel("read_stream")?, &read, size, EFFORT)?;
        let copy_time = fastest(queue, &mut program.kernel("copy_stream")?, &copy, size, EFFORT)?;
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

/// Bytes of each of the two arrays that are streamed.
fn stream_bytes(traits: &DeviceTraits) -> u64 {
    let bytes = past_cache_bytes(traits, traits.cache_bytes);
    match traits.device_type {
        DeviceType::Cpu => bytes.min(BYTES_ON_CPU.max(traits.cache_bytes)),
        _ => bytes,
    }
}

/// Bytes past any cache by far (a GPU may answer for its first level only), yet small enough for the smallest
/// device: an eighth of what it gives at once.
pub(crate) fn past_cache_bytes(traits: &DeviceTraits, cache_bytes: u64) -> u64 {
    let least = if traits.device_type == DeviceType::Cpu { 64 << 20 } else { 1 << 30 };
    let largest = (traits.max_allocation_bytes / 8).max(1 << 20);
    (4 * cache_bytes).clamp(least, 1 << 30).min(largest)
}

/// Items of a group that streams. On a CPU an item is a loop, and a group of one reads memory in its order.
pub(crate) fn stream_group_size(queue: &Queue) -> usize {
    let traits = queue.context().device().traits();
    match traits.device_type {
        DeviceType::Cpu => 1,
        _ => 1 << traits.max_group_size.clamp(1, 256).ilog2(),
    }
}

/// How many items stream `count` elements of 16 bytes.
pub(crate) fn stream_size(queue: &Queue, count: usize) -> Size {
    let group_size = stream_group_size(queue);
    let most = queue.context().device().traits().compute_units as usize * 64;
    Size { groups: most.min(count.div_ceil(group_size)), group_size }
}

/// The key of a kernel that measures.
pub(crate) fn measure_key<P: Parameters>(
    source: &'static str,
    value_type: ValueType,
    parameters: &P,
) -> KernelKey {
    let (offset_type, accumulate) = (OffsetType::U32, Accumulate::Plain);
    KernelKey::new(source, value_type, offset_type, accumulate, false, parameters)
}

/// Time of one launch, from several launches between two finishes.
pub(crate) fn fastest<'a>(
    queue: &Queue,
    kernel: &mut crate::raw::Kernel,
    arguments: &dyn Arguments<'a>,
    size: Size,
    effort: Effort,
) -> Result<Duration> {
    let mut best = Duration::MAX;
    let begin = Instant::now();
    let mut samples = 0;
    while samples < effort.samples || begin.elapsed() < effort.time {
        samples += 1;
        let start = Instant::now();
        for _ in 0..effort.launches {
            // SAFETY: the arrays hold as many elements as the arguments say.
            #[expect(unsafe_code, reason = "arguments and arrays are this module's own")]
            unsafe {
                launch_after(queue, kernel, arguments, size, &[])?
            };
        }
        queue.finish_blocking()?;
        best = best.min(start.elapsed() / effort.launches);
    }
    Ok(best)
}
