//! Pieces found on the device begin where the host says, bit for bit.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::spmv::DevicePieces;
use conformance::queue;
use csr_core::Offset;
use csr_core::plan::csr_flat::PieceRules;
use sparrow::{DeviceArray, Queue};

/// Row lengths of every kind: none, few, many nonzeros, and rows that go through several pieces.
fn lengths(rows: usize, seed: u64) -> Vec<usize> {
    csr_core::random_vector::<f64>(seed, rows)
        .into_iter()
        .map(|random| match (random.abs() * 1000.0) as usize {
            0..300 => 0,
            300..900 => (random.abs() * 20.0) as usize,
            900..990 => 30 + (random.abs() * 40.0) as usize,
            _ => (random.abs() * 500.0) as usize,
        })
        .collect()
}

fn check<O: Offset>(queue: &Queue, lengths: &[usize]) {
    let mut sum = 0;
    let mut offsets = vec![O::zeroed()];
    for length in lengths {
        sum += length;
        offsets.push(O::try_from_usize(sum).unwrap());
    }
    // Behind an element offset, as an application's arrays may be.
    let padded: Vec<O> = [O::zeroed(); 3].into_iter().chain(offsets.iter().copied()).collect();
    let on_device = DeviceArray::upload_blocking(queue, &padded).unwrap();
    let on_device = on_device.slice(3..padded.len()).unwrap();
    for rules in [(64, 32), (128, 128), (128, 1)] {
        let rules = PieceRules { piece_nnz: rules.0, whole_row: rules.1 };
        let expected = rules.starts(&offsets).unwrap();
        let found = DevicePieces::find(queue, &on_device, sum, rules, 1).unwrap();
        assert_eq!(found.starts().read_blocking(queue).unwrap(), expected, "{rules:?}");
    }
}

#[test]
fn pieces_begin_where_the_host_says() {
    let queue = queue();
    for rows in [1, 2, 63, 700] {
        check::<u32>(&queue, &lengths(rows, rows as u64));
        check::<u64>(&queue, &lengths(rows, 7 + rows as u64));
    }
    check::<u32>(&queue, &[0; 50]);
    check::<u32>(&queue, &[64, 64, 64]);
    check::<u32>(&queue, &[1000]);
    check::<u64>(&queue, &[]);
}
