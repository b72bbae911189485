//! How fast a device streams and gathers out of each level of its memory, and what a launch costs: measured.

use std::time::Duration;

use cl_kernels::gather_rate::{self, CHAIN, ChainArguments, GATHERS, GatherRate, RowArguments};
use cl_kernels::launch_cost::{self, LaunchCost};
use cl_kernels::rates::{self as streams, ReadArguments};
use cl_kernels::{DeviceType, KernelKey};
use csr_core::ValueType;
use csr_core::model::{Curve, random_indices, random_lengths};

use crate::arguments::Arguments;
use crate::launch::Size;
use crate::rates::{
    Effort, fastest, measure_key, past_cache_bytes, stream_group_size, stream_size,
};
use crate::{DeviceArray, Queue, Result};

/// Times that depend on how much is touched again and again, and so on which cache holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelRates {
    /// Of one launch with nothing to do, launches queued back to back.
    pub launch: Duration,
    /// Seconds a byte of a read-only stream over so many bytes.
    pub streams: Curve,
    /// Seconds a gather of one element from anywhere in so many bytes, by all compute units together; on a CPU
    /// device by items that make [`LevelRates::ROW`] each.
    pub gathers: Curve,
    /// Seconds until a load from anywhere in so many bytes is there, few others under way; none on a CPU device.
    pub latencies: Curve,
    /// On a CPU device, where an item is a loop: what gathers out of the first cache cost by rows.
    pub rows: Option<RowRates>,
}

/// Seconds a gather in rows of so many gathers, an item a row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowRates {
    /// All rows have so many.
    pub foreseen: Curve,
    /// Rows have half as many to half as many more, at random: where one ends is unpredictable.
    pub unforeseen: Curve,
}

/// The smallest arrays, in bytes: a first cache holds half of it. What is gathered from grows by four; what is
/// streamed by two, since a cache holds either all of it or next to nothing.
const LEAST_GATHERED: u64 = 16 << 10;
const LEAST_STREAMED: u64 = 1 << 20;

/// Gathers of a row, for [`RowRates`].
const LENGTHS: [u32; 5] = [1, 4, 16, 64, 256];

/// Gathers of a launch: so many that no processor learns by heart where rows end.
const GATHERS_ON_CPU: usize = 1 << 20;
const GATHERS_ON_GPU: usize = 1 << 25;

const FEW: Effort = Effort { samples: 5, time: Duration::from_millis(100), launches: 2 };
const MANY: Effort = Effort { launches: 200, ..FEW };

impl LevelRates {
    /// Gathers of an item on a CPU device, for [`LevelRates::gathers`].
    pub const ROW: u32 = 16;

    /// Measures on arrays from a few KiB to four times `cache_bytes`, the last cache before memory, with elements
    /// of `element`, which is f32 or f64.
    ///
    /// # Errors
    /// The driver's own failure, or no memory for the arrays.
    pub fn measure_blocking(queue: &Queue, cache_bytes: u64, element: ValueType) -> Result<Self> {
        let traits = queue.context().device().traits();
        let is_cpu = traits.device_type == DeviceType::Cpu;
        // As for the rate of memory itself: a GPU may answer for its first cache only.
        let largest = past_cache_bytes(traits, cache_bytes);
        let bench =
            Bench::new(queue, largest, if is_cpu { GATHERS_ON_CPU } else { GATHERS_ON_GPU })?;
        let launch = bench.launch()?;

        let mut streams = Curve::default();
        for bytes in sizes(LEAST_STREAMED, 2, largest, cache_bytes) {
            streams.push(bytes, bench.stream(bytes, launch)?);
        }
        let mut gathers = Curve::default();
        let even_rows =
            if is_cpu { Some(bench.rows(GATHERS_ON_CPU as u32, Self::ROW, 0)?) } else { None };
        for bytes in sizes(LEAST_GATHERED, 4, largest, cache_bytes) {
            let seconds = match &even_rows {
                Some(rows) => bench.gather_rows(bytes, element, rows)?,
                None => bench.gather(bytes, element)?,
            };
            gathers.push(bytes, seconds);
        }
        let rows = if is_cpu { Some(bench.row_rates(element, launch)?) } else { None };
        let mut latencies = Curve::default();
        if !is_cpu {
            let largest = (4 * GATHERS_ON_GPU as u64).min(largest);
            for bytes in sizes(LEAST_STREAMED, 2, largest, cache_bytes) {
                latencies.push(bytes, bench.latency(bytes)?);
            }
        }
        let rates = LevelRates { launch, streams, gathers, latencies, rows };
        tracing::debug!(?rates, %element, "measured");
        Ok(rates)
    }
}

