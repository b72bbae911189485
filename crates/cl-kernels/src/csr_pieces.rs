//! `csr_pieces`: one contiguous piece of the nonzeros an item, for CPU devices (`cl/spmv/csr_pieces.cl`).

use crate::arguments::arguments;
use crate::parameters::{check_between, parameters};
use crate::{Array, ParameterError, Scalar};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_pieces.cl";

parameters! {
    /// Parameters of `csr_pieces`.
    pub struct CsrPieces for "csr_pieces" {
        /// Products of a row that are made at a time: 1, 4, 8 or 16.
        lanes: [1, 4, 8, 16],
        /// Pieces for each compute unit.
        pieces_per_unit: [16, 64],
        /// Nonzeros of a piece at least: few are not worth an item.
        least_piece: [512],
    }
}

parameters! {
    /// What the kernel is compiled with.
    pub struct CsrPiecesKernel for "csr_pieces" {
        /// Products of a row that are made at a time: 1, 4, 8 or 16.
        lanes: [1, 4, 8, 16],
    }
}

impl Default for CsrPieces {
    /// 8 lanes did well on rows of any length, since those that are shorter go one by one; 4 are filled sooner, and
    /// leave rows of 5 to 7 nonzeros with two loops that end where nobody foresees it.
    fn default() -> Self {
        CsrPieces { lanes: 8, pieces_per_unit: 16, least_piece: 512 }
    }
}

impl CsrPieces {
    /// What the kernel is compiled with.
    pub fn kernel(&self) -> CsrPiecesKernel {
        CsrPiecesKernel { lanes: self.lanes }
    }

    /// Checks the parameters against the kernel's rules.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "csr_pieces";
        if ![1, 4, 8, 16].contains(&self.lanes) {
            let (value, rule) = (u64::from(self.lanes), "it must be 1, 4, 8 or 16".to_owned());
            return Err(ParameterError::Invalid {
                algorithm: ALGORITHM,
                name: "lanes",
                value,
                rule,
            });
        }
        check_between(ALGORITHM, "pieces_per_unit", self.pieces_per_unit, 1..=1024)?;
        check_between(ALGORITHM, "least_piece", self.least_piece, 1..=1 << 24)
    }

    /// Nonzeros of a piece of a matrix of `nnz`, on a device of so many compute units: a multiple of `lanes`, at least 1.
    pub fn piece_nnz(&self, nnz: u64, compute_units: u32) -> u64 {
        let pieces = u64::from(compute_units.max(1)) * u64::from(self.pieces_per_unit);
        nnz.div_ceil(pieces).max(self.least_piece.into()).next_multiple_of(u64::from(self.lanes))
    }
}

arguments! {
    /// Arguments of the kernel `csr_pieces`.
    pub struct Arguments<M> for "csr_pieces" {
        /// Rows of A: at least 1.
        rows: u32,
        /// Nonzeros of A.
        nnz: u64,
        /// Nonzeros of a piece; there is an item a piece, one at least.
        piece_nnz: u64,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Column indices: nnz.
        columns: Array<M>,
        /// Values of A: nnz.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
        /// 0, which the compiler must not know: it ties the order of atomics to data.
        zero: u32,
        /// Where parts of rows come together: two accumulators and a 32-bit word an item, 0, aligned to 8 bytes.
        room: Array<M>,
    }
}
