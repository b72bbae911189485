//! `sparrow solve`: A x = b by iterations, beside what an iteration's bytes take to copy.

use std::ops::ControlFlow;
use std::path::Path;

use csr_core::{Csr, Offset, Value, ValueType, bf16, f16, io};
use indicatif::{ProgressBar, ProgressStyle};
use sparrow::{Outcome, PlanOptions, Queue, SolverOptions, SolverProgress, StopRule};
use sparrow_bench::{Input, Origin, SolveRecord, SolveSubject, Solved, measure_solve, solve_html};

use super::bench::narrow;
use super::load;
use crate::arguments::{Global, Solve};
use crate::failure::Failure;
use crate::output::{check_writable, words_on_stdout, write_json_lines, write_text};
use crate::target::{Target, queue_on};

pub(crate) fn run(global: &Global, arguments: &Solve) -> Result<(), Failure> {
    check(global, arguments)?;
    let Target::Device(device) = Target::one(global)? else {
        return Err(Failure::input("solve takes an OpenCL device, and host is none"));
    };
    let input = Input::parse(&arguments.matrix)?;
    let making = arguments.making.into();
    let matrix: Csr<f64, u64> = load(&input, making)?;
    let (rows, cols) = (matrix.rows(), matrix.cols());
    if rows != cols {
        let name = input.name();
        let text = format!("solve needs a square matrix, and {name} is {rows} x {cols}");
        return Err(Failure::input(text));
    }
    let b = read_b(&arguments.b, rows)?;
    let x = match &arguments.x {
        Some(path) => check_length("--x", path, io::read_vector(path)?, rows)?,
        None => vec![0.0; rows],
    };
    let origin = Origin { name: input.name(), source: input.source(), making };
    let scene = Scene { arguments, origin, queue: queue_on(&device)?, b, x };
    let Solved { x, outcome, record } = match narrow(&matrix) {
        Some(matrix) => scene.of_type(&matrix)?,
        None => scene.of_type(&matrix)?,
    };
    report(global, arguments, &x, outcome, &record)
}

/// Refuses what would be refused after the work.
fn check(global: &Global, arguments: &Solve) -> Result<(), Failure> {
    if !(arguments.tol.is_finite() && arguments.tol >= 0.0) {
        let text = format!("--tol {} is not a finite number of 0 or more", arguments.tol);
        return Err(Failure::input(text));
    }
    if arguments.check_every.is_some_and(|every| !(1..=1 << 16).contains(&every)) {
        return Err(Failure::input("--check-every takes 1 to 65536"));
    }
    let paths = [&arguments.out, &arguments.html, &global.json];
    paths.into_iter().flatten().try_for_each(|path| check_writable(path))
}

struct Scene<'a> {
    arguments: &'a Solve,
    origin: Origin,
    queue: Queue,
    b: Vec<f64>,
    x: Vec<f64>,
}

impl Scene<'_> {
    fn of_type<O: Offset>(&self, matrix: &Csr<f64, O>) -> Result<Solved, Failure> {
        match self.arguments.value_type {
            ValueType::F64 => self.solve(matrix),
            ValueType::F32 => self.solve(&matrix.map_values::<f32>()),
            ValueType::F16 => self.solve(&matrix.map_values::<f16>()),
            ValueType::Bf16 => self.solve(&matrix.map_values::<bf16>()),
        }
    }

    fn solve<V: Value, O: Offset>(&self, matrix: &Csr<V, O>) -> Result<Solved, Failure> {
        let arguments = self.arguments;
        let plan = PlanOptions {
            algorithm: arguments.algorithm,
            products: arguments.products,
            ..PlanOptions::default()
        };
        let options = SolverOptions {
            method: arguments.method,
            preconditioner: arguments.precondition,
            check_every: arguments.check_every,
            plan,
            parameters: arguments.parameters.iter().flat_map(|list| list.0.clone()).collect(),
            ..SolverOptions::default()
        };
        let stop = StopRule {
            relative: arguments.tol,
            max_iterations: arguments.max_iters,
            ..StopRule::default()
        };
        let subject = SolveSubject { options, stop, b: &self.b, x: &self.x };
        let progress = Progress::new();
        let observe = &mut |seen: &SolverProgress<'_>| {
            progress.show(seen);
            ControlFlow::Continue(())
        };
        Ok(measure_solve(&self.queue, matrix, &self.origin, &subject, observe)?)
    }
}

