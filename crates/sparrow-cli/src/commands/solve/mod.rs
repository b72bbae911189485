//! `sparrow solve`: A x = b by iterations; with `--measure`, compared with what an iteration's bytes take to copy.

mod words;

use std::ffi::OsStr;
use std::ops::ControlFlow;

use csr_core::io::{Encoding, write_vector_to};
use csr_core::{AnyCsrView, AnyValues, Asymmetry, ValueType, for_csr};
use indicatif::{ProgressBar, ProgressStyle};
use sparrow::{
    Outcome, PlanOptions, Queue, Rates, Reordering, Reuse, SolverMethod, SolverOptions,
    SolverProgress, StopRule,
};
use sparrow_bench::{
    Input, Origin, SolveSubject, SolveTarget, Solved, measure_solve, rates_blocking, solve_html,
};

use super::{
    Loaded, VectorText, Vectors, check_host, check_making_of, load_compact, row_in_words,
    tell_non_finite, tell_products_of_named,
};
use crate::arguments::{Global, Solve};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Files, Words, note, quiet_bar, write_json_line, write_output, write_text};
use crate::target::{Target, queue_on};
use words::Precision;

pub(crate) fn run(global: &Global, arguments: &Solve) -> Result<(), Failure> {
    let b_text = VectorText::of(&arguments.b);
    let x_text = arguments.x.as_deref().map(VectorText::of);
    let words = Files::new(global)
        .reads_matrices([&arguments.matrix])
        .reads("--b", b_text.file())
        .reads("--x", x_text.and_then(VectorText::file))
        .writes("--out", arguments.out.as_deref())
        .writes("--html", arguments.html.as_deref())
        .check()?;
    let target = Target::one(global)?;
    if matches!(target, Target::Host) {
        check_host(&[
            (arguments.measure, "--measure"),
            (arguments.algorithm.is_some(), "--algorithm"),
            (arguments.parameters.is_some(), "--parameters"),
            (arguments.products.is_some(), "--products"),
            (arguments.reordering != Reordering::None, "--reordering"),
        ])?;
    }
    if arguments.algorithm.is_some() && arguments.products.is_some() {
        tell_products_of_named();
    }
    let input = Input::parse(&arguments.matrix)?;
    check_making_of(arguments.generator, &input)?;
    let generator = arguments.generator.into();
    let matrix = load_compact(&input, generator, arguments.reading)?;
    let (rows, cols) = (matrix.rows(), matrix.cols());
    if rows != cols {
        let name = input.name();
        let text = format!("solve needs a square matrix, and {name} is {rows} x {cols}");
        return Err(Failure::input(text));
    }
    let value_type = target.value_type(arguments.value_type);
    let vectors = Vectors::of(&input, value_type, arguments.reading, arguments.column);
    let b = vectors.load("--b", b_text, rows)?;
    let x = match x_text {
        Some(text) => vectors.load("--x", text, rows)?,
        None => vec![0.0; rows],
    };
    vectors.check()?;
    tell_what_is_not_finite(arguments, &matrix, &b, &x);
    let origin = Origin { name: input.name(), source: input.source(), generator };
    if arguments.method == SolverMethod::Cg {
        let asymmetry = for_csr!(matrix.view(), matrix => matrix.asymmetry());
        asymmetry.iter().for_each(tell_asymmetry);
    }
    let queue = match &target {
        Target::Device(device) => Some(queue_on(device)?),
        Target::Host => None,
    };
    let precision = match &target {
        Target::Device(device) => {
            Precision { sums: value_type.accumulator(), has_f64: device.traits().has_f64 }
        }
        // It solves in f64, whatever A stores.
        Target::Host => Precision { sums: ValueType::F64, has_f64: true },
    };
    let rates = queue.as_ref().filter(|_| arguments.measure);
    let rates = rates.map(|queue| rates_blocking(queue, false)).transpose()?;
    let scene = Scene { arguments, origin, queue, rates, b, x };
    let solved = matrix.with_value_type(value_type, |matrix| scene.solve(matrix))?;
    report(global, arguments, words, &solved, precision)
}

