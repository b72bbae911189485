//! JSON Lines for `--json`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use csr_core::io::Destination;
use serde::Serialize;

use super::sink::{Sink, Stream, unwritten};
use super::write_text;
use crate::failure::Failure;

/// The one line of a command that has one, written whole.
///
/// # Errors
/// As [`write_text`].
pub(crate) fn write_json_line(path: Option<&Path>, line: &impl Serialize) -> Result<(), Failure> {
    match path {
        None => Ok(()),
        Some(path) => write_text(path, &text_of(line)?),
    }
}

fn text_of(line: &impl Serialize) -> Result<String, Failure> {
    match serde_json::to_string(line) {
        Ok(line) => Ok(format!("{line}\n")),
        Err(error) => Err(Failure::Run(error.into())),
    }
}

/// Lines that are written as results come, each whole. What was in the file stays until there is a first line; from
/// then on the file has the lines there are, whatever ends the command.
pub(crate) struct JsonLines {
    path: Option<PathBuf>,
    target: Option<Target>,
}

enum Target {
    /// A regular file, with the bytes of whole lines.
    File { file: File, whole: u64 },
    /// A pipe or a device.
    Direct(Sink),
}

impl JsonLines {
    /// To a file, `-`, or nowhere.
    pub(crate) fn new(path: Option<&Path>) -> Self {
        JsonLines { path: path.map(Path::to_owned), target: None }
    }

    /// Writes a line.
    ///
    /// # Errors
    /// The system's; whole lines are left.
    pub(crate) fn push(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let Some((path, target)) = self.open()? else { return Ok(()) };
        let text = text_of(line)?;
        match target {
            Target::Direct(sink) => {
                let written = sink.write_all(text.as_bytes());
                written.map_err(|error| unwritten(sink.name(), &error))
            }
            Target::File { file, whole } => match file.write_all(text.as_bytes()) {
                Ok(()) => {
                    *whole += text.len() as u64;
                    Ok(())
                }
                Err(error) => {
                    // A disk that is full may have taken the begin of the line.
                    let _ = file.set_len(*whole);
                    Err(unwritten(&path.display().to_string(), &error))
                }
            },
        }
    }

    /// There are no more lines. Where none came, a file keeps what was in it, and one that was not there is empty.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        let is_kept = |path: &Path| Stream::of(path).is_none() && path.is_file();
        match self.target {
            None if self.path.as_deref().is_some_and(is_kept) => Ok(()),
            _ => self.open().map(drop),
        }
    }

    fn open(&mut self) -> Result<Option<(&Path, &mut Target)>, Failure> {
        let Some(path) = &self.path else { return Ok(None) };
        let target = match self.target.take() {
            Some(target) => target,
            None => Target::open(path)?,
        };
        Ok(Some((path, self.target.insert(target))))
    }
}

impl Target {
    fn open(path: &Path) -> Result<Self, Failure> {
        let file = match Destination::of(path) {
            _ if Stream::of(path).is_some() => return Ok(Target::Direct(Sink::create(path)?)),
            Ok(destination) if destination.is_regular().is_ok_and(|is_regular| !is_regular) => {
                return Ok(Target::Direct(Sink::create(path)?));
            }
            Ok(destination) => {
                let mut options = File::options();
                options.write(true).create(true).truncate(true).open(destination.path())
            }
            Err(error) => Err(error),
        };
        match file {
            Ok(file) => Ok(Target::File { file, whole: 0 }),
            Err(error) => Err(Failure::input(format!("cannot write {}: {error}", path.display()))),
        }
    }
}
