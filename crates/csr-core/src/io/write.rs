//! Matrices and vectors to Matrix Market files.
//!
//! Text is made in parallel, a batch ahead of the file. Values are spelled as shortly as reads back to
//! the same bits. A `.gz` is a chain of gzip members, one a chunk, each compressed by the task that
//! made it; every reader of gzip takes such a chain as one stream. The file appears under its name only
//! when it is complete: it is written under a temporary name in the same folder, and renamed.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;

use crate::{CsrView, Error, Offset, Result, Value, ValueType};

/// Lines that one task turns into text: about a MiB.
const LINES_PER_CHUNK: usize = 1 << 15;

/// Writes a matrix as `coordinate real general`, its entries in the order they are stored. A path that
/// ends in `.gz` is compressed.
///
/// # Errors
/// The system's, with the path. No file is left half-written, and one that was there stays as it was.
pub fn write_matrix_market<V: Value, O: Offset>(
    path: &Path,
    matrix: CsrView<'_, V, O>,
) -> Result<()> {
    let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.nnz());
    let head = format!("%%MatrixMarket matrix coordinate real general\n{rows} {cols} {nnz}\n");
    let offsets = matrix.pattern().offsets();
    write_file(path, &head, nnz, |text, first, last| {
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

/// Writes a vector as `array real general` with one column. A path that ends in `.gz` is compressed.
///
/// # Errors
/// As [`write_matrix_market`].
pub fn write_vector<V: Value>(path: &Path, vector: &[V]) -> Result<()> {
    let head = format!("%%MatrixMarket matrix array real general\n{} 1\n", vector.len());
    write_file(path, &head, vector.len(), |text, first, last| {
        for &value in &vector[first..last] {
            write_value(text, value)?;
            text.push(b'\n');
        }
        Ok(())
    })
}

/// Writes `head` and `lines` lines; `write_lines` makes the text of those from a first up to a last.
fn write_file(
    path: &Path,
    head: &str,
    lines: usize,
    write_lines: impl Fn(&mut Vec<u8>, usize, usize) -> std::io::Result<()> + Sync,
) -> Result<()> {
    let refuse = |reason| Error::Io { action: "write", path: path.to_owned(), reason };
    let compressed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let chunk = |first: usize| -> std::io::Result<Vec<u8>> {
        let mut text = Vec::new();
        write_lines(&mut text, first, (first + LINES_PER_CHUNK).min(lines))?;
        if compressed { gzip(&text) } else { Ok(text) }
    };
    let head = if compressed { gzip(head.as_bytes()) } else { Ok(head.as_bytes().to_vec()) };
    let batch_lines = LINES_PER_CHUNK * 2 * rayon::current_num_threads();
    let mut target = Target::create(path).map_err(refuse)?;
    let mut ready = vec![head.map_err(refuse)?];
    for first in (0..lines).step_by(batch_lines) {
        let last = (first + batch_lines).min(lines);
        let starts: Vec<usize> = (first..last).step_by(LINES_PER_CHUNK).collect();
        let (written, made) = rayon::join(
            || ready.iter().try_for_each(|text| target.file().write_all(text)),
            || starts.into_par_iter().map(chunk).collect::<std::io::Result<Vec<_>>>(),
        );
        written.map_err(refuse)?;
        ready = made.map_err(refuse)?;
    }
    ready.iter().try_for_each(|text| target.file().write_all(text)).map_err(refuse)?;
    target.finish().map_err(refuse)
}

fn gzip(text: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}

/// Shortest text that reads back to the same bits. Values neither huge nor tiny without an exponent.
fn write_value<V: Value>(text: &mut Vec<u8>, value: V) -> std::io::Result<()> {
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

/// Where a file is written until it is complete.
enum Target {
    /// A new file beside the one it will become.
    Renamed { file: tempfile::NamedTempFile, path: PathBuf },
    /// A pipe or a device, which cannot be replaced.
    Direct(File),
}

impl Target {
    fn create(path: &Path) -> std::io::Result<Self> {
        // A link stays a link: what it leads to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(metadata) if !metadata.is_file() => {
                return Ok(Target::Direct(File::options().write(true).open(&path)?));
            }
            _ => {}
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".sparrow-").suffix(".part");
        #[cfg(unix)]
        {
            // What any new file gets: the user's mask decides, not the habit of temporary files.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        Ok(Target::Renamed { file: builder.tempfile_in(folder)?, path })
    }

    fn file(&mut self) -> &mut File {
        match self {
            Target::Renamed { file, .. } => file.as_file_mut(),
            Target::Direct(file) => file,
        }
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Target::Renamed { file, path } => file.persist(path).map(drop).map_err(|e| e.error),
            Target::Direct(mut file) => file.flush(),
        }
    }
}
