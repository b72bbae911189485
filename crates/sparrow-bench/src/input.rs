//! Where a matrix comes from: a file of the user's, or a class that is generated.

use std::path::{Path, PathBuf};

use csr_core::generate::{Class, Source};
use csr_core::io::ReadOptions;
use csr_core::{Csr, Offset, Value};

/// A matrix by name: `M` on the command line.
#[derive(Clone, Debug)]
pub enum Input {
    /// A Matrix Market file.
    File(PathBuf),
    /// A class of the suite.
    Class(Class),
}

/// How a generated matrix is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Making {
    /// Multiplies the rows.
    pub scale: f64,
    /// The seed.
    pub seed: u64,
}

impl Input {
    /// A path (anything that exists, or looks like a file) or a class name.
    ///
    /// # Errors
    /// Neither: the message names the nearest classes.
    pub fn parse(text: &str) -> csr_core::Result<Self> {
        let path = Path::new(text);
        let looks_like_a_file =
            path.exists() || text.contains('/') || text.ends_with(".mtx") || text.ends_with(".gz");
        if looks_like_a_file {
            return Ok(Input::File(path.to_owned()));
        }
        Ok(Input::Class(text.parse()?))
    }

    /// The name in records: a file's stem, a class, or a likeness as `pwtk-like`.
    pub fn name(&self) -> String {
        match self {
            Input::Class(class) => class.display_name(),
            Input::File(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                let name = name.strip_suffix(".gz").unwrap_or(&name);
                name.strip_suffix(".mtx").unwrap_or(name).to_owned()
            }
        }
    }

    /// "file", "assembled" or "likeness".
    pub fn source(&self) -> &'static str {
        match self {
            Input::File(_) => "file",
            Input::Class(class) => match class.source() {
                Source::Assembled => "assembled",
                Source::Likeness => "likeness",
            },
        }
    }

    /// Reads or generates the matrix. `progress` hears bytes done and in all while a file is read.
    ///
    /// # Errors
    /// What is wrong with the file, by name and line; or a scale no matrix can have.
    pub fn load<V: Value, O: Offset>(
        &self,
        making: Making,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> csr_core::Result<Csr<V, O>> {
        match self {
            Input::File(path) => ReadOptions::new().progress(progress).csr(path),
            Input::Class(class) => class.generate(making.scale, making.seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_classes_are_told_apart() {
        assert_eq!(Input::parse("pwtk").unwrap().name(), "pwtk-like");
        assert_eq!(Input::parse("pwtk").unwrap().source(), "likeness");
        assert_eq!(Input::parse("poisson5").unwrap().source(), "assembled");
        assert_eq!(Input::parse("data/a.mtx.gz").unwrap().name(), "a");
        assert_eq!(Input::parse("no/such/file.mtx").unwrap().source(), "file");
        assert!(Input::parse("pwtkk").unwrap_err().to_string().contains("pwtk"));
    }
}
