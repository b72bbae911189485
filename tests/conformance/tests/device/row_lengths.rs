//! What rules ask of row lengths is the same where the device looks at them and where the host does: of a processor the
//! library's own host code does, so that it is also asked as one whose memory is its own.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use conformance::device;
use csr_core::{Offset, RowLengths};
use sparrow::{Context, DeviceArray, Matrix, Queue};

/// Queues on the device under test, as it is and with memory of its own.
fn queues() -> [Queue; 2] {
    let own = device().masked(|traits| traits.has_host_memory = false);
    [device(), own].map(|device| Queue::new(&Context::new(&device).unwrap()).unwrap())
}

/// Compares device and host on these row lengths.
fn check<O: Offset>(queue: &Queue, lengths: impl Iterator<Item = usize>) {
    let mut offsets = vec![O::try_from_usize(0).unwrap()];
    let mut sum = 0;
    for length in lengths {
        sum += length;
        offsets.push(O::try_from_usize(sum).unwrap());
    }
    let host = RowLengths::of(&offsets);
    let on_device = DeviceArray::upload_blocking(queue, &offsets).unwrap();
    let columns = DeviceArray::<u32>::upload_blocking(queue, &[]).unwrap();
    let values = DeviceArray::<f32>::upload_blocking(queue, &[]).unwrap();
    // SAFETY: only the offsets are looked at, and they never fall; no plan is made.
    #[expect(unsafe_code, reason = "the second door: arrays that are on the device already")]
    let matrix =
        unsafe { Matrix::from_arrays_blocking(queue, 1, on_device, columns, values).unwrap() };
    let found = matrix.shape();
    let found =
        RowLengths { longest: found.longest_row, in_step: found.in_step, changes: found.changes };
    assert_eq!(found, host);
}

#[test]
fn the_device_finds_what_the_host_finds() {
    for queue in queues() {
        for rows in [0, 1, 31, 32, 33, 255, 8192, 8193, 20_011] {
            check::<u32>(&queue, (0..rows).map(|row| row * 7919 % 301));
        }
        check::<u64>(&queue, (0..1000).map(|row| row % 40));
    }
}

#[test]
fn sums_beyond_32_bits_are_carried() {
    // Each bundle's share has 37 bits, and low words wrap again and again.
    for queue in queues() {
        check::<u64>(&queue, (0..3000).map(|row| 3_000_000_000 + row * 12_345));
    }
}
