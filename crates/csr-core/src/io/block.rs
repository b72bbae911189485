//! The entry lines of one block of text: read fast, and when one cannot be read, explained slowly.

use super::fault::Fault;
use super::header::{Field, Format, Header, quoted, words};
use super::number::{byte_at, skip_blanks, whole};
use super::source::MAX_LINE_BYTES;
use super::values::{ReadReport, Values};
use crate::Value;
use crate::csr::Symmetry;

/// What stands in one block of whole lines. Kept and filled again, so that its memory is reused.
pub(super) struct Block<V> {
    /// From 0; empty for an array, whose entries have their indices by order.
    pub(super) row_indices: Vec<u32>,
    pub(super) column_indices: Vec<u32>,
    /// Empty for a pattern.
    pub(super) values: Values<V>,
    /// What happened to values; the first of each kind by its line of the block, from 0.
    pub(super) report: ReadReport,
    /// Lines read, whatever stands on them; the faulty one not among them.
    pub(super) lines: u64,
    /// What is wrong with the line after those.
    pub(super) fault: Option<Fault>,
}

impl<V: Value> Block<V> {
    pub(super) fn new() -> Self {
        Block {
            row_indices: Vec::new(),
            column_indices: Vec::new(),
            values: Values::new(),
            report: ReadReport::default(),
            lines: 0,
            fault: None,
        }
    }

    pub(super) fn clear(&mut self) {
        self.row_indices.clear();
        self.column_indices.clear();
        self.values.clear();
        self.report = ReadReport::default();
        self.lines = 0;
        self.fault = None;
    }

    /// Entries read.
    pub(super) fn entries(&self) -> usize {
        self.row_indices.len().max(self.values.list.len())
    }

    /// Forgets all entries but the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        self.row_indices.truncate(len);
        self.column_indices.truncate(len);
        self.values.list.truncate(len);
    }

    /// Reads all of `text`, whole lines of which the last may lack its end, or up to the first fault.
    pub(super) fn parse(&mut self, text: &[u8], header: &Header) {
        self.clear();
        let push_real = |at, values: &mut Values<V>| values.push_real(text, at);
        let push_integer = |at, values: &mut Values<V>| values.push_integer(text, at);
        match (header.format, header.field) {
            (Format::Coordinate, Field::Real) => self.coordinates(text, header, push_real),
            (Format::Coordinate, Field::Integer) => self.coordinates(text, header, push_integer),
            (Format::Coordinate, Field::Pattern) => {
                self.coordinates(text, header, |at, _: &mut Values<V>| Some(at));
            }
            (Format::Array, Field::Integer) => self.dense(text, header, push_integer),
            (Format::Array, _) => self.dense(text, header, push_real),
        }
        if !self.values.report.is_empty() {
            let line = |index| lines_before_entry(text, index as usize);
            self.report = self.values.report.map_lines(line);
        }
        // A block of this size without such a line is a rare one.
        if text.len() > MAX_LINE_BYTES
            && let Some(line) = first_long_line(text)
            && line <= self.lines
        {
            self.lines = line;
            self.fault = Some(long_line());
        }
    }

    /// Lines of row, column and what `push_value` reads.
    #[inline(always)]
    fn coordinates(
        &mut self,
        text: &[u8],
        header: &Header,
        push_value: impl Fn(usize, &mut Values<V>) -> Option<usize>,
    ) {
        let Block { row_indices, column_indices, values, .. } = self;
        let (rows, cols) = (u64::from(header.rows), u64::from(header.cols));
        let diagonal_is_wrong = header.symmetry == Symmetry::SkewSymmetric;
        let has_value = header.field != Field::Pattern;
        let read = |at: usize| {
            let (row, at) = whole(text, at)?;
            let column_at = skip_blanks(text, at);
            let (column, end) = whole(text, column_at)?;
            let value_at = skip_blanks(text, end);
            // From 1 to from 0; an index of 0 becomes the largest of all and is outside too.
            let (row, column) = (row.wrapping_sub(1), column.wrapping_sub(1));
            let outside = row >= rows || column >= cols;
            let joined = column_at == at || (has_value && value_at == end);
            if outside || joined || (diagonal_is_wrong && row == column) {
                return None;
            }
            let at = skip_blanks(text, push_value(value_at, values)?);
            if byte_at(text, at) != b'\n' {
                return None;
            }
            row_indices.push(row as u32);
            column_indices.push(column as u32);
            Some(at)
        };
        let (lines, fault_at) = each_entry_line(text, read);
        self.lines = lines;
        self.fault = fault_at.map(|at| explain(line_at(text, at), header, &self.values));
    }

    /// Lines of what `push_value` reads.
    fn dense(
        &mut self,
        text: &[u8],
        header: &Header,
        push_value: impl Fn(usize, &mut Values<V>) -> Option<usize>,
    ) {
        let values = &mut self.values;
        let read = |at| {
            let at = skip_blanks(text, push_value(at, values)?);
            (byte_at(text, at) == b'\n').then_some(at)
        };
        let (lines, fault_at) = each_entry_line(text, read);
        self.lines = lines;
        self.fault = fault_at.map(|at| explain(line_at(text, at), header, &self.values));
    }
}

