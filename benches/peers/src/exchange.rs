//! The file in which programs that time products exchange matrices and vectors.
//!
//! All numbers are little-endian, and nothing is padded:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `SPARROWX` |
//! | 4 | version: 1 |
//! | 4 | bits of a value: 32 or 64, IEEE |
//! | 4 | bits of a row offset: 32 or 64, unsigned; 0 for a vector |
//! | 4 | 0 |
//! | 8, 8, 8 | rows, cols, nnz |
//! | (rows + 1) offsets | where each row begins, from 0 to nnz |
//! | nnz x 4 | columns, unsigned, from 0 |
//! | nnz values | in the order of the columns |
//!
//! A vector has one column, no offsets and no columns: its values alone, of which there are nnz = rows. A reader
//! refuses a file that is longer or shorter than its header says, and offsets and columns that make no matrix.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use csr_core::{Accumulator, Csr, Offset, Real, ValueType};

const MAGIC: [u8; 8] = *b"SPARROWX";
const VERSION: u32 = 1;
const HEADER_BYTES: u64 = 48;
/// Numbers that are converted at a time.
const CHUNK: usize = 1 << 16;

/// A number as it lies in a file.
pub trait Word: Copy {
    const BYTES: usize;
    fn put(self, out: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! words {
    ($($type:ty),*) => {$(
        impl Word for $type {
            const BYTES: usize = size_of::<$type>();

            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$type>()];
                own.copy_from_slice(bytes);
                <$type>::from_le_bytes(own)
            }
        }
    )*};
}

words!(u32, u64, f32, f64);

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bits of a value.
    pub value_bits: u32,
    /// Bits of a row offset; 0 for a vector.
    pub offset_bits: u32,
    pub rows: u64,
    pub cols: u64,
    pub nnz: u64,
}

impl Header {
    fn write(&self, out: &mut impl Write) -> Result<()> {
        let mut bytes = MAGIC.to_vec();
        for word in [VERSION, self.value_bits, self.offset_bits, 0] {
            word.put(&mut bytes);
        }
        for word in [self.rows, self.cols, self.nnz] {
            word.put(&mut bytes);
        }
        Ok(out.write_all(&bytes)?)
    }

    /// Reads a header and holds it against the length of the file.
    fn read(from: &mut impl Read, file_bytes: u64) -> Result<Self> {
        ensure!(
            file_bytes >= HEADER_BYTES,
            "{file_bytes} bytes, less than a header's {HEADER_BYTES}"
        );
        let mut bytes = [0; HEADER_BYTES as usize];
        from.read_exact(&mut bytes)?;
        ensure!(bytes[..8] == MAGIC, "it does not begin with SPARROWX");
        let small = |at: usize| u32::get(&bytes[8 + 4 * at..12 + 4 * at]);
        let large = |at: usize| u64::get(&bytes[24 + 8 * at..32 + 8 * at]);
        ensure!(small(0) == VERSION, "version {} where {VERSION} is read", small(0));
        let header = Header {
            value_bits: small(1),
            offset_bits: small(2),
            rows: large(0),
            cols: large(1),
            nnz: large(2),
        };
        ensure!(
            matches!(header.value_bits, 32 | 64),
            "values of {} bits, not 32 or 64",
            header.value_bits
        );
        ensure!(
            matches!(header.offset_bits, 0 | 32 | 64),
            "offsets of {} bits, not 32 or 64",
            header.offset_bits
        );
        if header.is_vector() {
            let Header { rows, cols, nnz, .. } = header;
            ensure!((cols, nnz) == (1, rows), "a vector of {rows} x {cols} with {nnz} values");
        }
        let expected = header.bytes().context("its sizes are beyond 64 bits")?;
        ensure!(file_bytes == expected, "{file_bytes} bytes where its header says {expected}");
        Ok(header)
    }

    /// Whether the file holds values alone.
    pub fn is_vector(&self) -> bool {
        self.offset_bits == 0
    }

    /// The length of the whole file.
    fn bytes(&self) -> Option<u64> {
        let values = self.nnz.checked_mul(u64::from(self.value_bits / 8))?;
        let pattern = if self.is_vector() {
            0
        } else {
            let offsets = self.rows.checked_add(1)?.checked_mul(u64::from(self.offset_bits / 8))?;
            offsets.checked_add(self.nnz.checked_mul(4)?)?
        };
        HEADER_BYTES.checked_add(pattern)?.checked_add(values)
    }
}

