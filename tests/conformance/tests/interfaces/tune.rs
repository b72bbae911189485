//! `sparrow tune` on the device under test: what it finds becomes an entry, whatever interrupts it.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use crate::command_line::sparrow;
use cl_kernels::{DeviceTable, Reuse, Tables, parse_device_table};
use conformance::{device, is_interpreter, say};
use sparrow_bench::tune::read_timings;

/// Interpreted kernels take minutes on matrices that are worth timing.
fn is_left_out() -> bool {
    let is_left_out = is_interpreter(&device());
    if is_left_out {
        say("skipped: an interpreter has nothing to tune");
    }
    is_left_out
}

/// Tunes for seconds; on a machine so busy that too little was tried in them, for more. `tune` takes a budget and says
/// whether enough was tried.
fn tune_long_enough(tune: impl Fn(&str) -> (Output, bool)) -> Output {
    for budget in ["8s", "40s"] {
        let (ran, is_enough) = tune(budget);
        if is_enough {
            return ran;
        }
    }
    tune("300s").0
}

fn read(path: &Path) -> DeviceTable {
    let (table, problems) = parse_device_table(path, &fs::read_to_string(path).unwrap());
    assert_eq!(problems, []);
    table
}

#[test]
fn what_is_found_becomes_rules_that_plans_follow_and_those_that_lose_are_not_written() {
    if is_left_out() {
        return;
    }
    let device = device();
    let folder = tempfile::tempdir().unwrap();
    let (table, raw) = (folder.path().join("t.toml"), folder.path().join("raw.jsonl"));
    let other = "format = 1\n# another's\n[[device]]\nname = \"Other\"\norigin = \"a guess\"\n";
    let ran = tune_long_enough(|budget| {
        fs::write(&table, other).unwrap();
        let _ = fs::remove_file(&raw);
        let ran = sparrow(folder.path())
            .args(["tune", "--budget", budget, "--value-type", "f32"])
            .args(["--device", &device.position()])
            .args(["--into".as_ref(), table.as_os_str(), "--raw".as_ref(), raw.as_os_str()])
            .output()
            .unwrap();
        let trials = fs::read_to_string(&raw).unwrap_or_default().lines().count();
        (ran, trials >= 3)
    });
    let words = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    // Names are those of format 2 now.
    let others = other.replace("format = 1", "format = 2");
    assert!(fs::read_to_string(&table).unwrap().starts_with(&others));

    // Candidates that fail are named, and none is wrong.
    let timings = read_timings(&raw).unwrap();
    assert!(!timings[0].is_validation);
    assert!(timings.len() >= 3, "{} trials", timings.len());
    for timing in &timings {
        assert!(timing.outcome.times().is_some(), "{}: {:?}", timing.candidate, timing.outcome);
    }
    // The project makes rules of the raw timings.
    let merged = folder.path().join("merged.toml");
    let ran = sparrow(folder.path())
        .args(["tune".as_ref(), "merge".as_ref(), raw.as_os_str()])
        .args(["--into".as_ref(), merged.as_os_str()])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let fitted = read(&merged);
    let of_merged = fitted.devices[0].rules(sparrow::ValueType::F32).unwrap().clone();
    assert!(of_merged.of(Reuse::Several).last().unwrap().when.is_empty());

    // Of the same rules those are written that are no slower than what is shipped.
    let tuned = read(&table);
    let entry = tuned.devices.last().unwrap();
    assert_eq!(entry.name.as_deref(), Some(device.traits().table_name()));
    let kept = entry.rules(sparrow::ValueType::F32).cloned().unwrap_or_default();
    for products in Reuse::ALL {
        let rules = kept.own(products);
        assert!(rules.iter().all(|rule| of_merged.own(products).contains(rule)), "{rules:?}");
    }
    assert!(words.contains("taken out"), "{words}");

    // The choice follows a table, and says so.
    let tables = Tables::with_user(Some((merged.clone(), fitted)));
    let shape = timings[0].shape();
    let traits = device.traits();
    let choice = sparrow::select(&tables, traits, sparrow::ValueType::F32, &shape, Reuse::Several);
    assert!(choice.reason.contains("merged.toml"), "{}", choice.reason);
    let shown = sparrow(folder.path())
        .env("SPARROW_TABLE", &merged)
        .args(["devices", "--table", "--device", &device.position()])
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("merged.toml") && shown.contains("choice f32 several"), "{shown}");
}

#[test]
fn a_place_that_cannot_be_written_is_named_and_the_entry_printed() {
    if is_left_out() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let table = file.join("devices.toml");
    let ran = tune_long_enough(|budget| {
        let ran = sparrow(folder.path())
            .args(["tune", "--budget", budget, "--value-type", "f32,bf16"])
            .args(["--device", &device().position()])
            .args(["--into".as_ref(), table.as_os_str()])
            .output()
            .unwrap();
        let is_printed = String::from_utf8_lossy(&ran.stdout).contains("format = 2");
        (ran, is_printed)
    });
    assert_eq!(ran.status.code(), Some(1));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains(&table.display().to_string()), "{said}");
    assert!(said.contains("bf16: left out, bf16 takes what suits f32"), "{said}");
    let words = String::from_utf8_lossy(&ran.stdout).into_owned();
    let printed = &words[words.find("format = 2").unwrap()..];
    let (printed, problems) = parse_device_table(Path::new("printed"), printed);
    assert_eq!((printed.devices.len(), problems), (1, Vec::new()));
}

#[test]
fn an_interrupted_tuning_keeps_what_it_verified() {
    if is_left_out() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (table, raw) = (folder.path().join("t.toml"), folder.path().join("raw.jsonl"));
    let mut child = sparrow(folder.path())
        .args(["tune", "--full", "--value-type", "f32", "--device", &device().position()])
        .args(["--into".as_ref(), table.as_os_str(), "--raw".as_ref(), raw.as_os_str()])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let trials = || fs::read_to_string(&raw).unwrap_or_default().lines().count();
    wait_until(&mut child, || trials() >= 4);
    let id = child.id().to_string();
    let interrupt = std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(interrupt.success());
    // Without a limit of time: whoever runs the tests ends what hangs.
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(read(&table).devices.len(), 1);
    assert!(read_timings(&raw).unwrap().len() >= 4);
}

/// Looks until it is there, as long as the child runs.
fn wait_until(child: &mut Child, is_there: impl Fn() -> bool) {
    while !is_there() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
        std::thread::sleep(Duration::from_millis(50));
    }
}
