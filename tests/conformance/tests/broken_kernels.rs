//! The suite catches kernels that are broken on purpose: the tests of the tests.
//!
//! Each entry changes one line of a kernel and says which check must notice. A change that no longer fits
//! the source fails here, too.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ops::ControlFlow;

use cl_runtime::break_kernels;
use conformance::{compiles_slowly, device, is_full, is_interpreter, say};
use sparrow::{Algorithm, Context, Queue, Variant};
use sparrow_bench::selftest::{CaseError, Configuration, Extent, run_suite};

/// Which check of a case notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    /// A row is outside its bound; a row never written holds the NaN that y was poisoned with.
    Bound,
    /// A canary around an array was overwritten.
    Canary,
    /// Two launches gave different bits.
    Repeat,
}

struct Breakage {
    what: &'static str,
    algorithm: Algorithm,
    variant: Variant,
    from: &'static str,
    to: &'static str,
    caught_by: &'static [Check],
    noticed: Noticed,
}

/// Where the change must be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noticed {
    Everywhere,
    /// Where items really run apart: PoCL passed every case without the barrier, and neighbouring items of
    /// a GPU may run in step.
    OnInterpreters,
}

const BREAKAGES: &[Breakage] = &[
    Breakage {
        what: "the last row is left out",
        algorithm: Algorithm::CsrScalar,
        variant: Variant::Full,
        from: "if (row >= rows)",
        to: "if (row + 1 >= rows)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a row past the last is written",
        algorithm: Algorithm::CsrScalar,
        variant: Variant::Full,
        from: "    if (row >= rows)\n        return;",
        to: "    if (row == rows) y[row] = 1; if (row >= rows)\n        return;",
        caught_by: &[Check::Canary],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "y is read at beta = 0",
        algorithm: Algorithm::CsrVector,
        variant: Variant::Full,
        from: "if (beta != 0)\n        result",
        to: "if (1)\n        result",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the barrier between products and their sums is missing",
        algorithm: Algorithm::CsrAdaptive,
        variant: Variant::Full,
        from: "    barrier(CLK_LOCAL_MEM_FENCE);\n    if (is_stream && group == 0) {",
        to: "    if (is_stream && group == 0) {",
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::OnInterpreters,
    },
    Breakage {
        what: "a carry is another share's",
        algorithm: Algorithm::CsrAdaptive,
        variant: Variant::Full,
        from: "carry_read(carries, row_block + share)",
        to: "carry_read(carries, row_block + share / 2)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a counter counts on from the launch before",
        algorithm: Algorithm::CsrAdaptive,
        variant: Variant::Full,
        from: "const int is_last = arrived == arrivals;\n    if (is_last)\n",
        to: "const int is_last = arrived == arrivals;\n    if (0)\n",
        caught_by: &[Check::Bound, Check::Repeat],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "x is taken from its buffer's beginning",
        algorithm: Algorithm::CsrVector,
        variant: Variant::Full,
        from: "OPEN_ARRAY(const real_t, x);",
        to: "global const real_t *restrict x = x_buffer;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "padding is multiplied by zero instead of masked",
        algorithm: Algorithm::CsrVector,
        variant: Variant::Full,
        from: "at < last; at += ITEMS_PER_ROW)\n            sum = acc_mad(sum, load_value(values, at), x[columns[at]]);",
        to: "at < last; at += ITEMS_PER_ROW)\n            sum = acc_mad(sum, load_value(values, at), x[columns[at]]);\n        sum = acc_mad(sum, (real_t)0, x[0]);",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the error term of compensated sums is dropped where sums meet",
        algorithm: Algorithm::CsrAdaptive,
        variant: Variant::Full,
        from: "error + (a.y + b.y)",
        to: "error",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a dirty tile's sum is not carried to the next tile",
        algorithm: Algorithm::SegmentedSum,
        variant: Variant::Device,
        from: "carried = item == 0 && whole < total ?",
        to: "carried = item == 0 && whole < total && !rows_of_tile.is_dirty ?",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "rows before the first nonzero have no owner",
        algorithm: Algorithm::SegmentedSum,
        variant: Variant::Device,
        from: "first_tile == 0 ? at_border[0] : 0",
        to: "0",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a tile of very many rows is not recognised as dirty",
        algorithm: Algorithm::SegmentedSum,
        variant: Variant::Device,
        from: "if (item == 0 && !is_walked) {\n            found.dirty[tile] = 1;",
        to: "if (item == 0 && !is_walked) {",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the barrier between a tile's sums and the next tile's products is missing",
        algorithm: Algorithm::SegmentedSum,
        variant: Variant::Device,
        from: "        BUNCH_BARRIER();\n    }\n\n    const uint last_border",
        to: "    }\n\n    const uint last_border",
        caught_by: &[Check::Bound],
        noticed: Noticed::OnInterpreters,
    },
    Breakage {
        what: "an empty row at the end of a group's part has no owner",
        algorithm: Algorithm::SegmentedSum,
        variant: Variant::Fused,
        from: "row + at < last)\n                store_result",
        to: "row + at + 1 < last)\n                store_result",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "the rest of a row behind its group is taken by nobody",
        algorithm: Algorithm::SegmentedSum,
        variant: Variant::Fused,
        from: "rest <= SHORT_REST ? rest : 0;",
        to: "0;",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "of a tile of very many rows only the ends are marked",
        algorithm: Algorithm::SegmentedSum,
        variant: Variant::Fused,
        from: "place < group->count && offsets[row] == nonzero",
        to: "0",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
    Breakage {
        what: "a carry of the one launch is another group's",
        algorithm: Algorithm::SegmentedSum,
        variant: Variant::Fused,
        from: "carry_read(mine.carries, other)",
        to: "carry_read(mine.carries, other - 1)",
        caught_by: &[Check::Bound],
        noticed: Noticed::Everywhere,
    },
];

fn check_of(error: &CaseError) -> Option<Check> {
    match error {
        CaseError::Wrong { .. } => Some(Check::Bound),
        CaseError::Overwritten { .. } => Some(Check::Canary),
        CaseError::Unrepeated { .. } => Some(Check::Repeat),
        _ => None,
    }
}

#[test]
fn every_broken_kernel_is_caught() {
    let checkers = ["OCLGRIND_DATA_RACES", "OCLGRIND_UNINITIALIZED", "OCLGRIND_CHECK_API"];
    if checkers.iter().any(|name| std::env::var_os(name).is_some()) {
        // What the interpreter reports of kernels that are meant to be broken is no finding.
        return again_without(&checkers);
    }
    let device = device();
    let on_interpreter = is_interpreter(&device);
    // Where compiling takes seconds, or running minutes, the plain test has what only an interpreter notices.
    let only_interpreters = !is_full() && (on_interpreter || compiles_slowly(&device));
    if only_interpreters {
        say("broken: those that are noticed everywhere: here under --full");
    }
    for breakage in BREAKAGES {
        if only_interpreters && breakage.noticed == Noticed::Everywhere {
            continue;
        }
        if breakage.noticed == Noticed::OnInterpreters && !on_interpreter {
            say(&format!("broken: {}: not applicable, items may run in step here", breakage.what));
            continue;
        }
        // A context of its own: programs are kept.
        let context = Context::new(&device).unwrap();
        let queue = Queue::new(&context).unwrap();
        let configuration = Configuration::small(breakage.algorithm, breakage.variant);
        let broken = break_kernels(breakage.from, breakage.to);
        let report = run_suite(&queue, &[configuration], Extent::Brief, &mut |progress| {
            if progress.failed > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(broken.programs() > 0, "{}: no source has {:?}", breakage.what, breakage.from);
        let report = report.unwrap();
        let Some(failure) = report.failures().next() else {
            panic!("{}: not caught by {} cases", breakage.what, report.passed());
        };
        let check = check_of(&failure.error);
        assert!(
            check.is_some_and(|check| breakage.caught_by.contains(&check)),
            "{}: {failure}",
            breakage.what
        );
        say(&format!(
            "broken: {}: caught after {} cases by {check:?}",
            breakage.what,
            report.passed()
        ));
    }
}

/// Runs the test in a process without these variables.
fn again_without(variables: &[&str]) {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "every_broken_kernel_is_caught", "--test-threads=1", "--nocapture"]);
    for name in variables {
        child.env_remove(name);
    }
    let output = child.output().unwrap();
    let words =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{}", words.join("\n"));
    for line in words[1].lines() {
        if let Some((_, said)) = line.split_once("conformance: ") {
            say(said);
        }
    }
}
