//! What a product should cost: an estimate in nanoseconds for each algorithm, from one pass over the row offsets and a
//! dozen numbers that were fitted for a device and value type.
//!
//! A product takes the host's time to launch it or the device's to make it, whichever is more. The device's is a
//! latency, what memory and instructions take, and the longest chain of loads that one group or item makes alone. What
//! each algorithm's parts are, the function in its own file says ([`CostModel`]). Nothing is known of columns but what
//! row lengths tell: gathers of uneven rows have less order.

use csr_core::{ValueCoding, ValueType};
use serde::{Deserialize, Serialize};

use crate::{DeviceTraits, Fit, MatrixShape, NamedParameters, Reuse, Storage};

/// The fitted numbers of a device and value type, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostNumbers {
    /// Of the host, for a launch of a kernel with the arrays of a product in compressed rows.
    pub launch: f64,
    /// Of the device, from the first group to the last store, where there is next to nothing to do.
    pub latency: f64,
    /// Of 1,000 bytes that the last cache holds.
    pub cached_kb: f64,
    /// Of 1,000 bytes of memory.
    pub memory_kb: f64,
    /// Of a compute unit, for a nonzero of a tile.
    pub nonzero: f64,
    /// Of a compute unit, for an item of a tile's group.
    pub item: f64,
    /// Of a compute unit, for a gather of x without order, by a group of 256 items with 4,096 nonzeros.
    pub gather: f64,
    /// For a row that items share, or one of them has, all items of the device busy.
    pub row: f64,
    /// For each nonzero an item takes of such a row, all items of the device busy.
    pub step: f64,
    /// On top of a step, for each line of 128 bytes that 32 items read at once.
    pub line: f64,
    /// For each nonzero an item takes of a row, few of them busy: one load after another.
    pub chain: f64,
    /// Of a compute unit, for a nonzero of a sorted copy.
    pub copied: f64,
    /// Not of time: the part by which another candidate must promise less than `csr_flat` as the tables have it; 0 where
    /// it is left out. Estimates of numbers that few matrices were fitted to differ by a few percent for no reason.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub margin: f64,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl CostNumbers {
    /// Name and value of each.
    pub fn entries(&self) -> [(&'static str, f64); 12] {
        let CostNumbers { launch, latency, cached_kb, memory_kb, nonzero, item, .. } = *self;
        let CostNumbers { gather, row, step, line, chain, copied, .. } = *self;
        [
            ("launch", launch),
            ("latency", latency),
            ("cached_kb", cached_kb),
            ("memory_kb", memory_kb),
            ("nonzero", nonzero),
            ("item", item),
            ("gather", gather),
            ("row", row),
            ("step", step),
            ("line", line),
            ("chain", chain),
            ("copied", copied),
        ]
    }

    /// From values in the order of [`CostNumbers::entries`], without a margin.
    pub fn from_values(values: [f64; 12]) -> Self {
        CostNumbers {
            launch: values[0],
            latency: values[1],
            cached_kb: values[2],
            memory_kb: values[3],
            nonzero: values[4],
            item: values[5],
            gather: values[6],
            row: values[7],
            step: values[8],
            line: values[9],
            chain: values[10],
            copied: values[11],
            margin: 0.0,
        }
    }

    /// Whether all are numbers of zero or more, and the margin is below 1.
    pub fn are_sound(&self) -> bool {
        let is_sound = |number: f64| number.is_finite() && number >= 0.0;
        self.entries().iter().all(|(_, number)| is_sound(*number))
            && (0.0..1.0).contains(&self.margin)
    }
}

/// `launch=8830,latency=3350,...`
impl std::fmt::Display for CostNumbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let texts = self.entries().map(|(name, value)| format!("{name}={value}"));
        f.write_str(&texts.join(","))
    }
}

