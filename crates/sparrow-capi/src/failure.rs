//! Why a call failed: kept per thread, so that a status can be asked about. Panics end here.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use sparrow::{FloatTrapsHeld, RuntimeError, host};

use crate::sparrow_status;

/// The result of whatever stands between a C function and the Rust face.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// A status with its text.
#[derive(Debug)]
pub(crate) struct Failure {
    status: sparrow_status,
    opencl_status: i32,
    text: String,
}

impl Failure {
    pub(crate) fn new(status: sparrow_status, text: impl Into<String>) -> Self {
        Failure { status, opencl_status: 0, text: text.into() }
    }

    /// An argument without meaning.
    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self::new(sparrow_status::SPARROW_STATUS_INVALID_ARGUMENT, text)
    }

    /// A pointer that must not be NULL.
    pub(crate) fn null(name: &str) -> Self {
        Self::argument(format!("{name} is NULL"))
    }

    /// Objects that do not belong together.
    pub(crate) fn mismatch(text: impl Into<String>) -> Self {
        Self::new(sparrow_status::SPARROW_STATUS_MISMATCH, text)
    }

    /// What an OpenCL call answered.
    pub(crate) fn of_call(call: &str, code: i32) -> Self {
        let name = opencl3::error_codes::error_text(code);
        let status = sparrow_status::SPARROW_STATUS_OPENCL_ERROR;
        Failure { status, opencl_status: code, text: format!("{call} failed: {name} ({code})") }
    }

    /// Adds what another failure says.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.text = format!("{}; {}", self.text, other.text);
        self
    }

    /// Of a struct that another one points to: its fields by the path that the caller knows.
    pub(crate) fn inside(mut self, path: &str, whole: &str) -> Self {
        self.text = self.text.replace(path, whole);
        self
    }

    /// Says which argument it is about.
    pub(crate) fn of(mut self, name: &str) -> Self {
        self.text = format!("{name}: {}", self.text);
        self
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        use sparrow_status as S;
        const ALLOCATION_FAILURE: i32 = -4; // CL_MEM_OBJECT_ALLOCATION_FAILURE
        const OUT_OF_HOST_MEMORY: i32 = -6; // CL_OUT_OF_HOST_MEMORY
        let (status, opencl_status) = match &error {
            RuntimeError::NoLibrary | RuntimeError::NoDevice => (S::SPARROW_STATUS_NO_DEVICE, 0),
            RuntimeError::Call {
                code: code @ (ALLOCATION_FAILURE | OUT_OF_HOST_MEMORY), ..
            } => (S::SPARROW_STATUS_OUT_OF_MEMORY, *code),
            RuntimeError::Call { code, .. } => (S::SPARROW_STATUS_OPENCL_ERROR, *code),
            RuntimeError::FailedEvent { code, .. } => (S::SPARROW_STATUS_EVENT_FAILED, *code),
            RuntimeError::Allocation { .. } => (S::SPARROW_STATUS_OUT_OF_MEMORY, 0),
            RuntimeError::Build { .. } => (S::SPARROW_STATUS_BUILD_FAILED, 0),
            RuntimeError::Parameter(_) | RuntimeError::KernelGroup { .. } => {
                (S::SPARROW_STATUS_INVALID_PARAMETER, 0)
            }
            RuntimeError::Matrix(error) => (of_matrix(error), 0),
            RuntimeError::Diagonal { .. } => (S::SPARROW_STATUS_INVALID_MATRIX, 0),
            RuntimeError::Unsupported { .. } => (S::SPARROW_STATUS_UNSUPPORTED, 0),
            RuntimeError::Range { .. } | RuntimeError::Value { .. } => {
                (S::SPARROW_STATUS_INVALID_ARGUMENT, 0)
            }
            error if error.is_mismatch() => (S::SPARROW_STATUS_MISMATCH, 0),
            _ => (S::SPARROW_STATUS_INTERNAL_ERROR, 0),
        };
        Failure { status, opencl_status, text: error.to_string() }
    }
}