/// Powers of two from `least` to `largest`, each `factor` times the one before, and among them the largest within half
/// of the cache: all of that is in the cache, nearly nothing in any before.
fn sizes(least: u64, factor: u64, largest: u64, cache_bytes: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(least), |bytes| Some(bytes * factor));
    let mut sizes: Vec<u64> = powers.take_while(|&bytes| bytes < largest).collect();
    let power_below = |bytes: u64| 1 << bytes.max(1).ilog2();
    let others = [cache_bytes / 2, largest].map(power_below);
    sizes.extend(others.into_iter().filter(|&bytes| bytes >= least));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// What is measured on.
struct Bench<'a> {
    queue: &'a Queue,
    /// What is streamed and gathered from.
    array: DeviceArray<[f32; 4]>,
    indices: DeviceArray<u32>,
    /// Zeros of either type.
    weights: DeviceArray<f64>,
    sums: DeviceArray<f64>,
}

impl<'a> Bench<'a> {
    fn new(queue: &'a Queue, bytes: u64, gathers: usize) -> Result<Self> {
        let array = vec![[0.0; 4]; bytes as usize / 16];
        let is_cpu = gathers == GATHERS_ON_CPU;
        let sums = vec![0.0; if is_cpu { gathers } else { gathers / GATHERS }];
        Ok(Bench {
            queue,
            array: DeviceArray::upload_blocking(queue, &array)?,
            indices: DeviceArray::upload_blocking(queue, &random_indices(gathers))?,
            weights: DeviceArray::upload_blocking(
                queue,
                &vec![0.0; if is_cpu { gathers } else { 1 }],
            )?,
            sums: DeviceArray::upload_blocking(queue, &sums)?,
        })
    }

    fn launch(&self) -> Result<Duration> {
        let group_size = self.group_size(64);
        let parameters = LaunchCost { group_size: group_size as u32 };
        let key = measure_key(launch_cost::SOURCE, ValueType::F32, &parameters);
        let target = self.array.argument();
        let arguments = launch_cost::Arguments { busy: 1, target };
        self.time(&key, &arguments, Size { groups: 1, group_size }, MANY)
    }

    /// Seconds a byte.
    fn stream(&self, bytes: u64, launch: Duration) -> Result<f64> {
        let parameters = streams::Rates { group_size: stream_group_size(self.queue) as u32 };
        let key = measure_key(streams::SOURCE, ValueType::F32, &parameters);
        let count = (bytes / 16) as u32;
        let (source, target) = (self.array.argument(), self.array.argument());
        let arguments = ReadArguments { count, passes: 1, source, target };
        let size = stream_size(self.queue, count as usize);
        let launches = ((64 << 20) / bytes).clamp(2, 16) as u32;
        let time = self.time(&key, &arguments, size, Effort { launches, ..FEW })?;
        // What a launch costs is counted apart.
        Ok(time.saturating_sub(launch).max(time / 4).as_secs_f64() / bytes as f64)
    }

    /// Seconds a gather, by items side by side.
    fn gather(&self, bytes: u64, element: ValueType) -> Result<f64> {
        let group_size = self.group_size(256);
        let groups = self.indices.len() / (GATHERS * group_size);
        let arguments = gather_rate::Arguments {
            mask: (bytes / element.size_bytes() as u64) as u32 - 1,
            indices: self.indices.argument(),
            source: self.array.argument(),
            target: self.sums.argument(),
        };
        let key = gather_key(element, group_size);
        let time = self.time(&key, &arguments, Size { groups, group_size }, FEW)?;
        Ok(time.as_secs_f64() / (groups * group_size * GATHERS) as f64)
    }

