//! Every operation of the Rust face takes operands that lie in the application's own memory, shared virtual memory among
//! it, and gives the same bits as with buffers; what only enqueues copies nothing.
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::raw::copied_bytes;
use conformance::in_place::{InPlace, Lies, MatrixInPlace, ways};
use conformance::{csr, queue};
use sparrow::{
    Batch, BatchColumns, BatchOperands, BatchOptions, BatchPlan, CooToCsr, Csr, DenseShape,
    DeviceArray, Duplicates, Format, Layout, LinearSystem, Matrix, NoEvent, Problem, Queue, Solver,
    SolverOptions, SpgemmOptions, SpgemmPlan, SpmmOperands, SpmmOptions, SpmmPlan, StopRule,
    TransposedMatrix, VectorOptions, Vectors,
};

/// A matrix in buffers, and in the application's memory.
struct Twice {
    host: Csr<f32>,
    buffers: Matrix<f32, u32>,
    there: MatrixInPlace<f32, u32>,
}

impl Twice {
    fn new(queue: &Queue, lies: Lies, host: Csr<f32>) -> Self {
        let buffers = Matrix::upload_blocking(queue, host.view()).unwrap();
        let there = MatrixInPlace::new(queue, lies, &host);
        Twice { host, buffers, there }
    }
}

/// 120 x 90, with empty rows, short ones and a long one.
fn uneven() -> Csr<f32> {
    let lengths: Vec<usize> = (0..120).map(|row| [3, 0, 7, 1, 60][row % 5]).collect();
    csr(90, &lengths, 3)
}

/// Row offsets, columns and values.
fn read(queue: &Queue, matrix: &Matrix<f32, u32>) -> (Vec<u32>, Vec<u32>, Vec<f32>) {
    (
        matrix.offsets().read_blocking(queue).unwrap(),
        matrix.columns().read_blocking(queue).unwrap(),
        matrix.values().read_blocking(queue).unwrap(),
    )
}

/// Whether what `run` does copies nothing between host and device.
fn copies_nothing<R>(run: impl FnOnce() -> R) -> R {
    let before = copied_bytes();
    let result = run();
    assert_eq!(copied_bytes(), before, "bytes were copied");
    result
}

/// Does it for each way in which the device has memory of the application's.
fn in_each_way(check: impl Fn(&Queue, Lies)) {
    let queue = queue();
    ways(&queue).into_iter().for_each(|lies| check(&queue, lies));
}

#[test]
fn dense_products_take_operands_in_place() {
    in_each_way(|queue, lies| {
        let a = Twice::new(queue, lies, uneven());
        let (b_shape, c_shape) = (
            DenseShape::packed(a.host.cols(), 5, Layout::RowMajor).unwrap(),
            DenseShape::packed(a.host.rows(), 5, Layout::RowMajor).unwrap(),
        );
        let b = csr_core::random_vector::<f32>(5, b_shape.span());
        let before = vec![f32::NAN; c_shape.span()];
        let multiply = |matrix: &Matrix<f32, u32>,
                        b: &DeviceArray<f32>,
                        c: &mut DeviceArray<f32>| {
            let options = SpmmOptions::default();
            let plan = SpmmPlan::new_blocking(queue, matrix, b_shape, c_shape, &options).unwrap();
            let mut workspace = plan.workspace_blocking(queue).unwrap();
            let product = SpmmOperands { alpha: 1.5.into(), a: matrix, b, beta: 0.0.into(), c };
            copies_nothing(|| plan.launch(queue, &mut workspace, product, NoEvent).unwrap());
        };
        let device_b = DeviceArray::upload_blocking(queue, &b).unwrap();
        let mut device_c = DeviceArray::upload_blocking(queue, &before).unwrap();
        multiply(&a.buffers, &device_b, &mut device_c);
        let b = InPlace::new(queue, lies, &b);
        let mut c = InPlace::new(queue, lies, &before);
        multiply(&a.there.matrix, b.array(), c.array_mut());
        let expected = device_c.read_blocking(queue).unwrap();
        assert_eq!(c.array().read_blocking(queue).unwrap(), expected, "{lies:?}");
    });
}

