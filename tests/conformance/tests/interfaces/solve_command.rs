//! `sparrow solve` on the device under test: x, the record, the report, and how it ends.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::process::Output;

use crate::command_line::sparrow;
use conformance::{device, is_interpreter, say};
use serde_json::Value;

/// 2 on the diagonal.
const TWOS: &str = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2\n2 2 2\n3 3 2\n";
/// Neither positive nor negative definite.
const MINUS: &str = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 -1\n";
const TALL: &str = "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 1\n3 2 1\n";
const ONES: &str = "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n";
const HUGE: &str = "%%MatrixMarket matrix array real general\n3 1\n1\n1e300\n1\n";
/// Nothing on the second row's diagonal.
const HOLE: &str = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 1 1\n";
/// The same as [`TWOS`], with 2, 4 and 6 as `twos_b.mtx`.
const ARCHIVE: &[u8] = include_bytes!("../../../../data/archives/twos.tar.gz");

struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
    x: Option<String>,
    report: Option<String>,
}

impl Ran {
    fn record(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{}", self.stdout);
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Solves in a folder of its own, on the device under test.
fn solve(matrix: &str, arguments: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("twos.mtx", TWOS),
        ("minus.mtx", MINUS),
        ("tall.mtx", TALL),
        ("ones.mtx", ONES),
        ("huge.mtx", HUGE),
        ("hole.mtx", HOLE),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    fs::write(folder.path().join("twos.tar.gz"), ARCHIVE).unwrap();
    let mut command = sparrow(folder.path());
    command.args(["solve", matrix, "--out", "x.mtx", "--html", "report.html"]);
    if !arguments.contains("--device") {
        command.args(["--device", &device().position()]);
    }
    let Output { status, stdout, stderr } =
        command.args(arguments.split_whitespace()).output().unwrap();
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).ok();
    Ran {
        status: status.code(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
        x: text("x.mtx"),
        report: text("report.html"),
    }
}

#[test]
fn a_solve_writes_x_a_record_and_a_report() {
    for (method, precondition) in [("cg", "none"), ("bicgstab", "jacobi")] {
        let ran = solve(
            "twos.mtx",
            &format!("--b ones.mtx --method {method} --precondition {precondition} --json -"),
        );
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        let half = "%%MatrixMarket matrix array real general\n3 1\n0.5\n0.5\n0.5\n";
        assert_eq!(ran.x.as_deref(), Some(half));
        let record = ran.record();
        for (name, expected) in [
            ("schema", Value::from("sparrow-solve/1")),
            ("matrix", "twos".into()),
            ("op", "solve".into()),
            ("method", method.into()),
            ("preconditioner", precondition.into()),
            ("value_type", "f64".into()),
            ("outcome", "converged".into()),
            ("iterations", 1.into()),
            ("history", vec![3f64.sqrt(), 0.0].into()),
            ("verified", true.into()),
            ("symmetric", true.into()),
            // Nobody asked for it.
            ("copy_gbytes_per_s", Value::Null),
            ("device", device().traits().name.clone().into()),
        ] {
            assert_eq!(record[name], expected, "{name}");
        }
        let report = ran.report.unwrap();
        for part in [&*format!("twos by {method}"), "converged after 1 iteration", "Residual"] {
            assert!(report.contains(part), "{part}");
        }
    }
}

#[test]
fn a_laplacian_is_solved_in_words_with_an_iterations_time() {
    if is_interpreter(&device()) {
        say("skipped: --measure finds how fast memory is, which takes an interpreter minutes");
        return;
    }
    let ran = solve("poisson5", "--scale 0.001 --method cg --tol 1e-6 --check-every 5 --measure");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    for part in [
        "converged: ",
        "residual b - A x: ",
        " of b, on the host too\n",
        "an iteration takes ",
        " µs to copy at ",
        "x: x.mtx",
    ] {
        assert!(ran.stdout.contains(part), "{} lacks {part}", ran.stdout);
    }
    // The residual is drawn, and the tolerance.
    let report = ran.report.unwrap();
    assert!(report.matches("class=\"trace s0\"").count() > 10);
    assert!(report.contains("1e-6"), "{report}");
}

#[test]
fn what_does_not_converge_ends_with_status_1_and_is_told() {
    let used_up = solve("poisson5", "--scale 0.001 --max-iters 3 --json -");
    assert_eq!(used_up.status, Some(1), "{}", used_up.stderr);
    assert!(used_up.stderr.contains("the iterations are used up; b - A x is "));
    let record = used_up.record();
    assert_eq!(
        (record["outcome"].as_str(), &record["iterations"]),
        (Some("max-iterations"), &3.into())
    );
    assert_eq!(record["history"].as_array().unwrap().len(), 4);
    // It is not what was asked for.
    assert_eq!(record["verified"], false);
    // x is that of the least residual.
    assert!(used_up.x.is_some());
    let broken = solve("minus.mtx", "--b ones --json -");
    assert_eq!(broken.status, Some(1), "{}", broken.stderr);
    assert!(broken.stderr.contains("breakdown in iteration 1"), "{}", broken.stderr);
    let record = broken.record();
    assert!(broken.stderr.contains("--method bicgstab takes any A"), "{}", broken.stderr);
    assert_eq!(record["breakdown"], "curvature-zero");
    assert_eq!(
        (&record["verified"], &record["true_relative_residual"]),
        (&false.into(), &1.0.into())
    );
    assert_eq!(record["breakdown_iteration"], 1);
    assert!(broken.report.unwrap().contains("broke down in iteration 1"));
}

#[test]
fn what_f32_cannot_reach_is_told_with_what_it_can_and_that_is_so() {
    let of_f32 = |more: &str| solve("poisson5", &format!("--scale 0.001 --value-type f32 {more}"));
    let ran = of_f32("");
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let (_, told) = ran.stderr.split_once("; f32 leaves no less here: --tol ").unwrap();
    let (tolerance, wider) = told.split_once(" is within its reach, and ").unwrap();
    assert!(ran.stdout.contains("has parted from it by rounding"), "{}", ran.stdout);
    let ran = of_f32(&format!("--tol {tolerance}"));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(!ran.stdout.contains("has parted from it"), "{}", ran.stdout);
    if device().traits().has_f64 {
        assert_eq!(wider, "--value-type f64 goes further\n");
        assert_eq!(solve("poisson5", "--scale 0.001").status, Some(0));
    }
    let ran = of_f32("--max-iters 3");
    assert!(ran.stderr.contains("f32 seldom reaches 1e-8: "), "{}", ran.stderr);
    // The host's sums are f64 whatever A stores.
    let ran = of_f32("--device host");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
}

#[test]
fn a_system_from_an_archive_is_solved_and_rows_count_from_1() {
    let ran = solve("twos.tar.gz", "--b archive");
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let right = ONES.replace("1\n1\n1\n1\n", "1\n1\n2\n3\n");
    assert_eq!(ran.x.as_deref(), Some(right.as_str()));
    let ran = solve("hole.mtx", "--precondition jacobi --method bicgstab");
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("the diagonal of row 2 (counted from 1, as in the file) has no inverse"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_cannot_be_solved_ends_with_status_2_and_nothing_is_written() {
    for (matrix, arguments, part) in [
        ("tall.mtx", "", "solve needs a square matrix, and tall is 3 x 2"),
        ("twos.mtx", "--device host --measure", "--measure is for OpenCL devices"),
        ("twos.mtx", "--tol -1", "invalid value '-1' for '--tol <TOL>': it must be 0 or more"),
        ("twos.mtx", "--tol nan", "invalid value 'nan' for '--tol <TOL>': it must be finite"),
        (
            "twos.mtx",
            "--check-every 0",
            "'--check-every <K>': it must be a whole number from 1 to 65536",
        ),
        ("twos.mtx", "--method gmres", "gmres"),
        ("twos.mtx", "--precondition ilu", "ilu"),
        ("twos.mtx", "--b random:x", "--b random:SEED takes a whole number"),
        ("minus.mtx", "--b ones.mtx", "has 3 elements; the matrix needs 2"),
        ("minus.mtx", "--x ones.mtx", "has 3 elements; the matrix needs 2"),
        (
            "twos.mtx",
            "--b huge.mtx --value-type f32",
            "--b huge.mtx, row 2: 1e300 is beyond the largest f32",
        ),
        ("twos.mtx", "--b archive", "it is no tar archive"),
        ("twos.tar.gz", "--x archive", "the archive holds no \"twos/twos_x.mtx\""),
    ] {
        let ran = solve(matrix, arguments);
        assert_eq!(ran.status, Some(2), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{} lacks {part}", ran.stderr);
        assert_eq!((ran.stdout.as_str(), ran.x, ran.report), ("", None, None), "{arguments}");
    }
}
