//! Dense vectors on the device: every operation on every length at which something changes, wherever arrays begin.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

mod elementwise;
mod launches;
mod reductions;
mod refusals;
mod sums;

use bytemuck::Pod;
use conformance::{device, is_interpreter};
use csr_core::Accumulator;
use num_traits::Float;
use sparrow::{Accumulate, DeviceArray, KernelBuild, Queue, Real, VectorOptions, Vectors};

/// Elements on either side of an array, which nothing may touch.
const CANARIES: usize = 16;

/// An array between canaries, `offset` elements behind a place that is aligned.
struct Placed<T> {
    whole: DeviceArray<T>,
    part: DeviceArray<T>,
    start: usize,
    canary: T,
}

impl<T: Pod + PartialEq + std::fmt::Debug> Placed<T> {
    fn new(queue: &Queue, data: &[T], offset: usize, canary: T) -> Self {
        let start = CANARIES + offset;
        let mut all = vec![canary; start];
        all.extend_from_slice(data);
        all.extend([canary; CANARIES]);
        let whole = DeviceArray::upload_blocking(queue, &all).unwrap();
        let part = whole.slice(start..start + data.len()).unwrap();
        Placed { whole, part, start, canary }
    }

    /// The elements, once the canaries were seen alive.
    fn read(&self, queue: &Queue) -> Vec<T> {
        let all = self.whole.read_blocking(queue).unwrap();
        let end = self.start + self.part.len();
        let around = all[..self.start].iter().chain(&all[end..]);
        assert!(around.into_iter().all(|&element| element == self.canary), "a canary is dead");
        all[self.start..end].to_vec()
    }
}

fn place<T: Accumulator + Real + Float>(queue: &Queue, data: &[T], offset: usize) -> Placed<T> {
    Placed::new(queue, data, offset, T::from_f64(-77.0))
}

/// Groups as a GPU has them; `None` is what the device is given by itself.
const TILINGS: [Option<[u32; 3]>; 3] = [None, Some([64, 4, 2]), Some([16, 2, 4])];

fn options(tiling: Option<[u32; 3]>, accumulate: Accumulate, on_device: bool) -> VectorOptions {
    let names = ["group_size", "lanes", "loads"];
    let parameters = tiling.map_or(Vec::new(), |values| {
        names.into_iter().zip(values).map(|(name, value)| (name.to_owned(), value)).collect()
    });
    let (build, scalars_on_device) = (KernelBuild::AtFirstUse, on_device);
    VectorOptions { accumulate, scalars_on_device, build, parameters }
}

/// Around tiles, pieces and groups of [`TILINGS`], and more than one group for each. An interpreter has the longest ones
/// only where they are a limit: a group of one item takes 8,192 elements.
fn lengths(tiling: Option<[u32; 3]>) -> Vec<usize> {
    let mut lengths = vec![0, 1, 2, 15, 17, 63, 64, 127, 128, 129, 511, 512, 513, 1025];
    match (is_interpreter(&device()), tiling) {
        (false, _) => lengths.extend([8192, 8193, 16_384, 40_961, 1_100_003]),
        (true, None) => lengths.push(8193),
        (true, Some(_)) => (),
    }
    lengths
}

/// Where x, y and r begin: aligned, each elsewhere, all a little off.
const PLACES: [[usize; 3]; 3] = [[0, 0, 0], [1, 0, 3], [5, 5, 5]];

/// The places for so many elements. Where x, y and r begin changes how a chunk begins and ends, and not what follows it:
/// of a million elements, which the host compares one by one, only that in which each array begins elsewhere; on an
/// interpreter, of many, that and the aligned one.
fn places(length: usize) -> &'static [[usize; 3]] {
    match (length, is_interpreter(&device())) {
        (100_000.., _) => &PLACES[1..2],
        (2000.., true) => &PLACES[..2],
        _ => &PLACES,
    }
}

fn random<T: Accumulator + Real + Float>(seed: u64, length: usize) -> Vec<T> {
    csr_core::random_vector(seed, length)
}

fn nan<T: Accumulator + Real + Float>(length: usize) -> Vec<T> {
    vec![T::nan(); length]
}

/// Each tiling, each way of summing and each way of reading scalars, but not all of them together.
const FORMS: [(Option<[u32; 3]>, Accumulate, bool); 3] = [
    (TILINGS[0], Accumulate::Plain, false),
    (TILINGS[1], Accumulate::Compensated, true),
    (TILINGS[2], Accumulate::Plain, false),
];

/// The tilings of [`both_kinds`].
const BOTH: [Option<[u32; 3]>; 2] = [TILINGS[0], TILINGS[1]];

/// Vectors with what the device is given by itself, and with groups of many items.
fn both_kinds<T: Accumulator + Real + Float>(
    queue: &Queue,
    accumulate: Accumulate,
) -> [Vectors<T>; 2] {
    BOTH.map(|tiling| Vectors::new_blocking(queue, &options(tiling, accumulate, false)).unwrap())
}
