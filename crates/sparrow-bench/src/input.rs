//! Where a matrix comes from: a file of the user's, or a class that is generated.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use csr_core::Csr;
use csr_core::generate::{Class, Source};
use csr_core::io::{ReadOptions, STANDARD_INPUT};

/// A matrix by name: `M` on the command line.
#[derive(Clone, Debug)]
pub enum Input {
    /// A Matrix Market file, or an archive with one.
    File(PathBuf),
    /// Matrix Market text on standard input, which can be read once.
    StandardInput,
    /// A class of the suite.
    Class(Class),
}

/// How a generated matrix is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneratorOptions {
    /// Multiplies the rows.
    pub scale: f64,
    /// The seed.
    pub seed: u64,
}

impl Input {
    /// `-` (standard input), a path (anything that exists, or looks like a file), or a class name in any case.
    ///
    /// # Errors
    /// None of them: the message names the nearest classes.
    pub fn parse(text: impl AsRef<OsStr>) -> csr_core::Result<Self> {
        let path = Path::new(&text);
        if path == Path::new("-") {
            return Ok(Input::StandardInput);
        }
        let is_file = |name: &str| {
            let name = name.to_ascii_lowercase();
            let endings = [".mtx", ".gz", ".tar", ".tgz", ".bz2", ".xz", ".zst", ".zip"];
            name.contains('/') || endings.iter().any(|end| name.ends_with(end))
        };
        match path.to_str() {
            Some(name) if !path.exists() && !is_file(name) => match name.parse() {
                Ok(class) => Ok(Input::Class(class)),
                // Who meant a file has to hear that there is none.
                Err(csr_core::Error::UnknownClass { nearest, .. }) => {
                    let instead = match name_with_ending(path) {
                        Some(file) => format!("{file:?} is there"),
                        None => format!("the nearest that can be generated are {nearest}"),
                    };
                    Err(csr_core::Error::Io {
                        action: "open",
                        path: path.to_owned(),
                        reason: std::io::Error::new(
                            std::io::ErrorKind::NotFound,
                            format!("no file and no generated matrix is called so; {instead}"),
                        ),
                    })
                }
                Err(error) => Err(error),
            },
            _ => Ok(Input::File(path.to_owned())),
        }
    }

    /// The name in records: a file's stem, a class, a likeness as `pwtk-like`, or `stdin`.
    pub fn name(&self) -> String {
        match self {
            Input::Class(class) => class.display_name(),
            Input::StandardInput => "stdin".to_owned(),
            Input::File(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                let name = without_ending(&name, ".gz").unwrap_or(&name);
                let endings = [".mtx", ".tar", ".tgz"];
                let shorter = endings.iter().find_map(|ending| without_ending(name, ending));
                shorter.unwrap_or(name).to_owned()
            }
        }
    }

    /// "file" (standard input too), "assembled" or "likeness".
    pub fn source(&self) -> &'static str {
        match self {
            Input::File(_) | Input::StandardInput => "file",
            Input::Class(class) => match class.source() {
                Source::Assembled => "assembled",
                Source::Likeness => "likeness",
            },
        }
    }

    /// Reads or generates the matrix; [`AnyCsr::compact`](csr_core::AnyCsr::compact) gives it other types. `progress` hears bytes done and in all while a file is read.
    ///
    /// # Errors
    /// What is wrong with the file, by name and line; or a scale no matrix can have.
    pub fn load(
        &self,
        generator: GeneratorOptions,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> csr_core::Result<Csr<f64, u64>> {
        self.load_by(generator, ReadOptions::new().progress(progress))
    }

    /// As [`Input::load`]; `options` say how a file is read, and who hears what.
    ///
    /// # Errors
    /// As [`Input::load`].
    pub fn load_by(
        &self,
        generator: GeneratorOptions,
        options: ReadOptions<'_>,
    ) -> csr_core::Result<Csr<f64, u64>> {
        match self {
            Input::File(path) => options.csr(path),
            Input::StandardInput => options.csr_from(std::io::stdin(), STANDARD_INPUT),
            Input::Class(class) => class.generate_wide(generator.scale, generator.seed),
        }
    }
}

/// A name without an ending, which it has in any case.
fn without_ending<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let (shorter, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(shorter)
}

/// A file of a matrix whose name is the path's and an ending.
fn name_with_ending(path: &Path) -> Option<PathBuf> {
    let endings = [".mtx", ".mtx.gz", ".tar.gz", ".tgz", ".tar"];
    let named = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    endings.into_iter().map(named).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_classes_are_told_apart() {
        assert_eq!(Input::parse("pwtk").unwrap().name(), "pwtk-like");
        assert_eq!(Input::parse("pwtk").unwrap().source(), "likeness");
        assert_eq!(Input::parse("poisson5").unwrap().source(), "assembled");
        for file in ["data/a.mtx.gz", "a.tar.gz", "a.tgz", "a.tar", "a.mtx", "a.MTX.GZ"] {
            assert_eq!(Input::parse(file).unwrap().name(), "a", "{file}");
        }
        assert_eq!(Input::parse("a.zip").unwrap().source(), "file");
        assert_eq!(Input::parse("no/such/file.mtx").unwrap().source(), "file");
        assert_eq!(Input::parse("-").unwrap().name(), "stdin");
        assert_eq!(Input::parse("PwTK").unwrap().name(), "pwtk-like");
        assert_eq!(Input::parse("A.MTX").unwrap().source(), "file");
        assert_eq!(
            Input::parse("pwtkk").unwrap_err().to_string(),
            "cannot open \"pwtkk\": no file and no generated matrix is called so; the nearest that can be generated are pwtk, pre2, rmat"
        );
    }

    #[test]
    fn a_file_whose_ending_was_left_out_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("a"), folder.path().join("a.mtx.gz"));
        // A path with a folder is a file.
        assert_eq!(name_with_ending(&path), None);
        std::fs::write(&file, "").unwrap();
        assert_eq!(name_with_ending(&path), Some(file));
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_text_is_a_file() {
        use std::os::unix::ffi::OsStrExt;
        let input = Input::parse(OsStr::from_bytes(b"\xff")).unwrap();
        assert_eq!((input.source(), &*input.name()), ("file", "\u{fffd}"));
    }
}
