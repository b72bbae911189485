//! `sell`: sliced ELL for CPU devices, a copy of the matrix with fewer bytes (`cl/spmv/sell.cl`).

use crate::algorithm_spec::{KernelSpec, Planned, other_values};
use crate::arguments::arguments;
use crate::parameters::{check_between, parameters};
use crate::storage::{Storage, StorageFormat};
use crate::value_coding::check_coded;
use crate::{AlgorithmSpec, Array, Fit, FittedParameters, ParameterError, Scalar};

/// Path of the source of the product below `cl/`.
pub const SOURCE: &str = "spmv/sell.cl";
/// Path of the source that reorders values, below `cl/`.
pub const VALUES_SOURCE: &str = "spmv/sell_values.cl";

/// Every slice is a strip: what other slices take is not compiled.
pub const FEATURE_STRIPS: &str = "STRIPS";
/// Every column is stored in 16 bits: what wider ones take is not compiled.
pub const FEATURE_NARROW_COLUMNS: &str = "NARROW_COLUMNS";

parameters! {
    /// Parameters of `sell`.
    pub struct Sell for "sell" {
        /// Rows of a slice, a lane of the vector each: 4, 8 or 16.
        slice_rows: [4, 8, 16],
        /// Chunks for each compute unit.
        chunks_per_unit: [16, 64] => host,
        /// Whether values are stored in fewer bytes, but by no dictionary: 0: as they are; 1 and 2: where it is exact.
        coded_values: [1] => host,
    }
}

impl Default for Sell {
    /// 16 lanes fill a vector of 512 bits with f32, and several narrower ones, whose sums do not wait for one another.
    fn default() -> Self {
        Sell { slice_rows: 16, chunks_per_unit: 16, coded_values: 1 }
    }
}

impl Sell {
    /// Chunks on a device of so many compute units.
    pub fn chunks(&self, compute_units: u32) -> u32 {
        compute_units.max(1).saturating_mul(self.chunks_per_unit)
    }
}

impl FittedParameters for Sell {
    /// An item is a group and needs no local memory: the defaults fit everywhere.
    fn fitted(_: &Fit<'_>) -> Self {
        Sell::default()
    }

    fn check(&self, _: &Fit<'_>) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "sell";
        if ![4, 8, 16].contains(&self.slice_rows) {
            let (value, rule) = (u64::from(self.slice_rows), "it must be 4, 8 or 16".to_owned());
            let name = "slice_rows";
            return Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule });
        }
        check_coded(ALGORITHM, self.coded_values)?;
        check_between(ALGORITHM, "chunks_per_unit", self.chunks_per_unit, 1..=1024)
    }
}

/// What `sell` is.
pub static SPEC: AlgorithmSpec = AlgorithmSpec {
    planned: Planned::OnHost,
    copies_values: true,
    is_for_cpus: true,
    // Columns take 16 bits, or are not stored at all: the copy says how many bytes there are.
    storage: Storage { format: StorageFormat::Copy, offset_reads: 0, staged: &[] },
    trials: |fit| other_values(&[4, 8, 16], Sell::fitted(fit).slice_rows, "slice_rows"),
    test_parameters: &[("slice_rows", 4), ("chunks_per_unit", 5)],
    ..AlgorithmSpec::of::<Sell>(&[
        KernelSpec::of::<Arguments<()>, Sell>(SOURCE),
        KernelSpec::of::<ValuesArguments<()>, Sell>(VALUES_SOURCE),
    ])
};

arguments! {
    /// Arguments of the kernel `sell`.
    pub struct Arguments<M> for "sell" {
        /// Rows of A.
        rows: u32,
        /// What each item takes (`csr_core::plan::sell::SellChunk`), one more than items.
        chunks: Array<M>,
        /// Columns and how they lie: 16-bit words.
        words: Array<M>,
        /// Values in the order of the slices.
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
        chunks: Array<M>,
        /// Columns and how they lie: 16-bit words.
        words: Array<M>,
        /// Which nonzero of its row each iteration over a strip takes: 16-bit words.
        nonzero_order: Array<M>,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// Values of compressed rows: nnz.
        source: Array<M>,
        /// Values in the order of the slices.
        target: Array<M>,
    }
}
