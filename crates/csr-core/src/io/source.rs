//! The text of a file, in batches of whole lines; gzip and tar archives are recognised by their first bytes.
//!
//! Files are read in large blocks into buffers that are used again rather than mapped: the pages of a
//! map count as memory of the process until the system takes them back, and a map cannot read gzip.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::archive::{Archive, BLOCK_BYTES, is_archive};
use super::gunzip::Gunzip;
use super::known_form;
use super::members::Wanted;
use crate::{Error, Result};

/// The longest line that is read. Longer ones hold no numbers, and must not fill the memory.
pub(super) const MAX_LINE_BYTES: usize = 1 << 20;

/// Bytes of the file that are read at a time, unless batches are smaller.
const COMPRESSED_BYTES: usize = 64 << 10;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// What some editors put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Where text comes from.
pub(super) struct Source<'a> {
    name: PathBuf,
    reader: Box<dyn Read + Send + 'a>,
    /// Bytes taken from the file so far, before decompression.
    done: Arc<AtomicU64>,
    /// Bytes of the file; 0 where that is unknown.
    total: u64,
    compressed: bool,
    batch_bytes: usize,
    /// The start of a line whose end has not been read yet.
    tail: Vec<u8>,
    ended: bool,
}

/// Text that can be read from another thread.
type Text<'a> = Box<dyn Read + Send + 'a>;

/// Why there is no next batch.
pub(super) enum FillError {
    /// The stream's error.
    Read(Error),
    /// The next line is longer than [`MAX_LINE_BYTES`].
    LongLine,
}

impl Source<'static> {
    /// Opens a file. `suffix` is what the wanted member of an archive has at the end of its name; with it, the file must
    /// be an archive.
    pub(super) fn open(path: &Path, batch_bytes: usize, suffix: Option<&str>) -> Result<Self> {
        let open = |wanted: &Option<Wanted>| {
            let refuse = |reason| Error::Io { action: "open", path: path.to_owned(), reason };
            let file = File::open(path).map_err(refuse)?;
            let metadata = file.metadata().map_err(refuse)?;
            if metadata.is_dir() {
                return Err(refuse(ErrorKind::IsADirectory.into()));
            }
            let is_file = metadata.is_file();
            let total = if is_file { metadata.len() } else { 0 };
            let source = Source::begin(file, path, total, batch_bytes, wanted.as_ref())?;
            Ok((source, is_file))
        };
        let (found, can_read_again) =
            open(&suffix.map(|suffix| Wanted::Suffix(suffix.to_owned())))?;
        let members = match found {
            Begun::Text(source) => return Ok(source),
            Begun::Elsewhere(members) => members,
        };
        // Which member is meant is known only now that all names are.
        let refuse = |reason| Error::Io { action: "read", path: path.to_owned(), reason };
        let name = members.only(suffix.unwrap_or_default()).map_err(refuse)?;
        if !can_read_again {
            return Err(refuse(not_as_folder(&name)));
        }
        match open(&Some(Wanted::Name(name.clone())))?.0 {
            Begun::Text(source) => Ok(source),
            Begun::Elsewhere(_) => Err(refuse(not_as_folder(&name))),
        }
    }
}

/// Why a member is not read from a stream, which passes once.
fn not_as_folder(name: &str) -> std::io::Error {
    let text = format!(
        "the archive's matrix {name:?} is not called as its folder, so it is found only in a file, not in a stream"
    );
    std::io::Error::new(ErrorKind::InvalidData, text)
}

/// A source, or the names in an archive where none is the wanted one.
enum Begun<'a> {
    Text(Source<'a>),
    Elsewhere(super::members::Members),
}

impl<'a> Source<'a> {
    /// Takes a stream. `total` is its length in bytes, 0 where unknown; `suffix` as for a file.
    pub(super) fn new(
        reader: impl Read + Send + 'a,
        name: &Path,
        batch_bytes: usize,
        suffix: Option<&str>,
    ) -> Result<Self> {
        let wanted = suffix.map(|suffix| Wanted::Suffix(suffix.to_owned()));
        match Source::begin(reader, name, 0, batch_bytes, wanted.as_ref())? {
            Begun::Text(source) => Ok(source),
            Begun::Elsewhere(members) => {
                let found = members.only(suffix.unwrap_or_default());
                let reason = found.map_or_else(|reason| reason, |name| not_as_folder(&name));
                Err(Error::Io { action: "read", path: name.to_owned(), reason })
            }
        }
    }

