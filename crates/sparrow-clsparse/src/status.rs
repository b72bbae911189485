//! clSPARSE's codes, and which of them an error of Sparrow's becomes.

use sparrow::RuntimeError;

/// How a function ended. Those above -1000 are OpenCL's codes of the same name.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "clSPARSE's names")]
pub enum Status {
    Success = 0,
    CompilerNotAvailable = -3,
    OutOfResources = -5,
    OutOfHostMemory = -6,
    BuildProgramFailure = -11,
    InvalidValue = -30,
    InvalidDevice = -33,
    InvalidContext = -34,
    InvalidCommandQueue = -36,
    InvalidMemObject = -38,
    InvalidKernelArgs = -52,
    InvalidEventWaitList = -57,
    InvalidEvent = -58,
    InvalidOperation = -59,
    NotImplemented = -1024,
    NotInitialized = -1023,
    StructInvalid = -1022,
    InvalidSize = -1021,
    InvalidMemObj = -1020,
    InsufficientMemory = -1019,
    InvalidControlObject = -1018,
    InvalidFile = -1017,
    InvalidFileFormat = -1016,
    InvalidKernelExecution = -1015,
    InvalidSolverControlObject = -2048,
    InvalidSystemSize = -2047,
    SolverError = -2044,
}

/// The result of what a function does.
pub(crate) type Result<T, E = Status> = std::result::Result<T, E>;

impl Status {
    /// A code of OpenCL's. What clSPARSE has no name for is a launch that failed.
    fn of_code(code: i32) -> Self {
        use Status as S;
        let same = [
            S::CompilerNotAvailable,
            S::OutOfResources,
            S::OutOfHostMemory,
            S::BuildProgramFailure,
            S::InvalidValue,
            S::InvalidDevice,
            S::InvalidContext,
            S::InvalidCommandQueue,
            S::InvalidMemObject,
            S::InvalidKernelArgs,
            S::InvalidEventWaitList,
            S::InvalidEvent,
            S::InvalidOperation,
        ];
        const MEM_OBJECT_ALLOCATION_FAILURE: i32 = -4;
        match same.into_iter().find(|status| *status as i32 == code) {
            Some(status) => status,
            None if code == MEM_OBJECT_ALLOCATION_FAILURE => S::InsufficientMemory,
            None => S::InvalidKernelExecution,
        }
    }
}

impl From<RuntimeError> for Status {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::Call { code, .. } => Status::of_code(code),
            RuntimeError::FailedEvent { .. } => Status::InvalidEvent,
            RuntimeError::Allocation { .. } => Status::InsufficientMemory,
            RuntimeError::Build { .. } | RuntimeError::Source(_) => Status::BuildProgramFailure,
            RuntimeError::NoLibrary
            | RuntimeError::NoDevice
            | RuntimeError::UnknownDevice { .. }
            | RuntimeError::AmbiguousDevice { .. }
            | RuntimeError::Unsupported { .. } => Status::InvalidDevice,
            RuntimeError::Range { .. } => Status::InvalidSize,
            RuntimeError::Matrix(error) => error.into(),
            RuntimeError::Diagonal { .. } => Status::SolverError,
            _ => Status::InvalidValue,
        }
    }
}

impl From<sparrow::host::Error> for Status {
    fn from(error: sparrow::host::Error) -> Self {
        use sparrow::host::Error;
        match error {
            Error::Io { .. } | Error::MatrixMarket { .. } | Error::Overflow { .. } => {
                Status::InvalidFile
            }
            Error::Memory { .. } => Status::OutOfHostMemory,
            _ => Status::InvalidSize,
        }
    }
}

impl From<sparrow::Error> for Status {
    fn from(error: sparrow::Error) -> Self {
        match error {
            sparrow::Error::Runtime(error) => error.into(),
            sparrow::Error::Matrix(error) => error.into(),
            _ => Status::InvalidValue,
        }
    }
}