impl From<host::Error> for Failure {
    fn from(error: host::Error) -> Self {
        Failure::new(of_matrix(&error), error.to_string())
    }
}

impl From<sparrow::Error> for Failure {
    fn from(error: sparrow::Error) -> Self {
        use sparrow_status as S;
        match error {
            sparrow::Error::Runtime(error) => error.into(),
            sparrow::Error::Matrix(error) => error.into(),
            sparrow::Error::Parameter(error) => {
                Failure::new(S::SPARROW_STATUS_INVALID_PARAMETER, error.to_string())
            }
            other => Failure::new(S::SPARROW_STATUS_INTERNAL_ERROR, other.to_string()),
        }
    }
}

/// What is wrong with a number of the struct at `path`, by its name in C; other errors as they are.
pub(crate) fn of_struct(error: sparrow::Error, path: &str) -> Failure {
    match error {
        sparrow::Error::Runtime(RuntimeError::Value { name, value, rule }) => {
            Failure::argument(format!("{path}->{name} is {value}, and it must be {rule}"))
        }
        other => other.into(),
    }
}

fn of_matrix(error: &host::Error) -> sparrow_status {
    match error {
        host::Error::Memory { .. } => sparrow_status::SPARROW_STATUS_OUT_OF_MEMORY,
        _ => sparrow_status::SPARROW_STATUS_INVALID_MATRIX,
    }
}

/// What a thread remembers of its last failure.
struct Last {
    text: CString,
    opencl_status: i32,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::new(Last { text: CString::default(), opencl_status: 0 });
}

/// What `work` comes to, while the application's floating-point traps are held; a panic is a failure.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let _held = FloatTrapsHeld::new();
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
        let text = format!("a fault of the library: {said}");
        // What was thrown may panic again when it is dropped.
        std::mem::forget(panic);
        Err(Failure::new(sparrow_status::SPARROW_STATUS_INTERNAL_ERROR, text))
    })
}

/// Runs what a C function does, as [`caught`], and remembers why it failed.
pub(crate) fn guard(work: impl FnOnce() -> Result<()>) -> sparrow_status {
    let failure = match caught(work) {
        Ok(()) => return sparrow_status::SPARROW_STATUS_SUCCESS,
        Err(failure) => failure,
    };
    let Failure { status, opencl_status, text } = failure;
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // A thread that is ending remembers nothing any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Last { text, opencl_status });
    status
}

pub(crate) fn last_text() -> *const c_char {
    LAST.try_with(|last| last.borrow().text.as_ptr()).unwrap_or(c"".as_ptr())
}

pub(crate) fn last_opencl_status() -> i32 {
    LAST.try_with(|last| last.borrow().opencl_status).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparrow_last_error;
    use std::ffi::CStr;

    fn last() -> String {
        // SAFETY: the text is valid until this thread's next failure.
        unsafe { CStr::from_ptr(sparrow_last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_status_with_its_text() {
        let status = guard(|| panic!("broken at {}", 7));
        assert_eq!(status, sparrow_status::SPARROW_STATUS_INTERNAL_ERROR);
        assert_eq!(last(), "a fault of the library: broken at 7");
    }

    #[test]
    fn each_thread_has_its_own_text_and_success_leaves_it_alone() {
        guard(|| Err(Failure::null("x")));
        std::thread::spawn(|| {
            assert_eq!(last(), "");
            guard(|| Err(Failure::of_call("clFinish", -36)));
            assert_eq!(last(), "clFinish failed: CL_INVALID_COMMAND_QUEUE (-36)");
            assert_eq!(last_opencl_status(), -36);
        })
        .join()
        .unwrap();
        assert_eq!(guard(|| Ok(())), sparrow_status::SPARROW_STATUS_SUCCESS);
        assert_eq!((last().as_str(), last_opencl_status()), ("x is NULL", 0));
    }

    #[test]
    fn a_text_with_a_zero_in_it_is_not_lost() {
        guard(|| Err(Failure::argument("a\0b")));
        assert_eq!(last(), "a b");
    }
}
