//! `sparrow solve`: A x = b by iterations; with `--measure`, beside what an iteration's bytes take to copy.

use std::ops::ControlFlow;

use csr_core::io::{Encoding, write_vector_to};
use csr_core::{AnyCsrView, Asymmetry, for_csr};
use indicatif::{ProgressBar, ProgressStyle};
use sparrow::{
    Breakdown, Outcome, PlanOptions, Queue, Rates, SolverMethod, SolverOptions, SolverProgress,
    StopRule,
};
use sparrow_bench::{
    Input, Origin, SolveRecord, SolveSubject, SolveTarget, Solved, counted, measure_solve,
    rates_blocking, solve_html,
};

use super::{VectorText, Vectors, check_making_of, check_vector, load_compact};
use crate::arguments::{Global, Solve};
use crate::failure::Failure;
use crate::output::{Files, Words, note, quiet_bar, write_json_line, write_output, write_text};
use crate::target::{Target, queue_on};

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
        check_host(arguments)?;
    }
    let input = Input::parse(&arguments.matrix)?;
    check_making_of(arguments.making, &input)?;
    let making = arguments.making.into();
    let matrix = load_compact(&input, making, arguments.reading)?;
    let (rows, cols) = (matrix.rows(), matrix.cols());
    if rows != cols {
        let name = input.name();
        let text = format!("solve needs a square matrix, and {name} is {rows} x {cols}");
        return Err(Failure::input(text));
    }
    let vectors = Vectors::of(&input, arguments.reading, arguments.column);
    let b = vectors.load("--b", b_text, rows)?;
    let x = match x_text {
        Some(text) => vectors.load("--x", text, rows)?,
        None => vec![0.0; rows],
    };
    vectors.check()?;
    check_vector("--b", &b, arguments.value_type, arguments.reading)?;
    check_vector("--x", &x, arguments.value_type, arguments.reading)?;
    let origin = Origin { name: input.name(), source: input.source(), making };
    if arguments.method == SolverMethod::Cg {
        let asymmetry = for_csr!(matrix.view(), matrix => matrix.asymmetry());
        asymmetry.iter().for_each(tell_asymmetry);
    }
    let queue = match &target {
        Target::Device(device) => Some(queue_on(device)?),
        Target::Host => None,
    };
    let rates = queue.as_ref().filter(|_| arguments.measure);
    let rates = rates.map(|queue| rates_blocking(queue, false)).transpose()?;
    let scene = Scene { arguments, origin, queue, rates, b, x };
    let solved = matrix.with_value_type(arguments.value_type, |matrix| scene.solve(matrix))?;
    report(global, arguments, words, &solved)
}

/// Refuses options that are for devices.
fn check_host(arguments: &Solve) -> Result<(), Failure> {
    let for_devices = [
        (arguments.measure, "--measure"),
        (arguments.algorithm.is_some(), "--algorithm"),
        (arguments.parameters.is_some(), "--parameters"),
    ];
    match for_devices.into_iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, option)) => {
            Err(Failure::input(format!("{option} is for OpenCL devices, and host is none")))
        }
    }
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
        let target = match &self.queue {
            Some(queue) => SolveTarget::Device { queue, rates: self.rates },
            None => SolveTarget::Host,
        };
        Ok(measure_solve(target, matrix, &self.origin, &subject, observe)?)
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
    words: Words,
    solved: &Solved,
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
    let said = words.print(&in_words(arguments, solved));
    if !agrees {
        return Err(Failure::run(format!(
            "verification failed: b - A x is {} on the host, and {} by what solved it; x was not written",
            record.of_b(record.host_relative_residual),
            record.of_b(record.true_relative_residual)
        )));
    }
    match outcome {
        Outcome::Converged => said,
        outcome => Err(Failure::run(what_ended_it(arguments, *outcome, record))),
    }
}

/// Why there is no solution, what there is instead, and what might have one.
fn what_ended_it(arguments: &Solve, outcome: Outcome, record: &SolveRecord) -> String {
    let left = record.of_b(record.true_relative_residual);
    let how = match outcome {
        Outcome::Stagnated => {
            format!("stagnated at {left}, where {:.3e} was asked for", record.tolerance)
        }
        outcome => format!("{outcome}; b - A x is {left}"),
    };
    let from = match record.x_iteration == record.iterations {
        true => String::new(),
        false => format!(", x that of iteration {}, the least residual", record.x_iteration),
    };
    let is_of_cg = match outcome {
        Outcome::Breakdown { kind, .. } => matches!(
            kind,
            Breakdown::Indefinite | Breakdown::CurvatureZero | Breakdown::PreconditionerIndefinite
        ),
        Outcome::Diverged => true,
        _ => !record.symmetric,
    };
    let advice = match arguments.method == SolverMethod::Cg && is_of_cg {
        true => "; --method bicgstab takes any A",
        false => "",
    };
    format!("{how}; {}{from}{advice}", counted(record.iterations, "iteration"))
}

fn in_words(arguments: &Solve, solved: &Solved) -> String {
    let Solved { outcome, agrees, record, .. } = solved;
    let mut lines = Vec::new();
    lines.push(format!(
        "{}: {} x {}, {}, {}; {} with {} preconditioning, products by {}, on {}",
        record.matrix,
        record.rows,
        record.cols,
        counted(record.nnz, "nonzero"),
        record.value_type,
        record.method,
        match record.preconditioner.as_str() {
            "none" => "no",
            name => name,
        },
        record.algorithm,
        record.device
    ));
    lines.extend(VectorText::of(&arguments.b).told("--b"));
    // How it failed is said once, as the error.
    if *outcome == Outcome::Converged {
        lines.push(format!("converged: {}", counted(record.iterations, "iteration")));
    }
    lines.push(format!(
        "residual: {} by the recurrence, {} computed from x, {} on the host",
        record.of_b(record.relative_residual),
        record.of_b(record.true_relative_residual),
        record.of_b(record.host_relative_residual)
    ));
    if let (Some(bytes), Some(limit), Some(rate)) =
        (record.bytes_per_iteration, record.iteration_limit_us, record.copy_gbytes_per_s)
    {
        let moved = match bytes {
            0..100_000 => counted(bytes, "byte"),
            _ => format!("{:.3} MB", bytes as f64 / 1e6),
        };
        lines.push(format!(
            "an iteration moves {moved}, which take {limit:.3} µs to copy at {rate:.1} GB/s"
        ));
    }
    match (record.iteration_us, record.times_limit) {
        (Some(time), Some(ratio)) => {
            lines.push(format!("an iteration takes {time:.1} µs: {ratio:.2} times that"));
        }
        (Some(time), None) => lines.push(format!("an iteration takes {time:.1} µs")),
        _ => {
            lines.push("an iteration's time was not measured: the solve ended too soon".to_owned())
        }
    }
    lines.push(format!(
        "the solve took {:.3} ms, set-up {:.3} ms",
        record.elapsed_us / 1e3,
        record.setup_us / 1e3
    ));
    let x = arguments.out.as_ref().filter(|_| *agrees);
    for (what, path) in [("x", x), ("report", arguments.html.as_ref())] {
        if let Some(path) = path {
            lines.push(format!("{what}: {}", path.display()));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}
