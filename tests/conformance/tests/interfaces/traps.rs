//! An application that turns floating-point traps on, in a process of its own: a trap ends it by a signal.
#![expect(unsafe_code, reason = "functions of C's fenv.h, as glibc has them")]
#![expect(clippy::unwrap_used, reason = "a test panics when its claim is broken")]

use std::ffi::c_int;
use std::os::unix::process::ExitStatusExt as _;

/// FE_INVALID, FE_DIVBYZERO and FE_OVERFLOW.
const TRAPS: c_int = 0x01 | 0x04 | 0x08;

unsafe extern "C" {
    safe fn feenableexcept(exceptions: c_int) -> c_int;
    safe fn fegetexcept() -> c_int;
}

/// Tells the process that it is the application.
const APPLICATION: &str = "SPARROW_TEST_WITH_TRAPS";

/// Runs `application` by the test `name`, in a process of its own.
pub(crate) fn ends_without_a_signal(name: &str, application: fn()) {
    if std::env::var_os(APPLICATION).is_some() {
        return application();
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", name, "--test-threads=1", "--nocapture"]);
    let output = child.env(APPLICATION, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.signal(), None, "{text}");
    assert!(output.status.success(), "{text}");
}

/// For this thread.
pub(crate) fn turn_on() {
    feenableexcept(TRAPS);
}

/// That they are on.
pub(crate) fn are_on() {
    assert_eq!(fegetexcept(), TRAPS);
}
