//! One measured product as a line of JSON: the form scripts, the report and the tuner read.

mod details;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use details::{
    BatchRecord, ConvertRecord, Details, EvcHybRecord, Hetero, LaunchesRecord, ModelRecord,
    Operation, ReorderedRecord, SpgemmRecord, SpmmRecord, SpmvRecord, VectorRecord,
};

/// The form's name; a change that breaks readers changes the number.
pub const SCHEMA: &str = "sparrow-bench/1";

/// What was run, on what, and how it went. Times and what follows from them are `None` where the result
/// did not verify: a wrong result has no time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of Sparrow.
    pub version: String,
    /// Name of the matrix: a file's stem, a class, or a likeness as `pwtk-like`.
    pub matrix: String,
    /// "file", "assembled" or "likeness".
    pub source: String,
    /// Rows of A; of a batch, the total; elements of dense vectors.
    pub rows: u64,
    /// Columns of A; of a batch, the total.
    pub cols: u64,
    /// Stored entries of A; of a batch, the total; of SpGEMM, of C.
    pub nnz: u64,
    /// What was measured: [`Details::operation`].
    pub op: Operation,
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
    /// What multiplies the rows of a generated matrix, where that is not 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Rate of a read-only stream, in 10^9 bytes a second.
    pub stream_gbytes_per_s: Option<f64>,
    /// Rate of a copy, bytes read plus bytes written.
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
    /// Whether every row kept its bound; see `non_finite`.
    pub verified: bool,
    /// The largest error as a multiple of its row's bound; `None` where NaN or infinity is wrong.
    pub error_in_tolerance: Option<f64>,
    /// Rows of y (elements of C; of SpGEMM, entries; of a conversion, values) that are rightly NaN or infinite, or whose
    /// bound overflows: `verified` says of them that they match, and nothing of their rounding. 0 where all is finite.
    #[serde(default)]
    pub non_finite: u64,
    /// What the operation adds: fields of the same JSON object.
    #[serde(flatten)]
    pub details: Details,
}

impl Record {
    /// Nonzeros of A: of a product of two sparse matrices `nnz` is C's.
    pub fn matrix_nnz(&self) -> u64 {
        match &self.details {
            Details::Spgemm(product) => product.operand_nnz,
            _ => self.nnz,
        }
    }

    /// The same record of another operation.
    #[must_use]
    pub fn with_details(self, details: Details) -> Self {
        Record { op: details.operation(), details, ..self }
    }

    /// What two devices were compared by.
    pub fn hetero(&self) -> Option<&Hetero> {
        match &self.details {
            Details::Hetero(hetero) => Some(hetero),
            _ => None,
        }
    }

    /// What a batch adds.
    pub fn batch(&self) -> Option<&BatchRecord> {
        match &self.details {
            Details::Batch(batch) => Some(batch),
            _ => None,
        }
    }

    /// What a product with a dense matrix adds.
    pub fn spmm(&self) -> Option<&SpmmRecord> {
        match &self.details {
            Details::Spmm(spmm) => Some(spmm),
            _ => None,
        }
    }

    /// What a product of two sparse matrices adds.
    pub fn spgemm(&self) -> Option<&SpgemmRecord> {
        match &self.details {
            Details::Spgemm(spgemm) => Some(spgemm),
            _ => None,
        }
    }

    /// What a conversion adds.
    pub fn convert(&self) -> Option<&ConvertRecord> {
        match &self.details {
            Details::Convert(convert) => Some(convert),
            _ => None,
        }
    }

    /// What an operation on dense vectors adds.
    pub fn vector(&self) -> Option<&VectorRecord> {
        match &self.details {
            Details::Vector(vector) => Some(vector),
            _ => None,
        }
    }

    /// What `evc_hyb` adds.
    pub fn evc_hyb(&self) -> Option<&EvcHybRecord> {
        match &self.details {
            Details::Spmv(SpmvRecord { evc_hyb, .. }) | Details::Hetero(Hetero { evc_hyb, .. }) => {
                evc_hyb.as_ref()
            }
            _ => None,
        }
    }

    /// What `--launches` adds.
    pub fn launches(&self) -> Option<&LaunchesRecord> {
        match &self.details {
            Details::Spmv(SpmvRecord { launches, .. }) => launches.as_deref(),
            _ => None,
        }
    }

    /// What the bandwidth model says.
    pub fn model(&self) -> Option<&ModelRecord> {
        match &self.details {
            Details::Spmv(SpmvRecord { model, .. }) => model.as_ref(),
            _ => None,
        }
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived function: an inherent one comes first.
        Record::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let record = Record::deserialize(deserializer)?;
        match (record.op, record.details.operation()) {
            (op, found) if op == found => Ok(record),
            (op, found) => Err(D::Error::custom(format!(
                "op is \"{op}\", and the fields are those of \"{found}\""
            ))),
        }
    }
}
