//! Solves a system on a device or the host, and checks what is said of the residual.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use csr_core::{AnyCsrView, AnyVector, CsrView, Offset, RealValue, ValueType, for_csr};
use sparrow::{
    AnyLinearSystem, AnyMatrix, AnySolver, Outcome, Queue, Rates, Solution, SolverOptions,
    SolverProgress, StopRule, solve_on_host,
};

use super::operands::{read_blocking, shape_of, uploaded};
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

/// Where it is solved.
#[derive(Clone, Copy, Debug)]
pub enum SolveTarget<'a> {
    /// On a queue's device.
    Device {
        /// The queue.
        queue: &'a Queue,
        /// How fast the device moves memory, where that was measured.
        rates: Option<Rates>,
    },
    /// On the host, without OpenCL.
    Host,
}

/// x and what is said of it.
#[derive(Debug)]
pub struct Solved {
    /// The solution; where it did not converge, the x of the least residual.
    pub x: Vec<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether what was said of x's residual is what the host finds, within what rounding allows.
    pub agrees: bool,
    /// For files and reports.
    pub record: SolveRecord,
}

/// What a record says of where it was solved.
struct Place {
    algorithm: String,
    params: String,
    kernel_key: String,
    solver_params: String,
    device: String,
    platform: String,
    driver: String,
    check_every: u32,
    bytes_per_iteration: Option<u64>,
    solver_bytes: Option<u64>,
    rates: Option<Rates>,
    setup: Duration,
    /// Of the type that sums are made in.
    eps: f64,
}

/// x, b as it was taken, and what came of it.
type Ran = (Vec<f64>, Vec<f64>, Solution, Place);

/// Solves A x = b; `observe` is called at each look at the residual.
///
/// # Errors
/// A system that the solver refuses, or the driver's own failure. That it did not converge is no error.
pub fn measure_solve(
    target: SolveTarget<'_>,
    matrix: AnyCsrView<'_>,
    origin: &Origin,
    subject: &SolveSubject<'_>,
    observe: &mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
) -> Result<Solved, MeasureError> {
    let SolveSubject { options, stop, .. } = subject;
    let shape = shape_of(matrix);
    let (x, b, solution, place) = match target {
        SolveTarget::Device { queue, rates } => on_device(queue, rates, matrix, subject, observe)?,
        SolveTarget::Host => on_host(matrix, subject, observe)?,
    };
    let check = for_csr!(matrix, matrix => check(matrix, &b, &x, &solution, place.eps));
    let symmetric = for_csr!(matrix, matrix => matrix.asymmetry()).is_none();

    let copy = place.rates.map(|rates| rates.copy);
    let iteration_limit_us =
        copy.zip(place.bytes_per_iteration).map(|(copy, bytes)| bytes as f64 / copy * 1e6);
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
        rows: shape.rows as u64,
        cols: shape.cols as u64,
        nnz: shape.nnz as u64,
        op: "solve".to_owned(),
        method: options.method.name().to_owned(),
        preconditioner: options.preconditioner.name().to_owned(),
        algorithm: place.algorithm,
        params: place.params,
        kernel_key: place.kernel_key,
        solver_params: place.solver_params,
        value_type: shape.value_type.to_string(),
        offset_type: shape.offset_type.to_string(),
        device: place.device,
        platform: place.platform,
        driver: place.driver,
        seed: origin.generator.seed,
        tolerance: stop.relative,
        max_iterations: stop.max_iterations,
        check_every: place.check_every,
        symmetric,
        outcome: solution.outcome.name().to_owned(),
        breakdown,
        breakdown_iteration,
        iterations: solution.iterations,
        x_iteration: solution.x_iteration,
        launched: solution.launched,
        b_norm: solution.b_norm,
        relative_residual: solution.relative_residual(),
        true_relative_residual: solution.true_relative_residual(),
        host_relative_residual: check.relative,
        verified: check.agrees
            && solution.outcome == Outcome::Converged
            && [check.relative, solution.true_relative_residual()]
                .iter()
                .all(|one| one.is_finite()),
        stream_gbytes_per_s: place.rates.map(|rates| rates.best() / 1e9),
        copy_gbytes_per_s: copy.map(|copy| copy / 1e9),
        bytes_per_iteration: place.bytes_per_iteration,
        iteration_limit_us,
        iteration_us,
        times_limit: iteration_us.zip(iteration_limit_us).map(|(time, limit)| time / limit),
        elapsed_us: solution.elapsed.as_secs_f64() * 1e6,
        setup_us: place.setup.as_secs_f64() * 1e6,
        solver_bytes: place.solver_bytes,
        history: solution.history,
    };
    Ok(Solved { x, outcome: solution.outcome, agrees: check.agrees, record })
}

