//! The command on the device under test: the same words and numbers as anywhere, and devices by name.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::process::Output;

use crate::command_line::{settings, sparrow};
use conformance::{device, is_interpreter, say};
use sparrow_bench::{Operation, Record};

/// 3 x 2 with row sums 3, 0, 3.
const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n1 2 2\n3 2 3\n";
const X: &str = "%%MatrixMarket matrix array real general\n2 1\n1\n10\n";
const Y: &str = "%%MatrixMarket matrix array real general\n3 1\n100\n200\n300\n";

/// 40 x 40 with a full row, and one nonzero in each other.
fn heaped() -> String {
    let head = "%%MatrixMarket matrix coordinate real general\n40 40 79\n";
    let lines = (1..=40).flat_map(|row| (1..=if row == 7 { 40 } else { 1 }).map(move |k| (row, k)));
    lines.fold(head.to_owned(), |text, (row, column)| text + &format!("{row} {column} 1\n"))
}

struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
    out: Option<String>,
}

/// Runs the command in a folder of its own, but for its settings.
fn run(arguments: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let heaped = heaped();
    for (name, text) in [("a.mtx", MATRIX), ("x.mtx", X), ("y.mtx", Y), ("heaped.mtx", &heaped)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let Output { status, stdout, stderr } =
        sparrow(folder.path()).env("XDG_CONFIG_HOME", settings()).args(arguments).output().unwrap();
    Ran {
        status: status.code(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
        out: fs::read_to_string(folder.path().join("out.mtx")).ok(),
    }
}

#[test]
fn spmv_runs_on_the_device_that_is_named() {
    let device = device();
    for algorithm in ["csr_scalar", "csr_vector", "csr_adaptive"] {
        let ran = run(&[
            "spmv",
            "a.mtx",
            "--x",
            "x.mtx",
            "--y",
            "y.mtx",
            "--alpha",
            "-2",
            "--beta",
            "0.5",
            "--algorithm",
            algorithm,
            "--device",
            &device.position(),
            "--out",
            "out.mtx",
            "--json",
            "-",
        ]);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        let expected = "%%MatrixMarket matrix array real general\n3 1\n8\n100\n90\n";
        assert_eq!(ran.out.as_deref(), Some(expected));
        let name = format!("\"device\":\"{}\"", device.traits().name);
        for part in [&*name, &format!("\"algorithm\":\"{algorithm}\""), "\"verified\":true"] {
            assert!(ran.stdout.contains(part), "{} lacks {part}", ran.stdout);
        }
        assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    }
}

#[test]
fn spmv_stores_a_in_the_type_that_is_named_and_in_f32_where_a_device_has_no_f64() {
    let device = device();
    let default = if device.traits().has_f64 { "f64" } else { "f32" };
    for named in ["", "f32", "f16", "bf16"] {
        let position = device.position();
        let mut arguments =
            vec!["spmv", "a.mtx", "--x", "x.mtx", "--out", "out.mtx", "--json", "-"];
        arguments.extend(["--device", &position]);
        if !named.is_empty() {
            arguments.extend(["--value-type", named]);
        }
        let ran = run(&arguments);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        let record: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(record["value_type"], if named.is_empty() { default } else { named });
        assert_eq!(record["verified"], true);
        assert!(ran.out.unwrap().ends_with("\n21\n0\n30\n"));
        let is_told = ran.stderr.contains("has no f64");
        assert_eq!(is_told, named.is_empty() && !device.traits().has_f64, "{}", ran.stderr);
    }
}

#[test]
fn devices_lists_the_device_under_test() {
    let (device, ran) = (device(), run(&["devices", "--table"]));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    for part in [device.position(), device.traits().table_name().to_owned()] {
        assert!(ran.stdout.contains(&part), "{} lacks {part}", ran.stdout);
    }
}

#[test]
fn a_device_that_is_not_there_is_bad_usage_and_the_ones_there_are_are_named() {
    let device = device();
    for command in [&["spmv", "a.mtx", "--out", "out.mtx"][..], &["bench", "a.mtx"], &["devices"]] {
        let ran = run(&[command, &["--device", "no such device"]].concat());
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        for part in ["\"no such device\" matches none of", &*device.position()] {
            assert!(ran.stderr.contains(part), "{} lacks {part}", ran.stderr);
        }
        assert_eq!((ran.stdout.as_str(), ran.out), ("", None));
    }
}

#[test]
fn a_text_that_names_two_devices_is_bad_usage_and_both_are_named() {
    let devices = sparrow::devices().unwrap();
    if devices.len() < 2 {
        say("skipped: there is one device only");
        return;
    }
    // Everything holds the empty text.
    let ran = run(&["spmv", "a.mtx", "--device", "", "--out", "out.mtx"]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("matches more than one"), "{}", ran.stderr);
    assert!(devices.iter().all(|device| ran.stderr.contains(&device.position())));
    assert_eq!(ran.out, None);
}

#[test]
fn the_published_barrier_is_refused_by_the_command_and_nothing_is_written() {
    let ran = run(&[
        "spmv",
        "a.mtx",
        "--algorithm",
        "csr_adaptive",
        "--variant",
        "spin",
        "--accumulate",
        "compensated",
        "--device",
        &device().position(),
        "--out",
        "out.mtx",
    ]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("spin"), "{}", ran.stderr);
    assert_eq!(ran.out, None);
}

/// The records of `bench hetero` on the small matrix, in f32 unless told, with more arguments.
fn hetero_records(arguments: &[&str]) -> Vec<Record> {
    let position = device().position();
    let default = ["bench", "hetero", "a.mtx", "--value-type", "f32", "--device", &position];
    let ran = run(&[&default[..], &["--json", "-"], arguments].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn bench_batch_sets_every_algorithm_beside_a_loop_and_the_block_diagonal() {
    if is_interpreter(&device()) {
        say("skipped: bench batch measures how fast memory is, which takes an interpreter minutes");
        return;
    }
    let position = device().position();
    let ran = run(&[
        "bench",
        "batch",
        "a.mtx",
        "--batch-size",
        "20",
        "--batch-kind",
        "homogeneous,mixed",
        "--draw",
        "1",
        "--algorithms",
        "batched_csr_i,batched_ell",
        "--value-type",
        "f32",
        "--device",
        &position,
        "--json",
        "-",
    ]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let records: Vec<Record> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // CSR-I in three forms of one matrix and two of several, ELL in two.
    assert_eq!(records.len(), 2 * (3 + 2) + (2 + 2), "{}", ran.stdout);
    let of_a = records.iter().filter(|record| record.matrix == "a");
    assert!(of_a.clone().all(|record| (record.rows, record.nnz) == (60, 60)), "{}", ran.stdout);
    for record in &records {
        let batch = record.batch().unwrap();
        assert!(record.verified && record.op == Operation::Batch && batch.batch_size == 20);
        assert!(batch.loop_us.is_some() && batch.block_diagonal_us.is_some());
    }
    // Rows of 2, 0 and 1: ELL has six places for three nonzeros.
    let by_ell = of_a.filter(|record| record.algorithm == "batched_ell");
    let padding: Vec<u64> = by_ell.map(|record| record.batch().unwrap().padding).collect();
    assert_eq!(padding, [60, 60]);
}

#[test]
fn a_batch_that_ell_would_pad_too_much_is_computed_otherwise_and_says_so() {
    if is_interpreter(&device()) {
        say("skipped: bench batch takes an interpreter minutes");
        return;
    }
    let position = device().position();
    let default = ["bench", "batch", "heaped.mtx", "--alone", "--batch-size", "2"];
    let ell = ["--batch-kind", "homogeneous", "--algorithms", "batched_ell", "--value-type", "f32"];
    let default = [&default[..], &ell, &["--device", &position]].concat();
    let ran = run(&[&default[..], &["--json", "-"]].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    // With 32- and with 16-bit columns.
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    for line in ran.stdout.lines() {
        let record: Record = serde_json::from_str(line).unwrap();
        let batch = record.batch().unwrap();
        assert_eq!((batch.not_ell, batch.padding), (2, 0), "{line}");
        assert!(record.verified && record.algorithm.starts_with("batched_csr_"), "{line}");
    }
    let shown = run(&default);
    let words = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("2 of 2 in compressed rows: ELL pads them > 4 times"), "{words}");
}

#[test]
fn algorithms_of_batches_and_of_single_products_are_told_apart() {
    for (arguments, part) in [
        (&["batch", "a.mtx", "--algorithms", "csr_vector"][..], "batched_csr_i"),
        (&["a.mtx", "--algorithms", "batched_coo"], "csr_flat"),
        (&["a.mtx", "--batch-size", "10"], "--batch-size"),
        (&["a.mtx", "--batch", "--hetero"], "--hetero"),
        (&["spmm", "a.mtx", "--algorithms", "csr_vector"], "spmm_merge"),
        (&["spmv", "a.mtx", "--algorithms", "spmm_merge"], "csr_flat"),
        (&["spmm", "a.mtx", "--cold"], "--cold"),
        (&["spmm", "a.mtx", "--sweep", "aspect"], "--sweep"),
        (&["a.mtx", "--sweep", "aspect"], "--sweep"),
        (&["spgemm", "a.mtx", "--value-type", "bf16"], "must be f32 or f64"),
        (&["vector", "a.mtx"], "a.mtx"),
    ] {
        let position = device().position();
        let ran = run(&[&["bench"], arguments, &["--device", &position]].concat());
        assert_eq!(ran.status, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{} lacks {part}", ran.stderr);
    }
    let ran = run(&["bench", "batch", "--draw", "0", "--device", &device().position()]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("no problems"), "{}", ran.stderr);
}

#[test]
fn bench_spmm_sets_both_algorithms_beside_the_choice() {
    if is_interpreter(&device()) {
        say("skipped: bench spmm measures how fast memory is, which takes an interpreter minutes");
        return;
    }
    let position = device().position();
    let default = ["bench", "spmm", "a.mtx", "--algorithms", "all", "--value-type", "f32"];
    let columns =
        ["--columns", "1,5", "--layout-b", "column", "--device", &position, "--json", "-"];
    let ran = run(&[&default[..], &columns].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let records: Vec<Record> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<_> = records.iter().map(|record| record.algorithm.as_str()).collect();
    assert_eq!(names, ["spmm", "spmm_row_split", "spmm_merge"].repeat(2), "{}", ran.stdout);
    for (record, columns) in records.iter().zip([1, 1, 1, 5, 5, 5]) {
        let spmm = record.spmm().unwrap();
        assert_eq!(
            (spmm.columns, spmm.layout_b.as_str(), spmm.layout_c.as_str()),
            (columns, "column", "row")
        );
        assert!(record.verified && record.repeatable && record.op == Operation::Spmm, "{record:?}");
        assert!(record.median_us.unwrap() > 0.0);
    }
    let chosen = &records[3].spmm().unwrap().chosen;
    assert!(chosen.starts_with("spmm_"), "{chosen}");
}

#[test]
fn bench_hetero_measures_each_kind_of_core_alone_both_stages_and_both_at_once() {
    if is_interpreter(&device()) {
        say(
            "skipped: bench hetero measures how fast memory is, which takes an interpreter minutes",
        );
        return;
    }
    let records = hetero_records(&["--algorithms", "all"]);
    assert!(records.iter().all(|record| record.verified && record.median_us.is_some()));
    let name = device().traits().name.clone();
    let alone: Vec<_> = records
        .iter()
        .filter(|record| record.device == name && record.algorithm != "hetero")
        .map(|record| format!("{} {}", record.algorithm, record.variant))
        .collect();
    for method in [
        "csr_scalar ",
        "csr_vector ",
        "csr_adaptive full",
        "segmented_sum fused",
        "segmented_sum device",
        "segmented_sum cpu",
    ] {
        assert!(alone.iter().any(|found| found == method), "{method:?} is not among {alone:?}");
    }
    assert_eq!(records[0].device, "host");
    let hetero = |record: &Record| record.hetero().cloned().unwrap();
    for record in records.iter().filter(|r| ["device", "cpu"].contains(&&*r.variant)) {
        let stages = hetero(record);
        assert!(stages.stage1_us.is_some_and(|us| us > 0.0), "{record:?}");
        assert!(stages.stage2_us.is_some(), "{record:?}");
        // The one tile of the matrix has an empty row.
        assert_eq!(stages.dirty_tile_share, Some(1.0), "{record:?}");
    }
    let both = records.iter().find(|record| record.algorithm == "hetero").unwrap();
    let found = hetero(both);
    assert_eq!(found.devices, [name, "host".to_owned()]);
    assert!((0.0..=1.0).contains(&found.share) && found.single_us.is_some_and(|us| us > 0.0));
    assert!(!both.repeatable, "a learnt share is not the same every time");
}

#[test]
fn bench_hetero_compares_the_choice_where_no_algorithm_is_named() {
    if is_interpreter(&device()) {
        say(
            "skipped: bench hetero measures how fast memory is, which takes an interpreter minutes",
        );
        return;
    }
    let records = hetero_records(&[]);
    // Devices that are a CPU's are measured beside it.
    let name = device().traits().name.clone();
    let of_device = records.iter().filter(|record| record.device == name);
    let algorithms: Vec<_> = of_device.map(|record| record.algorithm.as_str()).collect();
    assert_eq!((algorithms.len(), algorithms.last()), (2, Some(&"hetero")), "{algorithms:?}");
    assert_eq!(records[0].algorithm, "host");
}

#[test]
fn bench_hetero_keeps_a_share_that_is_given() {
    if is_interpreter(&device()) {
        say(
            "skipped: bench hetero measures how fast memory is, which takes an interpreter minutes",
        );
        return;
    }
    let records = hetero_records(&["--share", "1", "--algorithms", "segmented_sum"]);
    let both = records.iter().find(|record| record.algorithm == "hetero").unwrap();
    assert_eq!(both.hetero().unwrap().share, 1.0);
    assert!(both.repeatable && both.verified);
}

#[test]
fn bench_hetero_refuses_what_it_cannot_do_before_it_measures() {
    for (arguments, part) in [
        (&["--share", "1.5"][..], "it must be 0 to 1"),
        (&["--accumulate", "compensated"], "--accumulate"),
        (&["--partner", "no such device"], "\"no such device\" matches none of"),
        (&["--cold"], "--cold"),
    ] {
        let position = device().position();
        let default = ["bench", "hetero", "a.mtx", "--device", &position];
        let ran = run(&[&default[..], arguments].concat());
        assert_eq!(ran.status, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{} lacks {part}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn what_cannot_be_used_of_a_table_is_named_and_the_rest_runs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.mtx"), MATRIX).unwrap();
    let kind = device().traits().device_type;
    let bad = [
        ("[device.kernel.csr_flat_earth.f64]\ngroup_size = 64", "csr_flat_earth"),
        ("[device.kernel.csr_scalar.f64]\ngroup_sise = 64", "group_sise"),
        ("[device.kernel.csr_scalar.f64]\ngroup_size = 37", "group_size = 37"),
        ("[device.kernel.csr_scalar.f64]\ngroup_size = 1073741824", "group_size = 1073741824"),
        ("[[device.choice.f64.several]]\nwhen = \"sky >= 3\"\nalgorithm = \"csr_scalar\"", "sky"),
        (
            "[[device.choice.f64.several]]\nalgorithm = \"csr_scalar\"\nparameters = { group_size = 37 }",
            "group_size = 37",
        ),
        ("colour = 3", "colour"),
        ("]", "TOML"),
    ];
    for (text, named) in bad {
        let entry = format!("[[device]]\ntype = \"{kind}\"\norigin = \"me\"\n{text}\n");
        fs::write(folder.path().join("t.toml"), format!("format = 2\n{entry}")).unwrap();
        // Lines of an algorithm are looked at where it runs, rules where the choice is free.
        let is_rule = text.contains("choice");
        let algorithm = if is_rule { &[][..] } else { &["--algorithm", "csr_scalar"] };
        let ran = sparrow(folder.path())
            .env("SPARROW_TABLE", "t.toml")
            .args(["spmv", "a.mtx", "--device", &device().position()])
            .args(algorithm)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(0), "{named}: {said}");
        assert!(said.contains(named), "{said} does not name {named}");
        assert!(String::from_utf8_lossy(&ran.stdout).contains("verified"), "{named}");
    }
    // One that is not there at all.
    let ran = sparrow(folder.path())
        .env("SPARROW_TABLE", "none.toml")
        .args(["spmv", "a.mtx", "--device", &device().position()])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("none.toml"));
}
