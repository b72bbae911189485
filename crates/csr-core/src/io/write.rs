//! Matrices and vectors to Matrix Market files.
//!
//! Text is made in parallel, a batch ahead of the file. Values are spelled as shortly as reads back to
//! the same bits. A `.gz` is a chain of gzip members, one a chunk, each compressed by the task that
//! made it; every reader of gzip takes such a chain as one stream. A file is an [`OutputFile`]: a regular one
//! appears under its name when it is complete.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;

use super::OutputFile;
use crate::{CsrView, Error, Offset, RealValue, Result, ValueType};

/// Lines that one task turns into text: about a MiB.
const LINES_PER_CHUNK: usize = 1 << 15;

/// Whether text is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As it is.
    Plain,
    /// As a chain of gzip members.
    Gzip,
}

impl Encoding {
    /// Gzip for a path that ends in `.gz`.
    pub fn of(path: &Path) -> Self {
        let ending = path.extension();
        match ending.is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
            true => Encoding::Gzip,
            false => Encoding::Plain,
        }
    }
}

/// Writes a matrix as `coordinate real general`, its entries in the order they are stored. A path that
/// ends in `.gz` is compressed.
///
/// # Errors
/// The system's, with the path. No file is left half-written, and one that was there stays as it was.
pub fn write_matrix_market<V: RealValue, O: Offset>(
    path: &Path,
    matrix: CsrView<'_, V, O>,
) -> Result<()> {
    to_file(path, |file, encoding| write_matrix_market_to(file, encoding, matrix))
}

/// Writes a vector as `array real general` with one column. A path that ends in `.gz` is compressed.
///
/// # Errors
/// As [`write_matrix_market`].
pub fn write_vector<V: RealValue>(path: &Path, vector: &[V]) -> Result<()> {
    to_file(path, |file, encoding| write_vector_to(file, encoding, vector))
}

/// As [`write_matrix_market`], to a stream.
///
/// # Errors
/// The stream's.
pub fn write_matrix_market_to<V: RealValue, O: Offset>(
    stream: &mut (impl Write + Send),
    encoding: Encoding,
    matrix: CsrView<'_, V, O>,
) -> std::io::Result<()> {
    let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.nnz());
    let head = format!("%%MatrixMarket matrix coordinate real general\n{rows} {cols} {nnz}\n");
    let offsets = matrix.pattern().offsets();
    write_lines(stream, encoding, &head, nnz, |text, first, last| {
        let mut entry = first;
        // The row that the chunk begins in; empty rows before it end where it starts.
        let mut row = offsets.partition_point(|offset| offset.to_usize() <= first) - 1;
        while entry < last {
            let end = offsets[row + 1].to_usize().min(last);
            for at in entry..end {
                write!(text, "{} {} ", row + 1, u64::from(matrix.pattern().columns()[at]) + 1)?;
                write_value(text, matrix.values()[at])?;
                text.push(b'\n');
            }
            (entry, row) = (end, row + 1);
        }
        Ok(())
    })
}

/// As [`write_vector`], to a stream.
///
/// # Errors
/// The stream's.
pub fn write_vector_to<V: RealValue>(
    stream: &mut (impl Write + Send),
    encoding: Encoding,
    vector: &[V],
) -> std::io::Result<()> {
    let head = format!("%%MatrixMarket matrix array real general\n{} 1\n", vector.len());
    write_lines(stream, encoding, &head, vector.len(), |text, first, last| {
        for &value in &vector[first..last] {
            write_value(text, value)?;
            text.push(b'\n');
        }
        Ok(())
    })
}

fn to_file(
    path: &Path,
    write: impl FnOnce(&mut OutputFile, Encoding) -> std::io::Result<()>,
) -> Result<()> {
    let written = OutputFile::create(path).and_then(|mut file| {
        write(&mut file, Encoding::of(path))?;
        file.finish()
    });
    written.map_err(|reason| Error::Io { action: "write", path: path.to_owned(), reason })
}

/// Writes `head` and `lines` lines; `make_lines` makes the text of those from a first up to a last.
fn write_lines(
    stream: &mut (impl Write + Send),
    encoding: Encoding,
    head: &str,
    lines: usize,
    make_lines: impl Fn(&mut Vec<u8>, usize, usize) -> std::io::Result<()> + Sync,
) -> std::io::Result<()> {
    let encoded = |text: Vec<u8>| match encoding {
        Encoding::Plain => Ok(text),
        Encoding::Gzip => gzip(&text),
    };
    let chunk = |first: usize| -> std::io::Result<Vec<u8>> {
        let mut text = Vec::new();
        make_lines(&mut text, first, (first + LINES_PER_CHUNK).min(lines))?;
        encoded(text)
    };
    let batch_lines = LINES_PER_CHUNK * 2 * rayon::current_num_threads();
    let mut ready = vec![encoded(head.as_bytes().to_vec())?];
    for first in (0..lines).step_by(batch_lines) {
        let last = (first + batch_lines).min(lines);
        let starts: Vec<usize> = (first..last).step_by(LINES_PER_CHUNK).collect();
        let (written, made) = rayon::join(
            || ready.iter().try_for_each(|text| stream.write_all(text)),
            || starts.into_par_iter().map(chunk).collect::<std::io::Result<Vec<_>>>(),
        );
        written?;
        ready = made?;
    }
    ready.iter().try_for_each(|text| stream.write_all(text))?;
    stream.flush()
}

fn gzip(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}

/// Shortest text that reads back to the same bits. Values neither huge nor tiny without an exponent.
fn write_value<V: RealValue>(text: &mut Vec<u8>, value: V) -> std::io::Result<()> {
    let wide = value.to_f64();
    if wide.is_nan() {
        return text.write_all(b"nan");
    }
    if wide.is_infinite() {
        return text.write_all(if wide > 0.0 { b"inf" } else { b"-inf" });
    }
    let plain = wide == 0.0 || (1e-5..1e16).contains(&wide.abs());
    match (V::TYPE, plain) {
        (ValueType::F64, true) => write!(text, "{wide}"),
        (ValueType::F64, false) => write!(text, "{wide:e}"),
        (ValueType::F32, true) => write!(text, "{}", wide as f32),
        (ValueType::F32, false) => write!(text, "{:e}", wide as f32),
        (ValueType::F16 | ValueType::Bf16, _) => {
            // The first number of digits that leads back. Five always do.
            let leads_back = |digits: &usize| {
                let read: Option<f64> = format!("{wide:.digits$e}").parse().ok();
                read.is_some_and(|read| V::from_f64(read).to_f64() == wide)
            };
            let digits = (0..5).find(leads_back).unwrap_or(5);
            let short: f64 = format!("{wide:.digits$e}").parse().unwrap_or(wide);
            if plain { write!(text, "{short}") } else { write!(text, "{short:e}") }
        }
    }
}