#[test]
fn sparse_products_and_transposition_take_matrices_in_place() {
    in_each_way(|queue, lies| {
        let lengths: Vec<usize> = (0..80).map(|row| [3, 0, 7, 1, 40][row % 5]).collect();
        let a = Twice::new(queue, lies, csr(80, &lengths, 3));
        let square = |a: &Matrix<f32, u32>| {
            let options = SpgemmOptions::default();
            let mut plan = SpgemmPlan::new_blocking(queue, a, a, &options).unwrap();
            read(queue, &plan.multiply_blocking(queue, a, a).unwrap())
        };
        assert_eq!(square(&a.there.matrix), square(&a.buffers), "{lies:?}");
        let transposed = |a: &Matrix<f32, u32>| {
            read(queue, TransposedMatrix::on_device_blocking(queue, a).unwrap().matrix())
        };
        assert_eq!(transposed(&a.there.matrix), transposed(&a.buffers), "{lies:?}");
    });
}

#[test]
fn solvers_take_systems_in_place() {
    in_each_way(|queue, lies| {
        // 2 on the diagonal, -1 beside it.
        let n = 70;
        let (mut offsets, mut columns, mut values) = (vec![0u32], Vec::new(), Vec::new());
        for row in 0..n as u32 {
            for column in row.saturating_sub(1)..(row + 2).min(n as u32) {
                columns.push(column);
                values.push(if column == row { 2.0f32 } else { -1.0 });
            }
            offsets.push(columns.len() as u32);
        }
        let a = Twice::new(queue, lies, Csr::new(n, offsets, columns, values).unwrap());
        let b = csr_core::random_vector::<f32>(5, n);
        let solve = |a: &Matrix<f32, u32>, b: &DeviceArray<f32>, x: &mut DeviceArray<f32>| {
            let mut solver = Solver::new_blocking(queue, a, &SolverOptions::default()).unwrap();
            let system = LinearSystem { a, b, x };
            solver.solve_blocking(queue, system, &StopRule::default(), &[]).unwrap();
        };
        let device_b = DeviceArray::upload_blocking(queue, &b).unwrap();
        let mut device_x = DeviceArray::upload_blocking(queue, &vec![0f32; n]).unwrap();
        solve(&a.buffers, &device_b, &mut device_x);
        let (b, mut x) = (InPlace::new(queue, lies, &b), InPlace::new(queue, lies, &vec![0f32; n]));
        solve(&a.there.matrix, b.array(), x.array_mut());
        let expected = device_x.read_blocking(queue).unwrap();
        assert_eq!(x.array().read_blocking(queue).unwrap(), expected, "{lies:?}");
    });
}

#[test]
fn dense_vectors_lie_in_place_with_their_results() {
    in_each_way(|queue, lies| {
        let host = |seed| csr_core::random_vector::<f32>(seed, 3000);
        let mut vectors = Vectors::<f32>::new_blocking(queue, &VectorOptions::default()).unwrap();
        let mut run = |x: &DeviceArray<f32>, y: &DeviceArray<f32>, r: &mut DeviceArray<f32>| {
            copies_nothing(|| {
                vectors.axpy(queue, (1.5.into(), x), y, r, NoEvent).unwrap();
                let mut dot = r.slice(0..1).unwrap();
                vectors.dot(queue, x, y, &mut dot, NoEvent).unwrap();
            });
        };
        let upload = |seed| DeviceArray::upload_blocking(queue, &host(seed)).unwrap();
        let mut expected = upload(9);
        run(&upload(5), &upload(7), &mut expected);
        let there = |seed| InPlace::new(queue, lies, &host(seed));
        let (x, y, mut found) = (there(5), there(7), there(9));
        run(x.array(), y.array(), found.array_mut());
        let expected = expected.read_blocking(queue).unwrap();
        assert_eq!(found.array().read_blocking(queue).unwrap(), expected, "{lies:?}");
    });
}