    /// Finds out what a stream holds. `wanted` is `None` for a matrix, in an archive or not.
    fn begin(
        reader: impl Read + Send + 'a,
        name: &Path,
        total: u64,
        batch_bytes: usize,
        wanted: Option<&Wanted>,
    ) -> Result<Begun<'a>> {
        let refuse = |reason| Error::Io { action: "read", path: name.to_owned(), reason };
        let done = Arc::new(AtomicU64::new(0));
        let reader = Counting { reader, done: Arc::clone(&done) };
        let buffer_bytes = COMPRESSED_BYTES.min(batch_bytes.saturating_mul(2).max(BLOCK_BYTES));
        let mut reader = BufReader::with_capacity(buffer_bytes, reader);
        let magic = start_of(&mut reader, GZIP_MAGIC.len()).map_err(refuse)?;
        let compressed = magic == GZIP_MAGIC;
        let whole = Cursor::new(magic).chain(reader);
        let mut text: Text<'a> =
            if compressed { Box::new(Gunzip::new(whole)) } else { Box::new(whole) };
        let mut path = name.to_owned();
        let mut start = start_of(&mut text, BLOCK_BYTES).map_err(refuse)?;
        if is_archive(&start) {
            let whole = Cursor::new(start).chain(text);
            let matrix = Wanted::Suffix(String::new());
            let archive = Archive::open(whole, name, wanted.unwrap_or(&matrix)).map_err(refuse)?;
            let archive = match archive {
                Ok(archive) => archive,
                Err(members) => return Ok(Begun::Elsewhere(members)),
            };
            path.as_mut_os_string().push(format!(":{}", archive.name()));
            text = Box::new(archive);
            start = start_of(&mut text, BLOCK_BYTES).map_err(refuse)?;
        } else if wanted.is_some() {
            let text = "it is no tar archive, and a vector of an archive is asked for";
            return Err(refuse(std::io::Error::new(ErrorKind::InvalidData, text)));
        }
        if let Some(text) = known_form::refusal(&start, &path) {
            return Err(refuse(std::io::Error::new(ErrorKind::InvalidData, text)));
        }
        if start.starts_with(BYTE_ORDER_MARK) {
            start.drain(..BYTE_ORDER_MARK.len());
        }
        let reader: Text<'a> = Box::new(Cursor::new(start).chain(text));
        let (name, tail, ended) = (path, Vec::new(), false);
        let source = Source { name, reader, done, total, compressed, batch_bytes, tail, ended };
        Ok(Begun::Text(source))
    }

    /// Replaces `text` by the next whole lines, about as many as fill a batch; the last line of all may
    /// lack its end. False, and no text, when all has been read.
    ///
    /// # Errors
    /// The system's, damaged or shortened gzip data, and lines too long to be anything.
    pub(super) fn fill(&mut self, text: &mut Vec<u8>) -> Result<bool, FillError> {
        text.clear();
        text.append(&mut self.tail);
        let mut wanted = self.batch_bytes;
        while !self.ended {
            let from = text.len();
            text.reserve(wanted.saturating_sub(from));
            let mut limited = self.reader.by_ref().take(wanted.saturating_sub(from) as u64);
            let read =
                limited.read_to_end(text).map_err(|reason| FillError::Read(self.refuse(reason)))?;
            self.ended = from + read < wanted;
            let end = text[from..].iter().rposition(|&byte| byte == b'\n');
            if let Some(end) = end.filter(|_| !self.ended) {
                self.tail.extend_from_slice(&text[from + end + 1..]);
                text.truncate(from + end + 1);
                break;
            }
            if !self.ended && text.len() > MAX_LINE_BYTES {
                return Err(FillError::LongLine);
            }
            wanted = text.len() + self.batch_bytes;
        }
        Ok(!text.is_empty())
    }

    /// At most how many parts of `bytes` bytes the text can hold; `None` where that is unknown yet.
    pub(super) fn at_most(&self, bytes: u64) -> Option<u64> {
        (self.total > 0 && !self.compressed).then(|| self.total / bytes + 1)
    }

    /// Bytes taken from the file so far, and all of them (0 where that is unknown).
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total)
    }

    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    fn refuse(&self, reason: std::io::Error) -> Error {
        Error::Io { action: "read", path: self.name.clone(), reason }
    }
}

/// The first bytes of a stream, fewer where it ends before.
fn start_of(stream: &mut impl Read, bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    stream.by_ref().take(bytes as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Counts what passes.
struct Counting<R> {
    reader: R,
    done: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
