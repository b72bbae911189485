//! Batches: every algorithm on problems of every kind, in one launch.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::sync::Arc;

use conformance::{bits, check_product, is_full, is_interpreter, queue};
use csr_core::{bf16, f16};
use sparrow::{
    Accumulate, Batch, BatchCoefficient, BatchColumns, BatchOptions, BatchPlan, BatchProduct,
    BatchedAlgorithm, BatchedVariant, ColumnWidth, Csr, DeviceArray, Ell, Format, HostBatch,
    Problem, Queue, Value,
};
use sparrow_bench::selftest::Guarded;

/// Groups, steps and local memory so small that small problems exceed all of them.
fn small() -> Vec<(String, u32)> {
    let parameters = [
        ("bunch_size", 8),
        ("bunches_per_group", 4),
        ("nnz_per_item", 2),
        ("x_local", 64),
        ("rows_per_task", 64),
    ];
    parameters.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn csr<V: Value>(cols: usize, lengths: &[usize], seed: u64) -> Csr<V> {
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for (row, &length) in lengths.iter().enumerate() {
        columns.extend((0..length).map(|k| ((row * 31 + k * 7) % cols) as u32));
        offsets.push(columns.len() as u32);
    }
    let values = csr_core::random_vector::<f64>(seed, columns.len());
    Csr::new(cols, offsets, columns, values.into_iter().map(V::from_f64).collect()).unwrap()
}

/// Nothing at all, one entry, rows around every limit, long runs of empty rows, one row with nearly everything, and
/// one large problem among small ones.
fn problems<V: Value>() -> Vec<Csr<V>> {
    let mut heap = vec![2; 90];
    heap[40] = 400;
    let mut long_row = vec![0; 300];
    long_row[170] = 1024;
    let mut shapes: Vec<(usize, Vec<usize>)> = vec![
        (0, vec![]),
        (5, vec![]),
        (0, vec![0; 5]),
        (1, vec![1]),
        (7, vec![0; 70]),
        (3, vec![0, 0, 3]),
        (9, vec![4, 0, 0, 0, 0]),
        (64, vec![3; 64]),
        (65, [1, 9, 0, 5, 17].repeat(13)),
        (90, heap),
        (1024, long_row),
        (33, (0..33).collect()),
        (40, vec![200, 1, 0, 64, 63, 65, 128]),
        (1500, [vec![0; 70], vec![1; 700], vec![0; 30], vec![5; 700]].concat()),
    ];
    for order in [2, 8, 15, 16, 17, 31, 32, 63, 100, 130] {
        shapes.push((order, (0..order).map(|row| 1 + row * 5 % 7).collect()));
    }
    // Larger than all others together.
    let huge = (0..900).map(|row| if row % 97 == 0 { 150 } else { row % 9 }).collect();
    shapes.insert(6, (400, huge));
    shapes.iter().enumerate().map(|(k, (cols, lengths))| csr(*cols, lengths, k as u64)).collect()
}

/// The problems in the format that an algorithm reads.
fn batch_for<V: Value>(algorithm: Option<BatchedAlgorithm>, problems: &[Csr<V>]) -> HostBatch<V> {
    let mut batch = HostBatch::new();
    for (number, problem) in problems.iter().enumerate() {
        match (algorithm, number % 3) {
            (Some(BatchedAlgorithm::Coo), _) | (None, 1) => {
                batch.push_coo(&problem.to_coo()).unwrap();
            }
            // Some as they come, filled up however much that takes.
            (Some(BatchedAlgorithm::Ell), 0) if problem.nnz() < 500 => {
                batch.push_ell(&Ell::from_csr(problem.view()).unwrap()).unwrap();
            }
            (Some(BatchedAlgorithm::Ell), _) | (None, 2) => {
                batch.push_as_ell(problem.view()).unwrap();
            }
            _ => batch.push_csr(problem.view()).unwrap(),
        }
    }
    batch
}

/// How alpha and beta come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coefficients {
    Value,
    One,
    Each,
}

