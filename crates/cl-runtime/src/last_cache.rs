//! Where the last cache of a device ends, measured: there are GPUs that answer for another of their caches, and say
//! 4 MiB where 50 are.
//!
//! Arrays of growing size are read, so often in one launch that the launch itself counts for little. The cache ends where
//! the rate falls below the geometric mean of the fastest and of the rate on the largest array, which no cache holds.

use std::time::Duration;

use cl_kernels::rates::{self as streams, ReadArguments};
use cl_kernels::{DeviceType, KernelKey};
use csr_core::ValueType;

use crate::launch::Size;
use crate::rates::{Effort, fastest, measure_key, stream_group_size, stream_size};
use crate::scratch::zeros_blocking;
use crate::{DeviceArray, Queue, Result};

/// Of the arrays, in bytes.
const LEAST: u64 = 1 << 20;
const LARGEST: u64 = 1 << 29;

/// A cache that is not faster than memory by this factor cannot be told from it.
const FASTER: f64 = 1.15;

/// What a launch should take, and passes over an array in one at most.
const LAUNCH: Duration = Duration::from_micros(250);
const MOST_PASSES: u64 = 1024;

/// Groups of a compute unit: all of them run at once, or an array is not read as a whole before it is read again.
const GROUPS_A_UNIT: usize = 4;

/// Bytes of the last cache before memory, by how fast arrays of 1 to 512 MiB are read; nothing where no cache is seen,
/// and for a CPU, whose runtime asks the system. Takes less than half a second on a GPU.
///
/// # Errors
/// The driver's own failure, or no memory for the array.
pub fn last_cache_bytes_blocking(queue: &Queue) -> Result<Option<u64>> {
    let context = queue.context();
    let traits = context.device().traits();
    if traits.device_type == DeviceType::Cpu {
        return Ok(None);
    }
    let parameters = streams::Rates { group_size: stream_group_size(queue) as u32 };
    let key: KernelKey = measure_key(streams::SOURCE, ValueType::F32, &parameters);
    let mut kernel = context.program(&key)?.kernel("read_stream")?;
    let largest = LARGEST.min(traits.max_allocation_bytes / 2).min(traits.global_bytes / 4);
    let array: DeviceArray<[f32; 4]> = zeros_blocking(queue, largest.max(LEAST) as usize / 16)?;
    let units = traits.compute_units.max(1) as usize;
    let mut pass = |bytes: u64, passes: u64, samples: usize| -> Result<f64> {
        let (count, passes) = ((bytes / 16) as u32, passes as u32);
        let (source, target) = (array.argument(), array.argument());
        let arguments = ReadArguments { count, passes, source, target };
        let effort = Effort { samples, time: Duration::from_millis(3), launches: 2 };
        let all = stream_size(queue, count as usize);
        let size = Size { groups: all.groups.min(units * GROUPS_A_UNIT), ..all };
        let time = fastest(queue, &mut kernel, &arguments, size, effort)?;
        Ok(time.as_secs_f64() / f64::from(passes))
    };
    // How much is read in the time that a launch should take, about.
    let rate = LEAST as f64 / pass(LEAST, MOST_PASSES / 8, 2)?;
    let launch_bytes = (rate * LAUNCH.as_secs_f64()) as u64;
    let mut times = Vec::new();
    for bytes in sizes(largest) {
        times.push((bytes, pass(bytes, (launch_bytes / bytes).clamp(1, MOST_PASSES), 4)?));
    }
    let found = end_of_cache(&times);
    tracing::debug!(?times, ?found, "the last cache");
    Ok(found)
}

/// Powers of two, and one and a half times each, up to `largest`.
fn sizes(largest: u64) -> impl Iterator<Item = u64> {
    let powers = std::iter::successors(Some(LEAST), |bytes| Some(bytes * 2));
    powers.flat_map(|bytes| [bytes, bytes + bytes / 2]).take_while(move |&bytes| bytes <= largest)
}

/// By the bytes of arrays, ascending, and the seconds of one pass over each.
fn end_of_cache(times: &[(u64, f64)]) -> Option<u64> {
    let rates: Vec<_> =
        times.iter().map(|&(bytes, seconds)| (bytes, bytes as f64 / seconds)).collect();
    let &(_, memory) = rates.last()?;
    let cached = rates.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
    if cached < FASTER * memory {
        return None;
    }
    let middle = (cached * memory).sqrt();
    let within = rates.iter().filter(|&&(_, rate)| rate >= middle);
    within.map(|&(bytes, _)| bytes).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds of passes where reads from a cache of so many bytes have 5 TB/s, others 2 TB/s, and small arrays less.
    fn times(cache: u64) -> Vec<(u64, f64)> {
        let rate = |bytes| if bytes <= cache { 5e12 } else { 2e12 };
        sizes(LARGEST).map(|bytes| (bytes, 1e-8 + bytes as f64 / rate(bytes))).collect()
    }

    #[test]
    fn the_cache_ends_where_reading_gets_slower() {
        assert_eq!(end_of_cache(&times(50 << 20)), Some(48 << 20));
        assert_eq!(end_of_cache(&times(100 << 20)), Some(96 << 20));
    }

    #[test]
    fn memory_that_is_read_at_one_rate_shows_no_cache() {
        assert_eq!(end_of_cache(&times(0)), None);
        assert_eq!(end_of_cache(&times(LARGEST)), None);
        assert_eq!(end_of_cache(&[]), None);
    }
}
