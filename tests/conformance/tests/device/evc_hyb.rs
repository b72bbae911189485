//! EVC-HYB: converted on the device as on the host, in every order, with new values, and back.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use cl_runtime::spmv::DeviceEvcHyb;
use conformance::{check_in_order, check_product, is_full, is_interpreter, queue};
use csr_core::evc_hyb::{EvcHybOptions, EvcHybPattern};
use csr_core::plan::evc_hyb::TaskRules;
use csr_core::{Csr, Offset, RealValue};
use sparrow::{
    Accumulate, Algorithm, DeviceArray, Matrix, Operands, Plan, PlanOptions, Planning, Queue,
    Variant, VectorOrder,
};
use sparrow_bench::selftest::Configuration;

/// Rows of every kind: none, few and many nonzeros, and one far longer than the rest. Columns do not begin in order
/// of rows, and some rows begin alike.
fn matrix<V: RealValue, O: Offset>(rows: usize, cols: usize, seed: u64) -> Csr<V, O> {
    let random: Vec<f64> = csr_core::random_vector(seed, 2 * rows);
    let (mut offsets, mut columns) = (vec![O::zeroed()], Vec::new());
    for row in 0..rows {
        let most = match (random[row].abs() * 1000.0) as usize {
            0..250 => 0,
            250..900 => (random[row].abs() * 9.0) as usize,
            900..998 => 20 + (random[row].abs() * 200.0) as usize % 61,
            _ => 900,
        };
        let length = most.min(cols);
        let free = cols - length;
        let first = (random[rows + row].abs() * free as f64) as usize / 3;
        columns.extend((first..first + length).map(|column| column as u32));
        offsets.push(O::try_from_usize(columns.len()).unwrap());
    }
    let values: Vec<V> = csr_core::random_vector::<f64>(seed + 1, columns.len())
        .into_iter()
        .map(V::from_f64)
        .collect();
    Csr::new(cols, offsets, columns, values).unwrap()
}

const RULES: TaskRules =
    TaskRules { group_size: 64, nnz_per_item: 8, rows_per_item: 4, long_nnz_per_item: 8 };

fn check_conversion<O: Offset>(queue: &Queue, rows: usize, seed: u64, options: &EvcHybOptions) {
    let host: Csr<f32, O> = matrix(rows, rows + 40, seed);
    let a = Matrix::upload_blocking(queue, host.view()).unwrap();
    let order = VectorOrder::Original;
    let found = DeviceEvcHyb::convert_blocking(queue, &a, options, &RULES, order).unwrap();
    let pattern = EvcHybPattern::new(host.view().pattern(), options).unwrap();
    let expected = DeviceEvcHyb::upload_blocking(queue, &pattern, options, &RULES, order).unwrap();
    let what = format!("{rows} rows, {options:?}");
    let same = |read: fn(&DeviceEvcHyb) -> &DeviceArray<u32>| {
        let read = |of| read(of).read_blocking(queue).unwrap();
        read(&found) == read(&expected)
    };
    assert!(same(DeviceEvcHyb::row_order), "{what}");
    assert!(same(DeviceEvcHyb::row_lengths), "{what}");
    assert!(same(DeviceEvcHyb::columns), "{what}");
    let starts = |of: &DeviceEvcHyb| of.long_starts().read_blocking(queue).unwrap();
    assert_eq!(starts(&found), starts(&expected), "{what}");
    let tasks = |of: &DeviceEvcHyb| of.tasks().read_blocking(queue).unwrap();
    assert_eq!(tasks(&found), tasks(&expected), "{what}");
    assert_eq!(found.statistics(), pattern.statistics(), "{what}");
}

#[test]
fn the_device_converts_as_the_host_does() {
    let queue = queue();
    let paper = EvcHybOptions::default();
    let small = EvcHybOptions { longest_short_row: Some(16), alignment: 8 };
    let sorted = EvcHybOptions { longest_short_row: None, alignment: 1 };
    let sizes: &[usize] =
        if is_full() { &[0, 1, 31, 1023, 1024, 1025, 5000, 40_000] } else { &[0, 1, 1025] };
    for (seed, &rows) in sizes.iter().enumerate() {
        for options in [paper, small, sorted] {
            check_conversion::<u32>(&queue, rows, seed as u64, &options);
        }
    }
    check_conversion::<u64>(&queue, 700, 9, &small);
}

fn options(variant: Variant, order: VectorOrder, planning: Planning) -> PlanOptions {
    let small = Configuration::small(Algorithm::EvcHyb, variant).options(Accumulate::Plain);
    PlanOptions { order, planning, ..small }
}

