//! How a call ended, and what is said of its failure.

use std::ffi::{CStr, c_char};

use opencl3::types::cl_int;

use crate::failure;

/// How a call ended.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sparrow_status {
    /// Done, or enqueued.
    SPARROW_STATUS_SUCCESS = 0,
    /// An argument is NULL or has no meaning: a struct of an unknown size, a number or a name that is none of those
    /// there are, a buffer that is too small.
    SPARROW_STATUS_INVALID_ARGUMENT = 1,
    /// Objects that do not belong together: another context, another pattern, another plan's workspace.
    SPARROW_STATUS_MISMATCH = 2,
    /// A matrix, a dense shape or a batch that breaks a rule.
    SPARROW_STATUS_INVALID_MATRIX = 3,
    /// Hyper-parameters that break a rule.
    SPARROW_STATUS_INVALID_PARAMETER = 4,
    /// The device lacks what was asked for.
    SPARROW_STATUS_UNSUPPORTED = 5,
    /// No OpenCL library, or no device.
    SPARROW_STATUS_NO_DEVICE = 6,
    /// More memory than there is, or than the device allocates at once.
    SPARROW_STATUS_OUT_OF_MEMORY = 7,
    /// A kernel does not build; the text holds the compiler's log.
    SPARROW_STATUS_BUILD_FAILED = 8,
    /// An event of a wait list has ended in error.
    SPARROW_STATUS_EVENT_FAILED = 9,
    /// An OpenCL call failed: sparrow_last_opencl_status().
    SPARROW_STATUS_OPENCL_ERROR = 10,
    /// A file cannot be read, or is not what it should be.
    SPARROW_STATUS_INVALID_FILE = 11,
    /// A fault of this library.
    SPARROW_STATUS_INTERNAL_ERROR = 12,
}

use sparrow_status as S;

/// Every status with its name.
const NAMES: [(S, &CStr); 13] = [
    (S::SPARROW_STATUS_SUCCESS, c"SPARROW_STATUS_SUCCESS"),
    (S::SPARROW_STATUS_INVALID_ARGUMENT, c"SPARROW_STATUS_INVALID_ARGUMENT"),
    (S::SPARROW_STATUS_MISMATCH, c"SPARROW_STATUS_MISMATCH"),
    (S::SPARROW_STATUS_INVALID_MATRIX, c"SPARROW_STATUS_INVALID_MATRIX"),
    (S::SPARROW_STATUS_INVALID_PARAMETER, c"SPARROW_STATUS_INVALID_PARAMETER"),
    (S::SPARROW_STATUS_UNSUPPORTED, c"SPARROW_STATUS_UNSUPPORTED"),
    (S::SPARROW_STATUS_NO_DEVICE, c"SPARROW_STATUS_NO_DEVICE"),
    (S::SPARROW_STATUS_OUT_OF_MEMORY, c"SPARROW_STATUS_OUT_OF_MEMORY"),
    (S::SPARROW_STATUS_BUILD_FAILED, c"SPARROW_STATUS_BUILD_FAILED"),
    (S::SPARROW_STATUS_EVENT_FAILED, c"SPARROW_STATUS_EVENT_FAILED"),
    (S::SPARROW_STATUS_OPENCL_ERROR, c"SPARROW_STATUS_OPENCL_ERROR"),
    (S::SPARROW_STATUS_INVALID_FILE, c"SPARROW_STATUS_INVALID_FILE"),
    (S::SPARROW_STATUS_INTERNAL_ERROR, c"SPARROW_STATUS_INTERNAL_ERROR"),
];

/// The name of a status; "unknown status" for any other number. Valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn sparrow_status_name(status: i32) -> *const c_char {
    let found = NAMES.iter().find(|(known, _)| *known as i32 == status);
    found.map_or(c"unknown status", |(_, name)| name).as_ptr()
}

/// What was wrong in the last call of this thread that failed: the object, the value and the limit. Empty if none
/// has. Valid until the next call of this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn sparrow_last_error() -> *const c_char {
    failure::last_text()
}

/// OpenCL's own status of the last call of this thread that failed; CL_SUCCESS where OpenCL was not what failed.
#[unsafe(no_mangle)]
pub extern "C" fn sparrow_last_opencl_status() -> cl_int {
    failure::last_opencl_status()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_its_own_number_and_name() {
        for (index, (status, name)) in NAMES.iter().enumerate() {
            assert_eq!(*status as usize, index);
            assert_eq!(format!("{status:?}"), name.to_str().unwrap());
        }
    }
}