/// How an algorithm is estimated: what is compared, and by which function.
#[derive(Clone, Copy, Debug)]
pub struct CostModel {
    /// The hyper-parameters that are worth comparing on a device; those that it does not allow are left out.
    pub candidates: fn(&Fit<'_>) -> Vec<NamedParameters>,
    /// The estimate.
    pub cost: fn(&CostQuestion<'_>, &NamedParameters) -> Cost,
}

/// What is estimated for.
#[derive(Clone, Copy, Debug)]
pub struct CostQuestion<'a> {
    /// The numbers of the device.
    pub numbers: &'a CostNumbers,
    /// Rows, nonzeros, the longest row.
    pub rows: f64,
    /// Nonzeros of A.
    pub nnz: f64,
    /// Nonzeros of the longest row.
    pub longest_row: f64,
    /// Nonzeros of a row in the mean.
    pub mean_row: f64,
    /// Compute units.
    pub units: f64,
    /// Items that all compute units hold at once.
    pub items_at_once: f64,
    /// Nanoseconds in which memory or cache move what a product in compressed rows reads and writes.
    pub memory_ns: f64,
    /// How far A is beyond the last cache: 0 within it, 1 far outside.
    pub beyond: f64,
    /// Nanoseconds of a byte.
    byte_ns: f64,
    /// Bytes of a value in a copy of A.
    copied_value_bytes: f64,
    /// The same as it is.
    value_bytes: f64,
    /// How many times as long 32 neighbouring rows take in step as without waiting.
    unevenness: f64,
    /// The same without the longest row.
    unevenness_of_others: f64,
    /// How little order gathers have, 0 to 1.
    disorder: f64,
    /// How much rows of one length lie together where lengths differ, 0 to 1.
    clumps: f64,
}

/// An item's share of a compute unit: what a unit holds at once, for each item of those that run in step. 2,048 items of
/// NVIDIA's units, which run 32 in step.
const SUB_GROUPS_A_UNIT: f64 = 64.0;

/// Rows whose lengths make 32 neighbours wait for one another this many times have no order of columns.
const UNEVEN: f64 = 3.0;

/// Rows as uneven as this are of one length but for a nonzero or two.
const EVEN: f64 = 1.15;

/// What rows of giants take in step, in nonzeros of the longest: 32 for it and as many for others, each half as long.
const GIANTS: f64 = 64.0;

/// With mean rows of so many nonzeros a tile cannot have many more rows than others.
const SHORT_ROW: f64 = 4.0;

/// Share of rows that differ from the one before where lengths are mixed; where fewer do, equal ones lie together.
const MIXED_CHANGES: f64 = 0.5;

impl<'a> CostQuestion<'a> {
    /// For products of a matrix that stores `value_type`, on a device whose last cache has `cache_bytes`.
    pub fn new(
        shape: &MatrixShape,
        value_type: ValueType,
        device: &DeviceTraits,
        cache_bytes: u64,
        numbers: &'a CostNumbers,
    ) -> Self {
        let (rows, nnz) = (shape.rows.max(1) as f64, shape.nnz.max(1) as f64);
        let longest_row = shape.longest_row as f64;
        let demand = Storage::CSR.demand(shape.rows, shape.nnz, value_type, 4, 0);
        // Of x nothing is known but that it is read: once a row, as of a square matrix.
        let bytes = demand.bytes(rows / nnz);
        let share = bytes / cache_bytes.max(1) as f64;
        let beyond = share * share / (1.0 + share * share);
        let CostNumbers { cached_kb, memory_kb, .. } = *numbers;
        let byte_ns = 1e-3 * (cached_kb + (memory_kb - cached_kb) * beyond);
        let units = f64::from(device.compute_units.max(1));
        // Giant rows make 32 wait once each, which says nothing of the others.
        let without_longest = ((shape.in_step as f64 - GIANTS * longest_row) / nnz).max(1.0);
        let together = 1.0 - shape.changes as f64 / rows / MIXED_CHANGES;
        CostQuestion {
            numbers,
            rows,
            nnz,
            longest_row,
            mean_row: nnz / rows,
            units,
            items_at_once: units * SUB_GROUPS_A_UNIT * f64::from(device.simd_width.max(1)),
            memory_ns: bytes * byte_ns,
            beyond,
            byte_ns,
            copied_value_bytes: value_type.size_bytes() as f64,
            value_bytes: value_type.size_bytes() as f64,
            unevenness: (shape.in_step as f64 / nnz).max(1.0),
            unevenness_of_others: without_longest,
            disorder: ((without_longest - 1.0) / (UNEVEN - 1.0)).clamp(0.0, 1.0),
            clumps: (1.0 - EVEN / without_longest).max(0.0)
                * together.max(0.0)
                * (SHORT_ROW * rows / nnz).min(1.0),
        }
    }