/// Runs a batch twice and holds every problem against the oracle.
fn check<V: Value>(
    queue: &Queue,
    problems: &[Csr<V>],
    host: &HostBatch<V>,
    options: &BatchOptions,
    (coefficients, reads_y): (Coefficients, bool),
    width: ColumnWidth,
) {
    let number = |value: f64| <V::Accum as Value>::from_f64(value);
    let alphas: Vec<V::Accum> =
        (0..problems.len().max(1)).map(|k| number(1.0 + k as f64 / 8.0)).collect();
    let betas: Vec<V::Accum> = (0..problems.len().max(1))
        .map(|k| number(if reads_y { 0.5 - k as f64 / 16.0 } else { 0.0 }))
        .collect();
    let x: Vec<V::Accum> = csr_core::random_vector(11, host.x_len());
    let y_before: Vec<V::Accum> = if reads_y {
        csr_core::random_vector(12, host.y_len())
    } else {
        vec![number(f64::NAN); host.y_len()]
    };
    let batch = Batch::upload_blocking(queue, host, width).unwrap();
    let device_x = DeviceArray::upload_blocking(queue, &x).unwrap();
    let mut y = Guarded::upload_blocking(queue, &y_before, 3).unwrap();
    let device_alphas = DeviceArray::upload_blocking(queue, &alphas).unwrap();
    let device_betas = DeviceArray::upload_blocking(queue, &betas).unwrap();
    let options =
        BatchOptions { scalars_on_device: coefficients != Coefficients::Value, ..options.clone() };
    let plan = BatchPlan::new_blocking(queue, &batch, &options).unwrap();
    let mut workspace = plan.workspace_blocking(queue).unwrap();
    let mut first = None;
    for _ in 0..2 {
        y.restore_blocking(queue).unwrap();
        let (alpha, beta) = match coefficients {
            Coefficients::Value => (alphas[0].into(), betas[0].into()),
            Coefficients::One => {
                (BatchCoefficient::One(&device_alphas), BatchCoefficient::One(&device_betas))
            }
            Coefficients::Each => {
                (BatchCoefficient::Each(&device_alphas), BatchCoefficient::Each(&device_betas))
            }
        };
        let product = BatchProduct { alpha, a: &batch, x: &device_x, beta, y: y.array_mut() };
        plan.launch(queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
        let found = y.read_blocking(queue).unwrap();
        for (index, (csr, place)) in problems.iter().zip(host.problems()).enumerate() {
            let own = if coefficients == Coefficients::Each { index } else { 0 };
            let x = &x[place.x as usize..][..csr.cols()];
            let rows = place.y as usize..place.y as usize + csr.rows();
            let (before, found) = (&y_before[rows.clone()], &found[rows]);
            check_product(csr, alphas[own], x, betas[own], before, found, Accumulate::Plain);
        }
        assert_eq!(y.damaged_canary(queue).unwrap(), None);
        if plan.is_repeatable() {
            let found = bits(&found);
            assert_eq!(first.get_or_insert(found.clone()), &found);
        }
    }
}

const ALGORITHMS: [Option<BatchedAlgorithm>; 7] = [
    None,
    Some(BatchedAlgorithm::Coo),
    Some(BatchedAlgorithm::CsrScalar),
    Some(BatchedAlgorithm::CsrVector),
    Some(BatchedAlgorithm::CsrSmart),
    Some(BatchedAlgorithm::CsrI),
    Some(BatchedAlgorithm::Ell),
];

fn check_type<V: Value>(queue: &Queue, turn: usize) {
    use Coefficients::{Each, One, Value as ByValue};
    let problems = problems::<V>();
    for (number, algorithm) in ALGORITHMS.into_iter().enumerate() {
        let host = batch_for(algorithm, &problems);
        let ways = [(ByValue, false), (Each, true), (One, false), (ByValue, true), (Each, false)];
        let count = if is_full() { ways.len() } else { 2 };
        for way in 0..count {
            let way = (way + number + turn) % ways.len();
            let width = [ColumnWidth::Automatic, ColumnWidth::U32][(way + turn) % 2];
            let parameters = if way.is_multiple_of(2) { small() } else { Vec::new() };
            let options = BatchOptions { algorithm, parameters, ..BatchOptions::default() };
            check(queue, &problems, &host, &options, ways[way], width);
        }
    }
}

#[test]
fn every_algorithm_is_right_on_problems_of_every_kind() {
    let queue = queue();
    check_type::<f32>(&queue, 0);
    if queue.context().device().traits().has_f64 {
        check_type::<f64>(&queue, 1);
    }
    if is_full() || !is_interpreter(queue.context().device()) {
        check_type::<f16>(&queue, 2);
        check_type::<bf16>(&queue, 3);
    }
}

#[test]
fn rows_added_by_atomics_are_right_too() {
    let queue = queue();
    let problems = problems::<f32>();
    for algorithm in [BatchedAlgorithm::Coo, BatchedAlgorithm::CsrI] {
        let host = batch_for(Some(algorithm), &problems);
        for way in [(Coefficients::Value, false), (Coefficients::Each, true)] {
            let options = BatchOptions {
                algorithm: Some(algorithm),
                variant: BatchedVariant::Atomic,
                parameters: small(),
                ..BatchOptions::default()
            };
            check(&queue, &problems, &host, &options, way, ColumnWidth::Automatic);
        }
    }
}

#[test]
fn a_batch_of_no_problems_and_one_of_empty_ones_are_launched() {
    let queue = queue();
    for problems in [vec![], vec![csr::<f32>(0, &[], 0); 3]] {
        for algorithm in [None, Some(BatchedAlgorithm::CsrI)] {
            let host = batch_for(Some(BatchedAlgorithm::CsrI), &problems);
            let options = BatchOptions { algorithm, ..BatchOptions::default() };
            let way = (Coefficients::Each, true);
            check(&queue, &problems, &host, &options, way, ColumnWidth::Automatic);
        }
    }
}

#[test]
fn one_pattern_serves_many_values() {
    let queue = queue();
    let one = csr::<f32>(70, &[1, 9, 0, 5, 17, 30].repeat(11), 1);
    let problems: Vec<Csr<f32>> = (0..20)
        .map(|k| Csr::from_pattern(one.pattern().clone(), csr_core::random_vector(k, one.nnz())))
        .map(Result::unwrap)
        .collect();
    let values: Vec<f32> = problems.iter().flat_map(|problem| problem.values()).copied().collect();
    let mut host = HostBatch::new();
    host.push_pattern(one.view().pattern(), &values, problems.len()).unwrap();
    assert_eq!(host.columns().len(), one.nnz());
    for algorithm in [None, Some(BatchedAlgorithm::CsrI), Some(BatchedAlgorithm::CsrSmart)] {
        let options = BatchOptions { algorithm, parameters: small(), ..BatchOptions::default() };
        let way = (Coefficients::Each, true);
        check(&queue, &problems, &host, &options, way, ColumnWidth::Automatic);
    }
}

/// Problems that share x, with y apart from each other, in row offsets that count on from problem to problem.
#[test]
fn arrays_of_the_applications_own_are_used_as_they_lie() {
    let queue = queue();
    let (first, second) = (csr::<f32>(9, &[3, 0, 8, 2], 1), csr::<f32>(9, &[70, 1], 2));
    let mut offsets: Vec<u64> = vec![7777];
    offsets.extend(first.pattern().offsets().iter().map(|&offset| u64::from(offset) + (1 << 40)));
    offsets.extend(second.pattern().offsets().iter().map(|&offset| u64::from(offset) + 13));
    let columns = [first.pattern().columns(), second.pattern().columns()].concat();
    let values = [first.values(), second.values()].concat();
    let problem = |csr: &Csr<f32>, index, entries, y| Problem {
        rows: csr.rows() as u32,
        cols: csr.cols() as u32,
        entries: csr.nnz() as u32,
        format: Format::Csr,
        index,
        columns: entries,
        values: entries,
        x: 2,
        y,
    };
    let problems = [problem(&first, 1, 0, 3), problem(&second, 6, first.nnz() as u64, 0)];
    let upload = |data: &[u64]| DeviceArray::upload_blocking(&queue, data).unwrap();
    let columns = BatchColumns::U32(DeviceArray::upload_blocking(&queue, &columns).unwrap());
    let values = DeviceArray::upload_blocking(&queue, &values).unwrap();
    let none = DeviceArray::upload_blocking(&queue, &[]).unwrap();
    // SAFETY: the arrays were just copied from checked matrices.
    #[expect(unsafe_code, reason = "the second door: arrays that are on the device already")]
    let batch = unsafe {
        Batch::from_arrays(
            queue.context(),
            Arc::new(problems),
            upload(&offsets),
            none,
            columns,
            values,
        )
        .unwrap()
    };
    assert_eq!((batch.x_len(), batch.y_len()), (11, 7));
    let x: Vec<f32> = csr_core::random_vector(3, 11);
    let device_x = DeviceArray::upload_blocking(&queue, &x).unwrap();
    for algorithm in [None, Some(BatchedAlgorithm::CsrI), Some(BatchedAlgorithm::CsrVector)] {
        let options = BatchOptions { algorithm, parameters: small(), ..BatchOptions::default() };
        let plan = BatchPlan::new_blocking(&queue, &batch, &options).unwrap();
        let mut workspace = plan.workspace_blocking(&queue).unwrap();
        let mut y = DeviceArray::upload_blocking(&queue, &[9.0f32; 7]).unwrap();
        let product = BatchProduct {
            alpha: 2.0.into(),
            a: &batch,
            x: &device_x,
            beta: 0.0.into(),
            y: &mut y,
        };
        plan.launch(&queue, &mut workspace, product, &[]).unwrap();
        let y = y.read_blocking(&queue).unwrap();
        assert_eq!(y[2], 9.0, "between the problems");
        check_product(&first, 2.0, &x[2..], 0.0, &y[3..], &y[3..], Accumulate::Plain);
        check_product(&second, 2.0, &x[2..], 0.0, &y[..2], &y[..2], Accumulate::Plain);
    }
}

#[test]
fn new_values_need_no_new_plan() {
    let queue = queue();
    let problems: Vec<_> = (0..5).map(|seed| csr::<f32>(20, &[4; 20], seed)).collect();
    let mut host = HostBatch::new();
    problems.iter().for_each(|problem| host.push_csr(problem.view()).unwrap());
    let mut batch = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
    let plan = BatchPlan::new_blocking(&queue, &batch, &BatchOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let x = DeviceArray::upload_blocking(&queue, &vec![1.0f32; host.x_len()]).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &vec![0.0f32; host.y_len()]).unwrap();
    batch.write_values_blocking(&queue, &vec![0.25; host.values().len()]).unwrap();
    let product = BatchProduct { alpha: 1.0.into(), a: &batch, x: &x, beta: 0.0.into(), y: &mut y };
    plan.launch(&queue, &mut workspace, product, &[]).unwrap();
    assert_eq!(y.read_blocking(&queue).unwrap(), vec![1.0; 100]);
    let values = DeviceArray::upload_blocking(&queue, &vec![0.5f32; 400]).unwrap();
    let other = batch.with_values(values).unwrap();
    let product = BatchProduct { alpha: 1.0.into(), a: &other, x: &x, beta: 0.0.into(), y: &mut y };
    plan.launch(&queue, &mut workspace, product, &[]).unwrap();
    assert_eq!(y.read_blocking(&queue).unwrap(), vec![2.0; 100]);
}

#[test]
fn what_does_not_belong_together_is_refused_by_name() {
    let queue = queue();
    let problem = csr::<f32>(20, &[4; 20], 1);
    let mut host = HostBatch::new();
    host.push_csr(problem.view()).unwrap();
    host.push_csr(problem.view()).unwrap();
    let batch = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
    let other = Batch::upload_blocking(&queue, &host, ColumnWidth::Automatic).unwrap();
    let plan = BatchPlan::new_blocking(&queue, &batch, &BatchOptions::default()).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let long = DeviceArray::upload_blocking(&queue, &[1.0f32; 40]).unwrap();
    let short = DeviceArray::upload_blocking(&queue, &[1.0f32; 39]).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &[1.0f32; 40]).unwrap();
    let mut refusal = |alpha, a, x| {
        let product = BatchProduct { alpha, a, x, beta: 0.0.into(), y: &mut y };
        plan.launch(&queue, &mut workspace, product, &[]).unwrap_err().to_string()
    };
    for (found, part) in [
        (refusal(1.0.into(), &other, &long), "does not share the patterns"),
        (refusal(1.0.into(), &batch, &short), "x has 39 elements, and the problems need 40"),
        (refusal(BatchCoefficient::Each(&long), &batch, &long), "set scalars_on_device"),
    ] {
        assert!(found.contains(part), "{found}");
    }
    let options =
        BatchOptions { algorithm: Some(BatchedAlgorithm::Coo), ..BatchOptions::default() };
    let error = BatchPlan::new_blocking(&queue, &batch, &options).unwrap_err().to_string();
    assert!(error.contains("batched_coo: no problem of the batch"), "{error}");

    let beyond = Problem { values: 81, ..batch.problems()[1] };
    // SAFETY: nothing is launched.
    #[expect(unsafe_code, reason = "the second door")]
    let error = unsafe {
        Batch::from_arrays(
            queue.context(),
            Arc::new([batch.problems()[0], beyond]),
            DeviceArray::upload_blocking(&queue, host.offsets()).unwrap(),
            DeviceArray::upload_blocking(&queue, &[]).unwrap(),
            BatchColumns::U32(DeviceArray::upload_blocking(&queue, host.columns()).unwrap()),
            DeviceArray::upload_blocking(&queue, host.values()).unwrap(),
        )
        .unwrap_err()
    };
    assert!(error.to_string().starts_with("problem 1: values from 81 on"), "{error}");
}