/// Calls `read` with the first byte of every line that holds an entry; `read` returns where the line
/// ends. Returns the lines passed, and where `read` gave up.
#[inline(always)]
fn each_entry_line(
    text: &[u8],
    mut read: impl FnMut(usize) -> Option<usize>,
) -> (u64, Option<usize>) {
    let (mut at, mut lines) = (0, 0);
    while at < text.len() {
        at = skip_blanks(text, at);
        let end = match byte_at(text, at) {
            b'\n' => at,
            b'%' => at + line_at(text, at).len(),
            _ => match read(at) {
                Some(end) => end,
                None => return (lines, Some(at)),
            },
        };
        at = end + 1;
        lines += 1;
    }
    (lines, None)
}

fn line_at(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    rest.split(|&byte| byte == b'\n').next().unwrap_or_default()
}

/// The number of lines before the line of the entry with this index, from 0, in `text`.
pub(super) fn lines_before_entry(text: &[u8], index: usize) -> u64 {
    let mut entries = 0;
    let read = |at| {
        entries += 1;
        (entries <= index).then(|| at + line_at(text, at).len())
    };
    each_entry_line(text, read).0
}

/// The first line, from 0, that is longer than a line may be.
fn first_long_line(text: &[u8]) -> Option<u64> {
    let mut lines = text.split(|&byte| byte == b'\n');
    lines.position(|line| line.len() > MAX_LINE_BYTES).map(|line| line as u64)
}

/// What is wrong with a line that is too long to be anything.
pub(super) fn long_line() -> Fault {
    Fault::Text(format!("the line is longer than {MAX_LINE_BYTES} bytes"))
}

/// Says what is wrong with a line that could not be read.
fn explain<V: Value>(line: &[u8], header: &Header, values: &Values<V>) -> Fault {
    let words: Vec<&[u8]> = words(line).collect();
    let names: &[&str] = match (header.format, header.field) {
        (Format::Array, _) => &["value"],
        (Format::Coordinate, Field::Pattern) => &["row", "column"],
        (Format::Coordinate, _) => &["row", "column", "value"],
    };
    let limits = [("row", header.rows), ("column", header.cols)];
    let mut indices = Vec::new();
    for (position, &name) in names.iter().enumerate() {
        let Some(&word) = words.get(position) else {
            return format!("{} ends before its {name}", quoted(line)).into();
        };
        let problem = match limits.iter().find(|(limited, _)| *limited == name) {
            Some(&(_, limit)) => match index(name, word, limit) {
                Ok(index) => {
                    indices.push(index);
                    None
                }
                Err(problem) => Some(problem.into()),
            },
            None => values.explain(word, header.field),
        };
        if let Some(problem) = problem {
            return problem;
        }
    }
    if let Some(junk) = words.get(names.len()) {
        return format!("{} follows the {}", quoted(junk), names[names.len() - 1]).into();
    }
    if indices.len() == 2 && indices[0] == indices[1] {
        let line = quoted(line);
        return format!("{line} is on the diagonal, which is empty in a skew-symmetric matrix")
            .into();
    }
    format!("{} cannot be read", quoted(line)).into()
}

fn index(name: &str, word: &[u8], limit: u32) -> Result<u64, String> {
    let number = match whole(word, 0) {
        Some((number, end)) if end == word.len() => number,
        _ if !word.is_empty() && word.iter().all(u8::is_ascii_digit) => u64::MAX,
        _ if word.starts_with(b"-") => 0,
        _ => return Err(format!("{name} {} is not a whole number", quoted(word))),
    };
    if number == 0 || number > u64::from(limit) {
        return Err(format!("{name} {} is outside 1..={limit}", word.escape_ascii()));
    }
    Ok(number)
}
