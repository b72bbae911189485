//! Offsets of counts are the sums of what lies before, whatever the length.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_kernels::scan::Scan as ScanParameters;
use cl_runtime::Scan;
use conformance::queue;
use csr_core::{Offset, OffsetType};
use sparrow::{DeviceArray, Queue};

/// Small, so that few counts make many tiles: 64 counts a tile, 4,096 until a run has two.
const SMALL: ScanParameters = ScanParameters { group_size: 16, counts_per_item: 4 };

/// What stands before and behind the offsets.
const CANARY: u64 = 0xdead_beef;

/// Scans into the middle of an array of canaries, and compares with the host; the total.
fn check<O: Offset>(queue: &Queue, scan: &mut Scan, counts: &[u32]) {
    let canary = O::try_from_usize(CANARY as usize).unwrap();
    let guarded = DeviceArray::upload_blocking(queue, &vec![canary; counts.len() + 1 + 6]).unwrap();
    let offsets = guarded.slice(3..counts.len() + 4).unwrap();
    // From an odd element on.
    let mut padded = vec![u32::MAX];
    padded.extend(counts);
    padded.push(u32::MAX);
    let padded = DeviceArray::upload_blocking(queue, &padded).unwrap();
    scan.run(queue, &padded.slice(1..counts.len() + 1).unwrap(), &offsets).unwrap();
    let mut expected = vec![canary; 3];
    let mut sum = 0;
    for &count in counts {
        expected.push(O::try_from_usize(sum).unwrap());
        sum += count as usize;
    }
    expected.push(O::try_from_usize(sum).unwrap());
    expected.extend([canary; 3]);
    assert_eq!(scan.total_blocking(queue).unwrap(), sum as u64);
    assert!(guarded.read_blocking(queue).unwrap() == expected, "{} counts", counts.len());
}

fn counts(len: usize) -> Vec<u32> {
    (0..len as u32).map(|at| at.wrapping_mul(2_654_435_761) >> 22).collect()
}

#[test]
fn offsets_are_sums_of_what_lies_before_at_every_limit_of_tiles_and_runs() {
    let queue = queue();
    let mut narrow = Scan::with_parameters_blocking(&queue, OffsetType::U32, SMALL).unwrap();
    let mut wide = Scan::with_parameters_blocking(&queue, OffsetType::U64, SMALL).unwrap();
    for len in [0, 1, 2, 15, 16, 63, 64, 65, 4095, 4096, 4097, 8191, 8192, 8193, 12_345] {
        check::<u32>(&queue, &mut narrow, &counts(len));
        check::<u64>(&queue, &mut wide, &counts(len));
    }
}

#[test]
fn default_parameters_are_right_too() {
    let queue = queue();
    let mut scan = Scan::new_blocking(&queue, OffsetType::U32).unwrap();
    for len in [0, 1, 2047, 2048, 2049, 50_001] {
        check::<u32>(&queue, &mut scan, &counts(len));
    }
}

#[test]
fn sums_beyond_32_bits_are_told_of_32_bit_offsets_and_held_by_64() {
    let queue = queue();
    let high = vec![u32::MAX; 1000];
    let mut wide = Scan::with_parameters_blocking(&queue, OffsetType::U64, SMALL).unwrap();
    check::<u64>(&queue, &mut wide, &high);
    let mut narrow = Scan::with_parameters_blocking(&queue, OffsetType::U32, SMALL).unwrap();
    let on_device = DeviceArray::upload_blocking(&queue, &[u32::MAX, 0, 1]).unwrap();
    let offsets = DeviceArray::upload_blocking(&queue, &[0u32; 4]).unwrap();
    narrow.run(&queue, &on_device, &offsets).unwrap();
    assert_eq!(
        narrow.total_blocking(&queue).unwrap_err().to_string(),
        "the sum of counts: 4294967296 is not allowed, u32 offsets count at most 4294967295"
    );
    // The largest that fits, with the same memory.
    check::<u32>(&queue, &mut narrow, &[u32::MAX, 0, 0]);
}

#[test]
fn arrays_that_do_not_belong_together_are_refused() {
    let queue = queue();
    let mut scan = Scan::with_parameters_blocking(&queue, OffsetType::U32, SMALL).unwrap();
    let array = DeviceArray::upload_blocking(&queue, &[7u32; 4]).unwrap();
    assert_eq!(
        scan.run(&queue, &array, &array).unwrap_err().to_string(),
        "the array of offsets has 4 elements where 5 are needed: one more than counts"
    );
    let other = DeviceArray::upload_blocking(&conformance::queue(), &[7u32; 5]).unwrap();
    assert_eq!(
        scan.run(&queue, &array, &other).unwrap_err().to_string(),
        "the array of offsets belongs to another context than the one it is used in"
    );
    let wide = DeviceArray::upload_blocking(&queue, &[7u64; 5]).unwrap();
    assert_eq!(
        scan.run(&queue, &array, &wide).unwrap_err().to_string(),
        "the array of offsets is of type u64 where u32 is needed"
    );
    assert_eq!(array.read_blocking(&queue).unwrap(), [7; 4]);
}
