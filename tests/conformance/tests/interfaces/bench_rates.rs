//! Rates of memory that `sparrow bench`, `solve --measure` and `devices --probe` measure once and keep.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::command_line::sparrow;
use conformance::{device, is_interpreter, say};

const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 2\n";
const TABLE: &str = "XDG_CONFIG_HOME/sparrow/devices.toml";

/// The rates in the first record of a run, in 10^9 bytes a second.
fn rates(folder: &Path, arguments: &str) -> [f64; 2] {
    let mut command = sparrow(folder);
    command.args(arguments.split(' ')).args(["--json", "-", "--device", &device().position()]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let record: Value = serde_json::from_str(stdout.lines().next().unwrap()).unwrap();
    ["stream_gbytes_per_s", "copy_gbytes_per_s"].map(|field| record[field].as_f64().unwrap())
}

#[test]
fn rates_are_measured_once_and_kept_with_the_device_and_its_driver() {
    if is_interpreter(&device()) {
        say("skipped: a bench finds how fast memory is, which takes an interpreter minutes");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (folder, path) = (folder.path(), folder.path().join(TABLE));
    fs::write(folder.join("a.mtx"), MATRIX).unwrap();
    let measured = rates(folder, "bench a.mtx --value-type f32");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(&format!("driver = {:?}", device().traits().driver)), "{text}");

    // What is kept counts, and nothing is measured again, until that is asked for.
    let with_rates = |read: f64, text: &str| -> String {
        let line = |line: &str| match line.split_once(" = ") {
            Some(("read_gbytes_per_s", _)) => format!("read_gbytes_per_s = {read:?}\n"),
            _ => format!("{line}\n"),
        };
        text.lines().map(line).collect()
    };
    fs::write(&path, with_rates(1e6, &text)).unwrap();
    let kept = rates(folder, "bench a.mtx --value-type f32");
    assert_eq!(kept[0], 1e6);
    assert!((kept[1] - measured[1]).abs() < 0.01, "{kept:?} {measured:?}");
    assert_eq!(rates(folder, "solve a.mtx --measure")[0], 1e6);
    assert!(rates(folder, "bench a.mtx --value-type f32 --measure")[0] < 1e6);
    assert!(rates(folder, "bench a.mtx --value-type f32")[0] < 1e6);

    // What cannot be is told with what measures again.
    let line = |rate: f64| -> String {
        let text = fs::read_to_string(&path).unwrap();
        fs::write(
            &path,
            with_rates(rate, &text).replace("copy_gbytes_per_s = ", "copy_gbytes_per_s = 1e-9 #"),
        )
        .unwrap();
        let mut command = sparrow(folder);
        let arguments = "bench a.mtx --value-type f32 --device";
        let ran = command.args(arguments.split(' ')).arg(device().position()).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    let said = line(1e-6);
    let told = "1 result is above 100% of the limit: the last cache (";
    assert!(said.contains(told) && said.contains("--measure measures them again\n"), "{said}");
    assert!(!line(1e6).contains("above 100%"));
    let mut command = sparrow(folder);
    let arguments = "solve poisson5 --scale 0.001 --measure --device";
    let ran = command.args(arguments.split(' ')).arg(device().position()).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    let told = "it is faster than the copy where the last cache holds what it moves, or where other work ran";
    assert!(said.contains(told) && said.contains("devices --probe measures it again"), "{said}");

    // Another driver's do not count.
    let text = fs::read_to_string(&path).unwrap();
    let driver = format!("{:?}", device().traits().driver);
    fs::write(&path, with_rates(1e6, &text).replace(&driver, "\"of old\"")).unwrap();
    assert!(rates(folder, "bench a.mtx --value-type f32")[0] < 1e6);

    let mut probe = sparrow(folder);
    let output =
        probe.args(["devices", "--probe", "--device", &device().position()]).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("GB/s, measured; kept in "), "{stdout}");
}
