//! Matrix Market files: reading and writing.
//!
//! [`read_matrix_market_csr`] is what the command reads with: parallel, streaming, in about
//! twice the memory of the finished matrix, with the same bits whatever the number of cores. Gzip is
//! recognised by its content. [`ReadOptions`] adds a progress hook and reads from streams.
//!
//! Read are the formats coordinate and array, the fields real, integer and pattern (every value 1), and
//! the symmetries general, symmetric and skew-symmetric, which come out expanded. Complex and hermitian
//! files are refused. Letter case, CRLF, blank lines, comment lines anywhere, tabs, Fortran's `1.0D+02`,
//! `nan` and `inf` are all understood. Every entry of an array is stored, zeros too. An entry above the
//! diagonal of a symmetric file counts as its mirror image would.
//!
//! `nan` and `inf` are values, as SciPy takes them. A number beyond the type, 1e400 in f64, is an error unless
//! [`ReadOptions::allow_overflow`] says that it is infinity; integers that the type rounds, and numbers so small that
//! they become 0, are counted for [`ReadOptions::report`].
//!
//! A tar archive, compressed or not, is read for the matrix `NAME/NAME.mtx` in it, and for vectors that belong to it by
//! [`ReadOptions::member_suffix`]; nothing is unpacked. bzip2, xz, zstd and zip data is refused by its name. A UTF-8
//! byte-order mark is skipped, UTF-16 refused.
//!
//! Every error names the file, the line and the value. Memory follows what the file holds, not what its
//! size line says.

mod archive;
mod block;
mod fault;
mod gunzip;
mod header;
mod known_form;
mod members;
mod number;
mod options;
mod output;
mod read;
mod source;
mod values;
mod write;

#[cfg(test)]
mod container_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod value_tests;

use std::path::Path;

pub use known_form::STANDARD_INPUT;
pub use options::{FileSizes, ReadOptions};
pub use output::{Destination, OutputFile};
pub use values::ReadReport;
pub use write::{
    Encoding, write_matrix_market, write_matrix_market_to, write_vector, write_vector_to,
};

use crate::{Coo, Csr, Offset, Result, Value};

/// Reads a matrix in the order of the file; a mirror image stands right after its entry.
///
/// # Errors
/// See [`ReadOptions::coo`].
pub fn read_matrix_market<V: Value>(path: &Path) -> Result<Coo<V>> {
    ReadOptions::new().coo(path)
}

/// Reads a matrix with sorted rows; what repeats is summed in the order of the file.
///
/// # Errors
/// See [`ReadOptions::csr`].
pub fn read_matrix_market_csr<V: Value, O: Offset>(path: &Path) -> Result<Csr<V, O>> {
    ReadOptions::new().csr(path)
}

/// Reads a vector: an array with one column, or a coordinate file with one column.
///
/// # Errors
/// See [`ReadOptions::vector`].
pub fn read_vector<V: Value>(path: &Path) -> Result<Vec<V>> {
    ReadOptions::new().vector(path)
}