    /// Seconds a load that is waited for: by so few items that none stands in another's way, and by so many that
    /// all indices are read before the first comes again.
    fn latency(&self, bytes: u64) -> Result<f64> {
        let group_size = self.group_size(256);
        let items = (bytes as usize / (4 * CHAIN)).clamp(group_size, 64 * group_size);
        let arguments = ChainArguments {
            mask: (bytes / 4) as u32 - 1,
            indices: self.indices.argument(),
            target: self.sums.argument(),
        };
        let key = gather_key(ValueType::F32, group_size);
        let size = Size { groups: items.div_ceil(group_size), group_size };
        Ok(self.time(&key, &arguments, size, FEW)?.as_secs_f64() / CHAIN as f64)
    }

    /// Seconds a gather, by items that have a row each.
    fn gather_rows(&self, bytes: u64, element: ValueType, rows: &Rows) -> Result<f64> {
        // As csr_scalar has them.
        let group_size = self.group_size(64);
        let count = rows.offsets.len() - 1;
        let arguments = RowArguments {
            rows: count as u32,
            mask: (bytes / element.size_bytes() as u64) as u32 - 1,
            offsets: rows.offsets.argument(),
            indices: self.indices.argument(),
            weights: self.weights.argument(),
            source: self.array.argument(),
            target: self.sums.argument(),
        };
        let size = Size { groups: count.div_ceil(group_size), group_size };
        let launches = (GATHERS_ON_CPU / rows.gathers.max(1)).clamp(2, 32) as u32;
        let effort = Effort { launches, ..FEW };
        let time = self.time(&gather_key(element, group_size), &arguments, size, effort)?;
        Ok(time.as_secs_f64() / rows.gathers as f64)
    }

    fn row_rates(&self, element: ValueType, launch: Duration) -> Result<RowRates> {
        let mut rates = RowRates { foreseen: Curve::default(), unforeseen: Curve::default() };
        for length in LENGTHS {
            let spread = length.div_ceil(2);
            for (curve, spread) in [(&mut rates.foreseen, 0), (&mut rates.unforeseen, spread)] {
                let rows = self.rows(GATHERS_ON_CPU as u32, length, spread)?;
                // What a launch costs is counted apart.
                let launch = launch.as_secs_f64() / rows.gathers as f64;
                let seconds = self.gather_rows(LEAST_GATHERED, element, &rows)?;
                curve.push(length.into(), (seconds - launch).max(seconds / 4.0));
            }
        }
        Ok(rates)
    }

    /// Rows of `length` indices, more or less by up to `spread`, at most `total` in all.
    fn rows(&self, total: u32, length: u32, spread: u32) -> Result<Rows> {
        let offsets = random_lengths(total, length, spread);
        let gathers = offsets.last().copied().unwrap_or(0) as usize;
        Ok(Rows { offsets: DeviceArray::upload_blocking(self.queue, &offsets)?, gathers })
    }

    /// The largest power of two that is allowed and at most `wanted`.
    fn group_size(&self, wanted: u64) -> usize {
        let most = self.queue.context().device().traits().max_group_size;
        1 << most.clamp(1, wanted).ilog2()
    }

    fn time<'m>(
        &self,
        key: &KernelKey,
        arguments: &dyn Arguments<'m>,
        size: Size,
        effort: Effort,
    ) -> Result<Duration> {
        let program = self.queue.context().program(key)?;
        fastest(self.queue, &mut program.kernel(arguments.kernel_name())?, arguments, size, effort)
    }
}

fn gather_key(element: ValueType, group_size: usize) -> KernelKey {
    let parameters = GatherRate { group_size: group_size as u32 };
    measure_key(gather_rate::SOURCE, element, &parameters)
}

/// Rows of indices on the device.
struct Rows {
    offsets: DeviceArray<u32>,
    gathers: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_cover_every_cache_and_half_of_the_last() {
        assert_eq!(sizes(16, 4, 300, 100), [16, 32, 64, 256]);
        assert_eq!(sizes(16, 4, 64, 16), [16, 64]);
    }
}
