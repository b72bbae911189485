//! A whole file to the entries of a matrix: three things at once, batch after batch.
//!
//! While one batch of lines is read (and decompressed), the batch before it is parsed by all cores,
//! and the entries of the one before that are moved to the end of the arrays that hold them all. So
//! the order of the file is kept, whatever the number of cores, and no more text is in memory than
//! two batches.

use rayon::prelude::*;

use super::block::{Block, lines_before_entry, long_line};
use super::fault::Fault;
use super::header::{Banner, Field, Format, Header};
use super::number::{byte_at, skip_blanks};
use super::source::{FillError, MAX_LINE_BYTES, Source};
use super::values::ReadReport;
use crate::csr::{Symmetry, Triplets};
use crate::memory::with_capacity;
use crate::{Error, Result, Value, counted};

/// Called with bytes of the file done and in all (0 where unknown), now and then while reading.
pub(super) type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// The entries of a file as they stand there, without mirror images.
pub(super) struct Entries<V> {
    pub(super) header: Header,
    /// Where the size line stands, from 1.
    pub(super) size_line: u64,
    /// Empty for an array.
    row_indices: Vec<u32>,
    column_indices: Vec<u32>,
    /// Empty for a pattern.
    values: Vec<V>,
    /// What happened to the values; lines from 1.
    pub(super) report: ReadReport,
}

/// How a file is read.
#[derive(Clone, Copy)]
pub(super) struct Manner<'a> {
    pub(super) block_bytes: usize,
    pub(super) progress: Option<Progress<'a>>,
    pub(super) allows_overflow: bool,
}

/// Reads banner and sizes; then, if `accept` agrees to them, all entries.
///
/// # Errors
/// Everything that can be wrong with the file; what `accept` says becomes an error at the size line.
pub(super) fn read_entries<V: Value>(
    source: &mut Source<'_>,
    manner: Manner<'_>,
    accept: impl FnOnce(&Header) -> Result<(), String>,
) -> Result<Entries<V>> {
    let name = source.name().to_owned();
    let refuse = |(line, fault): LineFault| fault.at(&name, line);
    let mut text = Vec::new();
    let (header, mut tally, mut start) = read_header(source, &mut text, refuse)?;
    accept(&header).map_err(|message| refuse((tally.lines - 1, message.into())))?;
    let mut entries = Entries::with_capacity(header, tally.lines, source)?;
    let mut next = Vec::new();
    let mut parsed = Blocks { list: Vec::new(), used: 0 };
    let mut ready = Blocks { list: Vec::new(), used: 0 };
    loop {
        let batch = &text[start..];
        let (more, ()) = rayon::join(
            || source.fill(&mut next),
            || {
                let append = || entries.append(&ready);
                let parse = || parsed.parse(batch, manner, &header);
                rayon::join(append, parse);
            },
        );
        tally.count(&mut parsed, batch, &header).map_err(refuse)?;
        let more = more.map_err(|error| match error {
            FillError::Read(error) => error,
            FillError::LongLine => refuse((tally.lines, long_line())),
        })?;
        if let Some(progress) = manner.progress {
            let (done, total) = source.progress();
            progress(done, total);
        }
        std::mem::swap(&mut parsed, &mut ready);
        std::mem::swap(&mut text, &mut next);
        start = 0;
        if !more {
            entries.append(&ready);
            tally.finish(&header).map_err(refuse)?;
            entries.report = tally.report.map_lines(|line| line + 1);
            entries.report.is_integer = header.field == Field::Integer;
            entries.report.columns = header.cols;
            return Ok(entries);
        }
    }
}

/// Reads banner and sizes, and nothing else.
///
/// # Errors
/// What is wrong with either, or with the file.
pub(super) fn read_sizes(source: &mut Source<'_>) -> Result<Header> {
    let name = source.name().to_owned();
    let refuse = |(line, fault): LineFault| fault.at(&name, line);
    Ok(read_header(source, &mut Vec::new(), refuse)?.0)
}

