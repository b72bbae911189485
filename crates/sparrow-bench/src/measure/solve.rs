//! Solves a system on a device, times its iterations, and checks what the device says of the residual.

use std::ops::ControlFlow;
use std::time::Instant;

use csr_core::{Csr, Offset, Value};
use sparrow::{
    DeviceArray, LinearSystem, Matrix, Outcome, Queue, Rates, Solution, Solver, SolverOptions,
    SolverProgress, StopRule,
};

use super::{MeasureError, Origin};
use crate::solve_record::{SOLVE_SCHEMA, SolveRecord};

/// What is solved, and how.
#[derive(Debug)]
pub struct SolveSubject<'a> {
    /// Method, preconditioner, products.
    pub options: SolverOptions,
    /// When it ends.
    pub stop: StopRule,
    /// The right-hand side.
    pub b: &'a [f64],
    /// Where the iterations begin.
    pub x: &'a [f64],
}

/// x and what is said of it.
#[derive(Debug)]
pub struct Solved {
    /// The solution.
    pub x: Vec<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// For files and reports.
    pub record: SolveRecord,
}

/// Solves A x = b on `queue`'s device; `observe` is called at each look at the residual.
///
/// # Errors
/// A system that the solver refuses, or the driver's own failure. That it did not converge is no error.
pub fn measure_solve<V: Value, O: Offset>(
    queue: &Queue,
    matrix: &Csr<V, O>,
    origin: &Origin,
    subject: &SolveSubject<'_>,
    observe: &mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
) -> Result<Solved, MeasureError> {
    let SolveSubject { options, stop, b, x } = subject;
    let rates = Rates::measure_blocking(queue)?;
    let a = Matrix::upload_blocking(queue, matrix.view())?;
    let upload = |values: &[f64]| {
        let values: Vec<_> = values.iter().map(|&value| V::Accum::from_f64(value)).collect();
        DeviceArray::upload_blocking(queue, &values)
    };
    let (device_b, mut device_x) = (upload(b)?, upload(x)?);
    let began = Instant::now();
    let mut solver = Solver::new_blocking(queue, &a, options)?;
    let setup = began.elapsed();
    let system = LinearSystem { a: &a, b: &device_b, x: &mut device_x };
    let solution = solver.solve_observed_blocking(queue, system, stop, &[], observe)?;
    let x: Vec<f64> = device_x.read_blocking(queue)?.into_iter().map(Value::to_f64).collect();
    let b: Vec<f64> = device_b.read_blocking(queue)?.into_iter().map(Value::to_f64).collect();
    let check = check::<V, O>(matrix, &b, &x, &solution);

    let traits = queue.context().device().traits();
    let iteration_limit_us = solver.bytes_per_iteration() as f64 / rates.copy * 1e6;
    let measured = solution.per_iteration.filter(|_| check.agrees);
    let iteration_us = measured.map(|time| time.as_secs_f64() * 1e6);
    let (breakdown, breakdown_iteration) = match solution.outcome {
        Outcome::Breakdown { kind, iteration } => (Some(kind.name().to_owned()), Some(iteration)),
        _ => (None, None),
    };
    let record = SolveRecord {
        schema: SOLVE_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        matrix: origin.name.clone(),
        source: origin.source.to_owned(),
        rows: matrix.rows() as u64,
        cols: matrix.cols() as u64,
        nnz: matrix.nnz() as u64,
        op: "solve".to_owned(),
        method: options.method.name().to_owned(),
        preconditioner: options.preconditioner.name().to_owned(),
        algorithm: solver.plan().algorithm().to_string(),
        params: solver.plan().parameters().to_owned(),
        kernel_key: solver.plan().key().to_string(),
        solver_params: solver.parameters().to_owned(),
        value_type: V::TYPE.to_string(),
        offset_type: O::TYPE.to_string(),
        device: traits.name.clone(),
        platform: traits.platform.clone(),
        driver: traits.driver.clone(),
        seed: origin.making.seed,
        tolerance: stop.relative,
        max_iterations: stop.max_iterations,
        check_every: solver.check_every(),
        outcome: solution.outcome.name().to_owned(),
        breakdown,
        breakdown_iteration,
        iterations: solution.iterations,
        launched: solution.launched,
        b_norm: solution.b_norm,
        relative_residual: solution.relative_residual(),
        true_relative_residual: solution.true_relative_residual(),
        host_relative_residual: check.relative,
        verified: check.agrees,
        stream_gbytes_per_s: rates.best() / 1e9,
        copy_gbytes_per_s: rates.copy / 1e9,
        bytes_per_iteration: solver.bytes_per_iteration(),
        iteration_limit_us,
        iteration_us,
        times_limit: iteration_us.map(|time| time / iteration_limit_us),
        elapsed_us: solution.elapsed.as_secs_f64() * 1e6,
        setup_us: setup.as_secs_f64() * 1e6,
        solver_bytes: solver.size_bytes() as u64,
        history: solution.history,
    };
    Ok(Solved { x, outcome: solution.outcome, record })
}

/// What the host makes of the residual.
struct Check {
    relative: f64,
    agrees: bool,
}

/// b - A x in f64, beside what the device said. They may differ by what rounding in the device's type leaves of it:
/// for each row, as many roundings of |b| + |A| |x| as it has terms.
fn check<V: Value, O: Offset>(
    matrix: &Csr<V, O>,
    b: &[f64],
    x: &[f64],
    solution: &Solution,
) -> Check {
    let eps = if size_of::<V::Accum>() == 8 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let (mut squares, mut rounding) = (0.0, 0.0);
    for (row, b) in b.iter().enumerate() {
        let (columns, values) = matrix.view().row(row);
        let (mut residual, mut magnitude) = (*b, b.abs());
        for (&column, value) in columns.iter().zip(values) {
            let term = value.to_f64() * x[column as usize];
            residual -= term;
            magnitude += term.abs();
        }
        squares += residual * residual;
        rounding += (eps * (columns.len() + 2) as f64 * magnitude).powi(2);
    }
    let (host, device) = (squares.sqrt(), solution.true_residual);
    let allowed = 2.0 * rounding.sqrt() + 16.0 * eps * (host + device);
    let relative = if host == 0.0 { 0.0 } else { host / solution.b_norm };
    // A solve that overflowed has a residual that is not finite on both sides.
    let agrees = (host - device).abs() <= allowed || !(host.is_finite() || device.is_finite());
    Check { relative, agrees }
}
