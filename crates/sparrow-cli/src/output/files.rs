//! The files that a command reads and writes, looked at before the work: what cannot be written, and files that would
//! be written over each other.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use csr_core::io::Destination;
use sparrow_bench::{Input, counted};

use super::sink::Sink;
use super::{Stream, Words};
use crate::arguments::Global;
use crate::failure::Failure;

/// Inputs and outputs, each with what the user knows it by.
pub(crate) struct Files<'a> {
    inputs: Vec<(&'static str, &'a Path)>,
    /// Why what was named as an input is none, a line each.
    unknown: Vec<String>,
    outputs: Vec<(&'static str, &'a Path)>,
    /// Outputs, of which it is no matter now whether they can be written.
    tables: Vec<(&'static str, &'a Path)>,
}

impl<'a> Files<'a> {
    /// With what every command may write.
    pub(crate) fn new(global: &'a Global) -> Self {
        let (inputs, outputs, tables) = (Vec::new(), Vec::new(), Vec::new());
        Files { inputs, unknown: Vec::new(), outputs, tables }
            .writes("--json", global.json.as_deref())
    }

    /// Adds files that are read; `-` is standard input.
    pub(crate) fn reads(
        mut self,
        what: &'static str,
        paths: impl IntoIterator<Item = &'a Path>,
    ) -> Self {
        self.inputs.extend(paths.into_iter().map(|path| (what, path)));
        self
    }

    /// Adds matrices by what names them: files, `-`, or classes, for which nothing is read.
    pub(crate) fn reads_matrices(mut self, texts: impl IntoIterator<Item = &'a OsString>) -> Self {
        for text in texts {
            match Input::parse(text) {
                Ok(Input::Class(_)) => {}
                Ok(Input::File(_) | Input::StandardInput) => {
                    self.inputs.push(("the matrix", Path::new(text)));
                }
                Err(error) => self.unknown.push(error.to_string()),
            }
        }
        self
    }

    /// Adds files that are written; `-` is standard output.
    pub(crate) fn writes(
        mut self,
        what: &'static str,
        paths: impl IntoIterator<Item = &'a Path>,
    ) -> Self {
        self.outputs.extend(paths.into_iter().map(|path| (what, path)));
        self
    }

    /// Adds a device table. It may be in a folder that does not exist yet, and where it cannot be written, its entries
    /// are printed at the end.
    pub(crate) fn updates(
        mut self,
        what: &'static str,
        paths: impl IntoIterator<Item = &'a Path>,
    ) -> Self {
        self.tables.extend(paths.into_iter().map(|path| (what, path)));
        self
    }

    /// Where words go that accompany these outputs.
    ///
    /// # Errors
    /// An output by a name of a form that is not written; inputs that are not there or cannot be read, all of them; two outputs that are one file, by whatever names; an
    /// output that is an input; one pipe as two inputs; an output that cannot be written.
    pub(crate) fn check(self) -> Result<Words, Failure> {
        self.check_readable()?;
        let is_output = |&(_, path): &(_, &Path)| Stream::of(path) == Some(Stream::Output);
        let all = || self.outputs.iter().chain(&self.tables);
        self.outputs.iter().try_for_each(|(what, path)| check_form(what, path))?;
        let streams = all().filter_map(|(_, path)| Stream::of(path));
        streams.for_each(Stream::tell_if_closed);
        let words = Words::new(all().any(is_output));
        let named =
            |(what, path): &(&'static str, &'a Path)| (format!("{what} {}", path.display()), *path);
        let inputs: Vec<_> = self.inputs.iter().map(named).collect();
        let mut outputs: Vec<_> = all().map(named).collect();
        if words.are_on_output() && is_regular(&Stream::Output.open()) {
            outputs.push(("standard output".to_owned(), Path::new("-")));
        }
        for (index, (output, path)) in outputs.iter().enumerate() {
            let own = Identity::of_output(path);
            let is_same = |(_, other): &&(String, &Path)| own.meets(&Identity::of_output(other));
            if let Some((other, _)) = outputs[..index].iter().find(is_same) {
                return Err(Failure::input(format!("{other} and {output} are the same file")));
            }
            let is_read = |(_, input): &&(String, &Path)| own.meets(&Identity::of_input(input));
            if let Some((input, _)) = inputs.iter().find(is_read) {
                let text = format!("{output} would be written over {input}, which is read");
                return Err(Failure::input(text));
            }
        }
        for (index, (input, path)) in inputs.iter().enumerate() {
            let own = Identity::of_input(path).that_is_read_once();
            let is_same = |(_, other): &&(String, &Path)| own.meets(&Identity::of_input(other));
            if let Some((other, _)) = inputs[..index].iter().find(is_same) {
                let text = format!("{other} and {input} are the same, which can be read once");
                return Err(Failure::input(text));
            }
        }
        self.outputs.iter().try_for_each(|(_, path)| check_writable(path))?;
        Ok(words)
    }
}