/// A line (from 0) and what is wrong there.
type LineFault = (u64, Fault);

/// Reads up to the size line. Leaves the rest of the last batch in `text`, from the position returned.
fn read_header(
    source: &mut Source<'_>,
    text: &mut Vec<u8>,
    refuse: impl Fn(LineFault) -> Error,
) -> Result<(Header, Tally, usize)> {
    let mut banner = None;
    let mut lines = 0;
    // As a Macintosh wrote them: the whole file is one line.
    let mut has_old_ends = false;
    loop {
        match source.fill(text) {
            Ok(true) => {}
            Ok(false) => break,
            Err(FillError::Read(error)) => return Err(error),
            Err(FillError::LongLine) => return Err(refuse((lines, long_line()))),
        }
        let mut start = 0;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            start += line.len();
            if line.strip_suffix(b"\n").unwrap_or(line).len() > MAX_LINE_BYTES {
                return Err(refuse((lines, long_line())));
            }
            let first = byte_at(line, skip_blanks(line, 0));
            let Some(banner) = banner else {
                has_old_ends = line.trim_ascii_end().contains(&b'\r');
                banner =
                    Some(Banner::parse(line).map_err(|message| refuse((lines, message.into())))?);
                lines += 1;
                continue;
            };
            if !matches!(first, b'\n' | b'%') {
                let header =
                    banner.with_sizes(line).map_err(|message| refuse((lines, message.into())))?;
                let lines = lines + 1;
                let report = ReadReport::default();
                return Ok((header, Tally { lines, entries: 0, surplus: None, report }, start));
            }
            lines += 1;
        }
    }
    let message = match lines {
        0 => "the file is empty",
        1 if has_old_ends => {
            "its lines end in carriage returns alone, which are no ends of lines here; to convert it: tr '\\r' '\\n'"
        }
        _ => "the file ends before its sizes",
    };
    Err(refuse((lines.max(1) - 1, message.to_owned().into())))
}

/// How far the file has been read.
struct Tally {
    lines: u64,
    entries: u64,
    /// The line of the first entry beyond those declared.
    surplus: Option<u64>,
    /// What happened to the values; lines from 0.
    report: ReadReport,
}

impl Tally {
    /// Counts a batch. Entries beyond those declared are counted, and taken out.
    fn count<V: Value>(
        &mut self,
        blocks: &mut Blocks<V>,
        batch: &[u8],
        header: &Header,
    ) -> Result<(), LineFault> {
        let before = self.entries;
        let lines_before = self.lines;
        for block in blocks.used_mut() {
            let capacity = header.entries.saturating_sub(self.entries);
            self.entries += block.entries() as u64;
            let lines = self.lines;
            self.report = self.report.and(block.report.map_lines(|line| lines + line));
            self.lines += block.lines;
            if let Some(fault) = block.fault.take() {
                return Err((self.lines, fault));
            }
            if (block.entries() as u64) > capacity {
                // Less than what is there, so it fits.
                block.truncate(capacity as usize);
            }
        }
        if self.entries > header.entries && self.surplus.is_none() {
            let index = (header.entries - before) as usize;
            self.surplus = Some(lines_before + lines_before_entry(batch, index));
        }
        Ok(())
    }

    fn finish(&self, header: &Header) -> Result<(), LineFault> {
        let (found, declared) = (self.entries, header.entries);
        match self.surplus {
            Some(line) => {
                let found = counted(found, "entry");
                let text = format!("{found} where the sizes declare {declared}");
                Err((line, text.into()))
            }
            None if found < declared => {
                let declared = counted(declared, "entry");
                let text = format!("the file ends after {found} of {declared}");
                Err((self.lines - 1, text.into()))
            }
            None => Ok(()),
        }
    }
}

/// The blocks of one batch. The list only grows, so that their memory is reused.
struct Blocks<V> {
    list: Vec<Block<V>>,
    used: usize,
}

