//! Every allocation, build, enqueue and wait of SpMM fails in turn: as `faults.rs`, for products with a dense matrix.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::fault::Kind;
use conformance::{alone, bits, device, fail_each, names};
use csr_core::dense_product;
use sparrow::{
    BinaryCache, Context, Csr, DenseShape, DeviceArray, DeviceType, Layout, Matrix, Queue, Result,
    SpmmAlgorithm, SpmmOperands, SpmmOptions, SpmmPlan,
};

const ROWS: usize = 12;
const COLUMNS: usize = 3;

fn matrix() -> Csr<f32> {
    let lengths = [2, 2, 0, 133, 1, 27, 0, 3, 3, 10, 1, 2];
    let (mut offsets, mut columns) = (vec![0u32], Vec::new());
    for (row, length) in lengths.into_iter().enumerate() {
        columns.extend((0..length).map(|k| ((row + k * 7) % ROWS) as u32));
        offsets.push(columns.len() as u32);
    }
    let values = csr_core::random_vector(1, columns.len());
    Csr::new(ROWS, offsets, columns, values).unwrap()
}

fn shape(layout: Layout) -> DenseShape {
    DenseShape::packed(ROWS, COLUMNS, layout).unwrap()
}

/// All of it: upload, plan, workspace, two launches of three kernels each, read back. Pieces and parts are so small that
/// one row is in several.
fn multiply(
    queue: &Queue,
    algorithm: SpmmAlgorithm,
    matrix: &Csr<f32>,
    b: &[f32],
) -> Result<Vec<f32>> {
    let a = Matrix::upload_blocking(queue, matrix.view())?;
    let b = DeviceArray::upload_blocking(queue, b)?;
    let before = vec![0.5f32; ROWS * COLUMNS];
    let mut c = DeviceArray::upload_blocking(queue, &before)?;
    let parameters = match algorithm {
        SpmmAlgorithm::Merge => [("group_size", 32), ("tile_length", 32), ("slack", 4)],
        _ => [("group_size", 32), ("part_nnz", 16), ("rows_at_once", 2)],
    };
    let options = SpmmOptions {
        algorithm: Some(algorithm),
        parameters: parameters.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        ..SpmmOptions::default()
    };
    let shapes = (shape(Layout::ColumnMajor), shape(Layout::RowMajor));
    let plan = SpmmPlan::<f32, u32, f32>::new_blocking(queue, &a, shapes.0, shapes.1, &options)?;
    let mut workspace = plan.workspace_blocking(queue)?;
    for _ in 0..2 {
        c.write_blocking(queue, &before)?;
        let product = SpmmOperands { alpha: 2.0.into(), a: &a, b: &b, beta: 1.0.into(), c: &mut c };
        plan.launch(queue, &mut workspace, product, &[])?.wait()?;
    }
    Ok(c.read_blocking(queue)?)
}

fn stage() -> Queue {
    Queue::new(&Context::with_cache(&device(), BinaryCache::Off).unwrap()).unwrap()
}

#[test]
fn a_product_with_a_dense_matrix_fails_at_any_call_and_the_next_is_right() {
    let _turn = alone();
    let matrix = matrix();
    let b: Vec<f32> = csr_core::random_vector(2, ROWS * COLUMNS);
    let mut right = vec![0.5f32; ROWS * COLUMNS];
    let b_and_shape = (shape(Layout::ColumnMajor), &b[..]);
    let c_and_shape = (shape(Layout::RowMajor), &mut right[..]);
    dense_product(2.0, matrix.view(), b_and_shape, 1.0, c_and_shape).unwrap();
    for algorithm in SpmmAlgorithm::ALL {
        let expected = multiply(&stage(), algorithm, &matrix, &b).unwrap();
        for (found, right) in expected.iter().zip(&right) {
            assert!((found - right).abs() < 1e-4, "{algorithm}: {found} is not {right}");
        }
        let expected = bits(&expected);
        let run = |queue: &Queue| Ok(bits(&multiply(queue, algorithm, &matrix, &b)?));

        let queue = stage();
        run(&queue).unwrap();
        let name = algorithm.name();
        let fail = |kind| fail_each(name, (kind, None), || queue.clone(), run, &expected);
        assert_eq!(names(&fail(Kind::Allocation)), names(&["clCreateBuffer", "clCreateKernel"]));
        let enqueues = names(&fail(Kind::Enqueue));
        assert!(enqueues.contains("clEnqueueNDRangeKernel"), "{enqueues:?}");
        assert!(names(&fail(Kind::Wait)).contains("clWaitForEvents"));
        // The plan's program, B's copy, and the product with vectors and with columns apart; on a CPU it has one form.
        let builds = fail_each(name, (Kind::Build, None), stage, run, &expected);
        let is_cpu = queue.context().device().traits().device_type == DeviceType::Cpu;
        let programs = if is_cpu { 3 } else { 4 };
        assert_eq!(builds, ["clCreateProgramWithSource", "clBuildProgram"].repeat(programs));
    }
}
