//! `sparrow spmv`: y = alpha A x + beta y, every row verified.

use csr_core::io::{Encoding, write_vector_to};
use csr_core::verify::{Oracle, Summation};
use csr_core::{AnyCsrView, AnyVector, CsrView, Offset, RealValue, Value, for_csr};
use serde_json::json;
use sparrow::{
    Accumulate, AnyArray, AnyMatrix, AnyOperands, AnyPlan, Number, PlanOptions, Reordering,
};
use sparrow_bench::{Input, counted, error_in_words, multiple};

use super::reading::{check_coefficient, load_compact};
use super::{VectorText, Vectors, check_host, check_making_of, check_variant};
use crate::arguments::{Global, Spmv};
use crate::failure::Failure;
use crate::output::{Files, shown, write_json_line, write_output};
use crate::target::{Target, queue_on};

/// y after, and what computed it.
struct Computed {
    y: AnyVector,
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
            (arguments.reordering != Reordering::None, "--reordering"),
        ])?;
    }
    let input = Input::parse(&arguments.matrix)?;
    check_making_of(arguments.generator, &input)?;
    let value_type = target.value_type(arguments.value_type);
    check_coefficient("--alpha", arguments.alpha, value_type)?;
    check_coefficient("--beta", arguments.beta, value_type)?;
    let matrix = load_compact(&input, arguments.generator.into(), arguments.reading)?;
    let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.nnz());
    let vectors = Vectors::of(&input, value_type, arguments.reading, arguments.column);
    let vector = |option, text, len| {
        let read = vectors.load(option, text, len)?;
        Ok::<_, Failure>(AnyVector::rounded(value_type, &read))
    };
    let x = vector("--x", x_text, cols)?;
    let y_before = match y_text {
        Some(text) => vector("--y", text, rows)?,
        None => AnyVector::filled(value_type, 0.0, rows),
    };
    vectors.check()?;

    let (computed, oracle) = matrix.with_value_type(value_type, |matrix| {
        let computed = match &target {
            Target::Host => on_host(arguments, matrix, &x, &y_before)?,
            Target::Device(device) => on_device(device, arguments, matrix, &x, &y_before)?,
        };
        let (alpha, beta) = (arguments.alpha, arguments.beta);
        let oracle = Oracle::of_any_product(alpha, matrix, &x, beta, &y_before)?;
        Ok::<_, Failure>((computed, oracle))
    })?;
    let summation = match arguments.accumulate {
        Accumulate::Plain => Summation::Plain,
        Accumulate::Compensated => Summation::Compensated,
    };
    let found = oracle.verify_any(&computed.y, summation)?;

    let line = json!({
        "schema": "sparrow-spmv/1",
        "version": env!("CARGO_PKG_VERSION"),
        "matrix": input.name(),
        "source": input.source(),
        "rows": rows,
        "cols": cols,
        "nnz": nnz,
        "algorithm": computed.algorithm,
        "value_type": value_type.name(),
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
            computed.y.number(found.worst_row).to_f64(),
            oracle.value(found.worst_row),
            multiple(found.error_in_tolerance)
        )));
    }
    if let Some(path) = &arguments.out {
        write_output(path, |sink| write_vector_to(sink, Encoding::of(path), &computed.y.to_f64()))?;
    }
    words.say(format_args!(
        "{}: {rows} x {cols}, {}, {value_type}; {} on {}",
        input.name(),
        counted(nnz, "nonzero"),
        computed.algorithm,
        computed.device
    ))?;
    if let Some(text) = x_text.told("--x") {
        words.say(text)?;
    }
    let non_finite = match found.non_finite {
        0 => String::new(),
        found => {
            format!(", {found} of {rows} with NaN or infinity, whose rounding cannot be judged")
        }
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
    matrix: AnyCsrView<'_>,
    x: &AnyVector,
    y_before: &AnyVector,
) -> Result<Computed, Failure> {
    fn typed<V: RealValue, O: Offset>(
        arguments: &Spmv,
        a: CsrView<'_, V, O>,
        (x, y_before): (&AnyVector, &AnyVector),
    ) -> csr_core::Result<Vec<f64>> {
        let [alpha, beta] = [arguments.alpha, arguments.beta].map(V::Accum::from_f64);
        let mut y = y_before.of::<V::Accum>().to_vec();
        csr_core::product(alpha, a, x.of(), beta, &mut y)?;
        Ok(y.into_iter().map(csr_core::Real::to_f64).collect())
    }
    let y = for_csr!(matrix, matrix => typed(arguments, matrix, (x, y_before)))?;
    Ok(Computed {
        // It is of that type already.
        y: AnyVector::rounded(matrix.value_type(), &y),
        algorithm: "host".to_owned(),
        device: "host".to_owned(),
        repeatable: true,
    })
}

fn on_device(
    device: &sparrow::Device,
    arguments: &Spmv,
    matrix: AnyCsrView<'_>,
    x: &AnyVector,
    y_before: &AnyVector,
) -> Result<Computed, Failure> {
    let queue = queue_on(device)?;
    let value_type = matrix.value_type();
    let a = AnyMatrix::upload_blocking(&queue, matrix)?;
    let options = PlanOptions {
        algorithm: arguments.algorithm,
        variant: arguments.variant.unwrap_or_default(),
        accumulate: arguments.accumulate,
        reordering: arguments.reordering,
        ..PlanOptions::default()
    };
    let plan = AnyPlan::with_pattern_blocking(&queue, &a, matrix.pattern(), &options)?;
    let mut workspace = plan.workspace_blocking(&queue)?;
    let upload =
        |vector: &AnyVector| AnyArray::upload_blocking(&queue, vector.value_type(), vector.bytes());
    let (x, mut y) = (upload(x)?, upload(y_before)?);
    let number = |value| Number::of(value_type, value).into();
    let (alpha, beta) = (number(arguments.alpha), number(arguments.beta));
    let product = AnyOperands { alpha, a: &a, x: &x, beta, y: &mut y };
    // SAFETY: the operands are this function's own, and nothing else was enqueued.
    #[expect(unsafe_code, reason = "stage 2 on the CPU reaches the operands where they lie")]
    unsafe {
        plan.launch_in_place_blocking(&queue, &mut workspace, product, &[])?
    };
    let mut found = AnyVector::filled(value_type, 0.0, y_before.len());
    y.read_bytes_blocking(&queue, found.bytes_mut())?;
    Ok(Computed {
        y: found,
        algorithm: plan.algorithm().to_string(),
        device: device.traits().name.clone(),
        repeatable: plan.is_repeatable(),
    })
}