#[test]
fn entries_become_a_matrix_from_and_in_place() {
    in_each_way(|queue, lies| {
        let rows: Vec<u32> = (0..400).map(|entry| entry * 7 % 50).collect();
        let columns: Vec<u32> = (0..400).map(|entry| entry * 11 % 37).collect();
        let values = csr_core::random_vector::<f32>(3, 400);
        let there = (InPlace::new(queue, lies, &rows), InPlace::new(queue, lies, &columns));
        let convert = |rows: &DeviceArray<u32>, columns: &DeviceArray<u32>| {
            let duplicates = Duplicates::Keep;
            CooToCsr::new_blocking(queue, (50, 37), rows, columns, duplicates).unwrap()
        };
        let made = convert(there.0.array(), there.1.array());
        let mut offsets = InPlace::new(queue, lies, &vec![0u32; 51]);
        let mut its_columns = InPlace::new(queue, lies, &vec![0u32; 400]);
        let mut its_values = InPlace::new(queue, lies, &vec![0f32; 400]);
        let from = InPlace::new(queue, lies, &values);
        copies_nothing(|| {
            made.write_pattern(queue, offsets.array_mut(), its_columns.array_mut()).unwrap();
            made.write_values(queue, from.array(), its_values.array_mut()).unwrap();
        });
        let upload = |data: &[u32]| DeviceArray::upload_blocking(queue, data).unwrap();
        let made = convert(&upload(&rows), &upload(&columns));
        let values = DeviceArray::upload_blocking(queue, &values).unwrap();
        let expected: Matrix<f32, u32> = made.matrix_blocking(queue, &values).unwrap();
        let (expected_offsets, expected_columns, expected_values) = read(queue, &expected);
        assert_eq!(offsets.array().read_blocking(queue).unwrap(), expected_offsets);
        assert_eq!(its_columns.array().read_blocking(queue).unwrap(), expected_columns);
        assert_eq!(its_values.array().read_blocking(queue).unwrap(), expected_values);
    });
}

#[test]
fn batches_take_arrays_in_place() {
    in_each_way(|queue, lies| {
        let problems: Vec<Csr<f32>> = (1..6).map(|seed| csr(30, &[3, 0, 25, 1], seed)).collect();
        let (mut offsets, mut columns, mut values, mut told) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (number, problem) in problems.iter().enumerate() {
            told.push(Problem {
                rows: 4,
                cols: 30,
                entries: problem.nnz() as u32,
                format: Format::Csr,
                index: offsets.len() as u64,
                columns: columns.len() as u64,
                values: values.len() as u64,
                x: 30 * number as u64,
                y: 4 * number as u64,
            });
            offsets.extend(problem.pattern().offsets());
            columns.extend(problem.pattern().columns());
            values.extend(problem.values());
        }
        let x = csr_core::random_vector::<f32>(5, 30 * problems.len());
        let before = vec![f32::NAN; 4 * problems.len()];
        let none = || DeviceArray::upload_blocking(queue, &[]).unwrap();
        let multiply = |of: [&DeviceArray<u32>; 2],
                        values: &DeviceArray<f32>,
                        x: &DeviceArray<f32>,
                        y: &mut DeviceArray<f32>| {
            let [offsets, columns] = of.map(|array| array.slice(0..array.len()).unwrap());
            let values = values.slice(0..values.len()).unwrap();
            // SAFETY: the arrays are those of checked matrices, and outlive the batch.
            #[expect(unsafe_code, reason = "arrays that are on the device already")]
            let batch: Batch<f32, u32> = unsafe {
                let columns = BatchColumns::U32(columns);
                let told = told.as_slice().into();
                Batch::from_arrays(queue.context(), told, offsets, none(), columns, values).unwrap()
            };
            let plan = BatchPlan::new_blocking(queue, &batch, &BatchOptions::default()).unwrap();
            let mut workspace = plan.workspace_blocking(queue).unwrap();
            let product = BatchOperands { alpha: 1.5.into(), a: &batch, x, beta: 0.0.into(), y };
            copies_nothing(|| plan.launch(queue, &mut workspace, product, &[]).unwrap());
            queue.finish_blocking().unwrap();
        };
        let indices = |data: &[u32]| DeviceArray::upload_blocking(queue, data).unwrap();
        let numbers = |data: &[f32]| DeviceArray::upload_blocking(queue, data).unwrap();
        let mut expected = numbers(&before);
        let of = [&indices(&offsets), &indices(&columns)];
        multiply(of, &numbers(&values), &numbers(&x), &mut expected);
        let there = |data: &[f32]| InPlace::new(queue, lies, data);
        let (its_values, its_x, mut y) = (there(&values), there(&x), there(&before));
        let its = [&offsets, &columns].map(|data| InPlace::new(queue, lies, data.as_slice()));
        multiply(
            [its[0].array(), its[1].array()],
            its_values.array(),
            its_x.array(),
            y.array_mut(),
        );
        let expected = expected.read_blocking(queue).unwrap();
        assert_eq!(y.array().read_blocking(queue).unwrap(), expected, "{lies:?}");
    });
}