impl<V: Value> Blocks<V> {
    fn parse(&mut self, batch: &[u8], manner: Manner<'_>, header: &Header) {
        let texts = cut_at_lines(batch, manner.block_bytes);
        self.used = texts.len();
        if self.list.len() < self.used {
            self.list.resize_with(self.used, Block::new);
        }
        let blocks = self.list.par_iter_mut().zip(texts).with_max_len(1);
        blocks.for_each(|(block, text)| {
            block.values.allows_overflow = manner.allows_overflow;
            block.parse(text, header);
        });
    }

    fn used_mut(&mut self) -> &mut [Block<V>] {
        &mut self.list[..self.used]
    }
}

/// Cuts after a line end every `block_bytes` or as soon after as there is one.
fn cut_at_lines(mut text: &[u8], block_bytes: usize) -> Vec<&[u8]> {
    let mut blocks = Vec::new();
    while !text.is_empty() {
        let from = block_bytes.min(text.len());
        let line_end = text[from..].iter().position(|&byte| byte == b'\n');
        let (block, rest) = text.split_at(line_end.map_or(text.len(), |end| from + end + 1));
        blocks.push(block);
        text = rest;
    }
    blocks
}

impl<V: Value> Entries<V> {
    /// With capacity for what the sizes declare, as far as the file's length makes that believable. Capacity
    /// that is not used costs addresses, no memory.
    fn with_capacity(header: Header, size_line: u64, source: &Source<'_>) -> Result<Self> {
        // The shortest line: "1\n", "1 1\n" or "1 1 1\n".
        let bytes_per_entry = match (header.format, header.field) {
            (Format::Array, _) => 2,
            (Format::Coordinate, Field::Pattern) => 4,
            (Format::Coordinate, _) => 6,
        };
        let believable = source.at_most(bytes_per_entry).unwrap_or(0).min(header.entries) as usize;
        let indices = if header.format == Format::Coordinate { believable } else { 0 };
        let values = if header.field == Field::Pattern { 0 } else { believable };
        Ok(Entries {
            header,
            size_line,
            row_indices: with_capacity("the row indices", indices)?,
            column_indices: with_capacity("the column indices", indices)?,
            values: with_capacity("the values", values)?,
            report: ReadReport::default(),
        })
    }

    fn append(&mut self, blocks: &Blocks<V>) {
        for block in &blocks.list[..blocks.used] {
            self.row_indices.extend_from_slice(&block.row_indices);
            self.column_indices.extend_from_slice(&block.column_indices);
            self.values.extend_from_slice(&block.values.list);
        }
    }

    /// The values in the order of the file; none for a pattern.
    pub(super) fn into_values(self) -> Vec<V> {
        self.values
    }

    /// Rows, columns and values, mirror images still implied.
    ///
    /// # Errors
    /// No memory for the indices of an array.
    pub(super) fn into_triplets(self) -> Result<Triplets<V>> {
        let Entries { header, mut row_indices, mut column_indices, values, .. } = self;
        if header.format == Format::Array {
            row_indices = with_capacity("the row indices", values.len())?;
            column_indices = with_capacity("the column indices", values.len())?;
            // Four billion columns of no rows hold nothing that is worth counting to four billion.
            let cols = if header.rows == 0 { 0 } else { header.cols };
            for column in 0..cols {
                let first = match header.symmetry {
                    Symmetry::General => 0,
                    Symmetry::Symmetric => column,
                    Symmetry::SkewSymmetric => column + 1,
                };
                row_indices.extend(first..header.rows);
                column_indices.resize(row_indices.len(), column);
            }
        }
        Ok(Triplets {
            rows: header.rows as usize,
            cols: header.cols as usize,
            row_indices,
            column_indices,
            values: (header.field != Field::Pattern).then_some(values),
            symmetry: header.symmetry,
        })
    }
}