#[test]
fn vectors_can_stay_in_the_plans_order() {
    let queue = queue();
    let size = if is_interpreter(queue.context().device()) { 300 } else { 800 };
    let host: Csr<f32> = matrix(size, size, 4);
    let plannings: &[Planning] =
        if is_full() { &[Planning::OnHost, Planning::OnDevice] } else { &[Planning::OnDevice] };
    for variant in [Variant::Hybrid, Variant::SortedCsr] {
        for order in [VectorOrder::Original, VectorOrder::Permuted, VectorOrder::Symmetric] {
            for planning in plannings {
                check_in_order(&queue, &host, &options(variant, order, *planning));
            }
        }
    }
    let host_planned = options(Variant::Hybrid, VectorOrder::Symmetric, Planning::OnHost);
    check_in_order(&queue, &host, &host_planned);
    let flat: Csr<f32> = matrix(300, 1100, 6);
    check_in_order(
        &queue,
        &flat,
        &options(Variant::Hybrid, VectorOrder::Permuted, Planning::OnDevice),
    );
}

/// So many rows of each length up to `most`.
fn every_length(of_each: usize, most: usize) -> Csr<f32> {
    let (mut offsets, mut columns) = (vec![0u32], Vec::new());
    for row in 0..of_each * (most + 1) {
        let length = row * 7 % (most + 1);
        columns.extend((0..length).map(|k| ((k + row) % (3 * most + 3)) as u32));
        offsets.push(columns.len() as u32);
    }
    for row in offsets.windows(2) {
        columns[row[0] as usize..row[1] as usize].sort_unstable();
    }
    let values: Vec<f32> = csr_core::random_vector(8, columns.len());
    Csr::new(3 * most + 3, offsets, columns, values).unwrap()
}

#[test]
fn rows_of_every_length_are_right() {
    let queue = queue();
    // Three of each, so that every strip takes some that are left of the one before; beyond the longest short row, which
    // is 64 here and 128 for a user. On an interpreter as many as show it.
    let (small, users) = match (is_full(), is_interpreter(queue.context().device())) {
        (true, _) => ((3, 600), (3, 600)),
        (false, false) => ((3, 150), (3, 150)),
        (false, true) => ((3, 72), (1, 136)),
    };
    let (small, users) = (every_length(small.0, small.1), every_length(users.0, users.1));
    for variant in [Variant::Hybrid, Variant::SortedCsr] {
        let options = options(variant, VectorOrder::Original, Planning::OnDevice);
        check_in_order(&queue, &small, &options);
        // And with the hyper-parameters that a user gets.
        check_in_order(&queue, &users, &PlanOptions { parameters: Vec::new(), ..options });
    }
}

#[test]
fn orders_that_cannot_be_are_refused() {
    let queue = queue();
    let host: Csr<f32> = matrix(300, 310, 6);
    let a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    for planning in [Planning::OnHost, Planning::OnDevice] {
        let options = options(Variant::Hybrid, VectorOrder::Symmetric, planning);
        let refused = Plan::new_blocking(&queue, &a, &options).unwrap_err().to_string();
        assert!(refused.ends_with("needs a square matrix, and this one is 300 x 310"), "{refused}");
    }
    let options = PlanOptions {
        algorithm: Some(Algorithm::CsrVector),
        order: VectorOrder::Permuted,
        ..PlanOptions::default()
    };
    let refused = Plan::new_blocking(&queue, &a, &options).unwrap_err().to_string();
    assert!(refused.contains("csr_vector") && refused.contains("evc_hyb"), "{refused}");
}

#[test]
fn new_values_reach_the_copy_without_sorting_and_old_ones_are_refused() {
    let queue = queue();
    let mut host: Csr<f32> = matrix(800, 800, 4);
    let mut a = Matrix::upload_blocking(&queue, host.view()).unwrap();
    let options = options(Variant::Hybrid, VectorOrder::Original, Planning::OnDevice);
    let mut plan = Plan::new_blocking(&queue, &a, &options).unwrap();
    host.values_mut().iter_mut().for_each(|value| *value *= -3.0);
    a.write_values_blocking(&queue, host.values()).unwrap();
    let x: Vec<f32> = csr_core::random_vector(5, 800);
    let device_x = DeviceArray::upload_blocking(&queue, &x).unwrap();
    let mut y = DeviceArray::upload_blocking(&queue, &vec![f32::NAN; 800]).unwrap();
    let mut workspace = plan.workspace_blocking(&queue).unwrap();
    let product = Operands { alpha: 1.0.into(), a: &a, x: &device_x, beta: 0.0.into(), y: &mut y };
    let refused = plan.launch(&queue, &mut workspace, product, &[]).unwrap_err();
    assert!(refused.to_string().contains("update_values_blocking"), "{refused}");

    plan.update_values_blocking(&queue, &a).unwrap();
    let product = Operands { alpha: 1.0.into(), a: &a, x: &device_x, beta: 0.0.into(), y: &mut y };
    plan.launch(&queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
    let found = y.read_blocking(&queue).unwrap();
    check_product(&host, 1.0, &x, 0.0, &found, &found, Accumulate::Plain);
}
