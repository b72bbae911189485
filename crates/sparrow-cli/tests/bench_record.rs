//! The record of `sparrow bench`, as scripts read it: names and order of its fields, and what stands in
//! them for the host's own product.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::process::Command;

/// DESIGN's list: a change that breaks readers changes the schema's number.
const FIELDS: &str = "schema version matrix source rows cols nnz op algorithm variant params kernel_key \
    value_type offset_type accumulate device platform driver seed stream_gbytes_per_s \
    copy_gbytes_per_s cache median_us min_us p95_us runs gflops gbytes_per_s limit_us limit_fraction \
    setup_us setup_in_products plan_bytes repeatable verified error_in_tolerance non_finite";

const MATRIX: &str =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n2 2 2\n3 3 1\n";

/// The names of a JSON object's fields in their order, and nothing nested.
fn field_names(line: &str) -> Vec<String> {
    let values: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
    let mut names: Vec<_> = values.keys().cloned().collect();
    names.sort_by_key(|name| line.find(&format!("\"{name}\":")).unwrap());
    names
}

#[test]
fn a_host_record_has_the_published_form() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.mtx"), MATRIX).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_sparrow"))
        .current_dir(folder.path())
        .args(["bench", "small.mtx", "--device", "host", "--json", "out.json"])
        .args(["--html", "out.html"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("small"), "{stdout}");
    assert!(fs::read_to_string(folder.path().join("out.html")).unwrap().contains("<svg"));

    let text = fs::read_to_string(folder.path().join("out.json")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "f32 and f64: {text}");
    for (line, value_type) in lines.iter().zip(["f32", "f64"]) {
        assert_eq!(
            field_names(line).join(" "),
            FIELDS.split_whitespace().collect::<Vec<_>>().join(" ")
        );
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        for (field, expected) in [
            ("schema", "sparrow-bench/1"),
            ("version", env!("CARGO_PKG_VERSION")),
            ("matrix", "small"),
            ("source", "file"),
            ("op", "spmv"),
            ("algorithm", "host"),
            ("value_type", value_type),
            ("offset_type", "u32"),
            ("accumulate", "plain"),
            ("cache", "hot"),
        ] {
            assert_eq!(record[field], expected, "{field}");
        }
        assert_eq!(
            (&record["rows"], &record["cols"], &record["nnz"]),
            (&3.into(), &3.into(), &5.into())
        );
        assert_eq!((&record["verified"], &record["repeatable"]), (&true.into(), &true.into()));
        for field in ["median_us", "min_us", "p95_us", "gflops", "gbytes_per_s", "limit_us"] {
            assert!(record[field].as_f64().unwrap() > 0.0, "{field}");
        }
        let us = |field: &str| record[field].as_f64().unwrap();
        assert!(us("min_us") <= us("median_us") && us("median_us") <= us("p95_us"));
        assert!(us("error_in_tolerance") <= 1.0);
    }
}

#[test]
fn spmv_is_what_bench_does_where_no_operation_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.mtx"), MATRIX).unwrap();
    // A matrix that is called like an operation is given as a path.
    fs::write(folder.path().join("spmm"), MATRIX).unwrap();
    for (arguments, name) in [
        (&["bench", "spmv", "small.mtx"][..], "small"),
        (&["bench", "--op", "spmv", "small.mtx"], "small"),
        (&["bench", "./spmm"], "spmm"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_sparrow"))
            .current_dir(folder.path())
            .args(arguments)
            .args(["--device", "host", "--value-type", "f64", "--json", "-"])
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let is_old = arguments.contains(&"--op");
        assert_eq!(stderr.contains("`bench --op spmv` is spelled `bench spmv` now"), is_old);
        let line = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            field_names(&line).join(" "),
            FIELDS.split_whitespace().collect::<Vec<_>>().join(" ")
        );
        let record: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&record["matrix"], &record["op"]), (&name.into(), &"spmv".into()));
    }
}

#[test]
fn the_host_copies_a_matrix_that_many_products_follow_where_the_copy_is_smaller() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.mtx"), MATRIX).unwrap();
    let cases = [
        ("poisson5", "once", ""),
        ("poisson5", "several", ""),
        ("poisson5", "many", "sell"),
        ("small.mtx", "many", ""),
    ];
    for (matrix, products, variant) in cases {
        let scale: &[_] = if matrix == "poisson5" { &["--scale", "0.01"] } else { &[] };
        let output = Command::new(env!("CARGO_BIN_EXE_sparrow"))
            .current_dir(folder.path())
            .args(["bench", matrix, "--device", "host", "--json", "out.json"])
            .args(["--products", products])
            .args(scale)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        for line in fs::read_to_string(folder.path().join("out.json")).unwrap().lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let at = format!("{matrix}, {products}");
            assert_eq!(record["variant"], variant, "{at}");
            assert_eq!(record["plan_bytes"].as_u64().unwrap() > 0, variant == "sell", "{at}");
            assert_eq!(record["verified"], true, "{at}");
        }
    }
}
