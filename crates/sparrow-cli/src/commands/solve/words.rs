//! What `sparrow solve` says: how it went, and where there is no solution, why.

use csr_core::{ValueType, spelled};
use sparrow::{Breakdown, Outcome, SolverMethod};
use sparrow_bench::{Solved, counted};

use crate::arguments::Solve;
use crate::commands::VectorText;
use crate::output::shown;

/// What the numbers of a solve are made in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    /// The type of vectors and sums.
    pub(super) sums: ValueType,
    /// Whether what solved has f64.
    pub(super) has_f64: bool,
}

/// Why there is no solution, what there is instead, and what might have one.
pub(super) fn what_ended_it(arguments: &Solve, solved: &Solved, precision: Precision) -> String {
    let Solved { outcome, record, .. } = solved;
    let left = record.of_b(record.true_relative_residual);
    let made = counted(record.iterations, "iteration");
    let how = match outcome {
        Outcome::Stagnated => {
            let asked = spelled(record.tolerance);
            format!("stagnated at {left}, where {asked} was asked for; {made}")
        }
        Outcome::Stopped => format!("interrupted after {made}; b - A x is {left}"),
        // It says itself in which iteration.
        Outcome::Breakdown { .. } => format!("{outcome}; b - A x is {left}"),
        outcome => format!("{outcome}; b - A x is {left}; {made}"),
    };
    let x = match (record.x_iteration, record.x_iteration == record.iterations) {
        (_, true) => String::new(),
        (0, false) => match arguments.x {
            None => "; x is 0, from which no iteration came nearer".to_owned(),
            Some(_) => "; x is that of --x, from which no iteration came nearer".to_owned(),
        },
        (iteration, false) => format!("; x is from iteration {iteration}, which came nearest"),
    };
    format!("{how}{x}{}", advice(arguments, solved, precision))
}

/// What might have a solution.
fn advice(arguments: &Solve, solved: &Solved, precision: Precision) -> String {
    let Solved { outcome, record, .. } = solved;
    let is_of_cg = match outcome {
        Outcome::Breakdown { kind, .. } => matches!(
            kind,
            Breakdown::Indefinite | Breakdown::CurvatureZero | Breakdown::PreconditionerIndefinite
        ),
        _ => !record.symmetric,
    };
    let is_unlucky = matches!(
        outcome,
        Outcome::Breakdown {
            kind: Breakdown::RhoZero | Breakdown::ShadowZero | Breakdown::OmegaZero,
            ..
        }
    );
    match (arguments.method, outcome) {
        (SolverMethod::Cg, _) if is_of_cg => "; --method bicgstab takes any A".to_owned(),
        (SolverMethod::BiCgStab, _) if is_unlucky => {
            "; another --precondition may get further, or --x FILE with the x that --out has written".to_owned()
        }
        (SolverMethod::Cg, Outcome::Diverged) => {
            "; A is indefinite or nearly singular: --precondition jacobi or --method bicgstab may get further".to_owned()
        }
        (_, Outcome::Stagnated) => reachable(record.true_relative_residual, precision),
        (_, Outcome::MaxIterations)
            if is_of_rounding(record.relative_residual, record.true_relative_residual) =>
        {
            reachable(record.true_relative_residual, precision)
        }
        (_, Outcome::MaxIterations) => {
            let text = "; --max-iters allows more".to_owned();
            // A type's own rounding is about what is left of b where a solve ends in it.
            let is_below_f32 = record.tolerance < f32::EPSILON.into();
            match precision.sums == ValueType::F32 && is_below_f32 {
                true => {
                    let asked = spelled(record.tolerance);
                    format!("{text}; f32 seldom reaches {asked}: {} goes further", wider(precision))
                }
                false => text,
            }
        }
        _ => String::new(),
    }
}

/// Whether what x leaves of b is its own rounding: iterations say that so much less is left.
fn is_of_rounding(updated: f64, computed: f64) -> bool {
    const SO_MUCH: f64 = 100.0;
    computed > SO_MUCH * updated
}

