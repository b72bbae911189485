//! What each operation adds to its record.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What was measured, by the name that `op` has in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// y = A x, by one device or by two.
    Spmv,
    /// C = A B with B dense.
    Spmm,
    /// C = A A.
    Spgemm,
    /// y = A x for each problem of a batch.
    Batch,
    /// From one format to another.
    Convert,
    /// An operation on dense vectors.
    Vector,
}

impl Operation {
    /// The word in records.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Spmv => "spmv",
            Operation::Spmm => "spmm",
            Operation::Spgemm => "spgemm",
            Operation::Batch => "batch",
            Operation::Convert => "convert",
            Operation::Vector => "vector",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an operation adds to its record. In JSON these are fields of the record; each operation is told by those that
/// it always has, so the one that has none comes last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Details {
    /// Of `bench hetero`, whose `op` is "spmv".
    Hetero(Hetero),
    /// Of `bench batch`.
    Batch(BatchRecord),
    /// Of `bench spmm`.
    Spmm(SpmmRecord),
    /// Of `bench spgemm`.
    Spgemm(SpgemmRecord),
    /// Of `bench convert`.
    Convert(ConvertRecord),
    /// Of `bench vector`.
    Vector(VectorRecord),
    /// Of `bench spmv`.
    Spmv(SpmvRecord),
}

impl Details {
    /// The operation that adds these.
    pub fn operation(&self) -> Operation {
        match self {
            Details::Spmv(_) | Details::Hetero(_) => Operation::Spmv,
            Details::Batch(_) => Operation::Batch,
            Details::Spmm(_) => Operation::Spmm,
            Details::Spgemm(_) => Operation::Spgemm,
            Details::Convert(_) => Operation::Convert,
            Details::Vector(_) => Operation::Vector,
        }
    }
}

/// What a product with a vector adds to its record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpmvRecord {
    /// What ran, as text that `--choice` takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Products by which it was chosen, where candidates were timed on the matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_products: Option<u32>,
    /// Of a product by `evc_hyb`.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub evc_hyb: Option<EvcHybRecord>,
    /// With `--reordering`.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub reordered: Option<Box<ReorderedRecord>>,
    /// With `--model`.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRecord>,
    /// With `--launches`.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<Box<LaunchesRecord>>,
}

/// What `--launches` adds to its record: what a product takes where that many follow each other, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchesRecord {
    /// Products that were enqueued before the queue was waited for.
    pub launches: u32,
    /// The median of a product where each is launched by its own call.
    pub one_by_one_us: Option<f64>,
    /// The median of a launch with nothing to do and one buffer, measured in turn: less no launch takes.
    #[serde(default)]
    pub empty_us: Option<f64>,
    /// Where all were recorded and one call launches them one by one.
    pub recorded_us: Option<f64>,
    /// Where all were recorded and a command buffer of the driver's runs them.
    pub command_buffer_us: Option<f64>,
    /// Of `one_by_one_us`, what the host takes to enqueue a product in a queue that was empty, the least of some times.
    pub one_by_one_host_us: Option<f64>,
    /// The same of `empty_us`.
    #[serde(default)]
    pub empty_host_us: Option<f64>,
    /// The same of `recorded_us`.
    pub recorded_host_us: Option<f64>,
    /// The same of `command_buffer_us`.
    pub command_buffer_host_us: Option<f64>,
    /// Why there was no command buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_command_buffer: Option<String>,
}

/// What an operation on dense vectors adds to its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VectorRecord {
    /// Elements of each vector.
    pub elements: u64,
    /// Median microseconds of a launch with nothing to do and as many buffers, measured in turn.
    pub launch_us: Option<f64>,
    /// The same with one buffer.
    pub bare_launch_us: Option<f64>,
    /// The median as a multiple of `launch_us`.
    pub in_launches: Option<f64>,
    /// Bytes that must move once / median, as a share of the copy rate.
    pub copy_fraction: Option<f64>,
}

/// What a product by a copy in another order adds to its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReorderedRecord {
    /// How the order of rows and columns was found: "rcm" or "clusters".
    pub reordering: String,
    /// Which vectors are in that order: "original" (none), "permuted" (y) or "symmetric" (x and y).
    pub reordered_vectors: String,
}

/// What a product by EVC-HYB adds to its record: how the matrix was split, as the paper's Table 3 says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvcHybRecord {
    /// "original", "permuted" (y in the plan's row order) or "symmetric" (x and y).
    pub vector_order: String,
    /// The index of the first long row.
    pub split_row: u64,
    /// Elements of short rows, padding included.
    pub short_elements: u64,
    /// Elements of long rows, padding included.
    pub long_elements: u64,
    /// Padding, in percent of the nonzeros.
    pub padding_percent: f64,
}

