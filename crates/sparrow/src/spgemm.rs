//! SpGEMM: C = A B, all three sparse.

use cl_kernels::Tables;
use cl_kernels::spgemm_rows::SpgemmRows;
use cl_runtime::spgemm::Spgemm;
use cl_runtime::{AnyArray, AnyMatrix, MatrixTypes, Queue, check_matrix_types};

use crate::plan::{check_context, check_device, fitting};
use crate::tables::Resolver;
use crate::{Result, default_tables};

/// How C = A B is computed; the default suits the device.
#[derive(Clone, Debug)]
pub struct SpgemmOptions {
    /// Bytes on the device that lists of rows may take, 10 a row: more rows are computed in chunks, one after the
    /// other, which changes no bit of C. So much again is what long rows are computed in, a row at a time at least. On
    /// CPU devices there are no lists: sets of columns take so much at most, a quarter of a byte a column of C for each
    /// compute unit.
    pub scratch_bytes: u64,
    /// Whether C's three arrays have a buffer each; else they are parts of one where the device allocates as much at once,
    /// which takes less time. An application that uses the buffers' handles as if each array began its buffer needs this.
    pub separate_buffers: bool,
    /// Hyper-parameters by name, over what the device table says.
    pub parameters: Vec<(String, u32)>,
    /// The device tables; `None` takes the environment's.
    pub tables: Option<Tables>,
}

impl Default for SpgemmOptions {
    /// 64 MiB of lists: 6.7 million rows at a time.
    fn default() -> Self {
        SpgemmOptions {
            scratch_bytes: 64 << 20,
            separate_buffers: false,
            parameters: Vec::new(),
            tables: None,
        }
    }
}

/// C = A B counted, with types that are known at run time: how many entries each row of C has. It belongs to the
/// patterns of A and B, and multiplies them as often as there are new values.
///
/// Memory on the device: C's row offsets, 4 bytes a row of C, and the lists of [`SpgemmOptions::scratch_bytes`];
/// besides C itself (allocated once, exactly) nothing else but 8 bytes for each window of 1,024 entries of
/// C's longest rows, and for rows that all groups work at together a bit for each column of C, 12 bytes for each entry
/// of A and 32 for each part of a product, as many at a time as `scratch_bytes` says. Where rows of B do not ascend or
/// have a column twice, also the order of B's entries (24 bytes each while they are sorted, 12 then) and during a
/// product a copy of B.
///
/// When a plan is dropped, the context keeps some of this memory for the next one, a 128th of the device's and 128 MiB at
/// most, until it is dropped itself: making and releasing memory takes longer than most products of short rows.
#[derive(Debug)]
pub struct AnySpgemmPlan {
    spgemm: Spgemm,
    parameters: SpgemmRows,
}

impl AnySpgemmPlan {
    /// Counts the entries of C = A B. Columns of A and B may stand in any order and repeat.
    ///
    /// # Errors
    /// A has another number of columns than B has rows; matrices of different types, or whose values are for storing
    /// alone (16-bit ones); a matrix of another context; a device that lacks the value type;
    /// parameters that break a rule; a C of more entries than the offset type counts, by their number; or the driver's
    /// own failure.
    pub fn new_blocking(
        queue: &Queue,
        a: &AnyMatrix,
        b: &AnyMatrix,
        options: &SpgemmOptions,
    ) -> Result<Self> {
        check_matrix_types(("A", a.types()), ("B", b.types()))?;
        check_context(queue, a.context(), "matrix A")?;
        check_context(queue, b.context(), "matrix B")?;
        fitting(queue, |queue| Self::build(queue, a, b, options))
    }

    fn build(queue: &Queue, a: &AnyMatrix, b: &AnyMatrix, options: &SpgemmOptions) -> Result<Self> {
        let (device, value_type) = (queue.context().device().traits(), a.value_type());
        let tables = options.tables.clone().unwrap_or_else(default_tables);
        let asked = options.parameters.as_slice();
        let resolver = Resolver { tables: &tables, device, value_type, rule: &[], asked };
        let defaults = SpgemmRows::default_for(device);
        let parameters = resolver.resolve(defaults, |found| found.check(device, value_type))?;
        let (scratch_bytes, prefetches) = (options.scratch_bytes, tables.prefetches(device));
        let switches = (!options.separate_buffers, prefetches);
        let spgemm = Spgemm::count_blocking(queue, a, b, parameters, scratch_bytes, switches)?;
        Ok(AnySpgemmPlan { spgemm, parameters })
    }

    /// C = A B, with ascending columns. Its pattern depends on those of A and B alone: where products cancel, the entry
    /// is 0. Each entry's products are added in the order in which A's row stores its entries, so that C has the same
    /// bits every time.
    ///
    /// # Errors
    /// Matrices of other patterns or types than the plan's, or of another context; a C that the device cannot hold, by
    /// the bytes it takes; or the driver's own failure.
    pub fn multiply_blocking(
        &mut self,
        queue: &Queue,
        a: &AnyMatrix,
        b: &AnyMatrix,
    ) -> Result<AnyMatrix> {
        check_device(queue, self.spgemm.context(), "plan")?;
        fitting(queue, |queue| Ok(self.spgemm.multiply_blocking(queue, a, b)?))
    }

    /// What A, B and C hold.
    pub fn types(&self) -> MatrixTypes {
        self.spgemm.types()
    }

    /// Rows of C.
    pub fn rows(&self) -> usize {
        self.spgemm.rows()
    }

    /// Columns of C.
    pub fn cols(&self) -> usize {
        self.spgemm.cols()
    }

    /// Entries of C.
    pub fn nnz(&self) -> usize {
        self.spgemm.nnz()
    }

    /// Products of an entry of A and one of B. Where groups compute the rows, columns that a row of B has twice count
    /// once.
    pub fn products(&self) -> u64 {
        self.spgemm.products()
    }

    /// The row offsets of C on the device: rows + 1.
    pub fn offsets(&self) -> &AnyArray {
        self.spgemm.offsets()
    }

    /// Chunks of rows that are computed one after the other.
    pub fn chunks(&self) -> usize {
        self.spgemm.chunks()
    }

    /// The hyper-parameters as text: `group_size=256,...`.
    pub fn parameters(&self) -> String {
        self.parameters.to_string()
    }

    /// Bytes of the plan on the device, C's row offsets included.
    pub fn plan_bytes(&self) -> usize {
        self.spgemm.size_bytes()
    }
}
