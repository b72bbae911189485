//! How to read: from a file or a stream, with or without somebody looking on.

use std::io::Read;
use std::path::Path;

use super::header::{Format, Header};
use super::read::{Entries, Manner, Progress, read_entries, read_sizes};
use super::source::Source;
use super::values::{ReadReport, sum_overflows};
use crate::csr::Symmetry;
use crate::{Coo, Csr, Error, Occurrences, Offset, Result, Value, counted};

/// Text that one task parses at a time: large against the cost of a task, small against a cache.
const BLOCK_BYTES: usize = 256 << 10;

/// Text that is read at a time where the size line alone is wanted: comments before it are rarely longer.
const START_BYTES: usize = 2 << 10;

/// Blocks a core gets from each batch, so that a slow one can be made up for.
const BLOCKS_PER_CORE: usize = 4;

/// However many cores, a batch is no larger.
const MAX_BATCH_BYTES: usize = 32 << 20;

/// What a file says about itself before its first entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSizes {
    /// Rows of the matrix.
    pub rows: u32,
    /// Columns of the matrix.
    pub cols: u32,
    /// Entries of the matrix at most: those of the file, twice where it leaves mirror images out.
    pub most_entries: u64,
    /// Whether entries have coordinates; otherwise the file lists every value of a dense matrix.
    pub has_coordinates: bool,
}

/// Reads Matrix Market files and streams.
///
/// ```
/// use csr_core::{Csr, io::ReadOptions};
/// # fn main() -> csr_core::Result<()> {
/// let text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 0.5\n";
/// let matrix: Csr<f64> = ReadOptions::new().csr_from(text.as_bytes(), "example")?;
/// assert_eq!(matrix.view().row(1), (&[0u32][..], &[0.5][..]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    progress: Option<Progress<'a>>,
    report: Option<&'a (dyn Fn(&ReadReport) + Sync)>,
    member_suffix: Option<&'a str>,
    column: Option<u32>,
    block_bytes: Option<usize>,
    allows_overflow: bool,
}

impl<'a> ReadOptions<'a> {
    /// Without a callback.
    pub fn new() -> Self {
        ReadOptions::default()
    }

    /// Calls `progress` now and then with the bytes of the file done and the bytes in all (compressed
    /// bytes of a compressed file); 0 in all where that is unknown, as for a pipe.
    pub fn progress(self, progress: &'a (dyn Fn(u64, u64) + Sync)) -> Self {
        ReadOptions { progress: Some(progress), ..self }
    }

    /// Calls `report` once a file has been read, with what happened to values that the type cannot hold as they are
    /// written. Without it, integers are rounded and tiny numbers become 0 as everywhere in floating point.
    pub fn report(self, report: &'a (dyn Fn(&ReadReport) + Sync)) -> Self {
        ReadOptions { report: Some(report), ..self }
    }

    /// Whether a number that is beyond the type is read as infinity, as IEEE 754 rounds it; it is an error unless said.
    /// `inf` and `nan` are read as what they say in any case.
    pub fn allow_overflow(self, allow: bool) -> Self {
        ReadOptions { allows_overflow: allow, ..self }
    }

    /// Reads from a tar archive, instead of its matrix NAME.mtx, what belongs to it: with "_b", NAME_b.mtx. What is no
    /// archive is an error then.
    pub fn member_suffix(self, suffix: &'a str) -> Self {
        ReadOptions { member_suffix: Some(suffix), ..self }
    }

    /// Takes column `number`, from 1, where the file of a vector has several; of a file with one, that one. Without it
    /// such a file is an error. [`ReadReport::columns`] says how many there are.
    pub fn column(self, number: u32) -> Self {
        ReadOptions { column: Some(number), ..self }
    }

    /// Text that one task parses at a time, in bytes (256 KiB unless said). Two batches of four blocks a
    /// core are in memory. The matrix is the same whatever the size; tests put boundaries everywhere by it.
    pub fn block_bytes(self, bytes: usize) -> Self {
        ReadOptions { block_bytes: Some(bytes.max(1)), ..self }
    }

