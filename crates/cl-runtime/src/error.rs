//! What can go wrong between a request and a device.

use std::fmt::Display;
use std::ops::Range;

use csr_core::{are, counted};

use crate::{ElementType, MatrixTypes};

mod make;
#[cfg(test)]
mod tests;

pub use make::{check_matrix_types, check_size};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request failed; each message names the object, the value and the limit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no OpenCL library to open.
    #[error("no OpenCL on this machine: libOpenCL.so.1 cannot be opened")]
    NoLibrary,

    /// OpenCL is there, but no platform offers a device.
    #[error("OpenCL is installed, but it lists no device")]
    NoDevice,

    /// A device text matches nothing.
    #[error("device \"{text}\" matches none of: {known}")]
    UnknownDevice {
        /// The text given.
        text: String,
        /// The devices there are.
        known: String,
    },

    /// A device text matches more than one device.
    #[error("device \"{text}\" matches more than one: {found}")]
    AmbiguousDevice {
        /// The text given.
        text: String,
        /// The devices it matches.
        found: String,
    },

    /// An OpenCL call failed.
    #[error("{call} failed: {status} ({code})")]
    Call {
        /// The OpenCL function.
        call: &'static str,
        /// OpenCL's name of the status.
        status: &'static str,
        /// The status.
        code: i32,
    },

    /// What a launch was to wait for has failed already.
    #[error("event {index} of the wait list ended in error: {status} ({code})")]
    FailedEvent {
        /// Its index in the list, from 0.
        index: usize,
        /// OpenCL's name of its status.
        status: &'static str,
        /// Its status.
        code: i32,
    },

    /// An allocation above the device's limit.
    #[error(
        "{what} needs {}; {device} allocates at most {} at once, of {total} in all",
        counted(.needed, "byte"),
        counted(.largest, "byte")
    )]
    Allocation {
        /// What the memory is for.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Largest single allocation.
        largest: u64,
        /// Global memory of the device.
        total: u64,
        /// The device.
        device: String,
    },

    /// A kernel does not build.
    #[error("kernel {key} does not build for {device}:\n{log}")]
    Build {
        /// The kernel's key.
        key: String,
        /// The device.
        device: String,
        /// The compiler's log.
        log: String,
    },

    /// A kernel that the device runs in smaller groups only than it was compiled for.
    #[error(
        "the kernel {kernel} in groups of {} takes more than {device} has; groups of {limit} may fit",
        counted(.group_size, "item")
    )]
    KernelGroup {
        /// The kernel's name.
        kernel: String,
        /// Items of the groups it was compiled for.
        group_size: u64,
        /// The device.
        device: String,
        /// Items of the groups that the device may run.
        limit: u64,
    },

    /// A source that is not embedded.
    #[error(transparent)]
    Source(#[from] cl_kernels::SourceError),

    /// Hyper-parameters that break a rule.
    #[error(transparent)]
    Parameter(#[from] cl_kernels::ParameterError),

    /// A matrix or a plan refused on the host.
    #[error(transparent)]
    Matrix(#[from] csr_core::Error),

    /// The device lacks what was asked for.
    #[error("{device} has no {what}")]
    Unsupported {
        /// The device.
        device: String,
        /// What it lacks.
        what: String,
    },

    /// A part of memory that does not begin or end where it can.
    #[error("{what}: {value} is not allowed, {rule}")]
    Range {
        /// Which array or offset.
        what: String,
        /// The value.
        value: u64,
        /// The rule, with its limit.
        rule: String,
    },

    /// A number among options that has no meaning.
    #[error("{name} is {value}, and it must be {rule}")]
    Value {
        /// The option's name.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        rule: String,
    },

    /// A matrix that Jacobi preconditioning cannot use.
    #[error("{}", Error::no_inverse(format_args!("{row} (counted from 0)")))]
    Diagonal {
        /// The least such row.
        row: u32,
    },

    /// Something of another OpenCL context than what it is used with.
    #[error("{what} belongs to another context than {other}")]
    Context {
        /// What it is: an array, a matrix or a queue.
        what: String,
        /// What has the context that is needed.
        other: String,
    },

    /// A queue of another device than kernels were built for.
    #[error(
        "{what} cannot run in a queue of the device {found}: another device is needed, {needed}"
    )]
    Device {
        /// What was built: a plan, or a kernel.
        what: String,
        /// The queue's device.
        found: String,
        /// The device that it was built for.
        needed: String,
    },

    /// An array, or a number, of another type than where it is used.
    #[error("{what} is of type {found} where {needed} is needed")]
    ElementType {
        /// What it is, by name.
        what: String,
        /// The type of its elements.
        found: ElementType,
        /// The type, or the types, that they may have.
        needed: String,
    },

    /// A matrix whose arrays are of other types than those it is used with.
    #[error(
        "{what} stores {} with offsets of {}, and {other} {} with offsets of {}: they must be of the same types",
        found.value_type, found.offset_type, needed.value_type, needed.offset_type
    )]
    MatrixTypes {
        /// The matrix, by name.
        what: String,
        /// What its arrays hold.
        found: MatrixTypes,
        /// The other matrix, or the plan.
        other: String,
        /// What the arrays of that hold.
        needed: MatrixTypes,
    },

    /// An array or a matrix of another size than what it is used with demands.
    #[error("{what} has {} where {needed} {} needed: {rule}", counted(.found, unit), are(.needed))]
    Size {
        /// What it is, by name.
        what: String,
        /// What is counted: `element`, `row`, `column` or `nonzero`.
        unit: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be, or at least.
        needed: usize,
        /// Why so many.
        rule: String,
    },

    /// A matrix that is not square where only a square one has a meaning.
    #[error("{what} needs a square matrix, and this one is {rows} x {cols}")]
    NotSquare {
        /// What needs it.
        what: &'static str,
        /// Rows of the matrix.
        rows: usize,
        /// Its columns.
        cols: usize,
    },

    /// A result that shares bytes with what is read for it.
    #[error(
        "{what} and {result} overlap{} (bytes {} to {} and {} to {} of the memory that they share), and {}",
        if *may_be_same { " in part" } else { "" },
        bytes.start, bytes.end, result_bytes.start, result_bytes.end,
        if *may_be_same { "they may be the same, or apart".to_owned() } else { format!("{result} is written") }
    )]
    Overlap {
        /// What is read.
        what: String,
        /// What is written.
        result: String,
        /// The bytes that are read, counted from a zero that both have in common.
        bytes: Range<u64>,
        /// The bytes that are written, counted so too.
        result_bytes: Range<u64>,
        /// Whether both may be the same array.
        may_be_same: bool,
    },

    /// A matrix, or a batch, of another pattern than a plan was made for.
    #[error("{what} does not share the pattern the plan was made for")]
    Pattern {
        /// What it is, by name.
        what: &'static str,
    },

    /// Values that have changed since a plan copied them.
    #[error("the matrix's values have changed since {copy} was made: {remedy}")]
    StaleValues {
        /// What has the values as they were.
        copy: &'static str,
        /// What is to be done.
        remedy: &'static str,
    },

    /// What belongs to a plan, used with another plan.
    #[error("{what} was made by another plan than the one that launches")]
    OtherPlan {
        /// What it is: a workspace.
        what: &'static str,
    },

    /// alpha or beta that comes another way than a plan takes it.
    #[error(
        "{name} came {}",
        if *on_device {
            "as a device array, but the plan takes alpha and beta by value; set scalars_on_device in its options"
        } else {
            "by value, but the plan takes alpha and beta from the device"
        }
    )]
    Coefficient {
        /// Its name.
        name: String,
        /// Whether it came as a device array.
        on_device: bool,
    },

    /// Two options, or an option and what it is for, of which only one can be had.
    #[error("{what} cannot go with {with}: {rule}")]
    Combination {
        /// What was asked for.
        what: String,
        /// What it does not go with.
        with: String,
        /// Why not, and what would go.
        rule: String,
    },

    /// Two things that do not belong together, in words: single cases, which share no fields with others.
    #[error("{0}")]
    Incompatible(String),
}