/// Writes a matrix, with offsets as wide as they are in memory.
pub fn write_matrix<T: Accumulator + Real + Word, O: Offset + Word>(
    path: &Path,
    matrix: &Csr<T, O>,
) -> Result<()> {
    let header = Header {
        value_bits: 8 * T::BYTES as u32,
        offset_bits: 8 * O::BYTES as u32,
        rows: matrix.rows() as u64,
        cols: matrix.cols() as u64,
        nnz: matrix.nnz() as u64,
    };
    let mut out = create(path)?;
    header.write(&mut out)?;
    write_words(&mut out, matrix.pattern().offsets())?;
    write_words(&mut out, matrix.pattern().columns())?;
    write_words(&mut out, matrix.values())?;
    out.flush().with_context(|| path.display().to_string())
}

/// Writes a vector.
pub fn write_vector<T: Word>(path: &Path, vector: &[T]) -> Result<()> {
    let rows = vector.len() as u64;
    let header =
        Header { value_bits: 8 * T::BYTES as u32, offset_bits: 0, rows, cols: 1, nnz: rows };
    let mut out = create(path)?;
    header.write(&mut out)?;
    write_words(&mut out, vector)?;
    out.flush().with_context(|| path.display().to_string())
}

/// Which type a file's values have.
pub fn value_type(path: &Path) -> Result<ValueType> {
    let (header, _) = open(path)?;
    Ok(if header.value_bits == 64 { ValueType::F64 } else { ValueType::F32 })
}

/// Reads a matrix whose offsets fit 32 bits, however wide they are in the file.
pub fn read_matrix<T: Accumulator + Real + Word>(path: &Path) -> Result<Csr<T, u32>> {
    let (header, mut from) = open(path)?;
    let mut read = || -> Result<Csr<T, u32>> {
        ensure!(!header.is_vector(), "it holds a vector, not a matrix");
        check_values::<T>(&header)?;
        ensure!(header.nnz <= u64::from(u32::MAX), "{} nonzeros, above {}", header.nnz, u32::MAX);
        let (rows, nnz) = (usize::try_from(header.rows)?, usize::try_from(header.nnz)?);
        let offsets = if header.offset_bits == 64 {
            let wide: Vec<u64> = read_words(&mut from, rows + 1)?;
            let narrow = wide.iter().enumerate().map(|(row, &offset)| {
                u32::try_from(offset).with_context(|| {
                    format!("offset {offset} of row {row} is above {} nonzeros", header.nnz)
                })
            });
            narrow.collect::<Result<Vec<_>>>()?
        } else {
            read_words(&mut from, rows + 1)?
        };
        let columns = read_words(&mut from, nnz)?;
        let values = read_words(&mut from, nnz)?;
        Ok(Csr::new(usize::try_from(header.cols)?, offsets, columns, values)?)
    };
    read().with_context(|| path.display().to_string())
}

/// Reads a vector of `length` values.
pub fn read_vector<T: Word>(path: &Path, length: usize) -> Result<Vec<T>> {
    let (header, mut from) = open(path)?;
    let mut read = || -> Result<Vec<T>> {
        ensure!(header.is_vector(), "it holds a matrix, not a vector");
        check_values::<T>(&header)?;
        ensure!(header.rows == length as u64, "{} values where {length} are needed", header.rows);
        read_words(&mut from, length)
    };
    read().with_context(|| path.display().to_string())
}

fn check_values<T: Word>(header: &Header) -> Result<()> {
    let wanted = 8 * T::BYTES as u32;
    if header.value_bits != wanted {
        bail!("its values have {} bits where {wanted} are needed", header.value_bits);
    }
    Ok(())
}

fn create(path: &Path) -> Result<BufWriter<File>> {
    Ok(BufWriter::new(File::create(path).with_context(|| path.display().to_string())?))
}

fn open(path: &Path) -> Result<(Header, BufReader<File>)> {
    let open = || -> Result<(Header, BufReader<File>)> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut from = BufReader::new(file);
        Ok((Header::read(&mut from, bytes)?, from))
    };
    open().with_context(|| path.display().to_string())
}

fn write_words<T: Word>(out: &mut impl Write, words: &[T]) -> Result<()> {
    let mut bytes = Vec::with_capacity(CHUNK * T::BYTES);
    for chunk in words.chunks(CHUNK) {
        bytes.clear();
        chunk.iter().for_each(|word| word.put(&mut bytes));
        out.write_all(&bytes)?;
    }
    Ok(())
}

