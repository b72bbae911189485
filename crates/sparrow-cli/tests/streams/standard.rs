//! Standard input, output and error: `-` for each input and output, and what happens when they fail.

use std::fs::File;
use std::process::{Output, Stdio};

use crate::desk::{Desk, MATRIX, PRODUCT, TIMING, assert_done, assert_refused, words};

#[test]
fn a_dash_is_standard_input_for_every_input() {
    let desk = Desk::new();
    let (x, y) = (desk.text("x.mtx"), desk.text("y.mtx"));
    for (line, input) in [
        ("spmv - --x x.mtx --out out.mtx", MATRIX),
        ("spmv a.mtx --x - --out out.mtx", &x),
        ("spmv /dev/stdin --x x.mtx --out out.mtx", MATRIX),
    ] {
        assert_done(&desk.run_with(line, input));
        assert_eq!(desk.text("out.mtx"), PRODUCT, "{line}");
    }
    let line = "spmv a.mtx --x x.mtx --alpha 0 --beta 2 --y - --out -";
    let doubled = "%%MatrixMarket matrix array real general\n3 1\n2\n4\n6\n";
    assert_eq!(assert_done(&desk.run_with(line, &y)), doubled);

    for line in ["info - --json -", "bench - --value-type f32 --json -"] {
        let stdout = assert_done(&desk.run_with(line, MATRIX));
        let record: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((&record["matrix"], &record["source"]), (&"stdin".into(), &"file".into()));
        assert_eq!((&record["rows"], &record["nnz"]), (&3.into(), &3.into()), "{line}");
    }
    assert_done(&desk.run_with("tune merge - --into t.toml", TIMING));
    assert!(desk.text("t.toml").contains("name = \"None\""));
}

/// Rust's library puts the null device where a standard output is missing, which takes everything.
#[cfg(target_os = "linux")]
#[test]
fn data_for_a_standard_output_that_is_closed_is_told_and_words_are_nobodys() {
    let desk = Desk::new();
    desk.put("raw.jsonl", TIMING);
    let run = |line: &str, redirection: &str| {
        let mut command = std::process::Command::new("sh");
        command.current_dir(desk.path("")).env("SPARROW_DEVICE", "host").env_remove("SPARROW_LOG");
        let script = format!("exec \"$0\" {line} {redirection}");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_sparrow")]).output().unwrap()
    };
    for line in [
        "spmv a.mtx --x x.mtx --out -",
        "spmv a.mtx --out /dev/stdout",
        "bench a.mtx --value-type f32 --json -",
        "bench a.mtx --value-type f32 --html -",
        "gen poisson5 --scale 0.001 --out -",
        "tune merge raw.jsonl --into -",
        "completions bash",
        "man",
    ] {
        for (redirection, is_told) in
            [(">&-", true), ("<> /dev/null >&0", true), ("> /dev/null", false)]
        {
            let ran = run(line, redirection);
            let said = words(&ran.stderr);
            assert_eq!(ran.status.code(), Some(0), "{line}: {said}");
            let told = "standard output is closed, or discards what is written there";
            assert_eq!(said.contains(told), is_told, "{line} {redirection}: {said}");
        }
    }
    let ran = run("spmv a.mtx --x x.mtx --out y.mtx", ">&-");
    assert_eq!((ran.status.code(), words(&ran.stderr)), (Some(0), String::new()));
    assert_eq!(desk.text("y.mtx"), PRODUCT);
}

#[test]
fn what_is_wrong_on_standard_input_is_told_by_its_name() {
    let desk = Desk::new();
    assert_refused(&desk.run_with("spmv - --out out.mtx", ""), &["standard input", "line 1"]);
    let short = "%%MatrixMarket matrix array real general\n1 1\n1\n";
    assert_refused(&desk.run_with("spmv a.mtx --x -", short), &["--x - has 1 element", "needs 2"]);
    assert_refused(&desk.run_with("tune merge - --into t.toml", "{}"), &["standard input: line 1"]);
    for line in ["spmv - --x -", "spmv a.mtx --x - --y -", "bench - -", "bench - /dev/stdin"] {
        assert_refused(&desk.run_with(line, MATRIX), &["can be read once"]);
    }
    assert_eq!(desk.names(), Desk::new().names());
}

