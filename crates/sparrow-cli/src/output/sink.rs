//! One writer for everything that the command writes.

use std::fs::File;
use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;

use csr_core::io::{Destination, OutputFile};

use crate::failure::Failure;
use crate::interrupt::unfinished;

/// A stream that this process was started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Error,
}

impl Stream {
    /// Without a buffer whose last part would be lost, and with every error that the system has.
    #[cfg(unix)]
    pub(crate) fn open(self) -> Result<File> {
        use std::os::fd::AsFd;
        let descriptor = match self {
            Stream::Output => std::io::stdout().as_fd().try_clone_to_owned(),
            Stream::Error => std::io::stderr().as_fd().try_clone_to_owned(),
        };
        Ok(File::from(descriptor?))
    }

    #[cfg(windows)]
    pub(crate) fn open(self) -> Result<File> {
        use std::os::windows::io::AsHandle;
        let handle = match self {
            Stream::Output => std::io::stdout().as_handle().try_clone_to_owned(),
            Stream::Error => std::io::stderr().as_handle().try_clone_to_owned(),
        };
        Ok(File::from(handle?))
    }

    /// Columns of the terminal that it goes to; `None` where it goes elsewhere.
    pub(crate) fn width(self) -> Option<u16> {
        /// Below it nothing can be read.
        const LEAST: u16 = 40;
        let size = match self {
            Stream::Output => terminal_size::terminal_size_of(std::io::stdout()),
            Stream::Error => terminal_size::terminal_size_of(std::io::stderr()),
        };
        size.map(|(width, _)| width.0.max(LEAST))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Stream::Output => "standard output",
            Stream::Error => "standard error",
        }
    }

    /// What a path names: `-`, `/dev/stdout`, or the like.
    pub(super) fn of(path: &Path) -> Option<Self> {
        if path == Path::new("-") {
            return Some(Stream::Output);
        }
        match Destination::of(path).ok()?.descriptor()? {
            1 => Some(Stream::Output),
            2 => Some(Stream::Error),
            _ => None,
        }
    }

    /// Whether what is written there may be lost. Rust's library opens the null device for reading and writing instead of a
    /// stream that is missing. A shell's `> /dev/null` is for writing alone; but other programs hand over the null device
    /// for both, so that nothing is refused by this.
    #[cfg(target_os = "linux")]
    pub(super) fn may_be_closed(self) -> bool {
        use std::os::unix::fs::MetadataExt;
        /// Of a descriptor's flags, how it may be used (`O_ACCMODE`), and where it reads and writes (`O_RDWR`).
        const USE: u32 = 0b11;
        const READS_AND_WRITES: u32 = 0b10;
        let device = |metadata: Result<std::fs::Metadata>| metadata.map(|found| found.rdev()).ok();
        let own = device(self.open().and_then(|file| file.metadata()));
        let is_null = own.is_some() && own == device(std::fs::metadata("/dev/null"));
        let descriptor = if self == Stream::Output { 1 } else { 2 };
        let about = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}"));
        let about = about.unwrap_or_default();
        let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        is_null && flags.is_some_and(|flags| flags & USE == READS_AND_WRITES)
    }

    /// Elsewhere the system does not tell it.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn may_be_closed(self) -> bool {
        false
    }

    pub(crate) fn write(self, text: &str) -> std::result::Result<(), Failure> {
        let written = self.open().and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| unwritten(self.name(), &error))
    }
}

/// Whether a path is `-`, or another name of standard output.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    Stream::of(path) == Some(Stream::Output)
}

/// What an output is called where it is said to have been written.
pub(crate) fn shown(path: &Path) -> String {
    match Stream::of(path) {
        Some(stream) => stream.name().to_owned(),
        None => path.display().to_string(),
    }
}

/// What a write that failed means: a reader that went has read enough.
pub(super) fn unwritten(name: &str, error: &Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::run(format!("cannot write {name}: {error}")),
    }
}

/// An output of the command: standard output for `-`, else an [`OutputFile`], which an interrupt removes.
pub(crate) struct Sink {
    name: String,
    target: Target,
}

enum Target {
    Stream(File),
    File(OutputFile),
}

impl Sink {
    /// Begins to write.
    ///
    /// # Errors
    /// A path that cannot be written, as bad input.
    pub(super) fn create(path: &Path) -> std::result::Result<Self, Failure> {
        let name = path.display().to_string();
        let (name, target) = match Stream::of(path) {
            Some(stream) => (stream.name().to_owned(), stream.open().map(Target::Stream)),
            None => (name, Destination::of(path).and_then(|destination| file_at(&destination))),
        };
        match target {
            Ok(target) => Ok(Sink { name, target }),
            Err(error) => Err(Failure::input(format!("cannot write {name}: {error}"))),
        }
    }

    /// All is written: a regular file appears under its name.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn finish(self) -> std::result::Result<(), Failure> {
        let Target::File(file) = self.target else { return Ok(()) };
        let written = match file.temporary().map(Path::to_owned) {
            None => file.finish(),
            Some(temporary) => {
                // No interrupt comes between.
                let mut unfinished = unfinished();
                unfinished.retain(|path| *path != temporary);
                file.finish()
            }
        };
        written.map_err(|error| unwritten(&self.name, &error))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

fn file_at(destination: &Destination) -> Result<Target> {
    if !destination.is_regular()? {
        return OutputFile::at(destination).map(Target::File);
    }
    let mut unfinished = unfinished();
    let file = OutputFile::at(destination)?;
    unfinished.extend(file.temporary().map(Path::to_owned));
    Ok(Target::File(file))
}

impl Write for Sink {
    fn write(&mut self, data: &[u8]) -> Result<usize> {
        match &mut self.target {
            Target::Stream(file) => file.write(data),
            Target::File(file) => file.write(data),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.target {
            Target::Stream(file) => file.flush(),
            Target::File(file) => file.flush(),
        }
    }
}

/// Writes an output whole.
///
/// # Errors
/// A path that cannot be written, as bad input; a write that failed, as a failed run.
pub(crate) fn write_output(
    path: &Path,
    write: impl FnOnce(&mut Sink) -> Result<()>,
) -> std::result::Result<(), Failure> {
    let mut sink = Sink::create(path)?;
    write(&mut sink).map_err(|error| unwritten(sink.name(), &error))?;
    sink.finish()
}

/// As [`write_output`], of text.
pub(crate) fn write_text(path: &Path, text: &str) -> std::result::Result<(), Failure> {
    write_output(path, |sink| sink.write_all(text.as_bytes()))
}
