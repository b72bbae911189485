//! Inputs are looked at before the work: what is not there is named, all of it, and nothing is done.

use crate::desk::{Desk, assert_done, assert_refused, words};

#[test]
fn every_input_that_cannot_be_read_is_named_before_anything_is_measured() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("folder.mtx")).unwrap();
    let before = desk.names();
    let ran = desk.run("bench a.mtx none.mtx poison5 folder.mtx none.mtx --json r.json");
    let stderr = words(&ran.stderr);
    assert_eq!((ran.status.code(), words(&ran.stdout)), (Some(2), String::new()), "{stderr}");
    let lines: Vec<_> = stderr.lines().collect();
    assert_eq!(lines.len(), 4, "{stderr}");
    for (line, part) in lines.iter().zip([
        "sparrow: 3 inputs cannot be read:",
        "\"poison5\": no file and no generated matrix is called so; the nearest that can be generated are",
        "  cannot open \"none.mtx\": No such file",
        "  cannot open \"folder.mtx\": is a directory",
    ]) {
        assert!(line.contains(part), "{line} lacks {part}");
    }
    assert_eq!(desk.names(), before);
}

#[test]
fn one_missing_vector_or_raw_timing_is_named_in_a_line() {
    let desk = Desk::new();
    for line in ["spmv poisson5 --x none", "solve poisson5 --x none", "tune merge raw.jsonl none"] {
        assert_refused(&desk.run(line), &["sparrow: cannot open \"none\": No such file"]);
    }
    let there =
        "cannot open \"a\": no file and no generated matrix is called so; \"a.mtx\" is there";
    assert_refused(&desk.run("spmv a"), &[there]);
    // The matrix is not looked at for a vector that is missing.
    let ran = desk.run("spmv none.mtx --x none --y gone");
    assert!(words(&ran.stderr).contains("3 inputs cannot be read"), "{}", words(&ran.stderr));
}

#[test]
fn a_pipe_is_no_input_that_is_missing_and_is_not_opened_twice() {
    let desk = Desk::new();
    let matrix = desk.text("a.mtx");
    let ran = desk.run_with("spmv /dev/stdin --x x.mtx --out y.mtx", &matrix);
    assert_done(&ran);
    assert_eq!(desk.text("y.mtx"), crate::desk::PRODUCT);
}
