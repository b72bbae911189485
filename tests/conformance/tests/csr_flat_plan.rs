//! Pieces found on the device begin where the host says, bit for bit.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_kernels::csr_flat::CsrFlat as Parameters;
use cl_kernels::{Accumulate, Experiment, Scalar};
use cl_runtime::spmv::{CsrFlat, DevicePieces, Operands, Specialisation, Spmv};
use conformance::queue;
use csr_core::plan::csr_flat::PieceRules;
use csr_core::{Csr, Offset, OffsetType, ValueType};
use sparrow::{DeviceArray, Matrix, Queue};

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

#[test]
fn what_one_queue_finds_serves_launches_in_another_and_every_workspace_has_a_room() {
    let queue = queue();
    let other = Queue::new(queue.context()).unwrap();
    // Rows in one piece, in two, and in so many that all items in step bring parts together.
    let lengths = [3, 700, 0, 90, 20_000, 1, 130];
    let offsets: Vec<u32> =
        std::iter::once(0).chain(lengths.iter().scan(0, |sum, n| Some(add(sum, *n)))).collect();
    let nnz = offsets[lengths.len()] as usize;
    let a = Csr::<f32, u32>::new(1, offsets, vec![0; nnz], vec![1.0; nnz]).unwrap();
    let a = Matrix::upload_blocking(&queue, a.view()).unwrap();
    let x = DeviceArray::upload_blocking(&queue, &[2.0_f32]).unwrap();
    let parameters = Parameters { group_size: 64, piece_nnz: 128, whole_row: 32, registers: 0 };
    let specialisation = Specialisation {
        value_type: ValueType::F32,
        offset_type: OffsetType::U32,
        accumulate: Accumulate::Plain,
        scalars_on_device: false,
        experiment: Experiment::Off,
    };
    let words = specialisation.sum_words();
    let pieces = DevicePieces::find(&queue, a.offsets(), nnz, parameters.rules(), words).unwrap();
    let flat = CsrFlat::new(queue.context(), specialisation, parameters, nnz, pieces).unwrap();
    // The first has the room of the plan; the second gets one with what stands there.
    for _ in 0..2 {
        let mut workspace = flat.workspace_blocking(&other).unwrap();
        for _ in 0..3 {
            let y = DeviceArray::upload_blocking(&other, &[f32::NAN; 7]).unwrap();
            let operands = Operands {
                rows: lengths.len(),
                cols: 1,
                offsets: a.offsets().argument(),
                columns: a.columns().argument(),
                values: a.values().argument(),
                x: x.argument(),
                y: y.argument(),
                alpha: Scalar::F32(1.0),
                beta: Scalar::F32(0.0),
            };
            // SAFETY: the arrays are as long as the matrix says.
            #[expect(unsafe_code, reason = "what Plan::launch does after its checks")]
            let launched = unsafe { flat.launch(&other, &mut workspace, &operands, &[]).unwrap() };
            launched.wait().unwrap();
            let expected = lengths.map(|length| 2.0 * length as f32);
            assert_eq!(y.read_blocking(&other).unwrap(), expected);
        }
    }
}

/// The sum so far and `more`, which becomes the sum so far.
fn add(sum: &mut u32, more: usize) -> u32 {
    *sum += more as u32;
    *sum
}
