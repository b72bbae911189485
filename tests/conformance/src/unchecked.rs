//! Runs a test without Oclgrind's checkers: what they report of kernels that are meant to be broken is no finding.

use std::process::Command;

use crate::say;

/// What turns them on.
const CHECKERS: [&str; 3] = ["OCLGRIND_DATA_RACES", "OCLGRIND_UNINITIALIZED", "OCLGRIND_CHECK_API"];

/// Where the checkers are on, runs the test of this name in a process of its own without them. Whether it did.
///
/// # Panics
/// The test fails there.
#[expect(clippy::expect_used, reason = "support code of tests")]
pub fn runs_unchecked(test: &str) -> bool {
    if CHECKERS.iter().all(|name| std::env::var_os(name).is_none()) {
        return false;
    }
    let program = std::env::current_exe().expect("the path of this program");
    let mut child = Command::new(program);
    child.args(["--exact", test, "--test-threads=1", "--nocapture"]);
    for name in CHECKERS {
        child.env_remove(name);
    }
    let output = child.output().expect("this program starts again");
    let words =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{}", words.join("\n"));
    for line in words[1].lines() {
        if let Some((_, said)) = line.split_once("conformance: ") {
            say(said);
        }
    }
    true
}