/// Rows and columns as files count them, from 1.
fn tell_asymmetry(found: &Asymmetry) {
    let Asymmetry { row, column, value, mirrored } = *found;
    let (row, column) = (row + 1, column + 1);
    let mirrored = match mirrored {
        Some(value) => format!("is {value}"),
        None => "is not stored".to_owned(),
    };
    note(format_args!(
        "warning: A is not symmetric: entry ({row}, {column}) is {value}, and entry ({column}, {row}) {mirrored}. \
         cg is for symmetric A; --method bicgstab takes any"
    ));
}

/// Numbers with which no solve gets anywhere.
fn tell_what_is_not_finite(arguments: &Solve, matrix: &Loaded, b: &[f64], x: &[f64]) {
    let elements = ["element is", "elements are"];
    let option = |option: &str, text: &OsStr, vector: &[f64]| {
        let name = format!("{option} {}", text.display());
        tell_non_finite(&name, vector, elements, row_in_words);
    };
    option("--b", &arguments.b, b);
    arguments.x.iter().for_each(|text| option("--x", text, x));
    let place = |entry| matrix.place(entry);
    if let AnyValues::F64(values) = matrix.view().values() {
        tell_non_finite(matrix.name(), values, ["value is", "values are"], place);
    }
}

struct Scene<'a> {
    arguments: &'a Solve,
    origin: Origin,
    /// None for the host.
    queue: Option<Queue>,
    rates: Option<Rates>,
    b: Vec<f64>,
    x: Vec<f64>,
}

impl Scene<'_> {
    fn solve(&self, matrix: AnyCsrView<'_>) -> Result<Solved, Failure> {
        let arguments = self.arguments;
        let plan = PlanOptions {
            algorithm: arguments.algorithm,
            reuse: arguments.products.unwrap_or(Reuse::Many),
            reordering: arguments.reordering,
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
            // From now on there is an x that is worth keeping, and an interrupt ends the iterations.
            interrupt::end_myself();
            progress.show(seen);
            match interrupt::signal() {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        };
        let target = match &self.queue {
            Some(queue) => SolveTarget::Device { queue, rates: self.rates },
            None => SolveTarget::Host,
        };
        let solved = measure_solve(target, matrix, &self.origin, &subject, observe);
        // What is written now may wait for its reader.
        interrupt::end_at_once();
        Ok(solved?)
    }
}

/// A line about the residual; how far it has come by its logarithm.
struct Progress(ProgressBar);

/// Steps of the bar.
const STEPS: u64 = 1000;

impl Progress {
    fn new() -> Self {
        let bar = quiet_bar(ProgressBar::new(STEPS));
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg} {elapsed}") {
            bar.set_style(style);
        }
        Progress(bar)
    }

    fn show(&self, seen: &SolverProgress<'_>) {
        let residual = seen.residual();
        tracing::debug!(iteration = seen.iteration, residual, wanted = seen.threshold, "looked");
        let first = seen.history.first().copied().unwrap_or(residual);
        let share = (first / residual).ln() / (first / seen.threshold).ln();
        if share.is_finite() {
            // Between 0 and the number of steps.
            self.0.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
        }
        self.0.set_message(format!(
            "iteration {}: residual {residual:.2e}, wanted {:.2e}",
            seen.iteration, seen.threshold
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
    stream: Words,
    solved: &Solved,
    precision: Precision,
) -> Result<(), Failure> {
    let Solved { x, outcome, agrees, record } = solved;
    write_json_line(global.json.as_deref(), record)?;
    if let Some(path) = &arguments.html {
        write_text(path, &solve_html(std::slice::from_ref(record), "Sparrow solve"))?;
    }
    if let Some(path) = &arguments.out
        && *agrees
    {
        write_output(path, |sink| write_vector_to(sink, Encoding::of(path), x))?;
    }
    // Said before what went wrong, which counts more than words that could not be said.
    let said = stream.print(&words::in_words(arguments, solved));
    if !agrees {
        return Err(Failure::run(format!(
            "verification failed: b - A x is {} on the host, and {} by what solved it; x was not written",
            record.of_b(record.host_relative_residual),
            record.of_b(record.true_relative_residual)
        )));
    }
    match (outcome, interrupt::signal()) {
        (Outcome::Converged, _) => said,
        (Outcome::Stopped, Some(signal)) => Err(Failure::Interrupted(
            signal,
            anyhow::Error::msg(words::what_ended_it(arguments, solved, precision)),
        )),
        _ => Err(Failure::run(words::what_ended_it(arguments, solved, precision))),
    }
}