/// What the bandwidth model says of a product, and where its time goes (D. Guo, W. Gropp, L. N. Olson, "A hybrid
/// format for better performance of sparse matrix-vector multiplication on a GPU", sections 3.2 and 3.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// Bytes of x loaded from memory, over the bytes of one element a nonzero.
    pub alpha: f64,
    /// The paper's B: bytes to and from memory an operation, of which there are 2 nnz + 3 rows.
    pub code_balance: f64,
    /// Bytes to and from memory, padding and plan included.
    pub dram_bytes: f64,
    /// Sectors of x, of 32 bytes, that a GPU's first caches fetch from its last; on a CPU device, gathers of x.
    pub l2_sectors: f64,
    /// How many of those the device was measured to make, in 10^9 a second; on a CPU device, at the distances at
    /// which this matrix has them.
    pub sector_rate: f64,
    /// Microseconds of a launch with nothing to do.
    pub launch_us: f64,
    /// The larger of bytes over bandwidth and sectors over their rate, with what one group waits for loads of the
    /// longest row where a row is never cut, and the launch; in microseconds.
    pub predicted_us: f64,
    /// What is the largest part: "memory", "gathers", "row" or "launch".
    pub predicted_by: String,
    /// Predicted time / median: 1 is perfect.
    pub predicted_over_measured: Option<f64>,
    /// Median microseconds with x constant, so that neither x nor columns are loaded: T_A + T_Y.
    pub x_constant_us: Option<f64>,
    /// Median microseconds with A constant, so that values are not loaded: T_X + T_Y.
    pub a_constant_us: Option<f64>,
    /// Median microseconds with both constant: T_Y.
    pub both_constant_us: Option<f64>,
}

/// What a product with a dense matrix adds to its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpmmRecord {
    /// Columns of B and C.
    pub columns: u64,
    /// "row" or "column".
    pub layout_b: String,
    /// "row" or "column".
    pub layout_c: String,
    /// The algorithm that ran; the record's own is "spmm" where it was chosen.
    pub chosen: String,
    /// Neighbouring rows with the same columns that were multiplied together, in the mean.
    pub mean_inode: f64,
    /// Median microseconds of a product with one vector, as the automatic choice computes it, measured in turn with this
    /// one; `None` where it was not asked for.
    #[serde(default)]
    pub single_us: Option<f64>,
}

/// What a product of two sparse matrices adds to its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpgemmRecord {
    /// Products of an entry of A and one of B.
    pub products: u64,
    /// Stored entries of A, which is B too.
    pub operand_nnz: u64,
    /// Median microseconds until C's row offsets are known: a part of the record's time.
    pub count_us: Option<f64>,
    /// Median microseconds of allocating and filling C: the other part, and all of it where only values are new.
    pub fill_us: Option<f64>,
}

/// What a conversion adds to its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConvertRecord {
    /// Entries that the matrix was made of; those of one row and column are summed, so `nnz` may be less.
    pub entries: u64,
    /// Microseconds of Sparrow's own conversion on the host, run once; `None` where it has none.
    pub host_us: Option<f64>,
}

/// What a batch adds to its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchRecord {
    /// Problems.
    pub batch_size: u64,
    /// "homogeneous", "mixed", "sorted", "balanced N", "heaped N".
    pub batch_kind: String,
    /// "as given", "16-bit" (column indices) or "one pattern".
    pub batch_form: String,
    /// Bytes of the batch's arrays without x and y.
    pub batch_bytes: u64,
    /// Places of ELL that hold no entry.
    pub padding: u64,
    /// Problems that were to be in ELL, and are in compressed rows, since they would pad more than four times.
    #[serde(default)]
    pub not_ell: u64,
    /// Median microseconds of single products, one after the other.
    pub loop_us: Option<f64>,
    /// Median microseconds of one product with the block-diagonal matrix of all problems.
    pub block_diagonal_us: Option<f64>,
}

/// What a product on a chip with two kinds of cores adds to its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hetero {
    /// The devices that compute: the first, and its partner where there is one.
    pub devices: Vec<String>,
    /// The partner's part of the nonzeros: 0 where one device computes alone.
    pub share: f64,
    /// Median microseconds of stage 1, all work on the device; where two devices compute, of the slower.
    pub stage1_us: Option<f64>,
    /// Median microseconds of stage 2: what comes after, on the device or the CPU.
    pub stage2_us: Option<f64>,
    /// Tiles with empty rows, of all tiles.
    pub dirty_tile_share: Option<f64>,
    /// Bytes of arrays that the CPU reached where they lie, in one product.
    pub svm_bytes: u64,
    /// Bytes that were copied between the devices in one product.
    pub copied_bytes: u64,
    /// Median microseconds of the fastest single device on this matrix, each product waited for.
    pub single_us: Option<f64>,
    /// Of a product by `evc_hyb`.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub evc_hyb: Option<EvcHybRecord>,
}
