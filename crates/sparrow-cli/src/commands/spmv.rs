//! `sparrow spmv`: y = alpha A x + beta y in f64, every row verified.

use csr_core::Csr;
use csr_core::io::{Encoding, write_vector_to};
use csr_core::verify::{Oracle, Summation};
use serde_json::json;
use sparrow::{Accumulate, DeviceArray, Matrix, Plan, PlanOptions, Product};
use sparrow_bench::{Input, counted, error_in_words, multiple};

use super::{VectorText, Vectors, check_host, check_making_of, check_variant, load};
use crate::arguments::{Global, Spmv};
use crate::failure::Failure;
use crate::output::{Files, shown, write_json_line, write_output};
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
            "--beta {} needs y before the product: give it with --y FILE, random:SEED or ones",
            arguments.beta
        )));
    }
    let x_text = VectorText::of(&arguments.x);
    let y_text = arguments.y.as_deref().map(VectorText::of);
    let words = Files::new(global)
        .reads_matrices([&arguments.matrix])
        .reads("--x", x_text.file())
        .reads("--y", y_text.and_then(VectorText::file))
        .writes("--out", arguments.out.as_deref())
        .check()?;
    if let Some(variant) = arguments.variant {
        check_variant(variant, arguments.algorithm, "--algorithm")?;
    }
    // The target first: a missing device should not wait for a long read.
    let target = Target::one(global)?;
    if matches!(target, Target::Host) {
        check_host(&[
            (arguments.algorithm.is_some(), "--algorithm"),
            (arguments.accumulate != Accumulate::Plain, "--accumulate compensated"),
        ])?;
    }
    let input = Input::parse(&arguments.matrix)?;
    check_making_of(arguments.making, &input)?;
    let matrix: Csr<f64, u64> = load(&input, arguments.making.into(), arguments.reading)?;
    let vectors = Vectors::of(&input, arguments.reading, arguments.column);
    let x = vectors.load("--x", x_text, matrix.cols())?;
    let y_before = match y_text {
        Some(text) => vectors.load("--y", text, matrix.rows())?,
        None => vec![0.0; matrix.rows()],
    };
    vectors.check()?;

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
        "non_finite": found.non_finite,
    });
    write_json_line(global.json.as_deref(), &line)?;
    if !found.passed() {
        return Err(Failure::run(format!(
            "verification failed: row {} is {} where {} is right, {} times what it may be off; nothing \
             was written",
            found.worst_row + 1,
            computed.y[found.worst_row],
            oracle.value(found.worst_row),
            multiple(found.error_in_tolerance)
        )));
    }
    if let Some(path) = &arguments.out {
        write_output(path, |sink| write_vector_to(sink, Encoding::of(path), &computed.y))?;
    }
    words.say(format_args!(
        "{}: {} x {}, {}; {} on {}",
        input.name(),
        matrix.rows(),
        matrix.cols(),
        counted(matrix.nnz(), "nonzero"),
        computed.algorithm,
        computed.device
    ))?;
    if let Some(text) = x_text.told("--x") {
        words.say(text)?;
    }
    let non_finite = match found.non_finite {
        0 => String::new(),
        rows => format!(
            ", {rows} of {} with NaN or infinity, whose rounding cannot be judged",
            matrix.rows()
        ),
    };
    words.say(format_args!(
        "verified: every row is right{non_finite}; {}",
        error_in_words(found.error_in_tolerance)
    ))?;
    if let Some(path) = &arguments.out {
        words.say(format_args!("y: {}", shown(path)))?;
    }
    Ok(())
}

fn on_host(
    arguments: &Spmv,
    matrix: &Csr<f64, u64>,
    x: &[f64],
    y_before: &[f64],
) -> Result<Computed, Failure> {
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
        variant: arguments.variant.unwrap_or_default(),
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
    // SAFETY: the operands are this function's own, and nothing else was enqueued.
    #[expect(unsafe_code, reason = "stage 2 on the CPU reaches the operands where they lie")]
    unsafe {
        plan.launch_in_place_blocking(&queue, &mut workspace, product, &[])?
    };
    Ok(Computed {
        y: y.read_blocking(&queue)?,
        algorithm: plan.algorithm().to_string(),
        device: device.traits().name.clone(),
        repeatable: plan.is_repeatable(),
    })
}
