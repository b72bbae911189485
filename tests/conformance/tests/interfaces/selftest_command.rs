//! `sparrow selftest` as somebody runs it whose device may end it.

#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::command_line::sparrow;
use conformance::{device, is_interpreter, say};
use sparrow_bench::selftest::{Configuration, SelftestRecord};

/// A selftest that has written two lines to `lines.jsonl`.
fn begun(folder: &Path) -> Child {
    let path = folder.join("lines.jsonl");
    let mut command = sparrow(folder);
    command.args(["selftest", "--json", "lines.jsonl", "--device", &device().position()]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while fs::read_to_string(&path).unwrap_or_default().lines().count() < 2 {
        assert_eq!(child.try_wait().unwrap(), None, "it has ended before there were two lines");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// The records, each whole.
fn records(folder: &Path) -> Vec<SelftestRecord> {
    let text = fs::read_to_string(folder.join("lines.jsonl")).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_are_written_as_configurations_are_done_and_outlive_a_run_that_is_killed() {
    if is_interpreter(&device()) {
        say("skipped: lines are the host's; an interpreter shows them where a run is interrupted");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = begun(folder.path());
    // As a driver that crashes ends it: there is no time for anything.
    child.kill().unwrap();
    child.wait().unwrap();
    let records = records(folder.path());
    let (seen, first_suite) = (records.len(), Configuration::all().len());
    assert!(
        seen < first_suite,
        "{seen} lines: they came all at once, when {first_suite} were done"
    );
    assert!(records.iter().all(|record| record.passed > 0 && record.failed == 0), "{records:?}");
}

#[test]
fn an_interrupted_run_reports_what_was_begun_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let child = begun(folder.path());
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted: the other cases were not run"), "{stderr}");
    let records = records(folder.path());
    assert!(records.len() < Configuration::all().len(), "{records:?}");
    for SelftestRecord { algorithm, passed, failed, not_applicable, .. } in &records {
        assert!(passed + failed + not_applicable > 0, "{algorithm}: {records:?}");
    }
    let stdout = String::from_utf8(output.stdout).unwrap();
    // A line each, below the header and above the summary.
    assert_eq!(stdout.lines().count(), records.len() + 2, "{stdout}");
}
