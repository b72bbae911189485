//! Numbers come in the order of their keys, and those with equal keys in the order they had.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_kernels::sort::Sort;
use cl_runtime::{Keyed, Pod};
use conformance::{device, is_interpreter, queue};
use sparrow::{DeviceArray, Queue};

/// Small, so that few keys make many tiles: 32 keys each.
const SMALL: Sort = Sort { group_size: 8, keys_per_item: 4 };

fn check<K: Pod + Ord + std::fmt::Debug>(queue: &Queue, keys: &[K], bits: u32, parameters: Sort) {
    let numbers: Vec<u32> = (0..keys.len() as u32).map(|at| at * 3 + 7).collect();
    let unsorted = Keyed {
        keys: DeviceArray::upload_blocking(queue, keys).unwrap().into_any(),
        numbers: DeviceArray::upload_blocking(queue, &numbers).unwrap(),
    };
    let sorted = unsorted.sort_with(queue, bits, parameters).unwrap();
    let mut expected: Vec<(K, u32)> = keys.iter().copied().zip(numbers).collect();
    expected.sort_by_key(|&(key, _)| key);
    let keys = sorted.keys.typed::<K>().unwrap().read_blocking(queue).unwrap();
    let numbers = sorted.numbers.read_blocking(queue).unwrap();
    let found: Vec<(K, u32)> = keys.into_iter().zip(numbers).collect();
    assert!(found == expected, "{} keys of {bits} bits", found.len());
}

/// `default`, or on an interpreter, to which each item of each group is a loop, `few`.
fn size(default: u64, few: u64) -> u64 {
    if is_interpreter(&device()) { few } else { default }
}

fn mixed(at: u64) -> u64 {
    let at = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (at ^ at >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[test]
fn keys_of_every_width_are_sorted_and_equal_ones_keep_their_order() {
    let queue = queue();
    for bits in [0, 1, 3, 8, 9, 23, 46, 63, 64] {
        let below = |at| if bits == 0 { 0 } else { mixed(at) >> (64 - bits) };
        let keys: Vec<u64> = (0..size(300, 100)).map(below).collect();
        check(&queue, &keys, bits, SMALL);
        if bits <= 32 {
            let keys: Vec<u32> = keys.iter().map(|key| *key as u32).collect();
            check(&queue, &keys, bits, SMALL);
        }
    }
}

#[test]
fn every_length_around_a_tile_is_sorted() {
    let queue = queue();
    for len in [0, 1, 2, 31, 32, 33, 63, 64, 65, size(1000, 200)] {
        // Keys with all bits set are what fills the last tile: they must not be taken for it.
        let keys: Vec<u32> =
            (0..len).map(|at| if at % 3 == 0 { u32::MAX } else { mixed(at) as u32 }).collect();
        check(&queue, &keys, 32, SMALL);
        // Where each pass takes long, wide keys, which take twice as many, have none, one tile and two.
        if is_interpreter(&device()) && ![0, 31, 32, 33, 65].contains(&len) {
            continue;
        }
        let keys: Vec<u64> =
            (0..len).map(|at| if at % 3 == 0 { u64::MAX } else { mixed(at) }).collect();
        check(&queue, &keys, 64, SMALL);
    }
}

#[test]
fn default_parameters_sort_many_tiles() {
    let queue = queue();
    let parameters = Sort::for_device(queue.context().device().traits());
    let len = size(300_001, 2_100);
    // Fewer bits are fewer passes over the same tiles.
    let bits = size(40, 12) as u32;
    for keys in [
        (0..len).map(|at| mixed(at) >> (64 - bits)).collect::<Vec<u64>>(),
        // All alike, and all sorted the wrong way round.
        vec![77; len as usize],
        (0..len).rev().collect(),
    ] {
        check(&queue, &keys, bits, parameters);
    }
    let keys: Vec<u32> = (0..len).map(|at| mixed(at) as u32 >> 9).collect();
    check(&queue, &keys, 23, parameters);
}

#[test]
fn as_many_numbers_as_keys_of_a_type_that_is_sorted_by_are_asked_for() {
    let queue = queue();
    let keys = DeviceArray::upload_blocking(&queue, &[1u32; 3]).unwrap().into_any();
    let numbers = DeviceArray::upload_blocking(&queue, &[1u32; 2]).unwrap();
    let error = Keyed { keys, numbers }.sort(&queue, 32).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the array of keys has 3 elements where 2 are needed: one for each number"
    );
    let keys = DeviceArray::upload_blocking(&queue, &[1f32; 2]).unwrap().into_any();
    let numbers = DeviceArray::upload_blocking(&queue, &[1u32; 2]).unwrap();
    let error = Keyed { keys, numbers }.sort(&queue, 32).unwrap_err();
    assert_eq!(error.to_string(), "the array of keys is of type f32 where u32 or u64 is needed");
}