impl Files<'_> {
    /// Refuses inputs that cannot be read, before the work whose end one of them would be: each by name, once.
    fn check_readable(&self) -> Result<(), Failure> {
        let mut refused = self.unknown.clone();
        refused.extend(self.inputs.iter().filter_map(|(_, path)| unreadable(path)));
        let mut said = Vec::new();
        for line in refused {
            if !said.contains(&line) {
                said.push(line);
            }
        }
        match &*said {
            [] => Ok(()),
            [one] => Err(Failure::input(one.clone())),
            several => Err(Failure::input(format!(
                "{} cannot be read:\n  {}",
                counted(several.len(), "input"),
                several.join("\n  ")
            ))),
        }
    }
}

/// Why an input cannot be read, where that shows before: it is not there, is a folder, or may not be opened.
fn unreadable(path: &Path) -> Option<String> {
    if path == Path::new("-") {
        return None;
    }
    let opened = std::fs::metadata(path).and_then(|found| match found.is_file() {
        true => File::open(path).map(drop),
        false if found.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        // To open a pipe would be to wait for its writer.
        false => Ok(()),
    });
    let reason = opened.err()?;
    let error = csr_core::Error::Io { action: "open", path: path.to_owned(), reason };
    Some(error.to_string())
}

/// Refuses an output whose name promises a form that its content would not have. Records and reports are text under any
/// name.
fn check_form(what: &str, path: &Path) -> Result<(), Failure> {
    /// Endings that readers know forms by.
    const NOT_WRITTEN: [&str; 9] =
        [".tar.gz", ".tgz", ".tar", ".bz2", ".xz", ".zst", ".zip", ".7z", ".lz4"];
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match NOT_WRITTEN.iter().find(|ending| what == "--out" && name.ends_with(**ending)) {
        None => Ok(()),
        Some(ending) => Err(Failure::input(format!(
            "--out {}: {ending} is not written, and a Matrix Market file of such a name would not be read by others; \
             .mtx and .mtx.gz are written",
            path.display()
        ))),
    }
}

/// Refuses a path that cannot be written, before the work whose result it is for. Nothing is left.
fn check_writable(path: &Path) -> Result<(), Failure> {
    let is_direct = Stream::of(path).is_some()
        || Destination::of(path).and_then(|path| path.is_regular()).is_ok_and(|is| !is);
    // To open a pipe would be to wait for its reader.
    if is_direct { Ok(()) } else { Sink::create(path).map(drop) }
}

fn is_regular(file: &std::io::Result<File>) -> bool {
    let metadata = file.as_ref().ok().and_then(|file| file.metadata().ok());
    metadata.is_some_and(|metadata| metadata.is_file())
}

/// What makes two paths the same file.
#[derive(Debug, Default)]
struct Identity {
    /// A stream of this process.
    descriptor: Option<u32>,
    /// A file or a pipe that is there: its device and number.
    node: Option<(u64, u64)>,
    is_pipe: bool,
    /// A file that is not there yet: its path without links.
    name: Option<PathBuf>,
}

impl Identity {
    fn of_output(path: &Path) -> Self {
        match Stream::of(path) {
            Some(stream) => {
                let number = if stream == Stream::Output { 1 } else { 2 };
                let metadata = stream.open().and_then(|file| file.metadata());
                Identity { descriptor: Some(number), ..Identity::of_metadata(metadata.ok()) }
            }
            None => Identity::of_path(path),
        }
    }

    fn of_input(path: &Path) -> Self {
        match path == Path::new("-") {
            true => Identity { descriptor: Some(0), ..Identity::of_metadata(standard_input()) },
            false => Identity::of_path(path),
        }
    }

    fn of_path(path: &Path) -> Self {
        let destination = Destination::of(path).ok();
        let descriptor = destination.as_ref().and_then(Destination::descriptor);
        match std::fs::metadata(path) {
            Ok(metadata) => Identity { descriptor, ..Identity::of_metadata(Some(metadata)) },
            Err(_) => {
                let name = destination.map(|destination| destination.path().to_owned());
                Identity { name, ..Identity::default() }
            }
        }
    }

    /// Devices are none that matters: what is written to one harms nothing.
    #[cfg(unix)]
    fn of_metadata(metadata: Option<Metadata>) -> Self {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let is_pipe = metadata.as_ref().is_some_and(|found| found.file_type().is_fifo());
        let metadata = metadata.filter(|metadata| metadata.is_file() || is_pipe);
        let node = metadata.map(|metadata| (metadata.dev(), metadata.ino()));
        Identity { node, is_pipe, ..Identity::default() }
    }

    #[cfg(not(unix))]
    fn of_metadata(_: Option<Metadata>) -> Self {
        Identity::default()
    }

    /// What can be opened twice is no matter.
    fn that_is_read_once(self) -> Self {
        let node = self.node.filter(|_| self.is_pipe);
        Identity { node, name: None, ..self }
    }

    fn meets(&self, other: &Self) -> bool {
        fn is_same<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
            one.is_some() && one == other
        }
        is_same(&self.descriptor, &other.descriptor)
            || is_same(&self.node, &other.node)
            || is_same(&self.name, &other.name)
    }
}

#[cfg(unix)]
fn standard_input() -> Option<Metadata> {
    use std::os::fd::AsFd;
    let descriptor = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
    File::from(descriptor).metadata().ok()
}

#[cfg(not(unix))]
fn standard_input() -> Option<Metadata> {
    None
}