fn read_words<T: Word>(from: &mut impl Read, count: usize) -> Result<Vec<T>> {
    let mut words = Vec::with_capacity(count);
    let mut bytes = vec![0; CHUNK * T::BYTES];
    while words.len() < count {
        let part = &mut bytes[..(count - words.len()).min(CHUNK) * T::BYTES];
        from.read_exact(part)?;
        words.extend(part.chunks_exact(T::BYTES).map(T::get));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A file of this test, removed at its end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let name = format!("sparrow-peers-{}-{name}", std::process::id());
            Scratch(std::env::temp_dir().join(name))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            std::fs::remove_file(&self.0).ok();
        }
    }

    fn matrix<O: Offset>() -> Csr<f64, O> {
        let offsets = [0, 2, 2, 3].map(|k| O::try_from_usize(k).unwrap()).to_vec();
        Csr::new(4, offsets, vec![3, 0, 2], vec![1.5, -0.0, f64::INFINITY]).unwrap()
    }

    #[test]
    fn a_matrix_comes_back_bit_for_bit_whatever_the_width_of_its_offsets() {
        let file = Scratch::new("widths");
        let narrow = matrix::<u32>();
        write_matrix(&file.0, &narrow).unwrap();
        assert_eq!(std::fs::metadata(&file.0).unwrap().len(), 48 + 4 * 4 + 3 * 4 + 3 * 8);
        assert_eq!(read_matrix::<f64>(&file.0).unwrap(), narrow);
        assert_eq!(value_type(&file.0).unwrap(), ValueType::F64);
        write_matrix(&file.0, &matrix::<u64>()).unwrap();
        assert_eq!(read_matrix::<f64>(&file.0).unwrap(), narrow);
    }

    #[test]
    fn a_vector_longer_than_a_chunk_comes_back() {
        let file = Scratch::new("vector");
        let vector: Vec<f32> = (0..CHUNK + 7).map(|k| k as f32).collect();
        write_vector(&file.0, &vector).unwrap();
        assert_eq!(read_vector::<f32>(&file.0, vector.len()).unwrap(), vector);
        let other = read_vector::<f32>(&file.0, 3).unwrap_err();
        assert!(format!("{other:#}").contains("65543 values where 3 are needed"), "{other:#}");
    }

    /// Writes a matrix, lets `harm` change its bytes, and gives what the reader says.
    fn complaint(name: &str, harm: impl FnOnce(&mut Vec<u8>)) -> String {
        let file = Scratch::new(name);
        write_matrix(&file.0, &matrix::<u32>()).unwrap();
        let mut bytes = std::fs::read(&file.0).unwrap();
        harm(&mut bytes);
        std::fs::write(&file.0, bytes).unwrap();
        format!("{:#}", read_matrix::<f64>(&file.0).unwrap_err())
    }

    type Harm = fn(&mut Vec<u8>);

    #[test]
    fn a_damaged_file_is_refused_by_what_is_wrong_with_it() {
        let harms: [(&str, Harm, &str); 9] = [
            ("empty", Vec::clear, "0 bytes, less than a header's 48"),
            ("magic", |bytes| bytes[0] = b'T', "does not begin with SPARROWX"),
            ("version", |bytes| bytes[8] = 2, "version 2 where 1 is read"),
            ("values", |bytes| bytes[12] = 16, "values of 16 bits"),
            ("offsets", |bytes| bytes[16] = 8, "offsets of 8 bits"),
            ("short", |bytes| bytes.truncate(99), "99 bytes where its header says 100"),
            ("long", |bytes| bytes.push(0), "101 bytes where its header says 100"),
            ("huge", |bytes| bytes[24..32].fill(0xff), "beyond 64 bits"),
            ("column", |bytes| bytes[64] = 4, "column 4"),
        ];
        for (name, harm, expected) in harms {
            let complaint = complaint(name, harm);
            assert!(complaint.contains(expected), "{name}: {complaint}");
        }
    }

    #[test]
    fn a_matrix_is_no_vector_and_keeps_its_type() {
        let file = Scratch::new("kinds");
        write_matrix(&file.0, &matrix::<u32>()).unwrap();
        let error = read_vector::<f64>(&file.0, 3).unwrap_err();
        assert!(format!("{error:#}").contains("a matrix, not a vector"));
        let error = read_matrix::<f32>(&file.0).unwrap_err();
        assert!(format!("{error:#}").contains("values have 64 bits where 32 are needed"));
        write_vector(&file.0, &[1.0f64]).unwrap();
        let error = read_matrix::<f64>(&file.0).unwrap_err();
        assert!(format!("{error:#}").contains("a vector, not a matrix"));
    }
}
