//! One module a subcommand.

pub(crate) mod bench;
pub(crate) mod devices;
pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod manual;
mod reading;
pub(crate) mod selftest;
pub(crate) mod solve;
pub(crate) mod spmv;
pub(crate) mod tune;

use std::ffi::OsStr;
use std::path::Path;

use sparrow_bench::Input;

pub(crate) use reading::{Loaded, check_matrix, check_vector, load, load_compact};

use crate::arguments::{Making, Reading};
use crate::failure::Failure;
use reading::read_vector;

/// The file that names a matrix, `-` for standard input; none for a class, or what is neither.
pub(crate) fn matrix_file(text: &OsStr) -> Option<&Path> {
    let is_file = matches!(Input::parse(text), Ok(Input::File(_) | Input::StandardInput));
    Some(Path::new(text)).filter(|_| is_file)
}

/// What stands for a file in the matrix's archive.
pub(crate) const ARCHIVE: &str = "archive";

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

    /// The vector of `length` elements that `option` names, for a product with `matrix`.
    pub(crate) fn load(
        self,
        option: &str,
        length: usize,
        matrix: &Input,
        reading: Reading,
    ) -> Result<Vec<f64>, Failure> {
        match self {
            VectorText::Ones => Ok(vec![1.0; length]),
            VectorText::File(path) => read_vector(option, path, length, matrix, reading),
            VectorText::Random(seed) => match seed.parse() {
                Ok(seed) => Ok(csr_core::random_vector(seed, length)),
                Err(_) => Err(Failure::input(format!(
                    "{option} random:SEED takes a whole number from 0 to {}, not \"{seed}\"",
                    u64::MAX
                ))),
            },
        }
    }
}

/// Refuses options of how a class is generated where every matrix comes from a file; `options` are those that nothing
/// else follows.
pub(crate) fn check_making<'a>(
    options: &[(&str, bool)],
    inputs: impl IntoIterator<Item = &'a Input>,
) -> Result<(), Failure> {
    let mut inputs = inputs.into_iter().peekable();
    let Some(first) = inputs.peek().map(|input| input.name()) else { return Ok(()) };
    if inputs.any(|input| matches!(input, Input::Class(_))) {
        return Ok(());
    }
    match options.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::input(format!(
            "{option} is for matrices that are generated, and {first} is read from a file: leave it out"
        ))),
    }
}

/// As [`check_making`], of a command in which both options are of a class alone.
pub(crate) fn check_making_of(making: Making, input: &Input) -> Result<(), Failure> {
    let options = [("--scale", making.scale.is_some()), ("--seed", making.seed.is_some())];
    check_making(&options, [input])
}