#[test]
fn a_dash_is_standard_output_for_every_output_and_nothing_mixes_with_data() {
    let desk = Desk::new();
    for (line, begin, said) in [
        ("spmv a.mtx --x x.mtx --out -", "%%MatrixMarket matrix array", "y: standard output"),
        ("spmv a.mtx --x x.mtx --json -", "{", "every row is right"),
        ("info a.mtx --json -", "{", "3 rows, 2 columns"),
        ("bench a.mtx --value-type f32 --html -", "<!DOCTYPE html>", "a, 3 nnz"),
        (
            "gen poisson5 --scale 0.00001 --out -",
            "%%MatrixMarket matrix coord",
            "nonzeros, to standard output",
        ),
        (
            "gen poisson5 --scale 0.00001 --out stdout",
            "%%MatrixMarket",
            "nonzeros, to standard output",
        ),
        ("tune merge raw.jsonl --into -", "format = 2\n", "P, None: 1 trial on 1 matrix"),
    ] {
        let ran = desk.run(line);
        let stdout = assert_done(&ran);
        assert!(stdout.starts_with(begin) && !stdout.contains(said), "{line}: {stdout}");
        assert!(words(&ran.stderr).contains(said), "{line}: {}", words(&ran.stderr));
    }
    assert_eq!(assert_done(&desk.run("spmv a.mtx --x x.mtx --out -")), PRODUCT);
    // What comes out goes in.
    let made = assert_done(&desk.run("gen poisson5 --scale 0.00001 --out -"));
    assert!(assert_done(&desk.run_with("info -", &made)).contains("4 rows, 4 columns"));
    assert_eq!(desk.names(), Desk::new().names());
}

/// What prints and needs no device, but `bench`, which takes seconds.
const PRINT: [&str; 12] = [
    "--help",
    "--version",
    "spmv --help",
    "bench spmm --help",
    "gen --help",
    "tune merge --help",
    "spmv a.mtx",
    "spmv a.mtx --out -",
    "info a.mtx",
    "info a.mtx --json -",
    "gen poisson5 --scale 0.00001 --out g.mtx",
    "tune merge raw.jsonl --into t.toml",
];

#[track_caller]
fn assert_quiet(line: &str, ran: &Output) {
    let stderr = words(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{line}: {stderr}");
    // Words beside data are no complaint.
    let is_complaint = |said: &str| said.starts_with("sparrow: ") || said.contains("panicked");
    assert!(!stderr.lines().any(is_complaint), "{line}: {stderr}");
}

#[test]
fn a_reader_that_has_gone_ends_the_command_quietly() {
    let desk = Desk::new();
    for line in PRINT.into_iter().chain(["bench a.mtx --value-type f32 --json -"]) {
        let mut command = desk.command(line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_quiet(line, &child.wait_with_output().unwrap());
    }
    for line in PRINT {
        let mut command = desk.command(line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        assert_quiet(line, &child.wait_with_output().unwrap());
    }
    // What was asked for is there nevertheless.
    assert!(desk.text("g.mtx").starts_with("%%MatrixMarket"));
    assert!(desk.text("t.toml").contains("name = \"None\""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_full_is_a_failed_run_in_one_line() {
    let desk = Desk::new();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for line in PRINT.into_iter().chain(["bench a.mtx --value-type f32"]) {
        let ran = desk.command(line).stdout(full()).output().unwrap();
        let stderr = words(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{line}: {stderr}");
        let complaint: Vec<_> =
            stderr.lines().filter(|said| said.starts_with("sparrow: ")).collect();
        let expected = "sparrow: cannot write standard output: No space left on device";
        assert_eq!(complaint.len(), 1, "{line}: {stderr}");
        assert!(complaint[0].starts_with(expected) && !stderr.contains("panicked"), "{stderr}");
    }
    // What was asked for is there nevertheless.
    assert!(desk.text("g.mtx").starts_with("%%MatrixMarket"));
    assert!(desk.text("t.toml").contains("name = \"None\""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_is_not_written_is_not_told_of() {
    let desk = Desk::new();
    let line = "bench a.mtx --device host --value-type f64 --html /dev/full";
    let ran = desk.command(line).output().unwrap();
    let (said, stderr) = (words(&ran.stdout), words(&ran.stderr));
    assert!(said.contains("GFLOP/s") && !said.contains("report:"), "{said}");
    assert!(stderr.contains("cannot write /dev/full") && ran.status.code() == Some(1), "{stderr}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_error_that_is_full_changes_no_status_of_a_refusal() {
    let desk = Desk::new();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for line in ["spmv none.mtx", "spmv", "bench --op spmm none.mtx", "", "devices --bad"] {
        let ran = desk.command(line).stderr(full()).output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{line}");
    }
    // Data is whole, and words are lost.
    let ran = desk.command("spmv a.mtx --x x.mtx --out -").stderr(full()).output().unwrap();
    assert_eq!((words(&ran.stdout), ran.status.code()), (PRODUCT.into(), Some(1)));
}
