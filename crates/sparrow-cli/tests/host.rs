//! The command on the host, as a script drives it: exit status, files, words. No OpenCL is needed.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// 3 x 2 with row sums 3, 0, 3.
const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n1 2 2\n3 2 3\n";

fn array(values: &[f64]) -> String {
    let lines: String = values.iter().map(|value| format!("{value}\n")).collect();
    format!("%%MatrixMarket matrix array real general\n{} 1\n{lines}", values.len())
}

/// A folder with input files, in which the command runs.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Desk(tempfile::tempdir().unwrap());
        desk.put("a.mtx", MATRIX);
        desk.put("x.mtx", array(&[1.0, 10.0]));
        desk.put("y.mtx", array(&[100.0, 200.0, 300.0]));
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the command on the host.
    fn host(&self, arguments: &str) -> Output {
        let mut command = sparrow(self.0.path());
        command.args(arguments.split(' ')).args(["--device", "host"]).output().unwrap()
    }
}

fn sparrow(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparrow"));
    command.current_dir(folder).env_remove("SPARROW_DEVICE").env_remove("SPARROW_LOG");
    command
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn assert_done(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    words(&output.stdout)
}

/// Refused with this status, with these words on standard error and none on standard output.
#[track_caller]
fn assert_refused(output: &Output, status: i32, expected: &[&str]) {
    let stderr = words(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    for word in expected {
        assert!(stderr.contains(word), "\"{stderr}\" does not say \"{word}\"");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert_eq!(words(&output.stdout), "");
}

#[test]
fn spmv_computes_alpha_a_x_plus_beta_y() {
    let desk = Desk::new();
    let line = "spmv a.mtx --x x.mtx --y y.mtx --alpha -2 --beta 0.5 --out out.mtx";
    let stdout = assert_done(&desk.host(line));
    assert!(stdout.contains("verified"), "{stdout}");
    assert!(stdout.contains("3 x 2, 3 nonzeros"), "{stdout}");
    // -2 (21, 0, 30) + (50, 100, 150)
    assert_eq!(desk.text("out.mtx"), array(&[8.0, 100.0, 90.0]));
}

#[test]
fn spmv_does_not_read_y_where_beta_is_0() {
    let desk = Desk::new();
    desk.put("y.mtx", array(&[f64::NAN, f64::INFINITY, 1.0]).replace("NaN", "nan"));
    assert_done(&desk.host("spmv a.mtx --x x.mtx --y y.mtx --out out.mtx"));
    assert_eq!(desk.text("out.mtx"), array(&[21.0, 0.0, 30.0]));
}

#[test]
fn spmv_takes_x_by_seed_and_the_seed_decides() {
    let desk = Desk::new();
    for (name, option) in [("1", ""), ("1b", " --x random:1"), ("2", " --x random:2")] {
        assert_done(&desk.host(&format!("spmv a.mtx --out {name}.out{option}")));
    }
    assert_eq!(desk.text("1.out"), desk.text("1b.out"));
    assert_ne!(desk.text("1.out"), desk.text("2.out"));
}

#[test]
fn the_variable_names_the_host_as_the_option_does() {
    let desk = Desk::new();
    let run = |line: &str| {
        let mut command = sparrow(desk.0.path());
        command.args(line.split(' ')).env("SPARROW_DEVICE", "host").output().unwrap()
    };
    assert!(assert_done(&run("spmv a.mtx --x x.mtx")).contains("host on host"));
    assert!(assert_done(&run("bench a.mtx --value-type f64")).contains("\n  host  "));
    assert_refused(&run("bench spmm a.mtx"), 2, &["takes OpenCL devices, and host is none"]);
}

#[test]
fn devices_does_not_list_the_host() {
    let refused = Desk::new().host("devices");
    assert_refused(&refused, 2, &["devices lists OpenCL devices, and host is none"]);
}

#[test]
fn json_on_standard_output_stands_alone() {
    let desk = Desk::new();
    let stdout = assert_done(&desk.host("spmv a.mtx --x x.mtx --json -"));
    let lines: Vec<_> = stdout.lines().collect();
    assert_eq!(lines.len(), 1, "{stdout}");
    let line: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(line["schema"], "sparrow-spmv/1");
    assert_eq!((&line["rows"], &line["nnz"]), (&3.into(), &3.into()));
    assert_eq!((&line["device"], &line["verified"]), (&"host".into(), &true.into()));
}

#[test]
fn empty_matrices_are_valid() {
    let desk = Desk::new();
    for (size, y) in [("0 0 0", 0), ("0 3 0", 0), ("3 0 0", 3), ("3 3 0", 3)] {
        desk.put("e.mtx", format!("%%MatrixMarket matrix coordinate real general\n{size}\n"));
        assert_done(&desk.host("spmv e.mtx --out out.mtx"));
        assert_eq!(desk.text("out.mtx"), array(&vec![0.0; y]), "{size}");
        assert_done(&desk.host("info e.mtx"));
    }
}

#[test]
fn bad_usage_and_input_end_with_status_2_and_leave_every_file_alone() {
    let desk = Desk::new();
    desk.put("out.mtx", "precious");
    desk.put("empty.mtx", "");
    desk.put("short.mtx", MATRIX.replace("3 2 3", "3 2 4"));
    desk.put("outside.mtx", MATRIX.replace("3 2 3\n1 1", "3 2 3\n1 7"));
    desk.put("complex.mtx", MATRIX.replace("real", "complex"));
    desk.put("x3.mtx", array(&[1.0; 3]));
    desk.put("y2.mtx", array(&[1.0; 2]));
    fs::create_dir(desk.path("folder.mtx")).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(MATRIX.as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    desk.put("whole.mtx.gz", &gz);
    desk.put("cut.mtx.gz", &gz[..gz.len() - 12]);
    assert_done(&desk.host("spmv whole.mtx.gz --x x.mtx"));
    let before = desk.names();
    for (line, expected) in [
        ("spmv missing.mtx", &["missing.mtx", "No such file"][..]),
        ("spmv folder.mtx", &["folder.mtx", "directory"]),
        ("spmv empty.mtx", &["empty.mtx", "line 1"]),
        ("spmv cut.mtx.gz", &["cut.mtx.gz"]),
        ("spmv short.mtx", &["short.mtx", "4"]),
        ("spmv outside.mtx", &["outside.mtx", "line 3", "7"]),
        ("spmv complex.mtx", &["complex.mtx", "line 1", "complex"]),
        ("spmv pwtkk", &["\"pwtkk\"", "pwtk"]),
        ("spmv a.mtx --x x3.mtx", &["--x x3.mtx has 3 elements", "needs 2"]),
        ("spmv a.mtx --x missing.mtx", &["missing.mtx", "No such file"]),
        ("spmv a.mtx --x random:one", &["random:SEED", "\"one\""]),
        ("spmv a.mtx --beta 2", &["--beta 2", "--y FILE"]),
        ("spmv a.mtx --beta 2 --y y2.mtx", &["--y y2.mtx has 2 elements", "needs 3"]),
        (
            "spmv a.mtx --algorithm csr_vector",
            &["--algorithm is for OpenCL devices, and host is none"],
        ),
        ("spmv a.mtx --algorithm csr_magic", &["csr_magic", "csr_adaptive"]),
        ("spmv a.mtx --alpha one", &["one", "--alpha"]),
        ("info missing.mtx", &["missing.mtx"]),
        ("bench missing.mtx", &["missing.mtx"]),
        ("bench --accumulate plain spmm", &["\"spmm\" is an operation", "sparrow bench spmm"]),
        ("bench a.mtx --model", &["--model", "host"]),
        ("bench spmm a.mtx", &["bench spmm takes OpenCL devices"]),
        ("bench spgemm a.mtx", &["bench spgemm takes OpenCL devices"]),
        ("bench convert a.mtx", &["bench convert takes OpenCL devices"]),
        ("bench vector", &["bench vector takes OpenCL devices"]),
        ("bench batch a.mtx", &["bench batch", "one OpenCL device"]),
        ("bench a.mtx --hetero", &["is spelled `bench hetero`", "one OpenCL device"]),
    ] {
        let line =
            if line.starts_with("spmv") { format!("{line} --out out.mtx") } else { line.into() };
        let output = desk.host(&line);
        println!("{line}: {}", words(&output.stderr));
        assert_refused(&output, 2, expected);
        assert_eq!(desk.text("out.mtx"), "precious", "{line}");
        assert_eq!(desk.names(), before, "{line}");
    }
}

#[test]
fn usage_errors_end_with_status_2() {
    let desk = Desk::new();
    for line in ["", "spmv", "multiply a.mtx", "gen poisson5", "spmv a.mtx --frobnicate"] {
        let mut command = sparrow(desk.0.path());
        let output = command.args(line.split_whitespace()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(words(&output.stderr).contains("Usage: sparrow"), "{line}");
    }
}

#[test]
fn outputs_that_cannot_be_written_are_named_and_leave_nothing() {
    let desk = Desk::new();
    fs::create_dir(desk.path("folder")).unwrap();
    let before = desk.names();
    for line in [
        "spmv a.mtx --out no/such/out.mtx",
        "spmv a.mtx --json no/such/out.json",
        "gen poisson5 --scale 0.0001 --out no/such/p.mtx",
    ] {
        assert_refused(&desk.host(line), 2, &["no/such/", "No such file"]);
    }
    for line in ["spmv a.mtx --out folder", "spmv a.mtx --json folder"] {
        assert_refused(&desk.host(line), 2, &["folder", "irectory"]);
    }
    assert_eq!(desk.names(), before);
    assert_eq!(fs::read_dir(desk.path("folder")).unwrap().count(), 0);
}

#[test]
fn what_is_generated_reads_back_as_what_was_said() {
    let desk = Desk::new();
    for name in ["p.mtx", "p.mtx.gz"] {
        let said = assert_done(&desk.host(&format!("gen poisson5 --scale 0.001 --out {name}")));
        let stdout = assert_done(&desk.host(&format!("info {name} --json -")));
        let read: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        let made = assert_done(&desk.host("info poisson5 --scale 0.001 --json -"));
        let made: serde_json::Value = serde_json::from_str(&made).unwrap();
        assert_eq!((&read["matrix"], &read["source"]), (&"p".into(), &"file".into()));
        for field in ["rows", "cols", "nnz", "shortest_row", "longest_row", "mean_row"] {
            assert_eq!(read[field], made[field], "{field}");
        }
        let size = format!("{} x {}, {} nonzeros", read["rows"], read["cols"], read["nnz"]);
        assert!(said.contains(&size), "{said} does not say {size}");
    }
    // The same bytes every time, other bytes for other seeds.
    for (name, seed) in [("1.mtx", 1), ("1b.mtx", 1), ("2.mtx", 2)] {
        assert_done(&desk.host(&format!("gen pwtk --scale 0.002 --seed {seed} --out {name}")));
    }
    assert_eq!(desk.text("1.mtx"), desk.text("1b.mtx"));
    assert_ne!(desk.text("1.mtx"), desk.text("2.mtx"));
}

#[test]
fn selftest_has_nothing_to_test_on_the_host() {
    let desk = Desk::new();
    assert_refused(&desk.host("selftest"), 2, &["--device host", "OpenCL device"]);
}

/// A raw timing of a device that nobody has, as `tune` writes them.
const TIMING: &str = r#"{"schema":"sparrow-tune/2","version":"0.1.0","device":"Nobody's","platform":"P","vendor":"V","architecture":"","type":"gpu","driver":"1","compute_units":8,"cache_bytes":1000000,"value_type":"f32","matrix":"rung:3:even:1000","rows":333,"nnz":1000,"longest_row":5,"in_step":1100,"changes":200,"algorithm":"csr_scalar","parameters":{"group_size":128},"reference":{"algorithm":"csr_scalar","parameters":{"group_size":64}},"outcome":"timed","samples_us":[1.0,1.1],"reference_us":[2.0,2.1],"setup_us":0.5}"#;

#[test]
fn raw_timings_of_others_become_an_entry_and_nothing_else_moves() {
    let desk = Desk::new();
    desk.put("raw.jsonl", format!("{TIMING}\n"));
    let table = "format = 2\n# mine\n[[device]]\nname = \"Mine\"\norigin = \"me\"\n";
    desk.put("t.toml", table);
    let merge = |files: &str| {
        let arguments = format!("tune merge {files} --into t.toml");
        sparrow(desk.0.path()).args(arguments.split(' ')).output().unwrap()
    };
    let ran = merge("raw.jsonl");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let after = desk.text("t.toml");
    assert!(after.starts_with(table), "{after}");
    assert!(after.contains("name = \"Nobody's\"") && after.contains("group_size = 128"), "{after}");

    // Two cards of one architecture make an entry for all that have it, and none for themselves.
    let card = |name: &str| {
        let named = TIMING.replace("Nobody's", name);
        named.replace("\"architecture\":\"\"", "\"architecture\":\"a_7\"") + "\n"
    };
    desk.put("cards.jsonl", card("One") + &card("Two") + TIMING + "\n");
    let into = "tune merge cards.jsonl --into cards.toml";
    let ran = sparrow(desk.0.path()).args(into.split(' ')).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let cards = desk.text("cards.toml");
    assert!(cards.contains("architecture = \"a_7\"") && cards.contains("vendor = \"V\""));
    assert!(cards.contains("name = \"Nobody's\""), "{cards}");
    assert!(!cards.contains("\"One\"") && !cards.contains("\"Two\""), "{cards}");

    // A line that is none is named, and nothing is written.
    desk.put("wrong.jsonl", format!("{TIMING}\n{{\"schema\":\"sparrow-bench/1\"}}\n"));
    let ran = merge("raw.jsonl wrong.jsonl");
    assert_eq!(ran.status.code(), Some(2));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("wrong.jsonl: line 2: "), "{said}");
    let ran = merge("none.jsonl");
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("none.jsonl"));
    assert_eq!(desk.text("t.toml"), after);
}

#[test]
fn there_is_nothing_to_tune_on_the_host() {
    let ran = Desk::new().host("tune --quick");
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("nothing to tune"));
}

#[test]
fn spmv_rounds_to_the_type_that_is_named_and_refuses_what_is_beyond_it() {
    let desk = Desk::new();
    // 1/3 in f16 is 0.333251953125.
    desk.put("third.mtx", MATRIX.replace("1 2 2", "1 2 0.3333333333333333"));
    for (value_type, sum) in
        [("f64", "4.333333333333333"), ("f16", "4.33251953125"), ("f32", "4.33333")]
    {
        let ran =
            desk.host(&format!("spmv third.mtx --x x.mtx --value-type {value_type} --out out.mtx"));
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let out = desk.text("out.mtx");
        let first = out.lines().nth(2).unwrap();
        assert!(first.starts_with(sum), "{value_type}: {first}");
    }
    desk.put("large.mtx", MATRIX.replace("1 2 2", "1 2 70000"));
    for (arguments, words) in [
        ("spmv large.mtx --x x.mtx --value-type f16", "70000"),
        ("spmv a.mtx --x x.mtx --alpha 1e300 --value-type f32", "--alpha"),
        ("spmv a.mtx --x x.mtx --y y.mtx --beta 1e300 --value-type bf16", "--beta"),
        ("spmv a.mtx --x x.mtx --alpha 1e-50 --value-type f32", "--alpha 1e-50 is so small"),
    ] {
        let ran = desk.host(arguments);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
