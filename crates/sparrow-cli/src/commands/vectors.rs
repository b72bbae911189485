//! Vectors as options name them: a file, one of the matrix's archive, numbers that are drawn, ones.

use std::cell::Cell;
use std::ffi::OsStr;
use std::path::Path;

use csr_core::ValueType;
use csr_core::io::STANDARD_INPUT;
use sparrow_bench::{Input, counted};

use super::reading::{Heard, check_vector, row_in_words};
use crate::arguments::{Column, Reading};
use crate::failure::Failure;
use crate::output::note;

/// What stands for a file in the matrix's archive.
const ARCHIVE: &str = "archive";

/// What an option for a vector says, the same words for each: a seed, ones, or a file.
#[derive(Clone, Copy)]
pub(crate) enum VectorText<'a> {
    /// `random:SEED`.
    Random(&'a str),
    /// `ones`.
    Ones,
    /// A file, `-` for standard input, [`ARCHIVE`] for the one in the matrix's archive.
    File(&'a Path),
}

impl<'a> VectorText<'a> {
    /// Takes `text` apart.
    pub(crate) fn of(text: &'a OsStr) -> Self {
        match text.to_str() {
            Some("ones") => VectorText::Ones,
            Some(text) => match text.strip_prefix("random:") {
                Some(seed) => VectorText::Random(seed),
                None => VectorText::File(Path::new(text)),
            },
            None => VectorText::File(Path::new(text)),
        }
    }

    /// The file, where it is one of its own.
    pub(crate) fn file(self) -> Option<&'a Path> {
        match self {
            VectorText::File(path) => Some(path).filter(|path| *path != Path::new(ARCHIVE)),
            _ => None,
        }
    }

    /// A line that says so where the numbers are drawn: what comes of them is not what a reader with a vector wants.
    pub(crate) fn told(self, option: &str) -> Option<String> {
        let VectorText::Random(seed) = self else { return None };
        let name = option.trim_start_matches('-');
        Some(format!("{name} is random:{seed}; {option} FILE takes yours"))
    }
}

/// The vectors that go with a matrix.
pub(crate) struct Vectors<'a> {
    matrix: &'a Input,
    reading: Reading,
    /// What the matrix stores.
    value_type: ValueType,
    /// What `--column` says.
    column: Option<u32>,
    /// Columns of the widest file so far.
    widest: Cell<u32>,
}

impl<'a> Vectors<'a> {
    /// None yet.
    pub(crate) fn of(
        matrix: &'a Input,
        value_type: ValueType,
        reading: Reading,
        Column { column }: Column,
    ) -> Self {
        Vectors { matrix, reading, value_type, column, widest: Cell::new(0) }
    }

    /// The vector of `length` elements that `option`, such as `--b`, names; what changes in the type of sums is told.
    ///
    /// # Errors
    /// A seed that is none; what is wrong with the file; another length; an element beyond the type of sums.
    pub(crate) fn load(
        &self,
        option: &str,
        text: VectorText<'_>,
        length: usize,
    ) -> Result<Vec<f64>, Failure> {
        csr_core::check_memory::<f64>("a vector", length)
            .map_err(|error| Failure::input(format!("{option}: {error}")))?;
        match text {
            VectorText::Ones => Ok(vec![1.0; length]),
            VectorText::File(path) => self.read(option, path, length),
            VectorText::Random(seed) => match seed.parse() {
                Ok(seed) => Ok(csr_core::random_vector(seed, length)),
                Err(_) => Err(Failure::input(format!(
                    "{option} random:SEED takes a whole number from 0 to {}, not \"{seed}\"",
                    u64::MAX
                ))),
            },
        }
    }

    /// All are there: refuses a column that none of them has.
    ///
    /// # Errors
    /// `--column` beyond what any file has.
    pub(crate) fn check(self) -> Result<(), Failure> {
        match (self.column, self.widest.get()) {
            (Some(column), 0) => Err(Failure::input(format!(
                "--column {column} is for vectors from files, and none is read: leave it out"
            ))),
            (Some(column), widest) if column > widest => Err(Failure::input(format!(
                "--column {column} is for files of several columns, and the vector's has {widest}: leave it out"
            ))),
            _ => Ok(()),
        }
    }

    /// Reads a file, `-` from standard input. `archive` is the one that the matrix's archive has, which ends in the
    /// option's letter: `NAME_b.mtx`.
    fn read(&self, option: &str, file: &Path, length: usize) -> Result<Vec<f64>, Failure> {
        let heard = Heard::default();
        let hear = heard.hook();
        // The first of several is what one of them is mostly wanted for, and it is told.
        let options = self.reading.options().column(self.column.unwrap_or(1)).report(&hear);
        let vector: Vec<f64> = match (file == Path::new(ARCHIVE), self.matrix) {
            (false, _) if file == Path::new("-") => {
                options.vector_from(std::io::stdin(), STANDARD_INPUT)?
            }
            (false, _) => options.vector(file)?,
            (true, Input::File(archive)) => {
                let suffix = option.replace("--", "_");
                options.member_suffix(&suffix).vector(archive)?
            }
            (true, Input::Class(_) | Input::StandardInput) => {
                let is = match self.matrix {
                    Input::Class(_) => "is generated",
                    _ => "is standard input",
                };
                return Err(Failure::input(format!(
                    "{option} archive takes the vector of the matrix's tar archive, and {} {is}",
                    self.matrix.name()
                )));
            }
        };
        let name = format!("{option} {}", file.display());
        let report = heard.tell(&name, row_in_words);
        let columns = report.columns;
        if columns > 1 && self.column.is_none() {
            note(format_args!(
                "{name} has {}: the first is taken; --column K takes another",
                counted(columns, "column")
            ));
        }
        self.widest.set(self.widest.get().max(columns));
        if vector.len() != length {
            return Err(Failure::input(format!(
                "{name} has {}; the matrix needs {length}",
                counted(vector.len(), "element")
            )));
        }
        check_vector(&name, (&vector, report.is_integer), self.value_type, self.reading)?;
        Ok(vector)
    }
}