/// What solves in f64.
fn wider(precision: Precision) -> &'static str {
    if precision.has_f64 { "--value-type f64" } else { "--device host, which has f64," }
}

/// What a solve can be asked for that has stagnated at a residual.
fn reachable(residual: f64, precision: Precision) -> String {
    let Precision { sums, .. } = precision;
    let tolerance = tolerance_above(residual).map(spelled);
    match (sums, tolerance) {
        (ValueType::F64, None) => String::new(),
        (ValueType::F64, Some(tolerance)) => {
            format!("; f64 leaves no less here: --tol {tolerance} is within its reach")
        }
        (_, None) => format!("; {sums} leaves no less here: {} goes further", wider(precision)),
        (_, Some(tolerance)) => format!(
            "; {sums} leaves no less here: --tol {tolerance} is within its reach, and {} goes further",
            wider(precision)
        ),
    }
}

/// A round tolerance of at least twice a residual; `None` where that would be no solution.
fn tolerance_above(residual: f64) -> Option<f64> {
    /// A larger residual is that of no solution.
    const MOST: f64 = 0.01;
    let least = 2.0 * residual;
    // Through text, which has the nearest number to each.
    let round = |exponent: i32| {
        [1, 2, 5].into_iter().filter_map(move |digit| format!("{digit}e{exponent}").parse().ok())
    };
    let tolerance = (-320..=-2).flat_map(round).find(|tolerance: &f64| *tolerance >= least)?;
    Some(tolerance).filter(|tolerance| *tolerance <= MOST)
}

/// An iteration of less than this part of a copy of its bytes is faster than that.
const AT_A_COPY: f64 = 0.97;

const FASTER_THAN_A_COPY: &str = "it is faster than the copy where the last cache holds what it moves, or where other work ran \
                                  when the rate of copies was measured: sparrow devices --probe measures it again";

/// What a solve says on standard output.
pub(super) fn in_words(arguments: &Solve, solved: &Solved) -> String {
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
    lines.push(record.residual_in_words());
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
            if ratio < AT_A_COPY {
                lines.push(FASTER_THAN_A_COPY.to_owned());
            }
        }
        (Some(time), None) => lines.push(format!("an iteration takes {time:.1} µs")),
        // The solve ended too soon to tell.
        _ => {}
    }
    lines.push(format!(
        "the solve took {:.3} ms, set-up {:.3} ms",
        record.elapsed_us / 1e3,
        record.setup_us / 1e3
    ));
    let x = arguments.out.as_ref().filter(|_| *agrees);
    for (what, path) in [("x", x), ("report", arguments.html.as_ref())] {
        if let Some(path) = path {
            lines.push(format!("{what}: {}", shown(path)));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_within_reach_is_round_and_twice_the_residual_or_more() {
        for (residual, tolerance) in [
            (2.089e-6, Some(5e-6)),
            (1e-8, Some(2e-8)),
            (7e-17, Some(2e-16)),
            (0.004, Some(0.01)),
            (0.006, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
        ] {
            assert_eq!(tolerance_above(residual), tolerance, "{residual}");
        }
    }

    #[test]
    fn more_iterations_are_not_advised_where_rounding_is_what_is_left() {
        assert!(is_of_rounding(1.6e-113, 5.4e-15));
        assert!(is_of_rounding(0.0, 1e-16));
        for (updated, computed) in [(1e-5, 1e-5), (0.0, 0.0), (f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert!(!is_of_rounding(updated, computed), "{updated} {computed}");
        }
    }

    #[test]
    fn what_stagnates_in_f32_hears_of_f64_where_there_is_one() {
        let of = |has_f64| reachable(2.089e-6, Precision { sums: ValueType::F32, has_f64 });
        let begin = "; f32 leaves no less here: --tol 5e-6 is within its reach, and ";
        assert_eq!(of(true), format!("{begin}--value-type f64 goes further"));
        assert_eq!(of(false), format!("{begin}--device host, which has f64, goes further"));
    }
}
