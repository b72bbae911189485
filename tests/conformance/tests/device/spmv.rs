//! The suite: every algorithm on every shape, right to the bound, within its arrays, without reading y
//! at beta = 0, infinities and NaN where they belong, the same bits twice.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ops::ControlFlow;

use conformance::{extent, implementations, options, queue, say};
use csr_core::{Csr, RealValue};
use sparrow::{Accumulate, DeviceArray, Matrix, Operands, Plan, Queue};
use sparrow_bench::selftest::{Configuration, run_suite};

#[test]
fn every_case_of_the_suite_passes() {
    let queue = queue();
    let extent = extent(queue.context().device());
    let mut all = Configuration::all();
    if extent.is_for_slow_devices() {
        // What a user gets has larger groups, which take longer to run or to compile here, and no other code.
        all.retain(|configuration| !configuration.parameters.is_empty());
    }
    let report = run_suite(&queue, &all, extent, &mut |_| ControlFlow::Continue(())).unwrap();
    say(&format!("suite ({}): {}", extent.name(), report.line()));
    let failures: Vec<String> = report.failures().take(5).map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}\n{}", report.line(), failures.join("\n"));
    assert!(report.passed() > 0);
}

/// y = A x with ones in A and multiples of the smallest subnormal in x, all of whose sums are exact.
fn keeps_subnormals<V: RealValue<Accum = V> + PartialEq + std::fmt::Debug>(
    queue: &Queue,
    least: V,
) {
    let rows = 300;
    let lengths = |row: usize| row % 9;
    let (mut offsets, mut columns) = (vec![0_u32], Vec::new());
    for row in 0..rows {
        columns.extend((0..lengths(row)).map(|k| ((row + 5 * k) % rows) as u32));
        offsets.push(columns.len() as u32);
    }
    let values = vec![V::from_f64(1.0); columns.len()];
    let matrix = Csr::new(rows, offsets, columns, values).unwrap();
    let multiple = |number: usize| V::from_f64(least.to_f64() * number as f64);
    let x: Vec<V> = (0..rows).map(|col| multiple(col % 7 + 1)).collect();
    let expected: Vec<V> = (0..rows)
        .map(|row| multiple((0..lengths(row)).map(|k| (row + 5 * k) % rows % 7 + 1).sum()))
        .collect();
    let a = Matrix::upload_blocking(queue, matrix.view()).unwrap();
    let x = DeviceArray::upload_blocking(queue, &x).unwrap();
    for (algorithm, variant) in implementations() {
        let mut y = DeviceArray::upload_blocking(queue, &vec![V::from_f64(7.0); rows]).unwrap();
        let options = options(algorithm, variant, Accumulate::Plain);
        let plan = Plan::new_blocking(queue, &a, &options).unwrap();
        let mut workspace = plan.workspace_blocking(queue).unwrap();
        let (alpha, beta) = (V::from_f64(1.0).into(), V::from_f64(0.0).into());
        let product = Operands { alpha, a: &a, x: &x, beta, y: &mut y };
        plan.launch(queue, &mut workspace, product, &[]).unwrap().wait().unwrap();
        let found = y.read_blocking(queue).unwrap();
        assert_eq!(found, expected, "{algorithm} {variant}");
    }
}

#[test]
fn subnormals_are_kept_where_the_device_says_so() {
    let queue = queue();
    let traits = queue.context().device().traits();
    if traits.keeps_f32_subnormals {
        keeps_subnormals(&queue, f32::from_bits(1));
    } else {
        say("subnormals of f32: not applicable, the device says it flushes them");
    }
    if traits.has_f64 {
        keeps_subnormals(&queue, f64::from_bits(1));
    } else {
        say("subnormals of f64: not applicable, the device has no f64");
    }
}