fn on_device(
    queue: &Queue,
    rates: Option<Rates>,
    matrix: AnyCsrView<'_>,
    subject: &SolveSubject<'_>,
    observe: &mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
) -> Result<Ran, MeasureError> {
    let SolveSubject { options, stop, b, x } = subject;
    let value_type = shape_of(matrix).value_type;
    let a = AnyMatrix::upload_blocking(queue, matrix)?;
    let upload = |values: &[f64]| uploaded(queue, &AnyVector::rounded(value_type, values));
    let (device_b, mut device_x) = (upload(b)?, upload(x)?);
    let began = Instant::now();
    let mut solver = AnySolver::new_blocking(queue, &a, options)?;
    let setup = began.elapsed();
    let system = AnyLinearSystem { a: &a, b: &device_b, x: &mut device_x };
    let solution = solver.solve_observed_blocking(queue, system, stop, &[], observe)?;
    let read = |array| read_blocking(queue, array, value_type);
    let (x, b) = (read(&device_x)?.to_f64(), read(&device_b)?.to_f64());
    let traits = queue.context().device().traits();
    let is_double = value_type.accumulator() == ValueType::F64;
    let place = Place {
        algorithm: solver.plan().algorithm().to_string(),
        params: solver.plan().parameters().to_owned(),
        kernel_key: solver.plan().key().to_string(),
        solver_params: solver.parameters().to_owned(),
        device: traits.name.clone(),
        platform: traits.platform.clone(),
        driver: traits.driver.clone(),
        check_every: solver.check_every(),
        bytes_per_iteration: Some(solver.bytes_per_iteration()),
        solver_bytes: Some(solver.size_bytes() as u64),
        rates,
        setup,
        eps: if is_double { f64::EPSILON } else { f32::EPSILON.into() },
    };
    Ok((x, b, solution, place))
}

fn on_host(
    matrix: AnyCsrView<'_>,
    subject: &SolveSubject<'_>,
    observe: &mut dyn FnMut(&SolverProgress<'_>) -> ControlFlow<()>,
) -> Result<Ran, MeasureError> {
    let SolveSubject { options, stop, b, x } = subject;
    let mut x = x.to_vec();
    let solution = solve_on_host(matrix, b, &mut x, options, stop, observe)?;
    let host = || "host".to_owned();
    let place = Place {
        algorithm: host(),
        params: String::new(),
        kernel_key: String::new(),
        solver_params: String::new(),
        device: host(),
        platform: host(),
        driver: String::new(),
        check_every: options.check_every.unwrap_or(32),
        bytes_per_iteration: None,
        solver_bytes: None,
        rates: None,
        setup: Duration::ZERO,
        eps: f64::EPSILON,
    };
    Ok((x, b.to_vec(), solution, place))
}

/// What the host makes of the residual.
struct Check {
    relative: f64,
    agrees: bool,
}

/// A Euclidean norm whose squares neither overflow nor vanish.
#[derive(Default)]
struct Norm {
    /// The largest magnitude so far.
    scale: f64,
    /// The sum of squares, in units of the scale's square.
    squares: f64,
}

impl Norm {
    fn add(&mut self, value: f64) {
        let value = value.abs();
        if value > self.scale || value.is_nan() {
            self.squares = self.squares * (self.scale / value).powi(2) + 1.0;
            self.scale = value;
        } else if value > 0.0 {
            self.squares += (value / self.scale).powi(2);
        }
    }

    fn value(&self) -> f64 {
        self.scale * self.squares.sqrt()
    }
}

/// b - A x in f64, compared with what the device said. They may differ by what rounding in the device's type leaves of
/// it: for each row, as many roundings of |b| + |A| |x| as it has terms.
fn check<V: RealValue, O: Offset>(
    matrix: CsrView<'_, V, O>,
    b: &[f64],
    x: &[f64],
    solution: &Solution,
    eps: f64,
) -> Check {
    let (mut residuals, mut roundings) = (Norm::default(), Norm::default());
    for (row, b) in b.iter().enumerate() {
        let (columns, values) = matrix.row(row);
        let (mut residual, mut magnitude) = (*b, b.abs());
        for (&column, value) in columns.iter().zip(values) {
            let term = value.to_f64() * x[column as usize];
            residual -= term;
            magnitude += term.abs();
        }
        residuals.add(residual);
        roundings.add(eps * (columns.len() + 2) as f64 * magnitude);
    }
    let (host, device) = (residuals.value(), solution.true_residual);
    let allowed = 2.0 * roundings.value() + 16.0 * eps * (host + device);
    let relative = if host == 0.0 { 0.0 } else { host / solution.b_norm };
    // A solve that overflowed has a residual that is not finite on both sides.
    let agrees = (host - device).abs() <= allowed || !(host.is_finite() || device.is_finite());
    Check { relative, agrees }
}