    /// Reads no more than the sizes of a matrix.
    ///
    /// # Errors
    /// A file that cannot be opened or read; a banner or size line that is wrong or not supported.
    pub fn sizes(&self, path: &Path) -> Result<FileSizes> {
        let header = read_sizes(&mut Source::open(path, START_BYTES, self.member_suffix)?)?;
        let copies = if header.symmetry == Symmetry::General { 1 } else { 2 };
        Ok(FileSizes {
            rows: header.rows,
            cols: header.cols,
            most_entries: header.entries.saturating_mul(copies),
            has_coordinates: header.format == Format::Coordinate,
        })
    }

    /// Reads a matrix in the order of the file; a mirror image stands right after its entry.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or with damaged gzip data; an archive with no matrix or two; a banner or
    /// size line that is wrong or not supported; a line that is no entry; an index outside the matrix; a number beyond
    /// the type; more or fewer entries than declared; no memory.
    pub fn coo<V: Value>(&self, path: &Path) -> Result<Coo<V>> {
        self.read_coo(&mut self.open(path)?)
    }

    /// As [`ReadOptions::coo`], from a stream; `name` is what errors call it.
    ///
    /// # Errors
    /// As [`ReadOptions::coo`].
    pub fn coo_from<V: Value>(&self, text: impl Read + Send, name: &str) -> Result<Coo<V>> {
        self.read_coo(&mut self.stream(text, name)?)
    }

    /// Reads a matrix with sorted rows; what repeats is summed in the order of the file.
    ///
    /// # Errors
    /// As [`ReadOptions::coo`]; or more nonzeros than the offset type counts, or a sum beyond the value type.
    pub fn csr<V: Value, O: Offset>(&self, path: &Path) -> Result<Csr<V, O>> {
        self.read_csr(&mut self.open(path)?)
    }

    /// As [`ReadOptions::csr`], from a stream; `name` is what errors call it.
    ///
    /// # Errors
    /// As [`ReadOptions::csr`].
    pub fn csr_from<V: Value, O: Offset>(
        &self,
        text: impl Read + Send,
        name: &str,
    ) -> Result<Csr<V, O>> {
        self.read_csr(&mut self.stream(text, name)?)
    }

    /// Reads a vector: an array with one column, or a coordinate file with one column, where rows
    /// without an entry are 0 and what repeats is summed; or one column of several ([`ReadOptions::column`]).
    ///
    /// # Errors
    /// As [`ReadOptions::coo`]; or the file has several columns and none is chosen, or not the one that is, or a sum is
    /// beyond the type.
    pub fn vector<V: Value>(&self, path: &Path) -> Result<Vec<V>> {
        self.read_vector(&mut self.open(path)?)
    }

    /// As [`ReadOptions::vector`], from a stream; `name` is what errors call it.
    ///
    /// # Errors
    /// As [`ReadOptions::vector`].
    pub fn vector_from<V: Value>(&self, text: impl Read + Send, name: &str) -> Result<Vec<V>> {
        self.read_vector(&mut self.stream(text, name)?)
    }

    fn read_coo<V: Value>(&self, source: &mut Source<'_>) -> Result<Coo<V>> {
        let entries = self.entries(source, |_| Ok(()))?;
        let report = entries.report;
        let coo = entries.into_triplets()?.into_coo()?;
        self.tell(&report);
        Ok(coo)
    }

    fn read_csr<V: Value, O: Offset>(&self, source: &mut Source<'_>) -> Result<Csr<V, O>> {
        let countable = |header: &Header| {
            let (limit, offsets) = (O::MAX_NNZ, O::TYPE);
            if header.entries <= limit {
                return Ok(());
            }
            let entries = counted(header.entries, "entry");
            Err(format!("{entries} are above the limit of {limit} of {offsets} offsets"))
        };
        let entries: Entries<V> = self.entries(source, countable)?;
        let (line, mut report) = (entries.size_line, entries.report);
        let mut csr = entries.into_triplets()?.into_csr().map_err(|error| match error {
            // Mirror images can pass the limit where the entries did not.
            Error::TooLarge { .. } => Error::MatrixMarket {
                path: source.name().to_owned(),
                line,
                message: error.to_string(),
            },
            other => other,
        })?;
        csr.sort_rows();
        report.inexact_sums = self.sum(&mut csr, &report, source)?;
        self.tell(&report);
        Ok(csr)
    }

