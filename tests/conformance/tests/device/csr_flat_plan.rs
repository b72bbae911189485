//! Pieces found on the device begin where the host says, bit for bit.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_kernels::csr_flat::CsrFlat as Parameters;
use cl_kernels::{Accumulate, Checked, Experiment, Fit, Scalar};
use cl_runtime::After;
use cl_runtime::raw::fault::{Kind, count};
use cl_runtime::spmv::{CsrFlat, DeviceTiles, Operands, Specialisation, Spmv, Workspace};
use conformance::{is_interpreter, queue};
use csr_core::plan::csr_flat::TileRules;
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
        let rules = TileRules { tile_nnz: rules.0, whole_row: rules.1 };
        let expected = rules.starts(&offsets).unwrap();
        let found = DeviceTiles::find(queue, &on_device, sum, rules, 1).unwrap();
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

const PARAMETERS: Parameters =
    Parameters { group_size: 64, tile_nnz: 128, whole_row: 32, registers: 0, shared_rows: 0 };

const SPECIALISATION: Specialisation = Specialisation {
    value_type: ValueType::F32,
    offset_type: OffsetType::U32,
    accumulate: Accumulate::Plain,
    scalars_on_device: false,
    experiment: Experiment::Off,
};

/// Rows of these lengths, every value 1, in one column.
fn ones(queue: &Queue, lengths: &[u32]) -> Matrix<f32> {
    let mut offsets = vec![0];
    offsets.extend(lengths.iter().scan(0, |sum, length| {
        *sum += length;
        Some(*sum)
    }));
    let nnz = offsets[lengths.len()] as usize;
    let a = Csr::<f32, u32>::new(1, offsets, vec![0; nnz], vec![1.0; nnz]).unwrap();
    Matrix::upload_blocking(queue, a.view()).unwrap()
}

fn flat(queue: &Queue, a: &Matrix<f32>) -> CsrFlat {
    let (rules, words) = (PARAMETERS.rules(), SPECIALISATION.sum_words());
    let pieces = DeviceTiles::find(queue, a.offsets(), a.nnz(), rules, words).unwrap();
    let fit = Fit::plain(queue.context().device().traits(), ValueType::F32, 1.0);
    let parameters = Checked::new(PARAMETERS, &fit).unwrap();
    CsrFlat::new(queue.context(), SPECIALISATION, parameters, a.nnz(), pieces).unwrap()
}

/// y = A x is right, by a launch in `queue`.
fn check_launch(
    queue: &Queue,
    flat: &CsrFlat,
    workspace: &mut Workspace,
    a: &Matrix<f32>,
    lengths: &[u32],
) {
    let x = DeviceArray::upload_blocking(queue, &[2.0_f32]).unwrap();
    let y = DeviceArray::upload_blocking(queue, &vec![f32::NAN; lengths.len()]).unwrap();
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
    let launched = unsafe { flat.launch(queue, workspace, &operands, After::Events(&[])).unwrap() };
    launched.unwrap().wait().unwrap();
    let expected: Vec<f32> = lengths.iter().map(|&length| 2.0 * length as f32).collect();
    assert_eq!(y.read_blocking(queue).unwrap(), expected);
}

#[test]
fn what_one_queue_finds_serves_launches_in_another_and_every_workspace_has_a_room() {
    let queue = queue();
    let other = Queue::new(queue.context()).unwrap();
    // Rows in one piece, in two, and in so many that all items in step bring parts together.
    let lengths = [3, 700, 0, 90, 9_000, 1, 130];
    let a = ones(&queue, &lengths);
    let flat = flat(&queue, &a);
    // The first has the room of the plan; the second gets one with what stands there.
    for _ in 0..2 {
        let mut workspace = flat.workspace_blocking(&other).unwrap();
        for _ in 0..3 {
            check_launch(&other, &flat, &mut workspace, &a, &lengths);
        }
    }
}

#[test]
fn plans_whose_rooms_lie_in_one_memory_do_not_meet() {
    let queue = queue();
    let shapes = [vec![700, 0, 5, 3000], vec![1, 9_000], vec![64; 90]];
    let mut all: Vec<_> = shapes
        .iter()
        .map(|lengths| {
            let a = ones(&queue, lengths);
            let flat = flat(&queue, &a);
            let workspace = flat.workspace_blocking(&queue).unwrap();
            (lengths, a, flat, workspace)
        })
        .collect();
    for _ in 0..3 {
        for (lengths, a, flat, workspace) in &mut all {
            check_launch(&queue, flat, workspace, a, lengths);
        }
    }
}

#[test]
fn a_plan_after_another_has_the_driver_make_nothing() {
    let queue = queue();
    let lengths = [3, 700, 0, 90];
    let a = ones(&queue, &lengths);
    let set_up = || {
        let flat = flat(&queue, &a);
        let workspace = flat.workspace_blocking(&queue).unwrap();
        (flat, workspace)
    };
    drop(set_up());
    let counter = count(Kind::Allocation);
    let (flat, mut workspace) = set_up();
    // Oclgrind would take memory that a kernel has filled for undefined, so there it is another, and copied.
    let made = if is_interpreter(queue.context().device()) { 1 } else { 0 };
    assert_eq!(counter.counted(), made);
    check_launch(&queue, &flat, &mut workspace, &a, &lengths);
}