/// A line about the residual; how far it has come by its logarithm.
struct Progress(ProgressBar);

/// Steps of the bar.
const STEPS: u64 = 1000;

impl Progress {
    fn new() -> Self {
        let bar = ProgressBar::new(STEPS);
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg} {elapsed}") {
            bar.set_style(style);
        }
        Progress(bar)
    }

    fn show(&self, seen: &SolverProgress<'_>) {
        let residual = seen.residual();
        let first = seen.history.first().copied().unwrap_or(residual);
        let share = (first / residual).ln() / (first / seen.threshold).ln();
        if share.is_finite() {
            // Between 0 and the number of steps.
            self.0.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
        }
        self.0.set_message(format!(
            "iteration {}: residual {:.2e} of b, wanted {:.2e}",
            seen.iteration,
            residual / seen.b_norm,
            seen.threshold / seen.b_norm
        ));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Writes what was asked for; an error where there is no solution.
fn report(
    global: &Global,
    arguments: &Solve,
    x: &[f64],
    outcome: Outcome,
    record: &SolveRecord,
) -> Result<(), Failure> {
    let line = serde_json::to_value(record).map_err(|error| Failure::Run(error.into()))?;
    write_json_lines(global.json.as_deref(), &[line])?;
    if let Some(path) = &arguments.html {
        write_text(path, &solve_html(std::slice::from_ref(record), "Sparrow solve"))?;
    }
    if let Some(path) = &arguments.out
        && record.verified
    {
        io::write_vector(path, x)?;
    }
    if words_on_stdout(global.json.as_deref()) {
        print_words(arguments, outcome, record);
    }
    if !record.verified {
        return Err(Failure::run(format!(
            "verification failed: b - A x is {:.3e} of b on the host, and {:.3e} on the device; x was not written",
            record.host_relative_residual, record.true_relative_residual
        )));
    }
    match outcome {
        Outcome::Converged => Ok(()),
        outcome => Err(Failure::run(format!("{outcome}; {} iterations", record.iterations))),
    }
}

fn print_words(arguments: &Solve, outcome: Outcome, record: &SolveRecord) {
    println!(
        "{}: {} x {}, {} nonzeros, {}; {} with {} preconditioning, products by {}, on {}",
        record.matrix,
        record.rows,
        record.cols,
        record.nnz,
        record.value_type,
        record.method,
        match record.preconditioner.as_str() {
            "none" => "no",
            name => name,
        },
        record.algorithm,
        record.device
    );
    println!("{outcome}: {} iterations", record.iterations);
    println!(
        "residual: {:.3e} of b by the recurrence, {:.3e} computed from x, {:.3e} on the host",
        record.relative_residual, record.true_relative_residual, record.host_relative_residual
    );
    println!(
        "an iteration moves {:.3} MB, which take {:.1} us to copy at {:.1} GB/s",
        record.bytes_per_iteration as f64 / 1e6,
        record.iteration_limit_us,
        record.copy_gbytes_per_s
    );
    match (record.iteration_us, record.times_limit) {
        (Some(time), Some(ratio)) => {
            println!("an iteration takes {time:.1} us: {ratio:.2} times that");
        }
        _ => println!("an iteration's time was not measured: the solve ended too soon"),
    }
    println!(
        "the solve took {:.3} ms, set-up {:.3} ms",
        record.elapsed_us / 1e3,
        record.setup_us / 1e3
    );
    for (what, path) in [("x", &arguments.out), ("report", &arguments.html)] {
        if let Some(path) = path {
            println!("{what}: {}", path.display());
        }
    }
}

fn read_b(text: &str, rows: usize) -> Result<Vec<f64>, Failure> {
    if text == "ones" {
        return Ok(vec![1.0; rows]);
    }
    match text.strip_prefix("random:") {
        Some(seed) => {
            let seed = seed.parse().map_err(|_| {
                Failure::input(format!("--b random:SEED takes a number, not \"{seed}\""))
            })?;
            Ok(csr_core::random_vector(seed, rows))
        }
        None => check_length("--b", text.as_ref(), io::read_vector(text.as_ref())?, rows),
    }
}

fn check_length(
    option: &str,
    path: &Path,
    vector: Vec<f64>,
    expected: usize,
) -> Result<Vec<f64>, Failure> {
    if vector.len() != expected {
        return Err(Failure::input(format!(
            "{option} {} has {} elements; the matrix needs {expected}",
            path.display(),
            vector.len()
        )));
    }
    Ok(vector)
}
