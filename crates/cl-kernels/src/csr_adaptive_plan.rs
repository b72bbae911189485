//! `csr_adaptive_plan`: row blocks cut on the device (`cl/spmv/csr_adaptive_plan.cl`).

use crate::arguments::arguments;
use crate::parameters::{check_group_size, parameters};
use crate::{Array, DeviceTraits, ParameterError};

/// Path of the source below `cl/`.
pub const SOURCE: &str = "spmv/csr_adaptive_plan.cl";

/// 32-bit words of block begins a chunk of rows has.
pub const BEGIN_WORDS_PER_CHUNK: usize = csr_core::plan::csr_adaptive::ROWS_PER_CHUNK / 32;

/// 32-bit words that a chunk counts, and of the results: entries, cut rows.
pub const COUNT_WORDS: usize = 2;

/// Fewer items would hold more rows of a chunk each than registers do; the host plans then.
const LEAST_ITEMS: u32 = 16;

parameters! {
    /// Parameters of `csr_adaptive_plan`.
    pub struct CsrAdaptivePlan for "csr_adaptive_plan" {
        /// Items of a work-group: divides a quarter of a chunk's rows.
        group_size: [64, 128, 256, 512, 1024],
    }
}

impl CsrAdaptivePlan {
    /// As many items as the device allows, up to 512.
    pub fn default_for(device: &DeviceTraits) -> Self {
        CsrAdaptivePlan { group_size: 1 << device.max_group_size.clamp(1, 512).ilog2() }
    }

    /// Checks the parameters against the device's limits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, device: &DeviceTraits) -> Result<(), ParameterError> {
        const ALGORITHM: &str = "csr_adaptive_plan";
        check_group_size(ALGORITHM, self.group_size, device)?;
        if self.group_size < LEAST_ITEMS {
            let (name, value) = ("group_size", self.group_size.into());
            let rule =
                format!("it must be at least {LEAST_ITEMS}: each item holds its rows of a chunk");
            return Err(ParameterError::Invalid { algorithm: ALGORITHM, name, value, rule });
        }
        // Where a block ends that begins at each row, 16 bits; a bit a row; counts; and 64 bits an item at most.
        let chunk = 2 * csr_core::plan::csr_adaptive::ROWS_PER_CHUNK as u64;
        let words = (BEGIN_WORDS_PER_CHUNK + COUNT_WORDS) as u64 * 4;
        let items = u64::from(self.group_size);
        device.check_local_bytes(ALGORITHM, ("group_size", items), chunk + words + items * 8)
    }
}

arguments! {
    /// Arguments of the kernel `mark_row_blocks`.
    pub struct MarkArguments<M> for "mark_row_blocks" {
        /// Rows of A.
        rows: u32,
        /// Row offsets: rows + 1.
        offsets: Array<M>,
        /// The most nonzeros of a block of several rows.
        nnz_per_block: u32,
        /// Nonzeros of one CSR-VectorL group; 0 leaves every row whole.
        share: u32,
        /// 1: a block ends where rows above 128 nonzeros are next to rows below 32.
        breaks_lengths: u32,
        /// A bit a row, whether a block begins there: [`BEGIN_WORDS_PER_CHUNK`] a chunk.
        begins: Array<M>,
        /// [`COUNT_WORDS`] a chunk.
        counts: Array<M>,
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
        /// As marked.
        begins: Array<M>,
        /// As counted.
        counts: Array<M>,
        /// Elements of `row_blocks`.
        capacity: u32,
        /// The entries, and a last one that holds the number of rows; those that there is capacity for.
        row_blocks: Array<M>,
        /// [`COUNT_WORDS`]: of all chunks together.
        results: Array<M>,
    }
}
