//! What is wrong with a line, before it is known which line of which file that is.

use std::path::Path;

use crate::{Error, ValueType};

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// In words that follow the line's number.
    Text(String),
    /// A number that the type does not hold.
    Overflow {
        /// The number as the file spells it, in quotes.
        value: String,
        value_type: ValueType,
    },
}

impl From<String> for Fault {
    fn from(text: String) -> Self {
        Fault::Text(text)
    }
}

impl Fault {
    /// The error that names the file and the line, which is given from 0.
    pub(super) fn at(self, path: &Path, line: u64) -> Error {
        let line = line + 1;
        match self {
            Fault::Text(message) => Error::MatrixMarket { path: path.to_owned(), line, message },
            Fault::Overflow { value, value_type } => {
                let place = format!("mtx file {path:?}, line {line}");
                Error::Overflow { place, value, value_type }
            }
        }
    }
}