    /// How many times as long so many neighbouring rows take in step, each as long as the longest of them, as without
    /// waiting; known for 32.
    pub fn waiting(&self, rows_in_step: f64) -> f64 {
        1.0 + (self.unevenness - 1.0) * rows_in_step.clamp(1.0, 32.0).log2() / 5.0
    }

    /// The same where copies of A store values so.
    #[must_use]
    pub fn with_coding(self, coding: ValueCoding, value_type: ValueType) -> Self {
        CostQuestion { copied_value_bytes: coding.bytes_of_value(value_type) as f64, ..self }
    }

    /// Bytes of a value in a copy of A.
    pub fn copied_value_bytes(&self) -> f64 {
        self.copied_value_bytes
    }

    /// As `memory_ns`, of a product that reads values of a copy.
    pub fn copied_memory_ns(&self) -> f64 {
        self.memory_ns - self.moving_ns(self.nnz * (self.value_bytes - self.copied_value_bytes))
    }

    /// Nanoseconds in which memory or cache move so many bytes, of a matrix as large as this.
    pub fn moving_ns(&self, bytes: f64) -> f64 {
        bytes * self.byte_ns
    }

    /// How little order gathers have: 0 where rows are even, 1 where they are not at all.
    pub fn disorder(&self) -> f64 {
        self.disorder
    }

    /// The rows that are shorter than others and lie together: a tile there has many more than the mean.
    pub fn clumped_rows(&self) -> f64 {
        self.rows * self.clumps
    }
}

/// An estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Nanoseconds of the host for a launch.
    pub host_ns: f64,
    /// Nanoseconds of the device for a product.
    pub device_ns: f64,
    /// Nanoseconds from matrix on the device and program built to the first launch ready.
    pub setup_ns: f64,
}

impl Cost {
    /// Nanoseconds of a product among others: the host prepares a launch while the device makes the one before.
    pub fn product_ns(&self) -> f64 {
        smooth_max::<6>(self.host_ns, self.device_ns)
    }

    /// The same with the set-up's part.
    pub fn total_ns(&self, products: Reuse) -> f64 {
        self.product_ns() + self.setup_ns / f64::from(products.count())
    }
}

/// The larger of two times, and more where both are alike, since neither hides all of the other: the norm of this degree.
pub(crate) fn smooth_max<const DEGREE: i32>(a: f64, b: f64) -> f64 {
    (a.powi(DEGREE) + b.powi(DEGREE)).powf(1.0 / f64::from(DEGREE))
}

/// Columns of a line of 128 bytes: neighbouring rows that are shorter share lines.
const LINE_NNZ: f64 = 32.0;

/// What a launch takes with the array that a plan adds, in those without: drivers do something for each array.
pub(crate) const WITH_PLAN: f64 = 1.15;

/// Of an algorithm in compressed rows that items share, or have one each: `items` a row.
pub(crate) fn rows_by_items(question: &CostQuestion<'_>, items: f64) -> Cost {
    let CostQuestion { numbers, rows, longest_row, mean_row, memory_ns, beyond, .. } = *question;
    let CostNumbers { launch, latency, row, step, line, chain, .. } = *numbers;
    let steps = (mean_row * question.waiting(32.0 / items) / items).max(1.0);
    // Beyond the cache a load waits for memory, and what neighbours load of other rows is not there any more.
    let lines =
        (32.0 / items * (mean_row * question.unevenness_of_others / LINE_NNZ).min(1.0)).max(1.0);
    let step = (step + lines * line) * (1.0 + beyond);
    let busy = rows * items / question.items_at_once * (row + steps * step);
    let alone = row + steps * chain;
    let longest = longest_row / items * chain;
    let device_ns = latency + smooth_max::<3>(memory_ns, smooth_max::<2>(alone, busy)).max(longest);
    Cost { host_ns: launch, device_ns, setup_ns: 0.6 * launch }
}
