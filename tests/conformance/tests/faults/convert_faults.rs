//! Every allocation, build, enqueue and wait of the conversions fails in turn: each failure is an error that names its
//! call, nothing leaks, and what comes next on the same queue is right bit for bit.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::fault::Kind;
use conformance::{alone, device, fail_each, is_interpreter, names, queue, say};
use csr_core::{Coo, Csr};
use sparrow::{
    BinaryCache, Context, CooToCsr, DenseShape, DenseToCsr, DeviceArray, Duplicates, Layout,
    Matrix, Queue, Result, TransposedMatrix,
};

/// Entries in no order, one place twice.
fn entries() -> Coo<f32> {
    let (rows, columns) = (vec![4, 1, 3, 1, 4, 1], vec![0, 2, 1, 0, 3, 2]);
    Coo::new(6, 4, rows, columns, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap()
}

/// Entries to compressed rows, to compressed columns, to dense, to compressed rows: what all of it gives.
fn convert(queue: &Queue) -> Result<Vec<u32>> {
    let entries = entries();
    let rows = DeviceArray::upload_blocking(queue, entries.row_indices())?;
    let columns = DeviceArray::upload_blocking(queue, entries.column_indices())?;
    let values = DeviceArray::upload_blocking(queue, entries.values())?;
    let order = CooToCsr::new_blocking(queue, (6, 4), &rows, &columns, Duplicates::Sum)?;
    let matrix: Matrix<f32> = order.matrix_blocking(queue, &values)?;
    let transposed = TransposedMatrix::on_device_blocking(queue, &matrix)?;
    let shape = DenseShape::packed(4, 6, Layout::ColumnMajor)?;
    let mut dense = DeviceArray::upload_blocking(queue, &[f32::NAN; 24])?;
    transposed.matrix().write_dense(queue, shape, &mut dense)?.wait()?;
    let counted = DenseToCsr::<f32, u32>::new_blocking(queue, shape, &dense, 0.0)?;
    let back = counted.matrix_blocking(queue, &dense)?;
    let mut found = back.offsets().read_blocking(queue)?;
    found.extend(back.columns().read_blocking(queue)?);
    found.extend(back.values().read_blocking(queue)?.into_iter().map(f32::to_bits));
    Ok(found)
}

fn expected() -> Vec<u32> {
    let host: Csr<f32> = Csr::from_coo(entries()).unwrap();
    let transposed = host.view().transpose();
    let pattern = transposed.pattern();
    let mut all = [pattern.offsets(), pattern.columns()].concat();
    all.extend(transposed.values().iter().map(|value| value.to_bits()));
    all
}

#[test]
fn conversions_fail_at_any_allocation_enqueue_or_wait_and_the_next_are_right() {
    let _turn = alone();
    if is_interpreter(&device()) {
        say("skipped: some hundred conversions, one for each call that fails");
        return;
    }
    let (queue, expected) = (queue(), expected());
    assert_eq!(convert(&queue).unwrap(), expected);
    let fail = |kind| fail_each("conversions", (kind, None), || queue.clone(), convert, &expected);
    assert_eq!(names(&fail(Kind::Allocation)), names(&["clCreateBuffer", "clCreateKernel"]));
    let enqueues = names(&fail(Kind::Enqueue));
    for call in ["clEnqueueWriteBuffer", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer"] {
        assert!(enqueues.contains(call), "{enqueues:?}");
    }
    assert!(names(&fail(Kind::Wait)).contains("clWaitForEvents"));
}

#[test]
fn conversions_fail_at_any_build_and_the_next_are_right() {
    let _turn = alone();
    if is_interpreter(&device()) {
        say("skipped: nine programs are built anew for each that fails");
        return;
    }
    let new_queue =
        || Queue::new(&Context::with_cache(&device(), BinaryCache::Off).unwrap()).unwrap();
    let failed = fail_each("conversions", (Kind::Build, None), new_queue, convert, &expected());
    // Keys and patterns, sort, scan, values; row lengths; columns; new values; to dense, to rows.
    let each = ["clCreateProgramWithSource", "clBuildProgram"];
    assert_eq!(names(&failed), names(&each));
    assert!(failed.len() >= 2 * 8, "{failed:?}");
}
