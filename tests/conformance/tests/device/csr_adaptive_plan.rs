//! Row blocks cut on the device are the blocks the host cuts, bit for bit.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::spmv::DeviceRowBlocks;
use conformance::{device, is_full, is_interpreter, queue};
use csr_core::Offset;
use csr_core::plan::csr_adaptive::{ROWS_PER_CHUNK, RowBlockRules, RowBlocks};
use sparrow::{Algorithm, DeviceArray, Queue, Variant};

const PARAMETERS: cl_kernels::csr_adaptive::CsrAdaptive = cl_kernels::csr_adaptive::CsrAdaptive {
    group_size: 64,
    nnz_per_wg: 512,
    num_rows_stream: 2,
    nnz_multiplier: 2,
};

/// Row lengths with every kind of block: none, few, many nonzeros, and rows that are cut.
fn lengths(rows: usize, seed: u64) -> Vec<usize> {
    csr_core::random_vector::<f64>(seed, rows)
        .into_iter()
        .map(|random| match (random.abs() * 1000.0) as usize {
            0..400 => (random.abs() * 70.0) as usize,
            400..900 => (random.abs() * 100.0) as usize,
            900..990 => 100 + (random.abs() * 200.0) as usize,
            990..997 => 500 + (random.abs() * 40.0) as usize,
            _ => (random.abs() * 6000.0) as usize,
        })
        .collect()
}

fn check<O: Offset>(queue: &Queue, lengths: &[usize], rules: RowBlockRules) {
    let mut sum = 0;
    let mut offsets = vec![O::zeroed()];
    for length in lengths {
        sum += length;
        offsets.push(O::try_from_usize(sum).unwrap());
    }
    let expected = RowBlocks::from_offsets(&offsets, rules).unwrap();
    // Behind an element offset, as an application's arrays may be.
    let padded: Vec<O> = [O::zeroed(); 3].into_iter().chain(offsets.iter().copied()).collect();
    let on_device = DeviceArray::upload_blocking(queue, &padded).unwrap();
    let on_device = on_device.slice(3..padded.len()).unwrap();
    let found = DeviceRowBlocks::cut_blocking(queue, &on_device, sum, rules).unwrap();
    assert_eq!(found.cut_rows(), expected.cut_rows());
    let entries = found.entries().read_blocking(queue).unwrap();
    if let Some(at) =
        (0..expected.entries().len()).find(|&at| entries.get(at) != expected.entries().get(at))
    {
        panic!(
            "entry {at} is {:?} where the host has {:?}; {} rows, {rules:?}",
            entries.get(at),
            expected.entries()[at],
            lengths.len()
        );
    }
    assert_eq!(entries.len(), expected.entries().len());
}

#[test]
fn the_device_cuts_the_blocks_the_host_cuts() {
    let queue = queue();
    let all_rows = [
        0,
        1,
        2,
        63,
        ROWS_PER_CHUNK + 1,
        ROWS_PER_CHUNK - 1,
        ROWS_PER_CHUNK,
        3 * ROWS_PER_CHUNK + 77,
    ];
    // An interpreter takes seconds for a chunk.
    let (rows, variants) = match (is_full(), is_interpreter(&device())) {
        (true, _) => (&all_rows[..], Variant::of(Algorithm::CsrAdaptive)),
        (false, false) => (&all_rows[..], &[Variant::Baseline, Variant::Full][..]),
        (false, true) => (&all_rows[..5], &[Variant::Full][..]),
    };
    for variant in variants {
        for (seed, &rows) in rows.iter().enumerate() {
            check::<u32>(&queue, &lengths(rows, seed as u64), variant.rules(&PARAMETERS));
        }
    }
    let rows = if is_interpreter(&device()) { 900 } else { 9000 };
    check::<u64>(&queue, &lengths(rows, 9), Variant::Full.rules(&PARAMETERS));
}

#[test]
fn empty_rows_and_rows_of_one_length_are_cut_alike() {
    let queue = queue();
    let rows = if is_interpreter(&device()) { 200 } else { 5000 };
    for length in [0, 1, 31, 32, 128, 129, 511, 512, 513, 1024, 1025] {
        check::<u32>(&queue, &vec![length; rows], Variant::Full.rules(&PARAMETERS));
    }
}

#[test]
fn more_blocks_than_there_was_room_for_are_all_written() {
    // Where long and short rows alternate every row is a block: five times as many as full ones.
    let rows = if is_interpreter(&device()) { 2_000 } else { 10_000 };
    let lengths: Vec<usize> = (0..rows).map(|row| if row % 2 == 0 { 129 } else { 31 }).collect();
    check::<u32>(&queue(), &lengths, Variant::Full.rules(&PARAMETERS));
}

#[test]
fn more_blocks_than_can_be_counted_are_refused() {
    let queue = queue();
    let on_device = DeviceArray::upload_blocking(&queue, &[0_u64, 1 << 41]).unwrap();
    let rules = Variant::Full.rules(&PARAMETERS);
    let refused = DeviceRowBlocks::cut_blocking(&queue, &on_device, 1 << 41, rules).unwrap_err();
    let text = "the number of row blocks there may be is 2147483649";
    assert!(refused.to_string().contains(text), "{refused}");
}
