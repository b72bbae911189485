//! One measured product as a line of JSON: the form scripts, the report and the tuner read.

use serde::{Deserialize, Serialize};

/// The form's name; a change that breaks readers changes the number.
pub const SCHEMA: &str = "sparrow-bench/1";

/// What was run, on what, and how it went. Times and what follows from them are `None` where the result
/// did not verify: a wrong result has no time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of Sparrow.
    pub version: String,
    /// Name of the matrix: a file's stem, a class, or a likeness as `pwtk-like`.
    pub matrix: String,
    /// "file", "assembled" or "likeness".
    pub source: String,
    /// Rows of A.
    pub rows: u64,
    /// Columns of A.
    pub cols: u64,
    /// Stored entries of A.
    pub nnz: u64,
    /// "spmv", "spmm", "spgemm", "batch", "convert" or "vector".
    pub op: String,
    /// The algorithm's or conversion's name; "host" for the host's own product.
    pub algorithm: String,
    /// The variant's name, or empty.
    pub variant: String,
    /// Hyper-parameters: `group_size=256,...`.
    pub params: String,
    /// The kernel's key.
    pub kernel_key: String,
    /// What A stores.
    pub value_type: String,
    /// What counts nonzeros.
    pub offset_type: String,
    /// "plain" or "compensated".
    pub accumulate: String,
    /// The device's name.
    pub device: String,
    /// The platform's name.
    pub platform: String,
    /// The driver's version.
    pub driver: String,
    /// The seed of a generated matrix and of x.
    pub seed: u64,
    /// Rate of a read-only stream in the same run, in 10^9 bytes a second.
    pub stream_gbytes_per_s: Option<f64>,
    /// Rate of a copy in the same run, bytes read plus bytes written.
    pub copy_gbytes_per_s: Option<f64>,
    /// "hot": the same arrays again and again; "cold": copies totalling four times the cache in turn.
    pub cache: String,
    /// Median microseconds of one launch.
    pub median_us: Option<f64>,
    /// Least microseconds of one launch.
    pub min_us: Option<f64>,
    /// 95th percentile of microseconds.
    pub p95_us: Option<f64>,
    /// Launches timed.
    pub runs: u64,
    /// 2 nnz / median, in 10^9 a second.
    pub gflops: Option<f64>,
    /// Bytes that must move once / median, in 10^9 a second.
    pub gbytes_per_s: Option<f64>,
    /// Bytes that must move once / the larger of the two rates, in microseconds.
    pub limit_us: Option<f64>,
    /// limit / median: 1 is perfect.
    pub limit_fraction: Option<f64>,
    /// From matrix on the device and program built to the first launch ready, in microseconds.
    pub setup_us: Option<f64>,
    /// The same as a multiple of the median.
    pub setup_in_products: Option<f64>,
    /// Bytes of plan and workspace on the device, beyond the CSR arrays.
    pub plan_bytes: u64,
    /// Whether the same launch always gives the same bits.
    pub repeatable: bool,
    /// Whether every row kept its bound.
    pub verified: bool,
    /// The largest error as a multiple of its row's bound; `None` where NaN or infinity is wrong.
    pub error_in_tolerance: Option<f64>,
    /// What `bench --hetero` adds.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub hetero: Option<Hetero>,
    /// What `bench --batch` adds; rows, columns and nnz are then totals.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchRecord>,
    /// What `bench --op spmm` adds.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub spmm: Option<SpmmRecord>,
    /// What `bench --op spgemm` adds; nnz is then that of C.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub spgemm: Option<SpgemmRecord>,
    /// What `bench --op convert` adds.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub convert: Option<ConvertRecord>,
    /// What `evc_hyb` adds.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub evc_hyb: Option<EvcHybRecord>,
    /// What `bench --model` adds.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRecord>,
    /// What `bench --op vector` adds; rows are the elements then, and what only matrices have is 0 or empty.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<VectorRecord>,
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

/// What a product by EVC-HYB adds to its record: how the matrix was split, as the paper's Table 3 says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvcHybRecord {
    /// "original", "permuted" (y in the plan's row order) or "symmetric" (x and y).
    pub vector_order: String,
    /// The place of the first long row.
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
    /// Entries that the matrix was made of; those of one place are summed, so `nnz` may be less.
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
}
