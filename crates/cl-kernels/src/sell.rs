//! `sell`: sliced ELL for CPU devices, a copy of the matrix with fewer bytes (`cl/spmv/sell.cl`).

use crate::arguments::arguments;
use crate::parameters::{check_between, parameters};
use crate::{Array, ParameterError, Scalar};

/// Path of the source of the product below `cl/`.
pub const SOURCE: &str = "spmv/sell.cl";
/// Path of the source that brings values into place below `cl/`.
pub const VALUES_SOURCE: &str = "spmv/sell_values.cl";

parameters! {
    /// Parameters of `sell`.
    pub struct Sell for "sell" {
        /// Rows of a slice, a lane of the vector each: 4, 8 or 16.
        slice_rows: [4, 8, 16],
        /// Pieces for each compute unit.
        pieces_per_unit: [16, 64],
    }
}

parameters! {
    /// What the kernels are compiled with.
    pub struct SellKernel for "sell" {
        /// Rows of a slice, a lane of the vector each: 4, 8 or 16.
        slice_rows: [4, 8, 16],
    }
}

impl Default for Sell {
    /// 16 lanes fill a vector of 512 bits with f32, and several narrower ones, whose sums do not wait for one another.
    fn default() -> Self {
        Sell { slice_rows: 16, pieces_per_unit: 16 }
    }
}

impl Sell {
    /// What the kernels are compiled with.
    pub fn kernel(&self) -> SellKernel {
        SellKernel { slice_rows: self.slice_rows }
    }

    /// Checks the parameters against the kernel's rules.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "sell";
        if ![4, 8, 16].contains(&self.slice_rows) {
            let (value, rule) = (u64::from(self.slice_rows), "it must be 4, 8 or 16".to_owned());
            let name = "slice_rows";
            return Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule });
        }
        check_between(ALGORITHM, "pieces_per_unit", self.pieces_per_unit, 1..=1024)
    }

    /// Pieces on a device of so many compute units.
    pub fn pieces(&self, compute_units: u32) -> u32 {
        compute_units.max(1).saturating_mul(self.pieces_per_unit)
    }
}

arguments! {
    /// Arguments of the kernel `sell`.
    pub struct Arguments<M> for "sell" {
        /// Rows of A.
        rows: u32,
        /// What each item takes (`csr_core::plan::sell::SellPiece`), one more than items.
        pieces: Array<M>,
        /// Columns and how they lie: 16-bit words.
        words: Array<M>,
        /// Values in their places.
        values: Array<M>,
        /// The vector x: cols.
        x: Array<M>,
        /// The vector y: rows.
        y: Array<M>,
        /// Scales A x.
        alpha: Scalar<M>,
        /// Scales y; with 0, y is not read.
        beta: Scalar<M>,
    }
}

arguments! {
    /// Arguments of the kernel `sell_values`.
    pub struct ValuesArguments<M> for "sell_values" {
        /// Rows of A.
        rows: u32,
        /// What each item takes, one more than items.
        pieces: Array<M>,
        /// Columns and how they lie: 16-bit words.
        words: Array<M>,
        /// Which nonzero of its row each step of a strip takes: 16-bit words.
        steps: Array<M>,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Values of compressed rows: nnz.
        source: Array<M>,
        /// Values in their places.
        target: Array<M>,
    }
}
