//! Has every call of a kind fail in turn, through the runtime's seam.

#![expect(clippy::unwrap_used, clippy::panic, reason = "support code of tests")]

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cl_runtime::raw::fault::{Kind, Live, arm, arm_with, live};
use sparrow::{Error, Queue, Result, RuntimeError};

/// Live objects are counted in the whole process, so these tests run one after the other.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The failure says what failed, with the status a driver gives there, or with this one.
///
/// # Panics
/// It does not.
pub fn assert_names(error: &Error, call: &str, code: Option<i32>, at: &str) {
    let status = status_of(call, code);
    if let Error::Runtime(RuntimeError::Build { .. }) = error {
        assert_eq!((call, status), ("clBuildProgram", "CL_BUILD_PROGRAM_FAILURE"), "{at}: {error}");
        return;
    }
    let message = error.to_string();
    assert!(message.starts_with(&format!("{call} failed: {status} (")), "{at}: {message}");
}

fn status_of(call: &str, status: Option<i32>) -> &'static str {
    match (status, call) {
        (Some(code), _) => opencl3::error_codes::error_text(code),
        (None, "clCreateBuffer" | "clCreateSubBuffer" | "clSVMAlloc") => {
            "CL_MEM_OBJECT_ALLOCATION_FAILURE"
        }
        (None, "clBuildProgram") => "CL_BUILD_PROGRAM_FAILURE",
        (None, "clWaitForEvents") => "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
        (None, call) if call.starts_with("clCreate") => "CL_OUT_OF_HOST_MEMORY",
        (None, _) => "CL_OUT_OF_RESOURCES",
    }
}

/// Has the k-th call of `kind` in `run` fail, for k = 1, 2, 3, ... until there are not so many. `queue`
/// gives the queue of each round; after each failure `run` is repeated on it without one and must give
/// `expected`. Returns the calls that failed, in their order.
///
/// # Panics
/// A failure is not told, names another call, or leaves something behind; or a result is wrong.
pub fn fail_each<T: PartialEq + Debug>(
    at: &str,
    (kind, status): (Kind, Option<i32>),
    mut queue: impl FnMut() -> Queue,
    run: impl Fn(&Queue) -> Result<T>,
    expected: &T,
) -> Vec<&'static str> {
    let mut calls = Vec::new();
    loop {
        let k = calls.len() + 1;
        let at = format!("{at}, {kind:?} {k}");
        let outside = live();
        let queue = queue();
        let before = live();
        let armed = match status {
            Some(status) => arm_with(kind, k, status),
            None => arm(kind, k),
        };
        let result = run(&queue);
        let failed = armed.disarm();
        match (failed, result) {
            (Some(call), Err(error)) => {
                assert_names(&error, call, status, &at);
                calls.push(call);
            }
            (Some(call), Ok(_)) => panic!("{at}: {call} failed, and nobody was told"),
            (None, result) => {
                assert_eq!(&result.unwrap(), expected, "{at}");
                return calls;
            }
        }
        let after = live();
        let of_commands = |live: Live| (live.events, live.queues, live.contexts);
        assert_eq!(of_commands(after), of_commands(before), "{at}");
        assert_eq!(&run(&queue).unwrap(), expected, "{at}: the run after it");
        drop(queue);
        assert_eq!(live(), outside, "{at}");
    }
}

/// Each call once.
pub fn names(calls: &[&'static str]) -> BTreeSet<&'static str> {
    calls.iter().copied().collect()
}
