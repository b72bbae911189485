//! The matrix in a tar archive, as the SuiteSparse collection hands it out: `NAME/NAME.mtx`, and vectors that belong to
//! it, `NAME/NAME_b.mtx`. Read from the stream as it passes; nothing is unpacked, and no name becomes a path.

use crate::counted;
use std::io::{Error, ErrorKind, Read, Result};

use tar::{EntryType, Header, PaxExtensions};

use super::members::{Member, Members, Wanted};

/// What headers and contents are padded to.
pub(super) const BLOCK_BYTES: usize = 512;

/// The longest extended header that is read: names are shorter than a path may be.
const MAX_EXTENSION_BYTES: u64 = 64 << 10;

/// What is read behind the end of an archive: programs pad archives to 10 KiB, some to more, and gzip's checksum comes
/// last of all.
const MAX_TRAILING_BYTES: u64 = 16 << 20;

/// The text of one member.
pub(super) struct Archive<R> {
    stream: R,
    members: Members,
    /// The wanted member's name.
    name: String,
    /// Bytes of its text that are left.
    text_bytes: u64,
    /// Bytes up to the next header after it.
    padding: u64,
    ended: bool,
}

/// Whether these bytes are an archive's first header.
pub(super) fn is_archive(start: &[u8]) -> bool {
    start.len() == BLOCK_BYTES
        && start[0] != 0
        && has_right_checksum(Header::from_byte_slice(start))
}

impl<R: Read> Archive<R> {
    /// Looks for the wanted member in an archive called `path`. Without it, what the archive has instead.
    ///
    /// # Errors
    /// The stream's, or a damaged archive.
    pub(super) fn open(
        stream: R,
        path: &std::path::Path,
        wanted: &Wanted,
    ) -> Result<std::result::Result<Self, Members>> {
        let mut archive = Archive {
            stream,
            members: Members::of(path),
            name: String::new(),
            text_bytes: 0,
            padding: 0,
            ended: false,
        };
        while let Some((member, bytes)) = archive.next_member()? {
            let found = member.is_file && archive.members.is_wanted(&member.name, wanted);
            if found {
                archive.name.clone_from(&member.name);
            }
            archive.members.add(member);
            if found {
                (archive.text_bytes, archive.padding) = (bytes, padding(bytes));
                return Ok(Ok(archive));
            }
            archive.skip(bytes)?;
            archive.skip(padding(bytes))?;
        }
        Ok(Err(archive.members))
    }

    /// The wanted member's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The next member and the bytes of its content, which follow; `None` at the archive's end.
    fn next_member(&mut self) -> Result<Option<(Member, u64)>> {
        let (mut long_name, mut long_size) = (None, None);
        loop {
            let Some(block) = self.header_block()? else { return Ok(None) };
            let header = Header::from_byte_slice(&block);
            if !has_right_checksum(header) {
                let count = self.members.count() + 1;
                return Err(damaged(&format!("the header of member {count} has a wrong checksum")));
            }
            let kind = header.entry_type();
            let bytes = match (long_size, kind) {
                (Some(bytes), EntryType::Regular | EntryType::Continuous) => bytes,
                _ => header.entry_size().map_err(|error| damaged(&error.to_string()))?,
            };
            match kind {
                EntryType::GNULongName => {
                    let name = self.extension(bytes)?;
                    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
                    long_name = Some(String::from_utf8_lossy(&name[..end]).into_owned());
                }
                EntryType::XHeader => {
                    let records = self.extension(bytes)?;
                    for record in PaxExtensions::new(&records) {
                        let record = record?;
                        let value = String::from_utf8_lossy(record.value_bytes());
                        match record.key_bytes() {
                            b"path" => long_name = Some(value.into_owned()),
                            b"size" => {
                                let size = value.parse();
                                let refuse = |_| damaged(&format!("a size is {value:?}"));
                                long_size = Some(size.map_err(refuse)?);
                            }
                            _ => {}
                        }
                    }
                }
                EntryType::XGlobalHeader | EntryType::GNULongLink => {
                    self.skip(bytes)?;
                    self.skip(padding(bytes))?;
                }
                EntryType::GNUSparse => {
                    return Err(damaged("it holds a sparse file, which is not read"));
                }
                _ => {
                    let name = long_name
                        .unwrap_or_else(|| String::from_utf8_lossy(&header.path_bytes()).into());
                    let is_file = matches!(kind, EntryType::Regular | EntryType::Continuous);
                    return Ok(Some((Member { name, is_file }, bytes)));
                }
            }
        }
    }

    /// The next header; `None` at the archive's end, which is a block of zeros or nothing.
    fn header_block(&mut self) -> Result<Option<Vec<u8>>> {
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        self.stream.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block)?;
        match block.len() {
            0 => Ok(None),
            BLOCK_BYTES => Ok(Some(block).filter(|block| block.iter().any(|&byte| byte != 0))),
            _ => Err(cut_short()),
        }
    }

    /// The content of an extended header, and over its padding.
    fn extension(&mut self, bytes: u64) -> Result<Vec<u8>> {
        if bytes > MAX_EXTENSION_BYTES {
            return Err(damaged(&format!(
                "a member's name takes {}, above the limit of {MAX_EXTENSION_BYTES}",
                counted(bytes, "byte")
            )));
        }
        let mut content = Vec::new();
        self.stream.by_ref().take(bytes).read_to_end(&mut content)?;
        if (content.len() as u64) < bytes {
            return Err(cut_short());
        }
        self.skip(padding(bytes))?;
        Ok(content)
    }

    fn skip(&mut self, bytes: u64) -> Result<()> {
        let skipped = std::io::copy(&mut self.stream.by_ref().take(bytes), &mut std::io::sink())?;
        if skipped < bytes { Err(cut_short()) } else { Ok(()) }
    }

    /// Looks at what comes after the text: there may be a second matrix, and the stream may be cut short.
    fn finish(&mut self) -> Result<()> {
        self.skip(self.padding)?;
        while let Some((member, bytes)) = self.next_member()? {
            self.members.add(member);
            self.skip(bytes)?;
            self.skip(padding(bytes))?;
        }
        std::io::copy(&mut self.stream.by_ref().take(MAX_TRAILING_BYTES), &mut std::io::sink())?;
        self.members.check_alone(&self.name)
    }
}

impl<R: Read> Read for Archive<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if buffer.is_empty() || self.ended {
            return Ok(0);
        }
        if self.text_bytes == 0 {
            self.finish()?;
            self.ended = true;
            return Ok(0);
        }
        let most = usize::try_from(self.text_bytes).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.stream.read(&mut buffer[..most])?;
        if read == 0 {
            return Err(cut_short());
        }
        self.text_bytes -= read as u64;
        Ok(read)
    }
}

/// Bytes from the end of a content to the next header.
fn padding(bytes: u64) -> u64 {
    bytes.wrapping_neg() % BLOCK_BYTES as u64
}

/// The sum of a header's bytes, with its own field taken as blanks.
fn has_right_checksum(header: &Header) -> bool {
    let bytes = header.as_bytes();
    let sum_of = |bytes: &[u8]| bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>();
    let sum = sum_of(&bytes[..148]) + 8 * u32::from(b' ') + sum_of(&bytes[156..]);
    header.cksum().is_ok_and(|written| written == sum)
}

fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("the archive is damaged: {what}"))
}

fn cut_short() -> Error {
    Error::new(ErrorKind::UnexpectedEof, "the archive is cut short")
}
