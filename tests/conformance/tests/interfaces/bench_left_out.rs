//! What `sparrow bench` cannot measure is named with the reason, and nothing at all is a failure.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;

use crate::command_line::{settings, sparrow};
use conformance::{device, is_interpreter, say};

const TALL: &str = "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 1\n3 2 1\n";
const SQUARE: &str = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";
const COMPLEX: &str = "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 0\n";
/// 100,000 x 100,000: a dense one takes 40 GB.
const WIDE: &str = "%%MatrixMarket matrix coordinate real general\n100000 100000 1\n1 1 1\n";

/// The status, standard output and standard error of a bench on the device under test.
fn bench(arguments: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let files =
        [("tall.mtx", TALL), ("square.mtx", SQUARE), ("wide.mtx", WIDE), ("complex.mtx", COMPLEX)];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let mut command = sparrow(folder.path());
    command.env("XDG_CONFIG_HOME", settings()).arg("bench").args(arguments.split_whitespace());
    command.args(["--value-type", "f32", "--json", "-", "--device", &device().position()]);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn what_is_left_out_is_named_and_where_nothing_is_left_the_status_is_1() {
    if is_interpreter(&device()) {
        say("skipped: a bench finds how fast memory is, which takes an interpreter minutes");
        return;
    }
    let reason = "tall: left out, it is 3 x 2, and A A needs a square A";
    let (status, stdout, stderr) = bench("spgemm tall.mtx");
    assert_eq!((status, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains(reason) && stderr.contains("nothing was measured"), "{stderr}");
    let (status, stdout, stderr) = bench("spgemm tall.mtx square.mtx");
    assert_eq!((status, stdout.lines().count()), (Some(0), 1), "{stderr}");
    assert!(stderr.contains(reason), "{stderr}");
    let (status, stdout, stderr) = bench("convert wide.mtx");
    assert_eq!((status, stdout.lines().count()), (Some(0), 3), "{stderr}");
    assert!(
        stderr.contains(
            "wide: left out, conversion to a dense matrix: 100000 x 100000 takes 40000000000 bytes"
        ),
        "{stderr}"
    );
    let told = |arguments: &str, lines: &[&str]| {
        let (status, stdout, stderr) = bench(&format!("spmv square.mtx {arguments}"));
        assert_eq!((status, stdout.lines().count()), (Some(0), 1), "{stderr}");
        for line in lines {
            assert!(stderr.contains(&format!("sparrow: {line}\n")), "{stderr} lacks {line}");
        }
        assert_eq!(stderr.matches("sparrow: ").count(), lines.len(), "{stderr}");
    };
    told(
        "--algorithms csr_scalar --variant full,nrs --order permuted",
        &[
            "csr_scalar: measured in its only way: it has no variant full or nrs",
            "csr_scalar: measured in the original order: it has no order permuted",
        ],
    );
    told(
        "--algorithms csr_adaptive --variant full,hybrid --order original,permuted",
        &[
            "csr_adaptive: variant hybrid is left out: it has no such variant",
            "csr_adaptive: order permuted is left out: it has no order of its own",
        ],
    );
    told(
        "--algorithms csr_adaptive --variant hybrid",
        &["csr_adaptive: measured as variant full: it has no variant hybrid"],
    );
    // A matrix that is not read takes none of the others with it.
    let (status, stdout, stderr) = bench("spmv complex.mtx square.mtx");
    assert_eq!((status, stdout.lines().count()), (Some(2), 1), "{stderr}");
    assert!(stderr.contains("\"complex.mtx\", line 1: complex values are not"), "{stderr}");
    // It is no progress.
    let (_, _, quiet) = bench("spgemm tall.mtx square.mtx -q");
    assert_eq!(quiet, format!("sparrow: {reason}\n"));
}

#[test]
fn what_the_library_refuses_of_one_matrix_or_algorithm_leaves_the_others() {
    if is_interpreter(&device()) {
        say("skipped: a bench finds how fast memory is, which takes an interpreter minutes");
        return;
    }
    let symmetric = "--order symmetric --algorithms evc_hyb";
    let reason = "tall, evc_hyb hybrid in symmetric order: left out, x in the order of rows needs a \
                  square matrix, and this one is 3 x 2";
    let (status, stdout, stderr) = bench(&format!("tall.mtx square.mtx {symmetric}"));
    assert_eq!((status, stdout.lines().count()), (Some(0), 1), "{stderr}");
    assert!(stderr.contains(reason), "{stderr}");
    let (status, stdout, stderr) = bench(&format!("tall.mtx {symmetric}"));
    assert_eq!((status, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains(reason) && stderr.contains("nothing was measured"), "{stderr}");
    for (arguments, reason) in [
        (
            "spmv square.mtx --algorithms csr_scalar,csr_vector --parameters items_per_row=1",
            "square, csr_scalar: left out, csr_scalar has no parameter \"items_per_row\"",
        ),
        (
            "spmm square.mtx --columns 2 --algorithms spmm_row_split,spmm_merge --parameters slack=32",
            "square with 2 columns, spmm_row_split: left out, spmm_row_split has no parameter",
        ),
    ] {
        let (status, stdout, stderr) = bench(arguments);
        assert_eq!((status, stdout.lines().count()), (Some(0), 1), "{stderr}");
        assert!(stderr.contains(reason), "{stderr} lacks {reason}");
    }
    // Where no algorithm has it, it is bad usage.
    let (status, stdout, stderr) = bench("spmv square.mtx --parameters no_such=1");
    assert_eq!((status, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(stderr.contains("has no parameter \"no_such\""), "{stderr}");
}

#[test]
fn an_order_goes_with_a_choice_of_an_algorithm_that_has_it() {
    if is_interpreter(&device()) {
        say("skipped: a bench finds how fast memory is, which takes an interpreter minutes");
        return;
    }
    let choice = "--choice evc_hyb()";
    let (status, stdout, stderr) = bench(&format!("square.mtx {choice} --order permuted"));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stdout.contains("\"vector_order\":\"permuted\""), "{stdout}");
}

#[test]
fn a_record_stays_as_it_was_where_nothing_was_measured() {
    if is_interpreter(&device()) {
        say("skipped: a bench finds how fast memory is, which takes an interpreter minutes");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tall.mtx"), TALL).unwrap();
    for (before, after) in [(Some("old\n"), "old\n"), (None, "")] {
        let record = folder.path().join("record.jsonl");
        match before {
            Some(text) => fs::write(&record, text).unwrap(),
            None => fs::remove_file(&record).unwrap(),
        }
        let mut command = sparrow(folder.path());
        command.env("XDG_CONFIG_HOME", settings());
        command.args(["bench", "spgemm", "tall.mtx", "--json", "record.jsonl"]);
        command.args(["--html", "report.html"]);
        let output = command.args(["--device", &device().position()]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(fs::read_to_string(&record).unwrap(), after);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("report.html: not written, as there is no result\n"), "{stderr}");
        assert!(!folder.path().join("report.html").exists());
    }
}

#[test]
fn a_budget_is_said_first_and_what_does_not_fit_is_named() {
    if is_interpreter(&device()) {
        say("skipped: a bench finds how fast memory is, which takes an interpreter minutes");
        return;
    }
    let fits = "does not fit into the 1 s of --budget";
    for operation in ["spmv", "hetero --algorithms all", "spmm --columns 1-9", "spgemm"] {
        // More than any machine measures in a second.
        let named = format!("{operation} {} wide.mtx --budget 1s", ["square.mtx"; 12].join(" "));
        let (status, stdout, stderr) = bench(&named);
        assert_eq!(status, Some(0), "{operation}: {stderr}");
        assert!(!stdout.is_empty(), "{operation}: {stderr}");
        let word = operation.split(' ').next().unwrap();
        let first = stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with(&format!("sparrow: {word}: 13 matrices: ")), "{stderr}");
        assert!(first.contains(" 1 s (--budget)"), "{stderr}");
        // Which one does not fit depends on what else the machine does.
        let mut left_out = stderr.lines().filter(|line| line.contains(fits));
        let is_named = |line: &str| line.contains(": wide") || line.contains(": square");
        assert!(left_out.any(is_named), "{stderr}");
    }
    // As large as that allows, unless a scale is asked for.
    let (status, _, stderr) = bench("spmm --sweep aspect --budget 1s");
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stderr.contains(" at scale 0.00"), "{stderr}");
    let (status, _, stderr) = bench("spmm --sweep aspect --budget 1s --scale 0.00002");
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stderr.contains(" at scale 0.00002"), "{stderr}");
    // Without a budget nothing of a short run is said.
    let (status, _, stderr) = bench("spmv square.mtx");
    assert!(status == Some(0) && !stderr.contains("sparrow: "), "{stderr}");
}
