//! A batch of more than 2^32 nonzeros, where the device has room for one.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::sync::Arc;

use conformance::{check_product, queue, say};
use csr_core::f16;
use sparrow::{
    Accumulate, Batch, BatchColumns, BatchOperands, BatchOptions, BatchPlan, BatchedAlgorithm, Csr,
    DeviceArray, Format, Problem, Queue,
};

const ORDER: usize = 1024;
/// Nonzeros of a problem.
const NONZEROS: usize = 32 * ORDER;
/// 2^32 nonzeros, and three problems more.
const PROBLEMS: usize = (1 << 32) / NONZEROS + 3;
/// What the device must have: values and columns of 16 bits, offsets, y, and room to spare.
const LARGEST: u64 = 2 * (NONZEROS * PROBLEMS) as u64;
const ALL: u64 = 3 * LARGEST;

#[test]
fn more_than_32_bits_count_is_right() {
    let queue = queue();
    let device = queue.context().device().traits();
    if device.max_allocation_bytes < LARGEST || device.global_bytes < ALL {
        return say(&format!(
            "more than 2^32 nonzeros: not applicable, {} has {} bytes and allocates {}; {ALL} and {LARGEST} are needed",
            device.name, device.global_bytes, device.max_allocation_bytes
        ));
    }
    let columns = |shift: usize| -> Vec<u32> {
        (0..NONZEROS).map(|at| ((at / 32 * 7 + at % 32 * 31 + shift) % ORDER) as u32).collect()
    };
    let offsets: Vec<u32> = (0..=ORDER).map(|row| 32 * row as u32).collect();
    let values = |seed| {
        let values = csr_core::random_vector::<f64>(seed, NONZEROS).into_iter();
        values.map(f16::from_f64).collect::<Vec<_>>()
    };
    // Problems beyond 2^32 have other values and columns than those at the beginning, which they must not be taken for.
    let made =
        |seed: usize| Csr::new(ORDER, offsets.clone(), columns(3 * seed), values(seed as u64));
    let (near, far) = (made(1).unwrap(), made(2).unwrap());
    let is_far = |problem: usize| problem + 3 >= PROBLEMS;
    let matrix = |problem| if is_far(problem) { &far } else { &near };
    let mut all_values = Vec::with_capacity(NONZEROS * PROBLEMS);
    (0..PROBLEMS).for_each(|problem| all_values.extend_from_slice(matrix(problem).values()));
    let values = DeviceArray::upload_blocking(&queue, &all_values).unwrap();
    drop(all_values);
    let [near_columns, far_columns] = [&near, &far].map(|matrix| {
        let columns = matrix.pattern().columns().iter();
        columns.map(|&column| column as u16).collect::<Vec<_>>()
    });
    let mut all_columns = near_columns.repeat(PROBLEMS - 3);
    all_columns.extend(far_columns.repeat(3));
    let columns = DeviceArray::upload_blocking(&queue, &all_columns).unwrap();
    drop(all_columns);
    let offsets: Vec<u64> = (0..=(ORDER * PROBLEMS) as u64).map(|row| 32 * row).collect();
    let offsets = DeviceArray::upload_blocking(&queue, &offsets).unwrap();
    let problem = |number: usize| Problem {
        rows: ORDER as u32,
        cols: ORDER as u32,
        entries: NONZEROS as u32,
        format: Format::Csr,
        index: (number * ORDER) as u64,
        columns: (number * NONZEROS) as u64,
        values: (number * NONZEROS) as u64,
        x: 0,
        y: (number * ORDER) as u64,
    };
    let problems: Arc<[Problem]> = (0..PROBLEMS).map(problem).collect();
    let none = DeviceArray::upload_blocking(&queue, &[]).unwrap();
    // SAFETY: the arrays were just copied from checked matrices.
    #[expect(unsafe_code, reason = "the second door: arrays that are on the device already")]
    let batch = unsafe {
        let columns = BatchColumns::U16(columns);
        Batch::from_arrays(queue.context(), problems, offsets, none, columns, values).unwrap()
    };
    let x: Vec<f32> = csr_core::random_vector(3, ORDER);
    let device_x = DeviceArray::upload_blocking(&queue, &x).unwrap();
    for algorithm in [BatchedAlgorithm::CsrI, BatchedAlgorithm::CsrSmart] {
        let options = BatchOptions { algorithm: Some(algorithm), ..BatchOptions::default() };
        let plan = BatchPlan::new_blocking(&queue, &batch, &options).unwrap();
        let mut workspace = plan.workspace_blocking(&queue).unwrap();
        let before = vec![f32::NAN; ORDER * PROBLEMS];
        let mut y = DeviceArray::upload_blocking(&queue, &before).unwrap();
        let (alpha, beta) = (1.0.into(), 0.0.into());
        let product = BatchOperands { alpha, a: &batch, x: &device_x, beta, y: &mut y };
        plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
        let y = y.read_blocking(&queue).unwrap();
        for problem in [0, 1, PROBLEMS / 2, PROBLEMS - 4, PROBLEMS - 3, PROBLEMS - 2, PROBLEMS - 1]
        {
            let found = &y[problem * ORDER..][..ORDER];
            check_product(matrix(problem), 1.0, &x, 0.0, found, found, Accumulate::Plain);
        }
        assert!(y.iter().all(|value| value.is_finite()), "{algorithm}: a row was never written");
    }
    lists_reach_beyond(&queue, &batch, [&near, &far]);
    say(&format!("more than 2^32 nonzeros: right, {PROBLEMS} problems of {NONZEROS}"));
}

