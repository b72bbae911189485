//! Batches whose arrays are the application's own, and lie as no batch that was copied from the host does.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::sync::Arc;

use conformance::{check_product, csr, queue};
use sparrow::{
    Accumulate, Batch, BatchColumns, BatchOperands, BatchOptions, BatchPlan, BatchedAlgorithm, Csr,
    DeviceArray, Format, Problem, Queue,
};
use sparrow_bench::selftest::small_parameters;

/// What stands in y between the problems.
const BETWEEN: f32 = 9.0;

/// Problems, and values and row offsets as they lie on the device.
struct Arrays {
    problems: Vec<Problem>,
    offsets: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Arrays {
    /// Problems whose vectors x overlap, and x and y of the first lie farthest behind; with places between those of y, of
    /// values and of row offsets, which count on from any number.
    fn new(matrices: &[Csr<f32>]) -> Self {
        let (mut offsets, mut columns, mut values) = (vec![7777], Vec::new(), Vec::new());
        let mut y = matrices.iter().map(|matrix| matrix.rows() as u64 + 1).sum();
        let mut problems = Vec::new();
        for (number, matrix) in matrices.iter().enumerate() {
            y -= (matrix.rows() + number % 2) as u64;
            problems.push(Problem {
                rows: matrix.rows() as u32,
                cols: matrix.cols() as u32,
                entries: matrix.nnz() as u32,
                format: Format::Csr,
                index: offsets.len() as u64,
                columns: columns.len() as u64,
                values: values.len() as u64,
                x: 2 * (matrices.len() - number) as u64,
                y,
            });
            let first = 1 << (40 - number % 7);
            offsets.extend(matrix.pattern().offsets().iter().map(|&its| first + u64::from(its)));
            offsets.extend(vec![7777; number % 3]);
            columns.extend(matrix.pattern().columns());
            values.extend(matrix.values());
            values.extend(vec![f32::NAN; 5 - number % 4]);
        }
        Arrays { problems, offsets, columns, values }
    }

    fn batch(&self, queue: &Queue) -> Batch<f32, u64> {
        let columns = DeviceArray::upload_blocking(queue, &self.columns).unwrap();
        let (values, none) = (&self.values, DeviceArray::upload_blocking(queue, &[]).unwrap());
        // SAFETY: the arrays were just copied from checked matrices.
        #[expect(unsafe_code, reason = "the second door: arrays that are on the device already")]
        unsafe {
            Batch::from_arrays(
                queue.context(),
                Arc::from(self.problems.as_slice()),
                DeviceArray::upload_blocking(queue, &self.offsets).unwrap(),
                none,
                BatchColumns::U32(columns),
                DeviceArray::upload_blocking(queue, values).unwrap(),
            )
            .unwrap()
        }
    }
}

/// Multiplies by several algorithms, whose plans list every task.
fn check(queue: &Queue, matrices: &[Csr<f32>]) {
    let arrays = Arrays::new(matrices);
    let batch = arrays.batch(queue);
    let x: Vec<f32> = csr_core::random_vector(3, batch.x_len());
    let device_x = DeviceArray::upload_blocking(queue, &x).unwrap();
    for algorithm in [None, Some(BatchedAlgorithm::CsrI), Some(BatchedAlgorithm::CsrVector)] {
        let options =
            BatchOptions { algorithm, parameters: small_parameters(), ..BatchOptions::default() };
        let plan = BatchPlan::new_blocking(queue, &batch, &options).unwrap();
        assert_eq!(plan.plan_bytes(), 64 * matrices.len());
        let mut workspace = plan.workspace_blocking(queue).unwrap();
        let mut y = DeviceArray::upload_blocking(queue, &vec![BETWEEN; batch.y_len()]).unwrap();
        let product = BatchOperands {
            alpha: 2.0.into(),
            a: &batch,
            x: &device_x,
            beta: 0.0.into(),
            y: &mut y,
        };
        plan.launch(queue, &mut workspace, product, &[]).unwrap();
        let mut y = y.read_blocking(queue).unwrap();
        for (matrix, problem) in matrices.iter().zip(&arrays.problems) {
            let x = &x[problem.x as usize..][..matrix.cols()];
            let its = &mut y[problem.y as usize..][..matrix.rows()];
            check_product(matrix, 2.0, x, 0.0, its, its, Accumulate::Plain);
            its.fill(BETWEEN);
        }
        assert!(y.iter().all(|&element| element == BETWEEN), "{algorithm:?}");
    }
}

#[test]
fn arrays_of_the_applications_own_are_used_as_they_lie() {
    check(&queue(), &[csr(9, &[3, 0, 8, 2], 1), csr(9, &[70, 1], 2)]);
}

#[test]
fn a_list_tells_arrays_that_do_not_keep_in_step() {
    let lengths = |number: usize| [3, 0, 8, 2].repeat(1 + number % 5);
    let matrices: Vec<_> =
        (0..40).map(|number| csr(9 + number % 4, &lengths(number), number as u64)).collect();
    check(&queue(), &matrices);
}
