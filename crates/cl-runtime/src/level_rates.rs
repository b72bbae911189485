//! How fast a device streams and gathers out of each level of its memory, and what a launch costs: measured.

use std::time::Duration;

use cl_kernels::gather_rate::{self, GatherRate};
use cl_kernels::launch_cost::{self, LaunchCost};
use cl_kernels::rates::{self as streams, ReadArguments};
use cl_kernels::{DeviceType, KernelArguments};
use csr_core::ValueType;
use csr_core::model::Curve;

use crate::launch::Size;
use crate::rates::{Effort, fastest, measure_key, stream_group_size, stream_size};
use crate::raw::Memory;
use crate::{DeviceArray, Queue, Result};

/// Times that depend on how much is touched again and again, and so on which cache holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelRates {
    /// Of one launch with nothing to do, launches queued back to back.
    pub launch: Duration,
    /// Seconds a byte of a read-only stream over so many bytes.
    pub streams: Curve,
    /// Seconds a gather of one element from anywhere in so many bytes, by all compute units together.
    pub gathers: Curve,
}

/// The smallest arrays, in bytes: a first cache holds half of it. Each next is four times as large.
const LEAST_GATHERED: u64 = 16 << 10;
const LEAST_STREAMED: u64 = 1 << 20;
const STEP: u64 = 4;

/// Elements that an item gathers, and all of them together.
const GATHERS_PER_ITEM: usize = 64;
const GATHERS_ON_CPU: usize = 1 << 21;
const GATHERS_ON_GPU: usize = 1 << 25;

const FEW: Effort = Effort { samples: 5, launches: 2 };
const MANY: Effort = Effort { samples: 7, launches: 200 };

impl LevelRates {
    /// Measures on arrays from a few KiB to four times `cache_bytes`, the last cache before memory, with elements
    /// of `element`, which is f32 or f64.
    ///
    /// # Errors
    /// The driver's own failure, or no memory for the arrays.
    pub fn measure_blocking(queue: &Queue, cache_bytes: u64, element: ValueType) -> Result<Self> {
        let context = queue.context();
        let traits = context.device().traits();
        let largest = (traits.max_allocation_bytes / 8).clamp(LEAST_STREAMED, 1 << 30);
        let largest = (STEP * cache_bytes).clamp(LEAST_STREAMED, largest);
        let array = DeviceArray::<[f32; 4]>::upload_blocking(
            queue,
            &vec![[0.0; 4]; largest as usize / 16],
        )?;
        let bench = Bench { queue, array: &array };
        let launch = bench.launch_blocking()?;

        let mut streams = Curve::default();
        for bytes in sizes(LEAST_STREAMED, largest, cache_bytes) {
            streams.push(bytes, bench.stream_blocking(bytes, launch)?);
        }
        let mut gathers = Curve::default();
        for bytes in sizes(LEAST_GATHERED, largest, cache_bytes) {
            gathers.push(bytes, bench.gather_blocking(bytes, element)?);
        }
        Ok(LevelRates { launch, streams, gathers })
    }
}

/// Sizes from `least` to `largest`, and half of the cache: all of it in the cache, nearly nothing in any before.
fn sizes(least: u64, largest: u64, cache_bytes: u64) -> Vec<u64> {
    let steps = std::iter::successors(Some(least), |bytes| Some(bytes * STEP));
    let mut sizes: Vec<u64> = steps.take_while(|&bytes| bytes < largest).collect();
    sizes.extend([cache_bytes / 2, largest].into_iter().filter(|&bytes| bytes >= least));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// What is measured on.
struct Bench<'a> {
    queue: &'a Queue,
    array: &'a DeviceArray<[f32; 4]>,
}

impl Bench<'_> {
    fn launch_blocking(&self) -> Result<Duration> {
        let group_size = self.group_size(64);
        let parameters = LaunchCost { group_size: group_size as u32 };
        let key = measure_key(launch_cost::SOURCE, ValueType::F32, &parameters);
        let target = self.array.argument();
        let arguments = launch_cost::Arguments { busy: 1, target };
        self.time(&key, &arguments, Size { groups: 1, group_size }, MANY)
    }

    /// Seconds a byte.
    fn stream_blocking(&self, bytes: u64, launch: Duration) -> Result<f64> {
        let parameters = streams::Rates { group_size: stream_group_size(self.queue) as u32 };
        let key = measure_key(streams::SOURCE, ValueType::F32, &parameters);
        let count = bytes as u32 / 16;
        let (source, target) = (self.array.argument(), self.array.argument());
        let arguments = ReadArguments { count, source, target };
        let size = stream_size(self.queue, count as usize);
        let launches = ((64 << 20) / bytes).clamp(2, 16) as u32;
        let time = self.time(&key, &arguments, size, Effort { launches, ..FEW })?;
        // What a launch costs is counted apart.
        Ok(time.saturating_sub(launch).max(time / 4).as_secs_f64() / bytes as f64)
    }

    /// Seconds a gather.
    fn gather_blocking(&self, bytes: u64, element: ValueType) -> Result<f64> {
        let is_cpu = self.queue.context().device().traits().device_type == DeviceType::Cpu;
        let gathers = if is_cpu { GATHERS_ON_CPU } else { GATHERS_ON_GPU };
        let group_size = self.group_size(if is_cpu { 64 } else { 256 });
        let parameters = GatherRate { group_size: group_size as u32 };
        let key = measure_key(gather_rate::SOURCE, element, &parameters);
        let arguments = gather_rate::Arguments {
            gathers: GATHERS_PER_ITEM as u32,
            count: (bytes / element.size_bytes() as u64) as u32,
            source: self.array.argument(),
            target: self.array.argument(),
        };
        let groups = gathers / GATHERS_PER_ITEM / group_size;
        let time = self.time(&key, &arguments, Size { groups, group_size }, FEW)?;
        Ok(time.as_secs_f64() / gathers as f64)
    }

    /// The largest power of two that is allowed and at most `wanted`.
    fn group_size(&self, wanted: u64) -> usize {
        let most = self.queue.context().device().traits().max_group_size;
        1 << most.clamp(1, wanted).ilog2()
    }

    fn time<'a, A: KernelArguments<&'a Memory>>(
        &self,
        key: &cl_kernels::KernelKey,
        arguments: &A,
        size: Size,
        effort: Effort,
    ) -> Result<Duration> {
        let program = self.queue.context().program(key)?;
        fastest(self.queue, &mut program.kernel(A::KERNEL)?, arguments, size, effort)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_cover_every_cache_and_half_of_the_last() {
        assert_eq!(sizes(16, 300, 100), [16, 50, 64, 256, 300]);
        assert_eq!(sizes(16, 64, 16), [16, 64]);
    }
}
