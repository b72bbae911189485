//! Every allocation, build, enqueue and wait of SpGEMM fails in turn: as `faults.rs`, for products of sparse matrices.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::fault::Kind;
use conformance::{alone, bits, device, fail_each, is_interpreter, names, say};
use csr_core::verify::SparseOracle;
use sparrow::{BinaryCache, Context, Csr, Matrix, Queue, Result, SpgemmOptions, SpgemmPlan};

/// Rows of every class with the limits below, and a B whose rows do not ascend.
fn operands() -> (Csr<f32>, Csr<f32>) {
    let matrix = |cols: usize, lengths: &[usize], step: usize| {
        let (mut offsets, mut columns) = (vec![0u32], Vec::new());
        for (row, &length) in lengths.iter().enumerate() {
            columns.extend((0..length).map(|k| ((row + k * step) % cols) as u32));
            offsets.push(columns.len() as u32);
        }
        let values = csr_core::random_vector(1, columns.len());
        Csr::new(cols, offsets, columns, values).unwrap()
    };
    (matrix(9, &[1, 0, 2, 4, 5, 8, 9], 2), matrix(700, &[1, 2, 3, 5, 2, 4, 20, 0, 9], 67))
}

/// All of it: upload, count, product, read back.
fn multiply(queue: &Queue, (a, b): &(Csr<f32>, Csr<f32>)) -> Result<Csr<f32>> {
    let (a, b) =
        (Matrix::upload_blocking(queue, a.view())?, Matrix::upload_blocking(queue, b.view())?);
    let parameters = [
        ("tiny", 2),
        ("short", 3),
        ("few", 8),
        ("scattered", 16),
        ("near", 1),
        ("middle", 2),
        ("wide", 8),
        ("small_outputs", 4),
        ("middle_outputs", 16),
        ("window_outputs", 16),
        ("least_long", 400),
        ("unit_shares", 1 << 20),
        ("crowded", 9),
        ("crowded_looks", 1),
    ];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let options = SpgemmOptions { parameters, ..SpgemmOptions::default() };
    let c = SpgemmPlan::new_blocking(queue, &a, &b, &options)?.multiply_blocking(queue, &a, &b)?;
    let (offsets, columns) = (c.offsets().read_blocking(queue)?, c.columns().read_blocking(queue)?);
    Ok(Csr::new(c.cols(), offsets, columns, c.values().read_blocking(queue)?)?)
}

fn stage() -> Queue {
    Queue::new(&Context::with_cache(&device(), BinaryCache::Off).unwrap()).unwrap()
}

#[test]
fn a_product_of_sparse_matrices_fails_at_any_call_and_the_next_is_right() {
    let _turn = alone();
    if is_interpreter(&device()) {
        say("skipped: some hundred products, one for each call that fails");
        return;
    }
    let operands = operands();
    let expected = multiply(&stage(), &operands).unwrap();
    let oracle = SparseOracle::new(operands.0.view(), operands.1.view()).unwrap();
    assert!(oracle.verify(expected.view()).unwrap().passed());
    let what = |c: &Csr<f32>| (c.pattern().clone(), bits(c.values()));
    let expected = what(&expected);
    let run = |queue: &Queue| Ok(what(&multiply(queue, &operands)?));

    let queue = stage();
    run(&queue).unwrap();
    let fail = |kind| fail_each("spgemm", (kind, None), || queue.clone(), run, &expected);
    assert_eq!(names(&fail(Kind::Allocation)), names(&["clCreateBuffer", "clCreateKernel"]));
    let enqueues = names(&fail(Kind::Enqueue));
    assert!(enqueues.contains("clEnqueueNDRangeKernel"), "{enqueues:?}");
    fail(Kind::Wait);
    // Tiny rows alone: each round builds all that it needs.
    let matrix = Csr::new(2, vec![0u32, 1, 2], vec![1, 0], vec![2.0f32, 3.0]).unwrap();
    let operands = (matrix.clone(), matrix);
    let run = |queue: &Queue| Ok(what(&multiply(queue, &operands)?));
    let expected = run(&stage()).unwrap();
    let builds = fail_each("spgemm", (Kind::Build, None), stage, run, &expected);
    assert!(names(&builds).contains("clBuildProgram"), "{builds:?}");
}
