//! The text of a file, in batches of whole lines; gzip is recognised by its first bytes.
//!
//! Files are read in large blocks into buffers that are used again rather than mapped: the pages of a
//! map count as memory of the process until the system takes them back, and a map cannot read gzip.

use std::fs::File;
use std::io::{Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::{Error, Result};

/// The longest line that is read. Longer ones hold no numbers, and must not fill the memory.
const MAX_LINE_BYTES: usize = 1 << 20;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Where text comes from.
pub(super) struct Source<'a> {
    name: PathBuf,
    reader: Box<dyn Read + Send + 'a>,
    /// Bytes taken from the file so far, before decompression.
    done: Arc<AtomicU64>,
    /// Bytes of the file; 0 where nobody can say.
    total: u64,
    compressed: bool,
    batch_bytes: usize,
    /// The start of a line whose end has not been read yet.
    tail: Vec<u8>,
    ended: bool,
}

impl Source<'static> {
    /// Opens a file.
    pub(super) fn open(path: &Path, batch_bytes: usize) -> Result<Self> {
        let refuse = |reason| Error::Io { action: "open", path: path.to_owned(), reason };
        let file = File::open(path).map_err(refuse)?;
        let metadata = file.metadata().map_err(refuse)?;
        if metadata.is_dir() {
            return Err(refuse(ErrorKind::IsADirectory.into()));
        }
        let total = if metadata.is_file() { metadata.len() } else { 0 };
        Source::new(file, path, total, batch_bytes)
    }
}

impl<'a> Source<'a> {
    /// Takes a stream. `total` is its length in bytes, 0 where unknown.
    pub(super) fn new(
        reader: impl Read + Send + 'a,
        name: &Path,
        total: u64,
        batch_bytes: usize,
    ) -> Result<Self> {
        let done = Arc::new(AtomicU64::new(0));
        let mut reader = Counting { reader, done: Arc::clone(&done) };
        let mut magic = Vec::new();
        reader
            .by_ref()
            .take(GZIP_MAGIC.len() as u64)
            .read_to_end(&mut magic)
            .map_err(|reason| Error::Io { action: "read", path: name.to_owned(), reason })?;
        let compressed = magic == GZIP_MAGIC;
        let whole = Cursor::new(magic).chain(reader);
        let reader: Box<dyn Read + Send + 'a> =
            if compressed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        let (name, tail, ended) = (name.to_owned(), Vec::new(), false);
        Ok(Source { name, reader, done, total, compressed, batch_bytes, tail, ended })
    }

    /// Replaces `text` by the next whole lines, about as many as fill a batch; the last line of all may
    /// lack its end. False, and no text, when all has been read.
    ///
    /// # Errors
    /// The system's, damaged or shortened gzip data, and lines too long to be anything.
    pub(super) fn fill(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        text.clear();
        text.append(&mut self.tail);
        let mut wanted = self.batch_bytes;
        while !self.ended {
            let from = text.len();
            text.reserve(wanted.saturating_sub(from));
            let mut limited = self.reader.by_ref().take(wanted.saturating_sub(from) as u64);
            let read = limited.read_to_end(text).map_err(|reason| self.refuse(reason))?;
            self.ended = from + read < wanted;
            let end = text[from..].iter().rposition(|&byte| byte == b'\n');
            if let Some(end) = end.filter(|_| !self.ended) {
                self.tail.extend_from_slice(&text[from + end + 1..]);
                text.truncate(from + end + 1);
                break;
            }
            if !self.ended && text.len() > MAX_LINE_BYTES {
                let long = format!("a line is longer than {MAX_LINE_BYTES} bytes");
                return Err(self.refuse(std::io::Error::new(ErrorKind::InvalidData, long)));
            }
            wanted = text.len() + self.batch_bytes;
        }
        Ok(!text.is_empty())
    }

    /// At most how many pieces of `bytes` bytes the text can hold; `None` where nobody can say yet.
    pub(super) fn at_most(&self, bytes: u64) -> Option<u64> {
        (self.total > 0 && !self.compressed).then(|| self.total / bytes + 1)
    }

    /// Bytes taken from the file so far, and all of them (0 where nobody can say).
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total)
    }

    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    fn refuse(&self, reason: std::io::Error) -> Error {
        // The decoder says "unexpected end of file" and the like, which the file itself is not to blame
        // for if it is the stream inside that ends.
        let reason = if self.compressed {
            std::io::Error::new(
                reason.kind(),
                format!("the gzip data is damaged or cut short: {reason}"),
            )
        } else {
            reason
        };
        Error::Io { action: "read", path: self.name.clone(), reason }
    }
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
