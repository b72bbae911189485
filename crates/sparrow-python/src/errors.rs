//! Why a call failed, as a Python exception of its kind.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::create_exception;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use sparrow::{FloatTrapsHeld, RuntimeError, counted, host};

create_exception!(
    sparrow,
    DeviceError,
    PyRuntimeError,
    "A device, its driver, or what they were asked for.\n\n\
     Attributes\n----------\n\
     status : str or None\n    OpenCL's name of the status (\"CL_OUT_OF_RESOURCES\"), where a call of OpenCL failed.\n\
     code : int or None\n    The status itself."
);

/// The result of whatever stands between a Python method and the Rust face.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why it failed; becomes an exception where the interpreter is attached again.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Raised by Python, or ready to be.
    Python(PyErr),
    /// Refused by the library.
    Library(sparrow::Error),
    /// An OpenCL call of our own.
    Call(&'static str, i32),
    /// A fault of the library.
    Fault(String),
}

impl Failure {
    /// An argument without meaning: the object, the value, and the limit.
    pub(crate) fn value(text: impl Into<String>) -> Self {
        Failure::Python(PyValueError::new_err(text.into()))
    }

    /// An argument of a type that does not fit.
    pub(crate) fn type_of(text: impl Into<String>) -> Self {
        Failure::Python(PyTypeError::new_err(text.into()))
    }

    /// The same, with the part that it is about before its text.
    pub(crate) fn within(self, part: &str) -> Self {
        Python::attach(|py| {
            let error = PyErr::from(self);
            let text = format!("{part}: {}", error.value(py));
            Failure::Python(PyErr::from_type(error.get_type(py), text))
        })
    }

    /// What cannot be done in the state that something is in.
    pub(crate) fn state(text: impl Into<String>) -> Self {
        Failure::Python(PyRuntimeError::new_err(text.into()))
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Python(error)
    }
}

impl From<sparrow::Error> for Failure {
    fn from(error: sparrow::Error) -> Self {
        Failure::Library(error)
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        Failure::Library(error.into())
    }
}

impl From<host::Error> for Failure {
    fn from(error: host::Error) -> Self {
        Failure::Library(error.into())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Python(error) => error,
            Failure::Library(error) => of_library(&error),
            Failure::Call(call, code) => {
                let status = opencl3::error_codes::error_text(code);
                device_error(format!("{call} failed: {status} ({code})"), Some((status, code)))
            }
            Failure::Fault(said) => {
                PyRuntimeError::new_err(format!("a fault of the library: {said}"))
            }
        }
    }
}

fn of_library(error: &sparrow::Error) -> PyErr {
    use sparrow::Error as E;
    let text = error.to_string();
    match error {
        E::Matrix(error) => of_matrix(error, text),
        E::Runtime(error) => of_runtime(error, text),
        _ => PyValueError::new_err(text),
    }
}

fn of_runtime(error: &RuntimeError, text: String) -> PyErr {
    use RuntimeError as R;
    match error {
        R::Call { status, code, .. } | R::FailedEvent { status, code, .. } => {
            device_error(text, Some((status, *code)))
        }
        R::Allocation { .. } => PyMemoryError::new_err(text),
        R::Matrix(error) => of_matrix(error, text),
        R::Parameter(_)
        | R::Diagonal { .. }
        | R::Range { .. }
        | R::Value { .. }
        | R::UnknownDevice { .. }
        | R::AmbiguousDevice { .. } => PyValueError::new_err(text),
        error if error.is_mismatch() => PyValueError::new_err(text),
        _ => device_error(text, None),
    }
}

fn of_matrix(error: &host::Error, text: String) -> PyErr {
    match error {
        host::Error::Memory { .. } => PyMemoryError::new_err(text),
        host::Error::Io { .. } => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

fn device_error(text: String, status: Option<(&str, i32)>) -> PyErr {
    let error = DeviceError::new_err(text);
    Python::attach(|py| {
        let value = error.value(py);
        // An exception without its attributes still says everything in its text.
        let _ = value.setattr("status", status.map(|(name, _)| name));
        let _ = value.setattr("code", status.map(|(_, code)| code));
    });
    error
}

/// Refuses an array that is not as long as the matrix has rows or columns.
///
/// # Errors
/// Another length.
pub(crate) fn check_len(name: &str, found: usize, needed: usize, of: &str) -> Result<()> {
    if found == needed {
        return Ok(());
    }
    let (found, needed) = (counted(found, "element"), counted(needed, of));
    Err(Failure::value(format!("{name} has {found}, and A {needed}")))
}

/// Runs `work` without the interpreter, so that other threads go on: with floating-point traps held, and panics kept in.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    py.detach(|| {
        let _held = FloatTrapsHeld::new();
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
            Err(Failure::Fault(said.to_owned()))
        })
    })
}