impl Error {
    /// The words of [`Error::Diagonal`], of a row that is named as its reader counts rows.
    pub fn no_inverse(row: impl Display) -> String {
        format!(
            "the diagonal of row {row} has no inverse: it is 0, absent or not finite, and the Jacobi preconditioner \
             needs one"
        )
    }

    /// Whether operands, plan, workspace or options were refused because they do not belong together.
    pub fn is_mismatch(&self) -> bool {
        matches!(
            self,
            Error::Context { .. }
                | Error::Device { .. }
                | Error::ElementType { .. }
                | Error::MatrixTypes { .. }
                | Error::Size { .. }
                | Error::NotSquare { .. }
                | Error::Overlap { .. }
                | Error::Pattern { .. }
                | Error::StaleValues { .. }
                | Error::OtherPlan { .. }
                | Error::Coefficient { .. }
                | Error::Combination { .. }
                | Error::Incompatible(_)
        )
    }

    /// The limit of [`Error::KernelGroup`].
    pub fn kernel_group_limit(&self) -> Option<u64> {
        match self {
            Error::KernelGroup { limit, .. } => Some(*limit),
            _ => None,
        }
    }

    pub(crate) fn failed_event(index: usize, code: i32) -> Self {
        Error::FailedEvent { index, status: opencl3::error_codes::error_text(code), code }
    }

    pub(crate) fn call(call: &'static str, code: i32) -> Self {
        Error::Call { call, status: opencl3::error_codes::error_text(code), code }
    }
}
