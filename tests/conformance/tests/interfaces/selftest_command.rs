//! `sparrow selftest` as somebody runs it whose device may end it.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::command_line::sparrow;
use conformance::device;
use sparrow_bench::selftest::Configuration;

#[test]
fn lines_are_written_as_configurations_are_done_and_outlive_a_run_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines.jsonl");
    let mut command = sparrow(folder.path());
    command.args(["selftest", "--json", "lines.jsonl", "--device", &device().position()]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let lines = || fs::read_to_string(&path).unwrap_or_default();
    while lines().lines().count() < 2 {
        assert_eq!(child.try_wait().unwrap(), None, "it has ended before there were two lines");
        std::thread::sleep(Duration::from_millis(20));
    }
    // As a driver that crashes ends it: there is no time for anything.
    child.kill().unwrap();
    child.wait().unwrap();
    let text = lines();
    let (seen, first_suite) = (text.lines().count(), Configuration::all().len());
    assert!(
        seen < first_suite,
        "{seen} lines: they came all at once, when {first_suite} were done"
    );
    assert!(text.ends_with('\n'), "{text}");
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            (&record["schema"], &record["failed"]),
            (&"sparrow-selftest/1".into(), &0.into()),
            "{line}"
        );
    }
}
