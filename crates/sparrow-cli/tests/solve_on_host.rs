//! `sparrow solve --device host`, as a script drives it: what it says of x, and how it ends. No OpenCL is needed.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::process::Command;

use serde_json::Value;

const DEFINITE: &str =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n";
/// Not symmetric.
const SKEWED: &str = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 2 3\n1 2 1\n";
const INDEFINITE: &str = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 -0.1\n";
const NO_DIAGONAL: &str = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 1\n";
const FAR: &str = "%%MatrixMarket matrix array real general\n3 1\n1e12\n-1e12\n1e12\n";

/// A quarter of a turn.
const TURNING: &str = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 -1\n";

struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
    x: Option<Vec<f64>>,
}

impl Ran {
    fn record(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

fn solve(arguments: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("definite.mtx", DEFINITE),
        ("skewed.mtx", SKEWED),
        ("indefinite.mtx", INDEFINITE),
        ("no_diagonal.mtx", NO_DIAGONAL),
        ("far.mtx", FAR),
        ("turning.mtx", TURNING),
        ("vast.mtx", VAST),
        ("endless.mtx", &VAST.replace("1e300", "inf")),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparrow"));
    command.current_dir(folder.path()).env_remove("SPARROW_DEVICE").env_remove("SPARROW_LOG");
    command.arg("solve").args(arguments.split(' '));
    let output = command.args(["--device", "host", "--out", "x.mtx"]).output().unwrap();
    let x = fs::read_to_string(folder.path().join("x.mtx")).ok();
    let x = x.map(|text| text.lines().skip(2).map(|line| line.parse().unwrap()).collect());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran {
        status: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        x,
    }
}

#[test]
fn numbers_that_nobody_gave_are_told() {
    let told = "b is random:1; --b FILE takes yours\n";
    assert!(solve("definite.mtx").stdout.contains(told));
    for given in ["definite.mtx --b ones", "definite.mtx --b far.mtx", "definite.mtx --json -"] {
        assert!(!solve(given).stdout.contains("random"), "{given}");
    }
}

/// Its squares overflow.
const VAST: &str = "%%MatrixMarket matrix array real general\n3 1\n1e300\n1e300\n1e300\n";

#[test]
fn a_residual_whose_squares_overflow_is_what_it_is_and_one_that_is_infinite_is_not_verified() {
    let ran = solve("definite.mtx --x vast.mtx --tol 1e307 --json -");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let record = ran.record();
    let residual = |field: &str| record[field].as_f64().unwrap();
    let host = residual("host_relative_residual");
    assert!((host / residual("true_relative_residual") - 1.0).abs() < 1e-12, "{record}");
    assert!(host > 1e299, "{record}");
    assert_eq!(record["verified"], true);

    let ran = solve("definite.mtx --b endless.mtx --tol 1e307 --json -");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let record = ran.record();
    assert_eq!(
        (&record["host_relative_residual"], &record["verified"]),
        (&Value::Null, &false.into())
    );
}

#[test]
fn the_host_solves_by_either_method_and_says_that_it_did() {
    for method in ["cg", "bicgstab"] {
        for precondition in ["none", "jacobi"] {
            let ran = solve(&format!(
                "definite.mtx --b ones --method {method} --precondition {precondition} --json -"
            ));
            assert_eq!(ran.status, Some(0), "{}", ran.stderr);
            assert!(!ran.stderr.contains("sparrow:"), "{}", ran.stderr);
            for (x, right) in ran.x.as_ref().unwrap().iter().zip([1.5, 2.0, 1.5]) {
                assert!((x - right).abs() < 1e-6, "{:?}", ran.x);
            }
            let record = ran.record();
            for (field, expected) in [
                ("device", Value::from("host")),
                ("algorithm", "host".into()),
                ("outcome", "converged".into()),
                ("verified", true.into()),
                ("symmetric", true.into()),
                ("copy_gbytes_per_s", Value::Null),
            ] {
                assert_eq!(record[field], expected, "{field}");
            }
        }
    }
}

#[test]
fn the_verdict_is_that_of_what_x_leaves() {
    let ran = solve("definite.mtx --b ones --x far.mtx --json -");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.record()["host_relative_residual"].as_f64().unwrap() <= 1e-8);
    // Whether rounding leaves nothing or something, the words are those of what it leaves.
    for seed in 1..6 {
        let ran = solve(&format!("definite.mtx --b random:{seed} --tol 0 --json -"));
        let record = ran.record();
        let is_solved = record["true_relative_residual"] == 0.0;
        assert_eq!(ran.status, Some(if is_solved { 0 } else { 1 }), "{}", ran.stderr);
        assert_eq!(ran.stderr.contains("stagnated at "), !is_solved, "{}", ran.stderr);
        let outcome = if is_solved { "converged" } else { "stagnated" };
        assert_eq!(record["outcome"], outcome);
        assert_eq!(record["verified"], is_solved);
    }
}

#[test]
fn an_asymmetric_matrix_is_told_counted_from_1_and_x_is_the_best_there_was() {
    let ran = solve("skewed.mtx --json -");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    for part in
        ["entry (1, 2) is 1, and entry (2, 1) is not stored", "--method bicgstab takes any A"]
    {
        assert!(ran.stderr.contains(part), "{} lacks {part}", ran.stderr);
    }
    let record = ran.record();
    assert!(record["iterations"].as_u64().unwrap() < 500, "{record}");
    assert!(record["host_relative_residual"].as_f64().unwrap() < 1.0, "{record}");
    assert_eq!((&record["symmetric"], &record["verified"]), (&false.into(), &false.into()));
    assert!(ran.x.is_some());
    let ran = solve("skewed.mtx --method bicgstab");
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_breakdown_says_its_kind_and_leaves_what_it_left() {
    let ran = solve("indefinite.mtx --b ones --json -");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("A is indefinite"), "{}", ran.stderr);
    let record = ran.record();
    for (field, expected) in [
        ("breakdown", Value::from("indefinite")),
        ("breakdown_iteration", 2.into()),
        ("x_iteration", 0.into()),
        ("true_relative_residual", 1.0.into()),
        ("relative_residual", 1.0.into()),
        ("verified", false.into()),
    ] {
        assert_eq!(record[field], expected, "{field}");
    }
    assert_eq!(ran.x, Some(vec![0.0, 0.0]));
    assert!(ran.stderr.contains("x is 0, from which no iteration came nearer"), "{}", ran.stderr);
    // A p is orthogonal to the first residual.
    let ran = solve("turning.mtx --b ones --method bicgstab");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let advice =
        "another --precondition may get further, or --x FILE with the x that --out has written";
    assert!(ran.stderr.contains(advice), "{}", ran.stderr);
}

#[test]
fn what_breaks_before_the_first_iteration_has_no_iteration_0() {
    let ran = solve("definite.mtx --b endless.mtx");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let said = "breakdown before the first iteration: a number is infinite or NaN; b - A x is not a finite number";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let numbers = "sparrow: --b endless.mtx: 3 elements are infinite or NaN; the first in row 1\n";
    assert!(ran.stderr.contains(numbers), "{}", ran.stderr);
    assert!(!ran.stderr.contains("iteration 0") && !ran.stderr.contains("0 iterations"));
}

#[test]
fn a_tolerance_of_0_is_spelled_so_and_one_within_reach_is_named() {
    let ran = solve("definite.mtx --b random:1 --tol 0");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("where 0 was asked for"), "{}", ran.stderr);
    let (_, told) = ran.stderr.split_once("; f64 leaves no less here: --tol ").unwrap();
    let (tolerance, _) = told.split_once(" is within its reach\n").unwrap();
    let ran = solve(&format!("definite.mtx --b random:1 --tol {tolerance}"));
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    // One residual, where the host alone has solved.
    assert!(
        ran.stdout.contains(" of b\n") && !ran.stdout.contains("on the host,"),
        "{}",
        ran.stdout
    );
}

#[test]
fn what_is_for_devices_and_what_has_no_inverse_are_bad_input() {
    for (arguments, part) in [
        ("definite.mtx --measure", "--measure is for OpenCL devices, and host is none"),
        ("definite.mtx --algorithm csr_vector", "--algorithm is for OpenCL devices"),
        ("definite.mtx --parameters batch=2", "--parameters is for OpenCL devices"),
        (
            "no_diagonal.mtx --precondition jacobi",
            "the diagonal of row 2 (counted from 1, as in the file) has no inverse",
        ),
    ] {
        let ran = solve(arguments);
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(part), "{} lacks {part}", ran.stderr);
        assert_eq!((ran.stdout.as_str(), ran.x), ("", None));
    }
}
