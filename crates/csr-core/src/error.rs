//! What can be wrong with data that enters: each message names the object, the value and the limit.

use std::path::PathBuf;

use crate::{ValueType, are, counted, spelled};

/// The result of everything in this crate that can refuse its input.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why input was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two arrays that belong together differ in length, or one has not the length a size demands.
    #[error("{what} has {} where {expected} {} needed", counted(.found, "element"), are(.expected))]
    Length {
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },

    /// An array of a type known at run time has another one than what it belongs to.
    #[error("{what} has elements of type {found} where {expected} is needed")]
    ElementType {
        /// Which array.
        what: &'static str,
        /// The type of its elements.
        found: ValueType,
        /// The type that they must have.
        expected: ValueType,
    },

    /// A row offset is smaller than the one before it, the first is not 0, or the last is not nnz.
    #[error("row offset {index} is {found} where {rule}")]
    RowOffset {
        /// Position in the array of row offsets.
        index: usize,
        /// The offset found there.
        found: u64,
        /// The rule it breaks, with its limit.
        rule: String,
    },

    /// A column index lies outside the matrix.
    #[error("column {column} of entry {entry} is outside 0..{cols}")]
    Column {
        /// The column index.
        column: u32,
        /// Position of the entry in the array of columns.
        entry: usize,
        /// Columns of the matrix.
        cols: usize,
    },

    /// A row index lies outside the matrix.
    #[error("row {row} of entry {entry} is outside 0..{rows}")]
    Row {
        /// The row index.
        row: u32,
        /// Position of the entry in the array of rows.
        entry: usize,
        /// Rows of the matrix.
        rows: usize,
    },

    /// Entries that do not lie in the order of their rows.
    #[error(
        "row {row} of entry {entry} follows row {before}: entries must lie in the order of their rows"
    )]
    RowOrder {
        /// The row index.
        row: u32,
        /// Position of the entry in the array of rows.
        entry: usize,
        /// The row of the entry before it.
        before: u32,
    },

    /// A row of a sparse product that has other columns than the right one.
    #[error(
        "row {row} of C = A B has {}; the right one has {expected}, or other columns",
        counted(.found, "entry")
    )]
    WrongRow {
        /// The row.
        row: usize,
        /// Its entries.
        found: u64,
        /// Those of the right one.
        expected: u64,
    },

    /// A matrix that is not square, where one has to be.
    #[error("{what} is of square matrices, and this one is {rows} x {cols}")]
    NotSquare {
        /// What is asked for.
        what: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
    },

    /// A size does not fit the type that has to hold it.
    #[error("{what} is {value}, above the limit of {limit}")]
    TooLarge {
        /// Which size.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest value allowed.
        limit: u64,
    },

    /// A size is below what the thing it describes needs.
    #[error("{what} is {value}, below the limit of {limit}")]
    TooSmall {
        /// Which size.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The smallest value allowed.
        limit: u64,
    },

    /// A number is none of those there are.
    #[error("{what} is {value} where one of {allowed} is needed")]
    NoneOf {
        /// What is counted.
        what: &'static str,
        /// How many.
        value: u64,
        /// All that may be, as text.
        allowed: &'static str,
    },

    /// No class of the suite has this name.
    #[error("no matrix class is called \"{name}\"; the nearest are {nearest}")]
    UnknownClass {
        /// The name that was asked for.
        name: String,
        /// Names that differ least, separated by commas.
        nearest: String,
    },

    /// A generator cannot multiply its rows by this.
    #[error("the scale is {scale} where a positive number is needed")]
    Scale {
        /// The factor that was asked for.
        scale: f64,
    },

    /// A problem of a batch reaches beyond an array, or into another's part of it.
    #[error("problem {index}: {what} from {start} on, but {rule}")]
    ProblemRange {
        /// The problem's index.
        index: usize,
        /// Which array.
        what: &'static str,
        /// Where the problem's part begins.
        start: u64,
        /// The rule it breaks, with its limit.
        rule: String,
    },

    /// A problem of a batch has another number of entries than it can have.
    #[error("problem {index} has {}, but {rule}", counted(.entries, "entry"))]
    ProblemEntries {
        /// The problem's index.
        index: usize,
        /// Its entries.
        entries: u64,
        /// The rule it breaks, with its limit.
        rule: String,
    },

    /// There is no memory for an array whose size the input dictates.
    #[error("no memory for {what}: {} {} needed", counted(.bytes, "byte"), are(.bytes))]
    Memory {
        /// Which array.
        what: &'static str,
        /// Its size in bytes.
        bytes: u64,
    },

    /// A Matrix Market file says something that is wrong, or not what was asked for.
    #[error("mtx file {path:?}, line {line}: {message}")]
    MatrixMarket {
        /// The file, or the name given to a stream.
        path: PathBuf,
        /// The line, from 1; in a compressed file, of the text.
        line: u64,
        /// What is wrong, with the value and the limit.
        message: String,
    },

    /// A number is finite where it is written, and infinite in the type that has to hold it.
    #[error(
        "{place}: {value} is beyond the largest {value_type}, {}",
        spelled(value_type.largest())
    )]
    Overflow {
        /// Where it stands: the line of a file, or row and column of a matrix, both from 1.
        place: String,
        /// The number, as it is written or as [`spelled`](crate::spelled) spells it.
        value: String,
        /// The type that does not hold it.
        value_type: ValueType,
    },

    /// The system, or a damaged compressed file, stopped reading or writing.
    #[error("cannot {action} {path:?}: {reason}")]
    Io {
        /// What was being done: "open", "read" or "write".
        action: &'static str,
        /// The file, or the name given to a stream.
        path: PathBuf,
        /// Why it stopped.
        reason: std::io::Error,
    },
}
