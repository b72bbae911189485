//! `csr_adaptive_plan`: row blocks cut on the device (`cl/spmv/csr_adaptive_plan.cl`).

use crate::arguments::arguments;
use crate::parameters::{check_group_size, parameters};
use crate::{Array, DeviceTraits, ParameterError};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_adaptive_plan.cl";

/// 32-bit words of block starts a chunk of rows has.
pub const START_WORDS_PER_CHUNK: usize = csr_core::plan::csr_adaptive::ROWS_PER_CHUNK / 32;

/// 32-bit words that all groups add to: cut rows, whether a chunk has too many entries, arrivals.
pub const TOTAL_WORDS: usize = 3;

/// 32-bit words of results: entries, cut rows, whether a chunk has too many entries.
pub const RESULT_WORDS: usize = 3;

parameters! {
    /// Parameters of `csr_adaptive_plan`.
    pub struct CsrAdaptivePlan for "csr_adaptive_plan" {
        /// Items of a work-group: divides the rows of a chunk.
        group_size: [64, 128, 256, 512, 1024],
    }
}

impl CsrAdaptivePlan {
    /// As many items as the device allows, up to 256.
    pub fn default_for(device: &DeviceTraits) -> Self {
        CsrAdaptivePlan { group_size: 1 << device.max_group_size.clamp(1, 256).ilog2() }
    }

    /// Checks the parameters against the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, device: &DeviceTraits) -> Result<(), ParameterError> {
        check_group_size("csr_adaptive_plan", self.group_size, device)
    }
}

arguments! {
    /// Arguments of the kernel `count_row_blocks`.
    pub struct CountArguments<M> for "count_row_blocks" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The most nonzeros of a block of several rows.
        nnz_per_block: u32,
        /// Nonzeros of one CSR-VectorL group; 0 leaves every row whole.
        share: u32,
        /// 1: a block ends where rows above 128 nonzeros meet rows below 32.
        breaks_lengths: u32,
        /// 0, which the compiler must not know: it ties the order of atomics to data.
        zero: u32,
        /// A bit a row: whether a block begins there.
        starts: Array<M>,
        /// Where the entries of each chunk go: chunks.
        places: Array<M>,
        /// [`TOTAL_WORDS`], all 0 before and after.
        totals: Array<M>,
        /// [`RESULT_WORDS`].
        results: Array<M>,
    }
}

arguments! {
    /// Arguments of the kernel `write_row_blocks`.
    pub struct WriteArguments<M> for "write_row_blocks" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The fewest rows that take CSR-Stream.
        num_rows_stream: u32,
        /// Nonzeros of one CSR-VectorL group; 0 leaves every row whole.
        share: u32,
        /// Items that the logarithmic reduction has; 0 for the scalar one.
        reduction_size: u32,
        /// As counted.
        starts: Array<M>,
        /// As counted.
        places: Array<M>,
        /// Entries in all, as counted.
        count: u32,
        /// The entries: count + 1.
        row_blocks: Array<M>,
    }
}
