//! Every allocation, build, enqueue and wait of a batch fails in turn: as `faults.rs`, for batched products.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::fault::Kind;
use conformance::{alone, bits, check_product, device, fail_each, names};
use sparrow::{
    Accumulate, Batch, BatchCoefficient, BatchOperands, BatchOptions, BatchPlan, BatchedAlgorithm,
    BinaryCache, ColumnWidth, Context, Csr, DeviceArray, HostBatch, Queue, Result,
};

/// More than a task may have, so that the plan cuts them on the device.
const ROWS: usize = 36;

fn problem(seed: u64) -> Csr<f32> {
    let lengths = [2, 2, 0, 33, 1, 27, 0, 3, 3, 10, 1, 2].repeat(3);
    let (mut offsets, mut columns) = (vec![0u32], Vec::new());
    for (row, length) in lengths.into_iter().enumerate() {
        columns.extend((0..length).map(|k| ((row + k * 7) % ROWS) as u32));
        offsets.push(columns.len() as u32);
    }
    let values = csr_core::random_vector(seed, columns.len());
    Csr::new(ROWS, offsets, columns, values).unwrap()
}

/// All of it: upload, plan, workspace, two launches, read back.
fn multiply(queue: &Queue, host: &HostBatch<f32>) -> Result<Vec<f32>> {
    let batch = Batch::upload_blocking(queue, host, ColumnWidth::Automatic)?;
    let x = DeviceArray::upload_blocking(queue, &vec![1.0f32; host.x_len()])?;
    let mut y = DeviceArray::upload_blocking(queue, &vec![0.5f32; host.y_len()])?;
    let numbers = DeviceArray::upload_blocking(queue, &[2.0f32, -1.0])?;
    let options = BatchOptions {
        algorithm: Some(BatchedAlgorithm::CsrI),
        scalars_on_device: true,
        parameters: vec![("rows_per_task".to_owned(), 32)],
        ..BatchOptions::default()
    };
    let plan = BatchPlan::new_blocking(queue, &batch, &options)?;
    let mut workspace = plan.workspace_blocking(queue)?;
    for _ in 0..2 {
        y.write_blocking(queue, &vec![0.5f32; host.y_len()])?;
        let (alpha, beta) = (BatchCoefficient::Each(&numbers), BatchCoefficient::Each(&numbers));
        let product = BatchOperands { alpha, a: &batch, x: &x, beta, y: &mut y };
        plan.launch(queue, &mut workspace, product, &[])?.wait()?;
    }
    Ok(y.read_blocking(queue)?)
}

fn stage() -> Queue {
    Queue::new(&Context::with_cache(&device(), BinaryCache::Off).unwrap()).unwrap()
}

#[test]
fn a_batch_fails_at_any_call_and_the_next_is_right() {
    let _turn = alone();
    let problems = [problem(1), problem(2)];
    let mut host = HostBatch::new();
    // Two kernels, so that a later launch fails where one is enqueued.
    host.push_csr(problems[0].view()).unwrap();
    host.push_coo(&problems[1].to_coo()).unwrap();
    let expected = multiply(&stage(), &host).unwrap();
    for ((problem, found), number) in problems.iter().zip(expected.chunks(ROWS)).zip([2.0, -1.0]) {
        let (x, before) = ([1.0; ROWS], [0.5; ROWS]);
        check_product(problem, number, &x, number, &before, found, Accumulate::Plain);
    }
    let expected = bits(&expected);
    let run = |queue: &Queue| Ok(bits(&multiply(queue, &host)?));

    let queue = stage();
    run(&queue).unwrap();
    let fail = |kind| fail_each("a batch", (kind, None), || queue.clone(), run, &expected);
    assert_eq!(names(&fail(Kind::Allocation)), names(&["clCreateBuffer", "clCreateKernel"]));
    let enqueues = names(&fail(Kind::Enqueue));
    assert!(enqueues.contains("clEnqueueNDRangeKernel"), "{enqueues:?}");
    assert!(names(&fail(Kind::Wait)).contains("clWaitForEvents"));
    // A program for each kernel of the products, and one for the plan.
    let builds = fail_each("a batch", (Kind::Build, None), stage, run, &expected);
    assert_eq!(builds, ["clCreateProgramWithSource", "clBuildProgram"].repeat(3));
}