    fn read_vector<V: Value>(&self, source: &mut Source<'_>) -> Result<Vec<V>> {
        let has_the_column = |header: &Header| match (header.cols, self.column) {
            (1, _) => Ok(()),
            (cols, Some(column)) if (1..=cols).contains(&column) => Ok(()),
            (cols, Some(column)) => Err(format!(
                "the file has {}, and none is column {column}",
                counted(cols, "column")
            )),
            (cols, None) => {
                Err(format!("the file has {} where a vector has 1", counted(cols, "column")))
            }
        };
        let entries: Entries<V> = self.entries(source, has_the_column)?;
        let Header { format, symmetry, rows, cols, .. } = entries.header;
        let column = if cols == 1 { 0 } else { self.column.map_or(0, |number| number - 1) };
        let mut report = entries.report;
        if format == Format::Array && symmetry == Symmetry::General {
            self.tell(&report);
            let (first, rows) = (column as usize * rows as usize, rows as usize);
            let mut values = entries.into_values();
            values.truncate(first + rows);
            values.drain(..first);
            return Ok(values);
        }
        let mut csr: Csr<V, u64> = entries.into_triplets()?.into_csr()?;
        csr.sort_rows();
        report.inexact_sums = self.sum(&mut csr, &report, source)?;
        let csr = csr.view();
        // By entry of all columns; that of an element is its row.
        let first = report.inexact_sums.first;
        let offsets = csr.pattern().offsets();
        let row_of = |entry: u64| offsets.partition_point(|&offset| offset <= entry) as u64 - 1;
        report.inexact_sums.first = first.map(row_of);
        self.tell(&report);
        let value = |row: usize| {
            let (columns, values) = csr.row(row);
            columns.binary_search(&column).ok().map(|entry| values[entry])
        };
        Ok((0..csr.rows()).map(|row| value(row).unwrap_or(V::from_f64(0.0))).collect())
    }

    /// Sums what repeats, and returns the sums of integers that were rounded, by entry. Refuses a sum that is beyond the
    /// type, by row and column: its entries stand on several lines.
    fn sum<V: Value, O: Offset>(
        &self,
        csr: &mut Csr<V, O>,
        report: &ReadReport,
        source: &Source<'_>,
    ) -> Result<Occurrences> {
        let sums = csr.sum_duplicates_observed();
        if let Some(place) = sums.overflow.filter(|_| !self.allows_overflow) {
            return Err(sum_overflows::<V>(place, source.name()));
        }
        Ok(if report.is_integer { sums.inexact } else { Occurrences::default() })
    }

    fn tell(&self, report: &ReadReport) {
        if let Some(tell) = self.report {
            tell(report);
        }
    }

    fn open(&self, path: &Path) -> Result<Source<'static>> {
        Source::open(path, self.batch_bytes(), self.member_suffix)
    }

    fn stream<'r>(&self, text: impl Read + Send + 'r, name: &str) -> Result<Source<'r>> {
        Source::new(text, Path::new(name), self.batch_bytes(), self.member_suffix)
    }

    fn entries<V: Value>(
        &self,
        source: &mut Source<'_>,
        accept: impl FnOnce(&Header) -> Result<(), String>,
    ) -> Result<Entries<V>> {
        let manner = Manner {
            block_bytes: self.block_bytes.unwrap_or(BLOCK_BYTES),
            progress: self.progress,
            allows_overflow: self.allows_overflow,
        };
        read_entries(source, manner, accept)
    }

    fn batch_bytes(&self) -> usize {
        let block = self.block_bytes.unwrap_or(BLOCK_BYTES);
        let blocks = BLOCKS_PER_CORE * rayon::current_num_threads();
        block.saturating_mul(blocks).min(MAX_BATCH_BYTES)
    }
}
