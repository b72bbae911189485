//! What `sparrow solve` says: how it went, and where there is no solution, why.

use sparrow::{Breakdown, Outcome, SolverMethod};
use sparrow_bench::{Solved, counted};

use crate::arguments::Solve;
use crate::commands::VectorText;
use crate::output::shown;

/// Why there is no solution, what there is instead, and what might have one.
pub(super) fn what_ended_it(arguments: &Solve, solved: &Solved) -> String {
    let Solved { outcome, record, .. } = solved;
    let left = record.of_b(record.true_relative_residual);
    let made = counted(record.iterations, "iteration");
    let how = match outcome {
        Outcome::Stagnated => {
            format!("stagnated at {left}, where {:e} was asked for; {made}", record.tolerance)
        }
        Outcome::Stopped => format!("interrupted after {made}; b - A x is {left}"),
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
    format!("{how}{x}{}", advice(arguments, solved))
}

/// What might have a solution.
fn advice(arguments: &Solve, Solved { outcome, record, .. }: &Solved) -> &'static str {
    let is_of_cg = match outcome {
        Outcome::Breakdown { kind, .. } => matches!(
            kind,
            Breakdown::Indefinite | Breakdown::CurvatureZero | Breakdown::PreconditionerIndefinite
        ),
        Outcome::Diverged => true,
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
        (SolverMethod::Cg, _) if is_of_cg => "; --method bicgstab takes any A",
        (SolverMethod::BiCgStab, _) if is_unlucky => {
            "; another --precondition may get further, or --x FILE with the x that --out has written"
        }
        (_, Outcome::MaxIterations) => "; --max-iters allows more",
        _ => "",
    }
}

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
    lines.push(format!(
        "residual b - A x: {} computed from x, {} again on the host, {} as the iterations update it",
        record.of_b(record.true_relative_residual),
        record.of_b(record.host_relative_residual),
        record.of_b(record.relative_residual)
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
