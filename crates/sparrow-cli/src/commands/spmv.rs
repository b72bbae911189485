//! `sparrow spmv`: y = alpha A x + beta y in f64, every row verified.

use csr_core::verify::{Oracle, Summation};
use csr_core::{Csr, io};
use serde_json::json;
use sparrow::{Accumulate, DeviceArray, Matrix, Plan, PlanOptions, Product};
use sparrow_bench::Input;

use super::load;
use crate::arguments::{Global, Spmv};
use crate::failure::Failure;
use crate::output::{words_on_stdout, write_json_lines};
use crate::target::{Target, queue_on};

/// y after, and what computed it.
struct Computed {
    y: Vec<f64>,
    algorithm: String,
    device: String,
    repeatable: bool,
}

pub(crate) fn run(global: &Global, arguments: &Spmv) -> Result<(), Failure> {
    if arguments.beta != 0.0 && arguments.y.is_none() {
        return Err(Failure::input(format!(
            "--beta {} needs y before the product: give it with --y FILE",
            arguments.beta
        )));
    }
    // The target first: a missing device should not wait for a long read.
    let target = Target::one(global)?;
    let input = Input::parse(&arguments.matrix)?;
    let matrix: Csr<f64, u64> = load(&input, arguments.making.into())?;
    let x = read_x(&arguments.x, matrix.cols())?;
    let y_before = match &arguments.y {
        Some(path) => check_length("--y", path.display(), io::read_vector(path)?, matrix.rows())?,
        None => vec![0.0; matrix.rows()],
    };

    let computed = match &target {
        Target::Host => on_host(arguments, &matrix, &x, &y_before)?,
        Target::Device(device) => on_device(device, arguments, &matrix, &x, &y_before)?,
    };
    let oracle = Oracle::new(arguments.alpha, matrix.view(), &x, arguments.beta, &y_before)?;
    let summation = match arguments.accumulate {
        Accumulate::Plain => Summation::Plain,
        Accumulate::Compensated => Summation::Compensated,
    };
    let found = oracle.verify(&computed.y, summation)?;

    let line = json!({
        "schema": "sparrow-spmv/1",
        "version": env!("CARGO_PKG_VERSION"),
        "matrix": input.name(),
        "source": input.source(),
        "rows": matrix.rows(),
        "cols": matrix.cols(),
        "nnz": matrix.nnz(),
        "algorithm": computed.algorithm,
        "value_type": "f64",
        "accumulate": arguments.accumulate.name(),
        "device": computed.device,
        "repeatable": computed.repeatable,
        "verified": found.passed(),
        "error_in_tolerance": found.error_in_tolerance,
    });
    write_json_lines(global.json.as_deref(), &[line])?;
    if !found.passed() {
        return Err(Failure::run(format!(
            "verification failed: row {} is {} where {} is right, {:.3} times what it may be off; nothing \
             was written",
            found.worst_row,
            computed.y[found.worst_row],
            oracle.value(found.worst_row),
            found.error_in_tolerance
        )));
    }
    if let Some(path) = &arguments.out {
        io::write_vector(path, &computed.y)?;
    }
    if words_on_stdout(global.json.as_deref()) {
        println!(
            "{}: {} x {}, {} nonzeros; {} on {}",
            input.name(),
            matrix.rows(),
            matrix.cols(),
            matrix.nnz(),
            computed.algorithm,
            computed.device
        );
        println!(
            "verified: every row is right; the largest error is {:.3} of what its row allows",
            found.error_in_tolerance
        );
        if let Some(path) = &arguments.out {
            println!("y: {}", path.display());
        }
    }
    Ok(())
}

fn on_host(
    arguments: &Spmv,
    matrix: &Csr<f64, u64>,
    x: &[f64],
    y_before: &[f64],
) -> Result<Computed, Failure> {
    if arguments.algorithm.is_some() || arguments.accumulate != Accumulate::Plain {
        return Err(Failure::input(
            "--device host has one algorithm and plain sums: leave --algorithm and --accumulate out",
        ));
    }
    let mut y = y_before.to_vec();
    csr_core::product(arguments.alpha, matrix.view(), x, arguments.beta, &mut y)?;
    Ok(Computed { y, algorithm: "host".to_owned(), device: "host".to_owned(), repeatable: true })
}

fn on_device(
    device: &sparrow::Device,
    arguments: &Spmv,
    matrix: &Csr<f64, u64>,
    x: &[f64],
    y_before: &[f64],
) -> Result<Computed, Failure> {
    let queue = queue_on(device)?;
    let a = Matrix::upload_blocking(&queue, matrix.view())?;
    let options = PlanOptions {
        algorithm: arguments.algorithm,
        variant: arguments.variant,
        accumulate: arguments.accumulate,
        ..PlanOptions::default()
    };
    let plan = Plan::with_pattern_blocking(&queue, &a, matrix.pattern().view(), &options)?;
    let mut workspace = plan.workspace_blocking(&queue)?;
    let x = DeviceArray::upload_blocking(&queue, x)?;
    let mut y = DeviceArray::upload_blocking(&queue, y_before)?;
    let product = Product {
        alpha: arguments.alpha.into(),
        a: &a,
        x: &x,
        beta: arguments.beta.into(),
        y: &mut y,
    };
    plan.launch_blocking(&queue, &mut workspace, product, &[])?;
    Ok(Computed {
        y: y.read_blocking(&queue)?,
        algorithm: plan.algorithm().to_string(),
        device: device.traits().name.clone(),
        repeatable: plan.is_repeatable(),
    })
}

fn read_x(text: &str, cols: usize) -> Result<Vec<f64>, Failure> {
    match text.strip_prefix("random:") {
        Some(seed) => {
            let seed = seed.parse().map_err(|_| {
                Failure::input(format!("--x random:SEED takes a number, not \"{seed}\""))
            })?;
            Ok(csr_core::random_vector(seed, cols))
        }
        None => check_length("--x", text, io::read_vector(text.as_ref())?, cols),
    }
}

fn check_length(
    option: &str,
    path: impl std::fmt::Display,
    vector: Vec<f64>,
    expected: usize,
) -> Result<Vec<f64>, Failure> {
    if vector.len() != expected {
        return Err(Failure::input(format!(
            "{option} {path} has {} elements; the matrix needs {expected}",
            vector.len()
        )));
    }
    Ok(vector)
}