/// So many problems of a few rows that their list takes more than the large batch's hundredth, each the beginning of the first matrix of `large` or of one
/// of the last two, by turns. They share patterns and values, and have y of their own.
fn lists_reach_beyond(queue: &Queue, large: &Batch<f16, u64>, [near, far]: [&Csr<f16>; 2]) {
    let BatchColumns::U16(columns) = large.columns() else { unreachable!("16-bit columns") };
    let count = large.size_bytes() / 100 / 64 + 7;
    let rows_of = |number: usize| 3 + number % 3;
    let mut y = 0;
    let problem = |number: usize| {
        let matrix = [0, PROBLEMS - 2, PROBLEMS - 1][number % 3];
        let rows = rows_of(number);
        y += rows;
        Problem {
            rows: rows as u32,
            cols: ORDER as u32,
            entries: 32 * rows as u32,
            format: Format::Csr,
            index: (matrix * ORDER) as u64,
            columns: (matrix * NONZEROS) as u64,
            values: (matrix * NONZEROS) as u64,
            x: 0,
            y: (y - rows) as u64,
        }
    };
    let problems: Arc<[Problem]> = (0..count).map(problem).collect();
    // SAFETY: the arrays are another batch's, and each problem the first rows of one of its.
    #[expect(unsafe_code, reason = "the second door: arrays that are on the device already")]
    let batch = unsafe {
        let columns = BatchColumns::U16(columns.slice(0..columns.len()).unwrap());
        let values = large.values().slice(0..large.values().len()).unwrap();
        let none = DeviceArray::upload_blocking(queue, &[]).unwrap();
        let offsets = large.offsets().slice(0..large.offsets().len()).unwrap();
        Batch::from_arrays(queue.context(), problems.clone(), offsets, none, columns, values)
            .unwrap()
    };
    let plan = BatchPlan::new_blocking(queue, &batch, &BatchOptions::default()).unwrap();
    assert_eq!(plan.plan_bytes(), 64 * count, "{count} problems");
    let x: Vec<f32> = csr_core::random_vector(5, ORDER);
    let device_x = DeviceArray::upload_blocking(queue, &x).unwrap();
    let before = vec![f32::NAN; batch.y_len()];
    let mut y = DeviceArray::upload_blocking(queue, &before).unwrap();
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let (alpha, beta) = (1.0.into(), 0.0.into());
    let product = BatchOperands { alpha, a: &batch, x: &device_x, beta, y: &mut y };
    plan.launch(queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    let y = y.read_blocking(queue).unwrap();
    for number in (0..9).chain(count / 2..count / 2 + 9).chain(count - 9..count) {
        let matrix = if number.is_multiple_of(3) { near } else { far };
        let rows = rows_of(number);
        let (columns, values) = (matrix.pattern().columns(), matrix.values());
        let its_offsets = matrix.pattern().offsets()[..=rows].to_vec();
        let beginning = |nnz| (columns[..nnz].to_vec(), values[..nnz].to_vec());
        let (columns, values) = beginning(32 * rows);
        let its = Csr::new(ORDER, its_offsets, columns, values).unwrap();
        let found = &y[problems[number].y as usize..][..rows];
        check_product(&its, 1.0, &x, 0.0, found, found, Accumulate::Plain);
    }
    assert!(y.iter().all(|value| value.is_finite()), "a row was never written");
}
