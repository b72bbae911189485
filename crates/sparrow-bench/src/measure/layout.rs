//! How each algorithm stores a matrix and iterates over it: all that the model knows of it.

use cl_kernels::{Storage, StorageFormat};
use csr_core::evc_hyb::{EvcHybOptions, EvcHybPattern};
use csr_core::model::{Demand, GatherOrder, NO_COLUMN};
use csr_core::{AnyCsrView, for_pattern};
use sparrow::{Algorithm, DeviceTraits, DeviceType, Variant};

use super::MeasureError;
use super::operands::shape_of;
use crate::Record;

/// Neighbouring rows of a strip whose elements are one load.
const NEIGHBOURS: usize = 32;

/// How an algorithm stores a matrix and iterates over it.
pub(super) struct Layout {
    /// What a product moves, but for x.
    pub(super) demand: Demand,
    pub(super) order: Order,
    /// Kernels of a product.
    pub(super) launches: u32,
    /// Batches of loads that one group makes one after another for the longest row, where a row has one group.
    pub(super) longest_batches: u64,
}

/// As [`GatherOrder`], with the columns of a format of its own.
pub(super) enum Order {
    AsStored,
    RowPerItem,
    Listed(Vec<u32>),
}

impl Order {
    pub(super) fn walk(&self) -> GatherOrder<'_> {
        match self {
            Order::AsStored => GatherOrder::InOrder,
            Order::RowPerItem => GatherOrder::RowPerItem,
            Order::Listed(columns) => GatherOrder::Listed(columns),
        }
    }
}

impl Layout {
    /// Of CSR in the order in which it is stored, whatever multiplies by it: columns, values, offsets, y once.
    pub(super) fn csr(device: &DeviceTraits, matrix: AnyCsrView<'_>) -> Self {
        let shape = shape_of(matrix);
        let (rows, nnz) = (shape.rows as u64, shape.nnz as u64);
        let storage = Algorithm::CsrScalar.spec().storage;
        let demand =
            storage.demand(rows, nnz, shape.value_type, shape.offset_type.size_bytes() as u64, 0);
        // A CPU's caches read a line of y before they write to it.
        let read = match device.device_type {
            DeviceType::Cpu => rows * shape.value_type.accumulator().size_bytes() as u64,
            _ => 0,
        };
        Layout {
            demand: Demand { structure_bytes: demand.structure_bytes + read, ..demand },
            order: Order::AsStored,
            launches: 1,
            longest_batches: 0,
        }
    }

    /// That of `algorithm`, whose plan and workspace `record` knows.
    pub(super) fn new(
        algorithm: Algorithm,
        device: &DeviceTraits,
        matrix: AnyCsrView<'_>,
        record: &Record,
    ) -> Result<Self, MeasureError> {
        let shape = shape_of(matrix);
        let is_cpu = device.device_type == DeviceType::Cpu;
        // A CPU's caches read a line of y before they write to it.
        let y = shape.rows as u64 * shape.value_type.accumulator().size_bytes() as u64;
        let read = if is_cpu { y } else { 0 };
        let storage = algorithm.spec().storage;
        let Storage { format, staged, .. } = storage;
        let (rows, nnz) = (shape.rows as u64, shape.nnz as u64);
        let offset_bytes = shape.offset_type.size_bytes() as u64;
        let demand = storage.demand(rows, nnz, shape.value_type, offset_bytes, record.plan_bytes);
        // A second stage on the CPU is no launch.
        let is_second_launch =
            |variant: &&Variant| !variant.blocks() && variant.name() == record.variant;
        let csr = Layout {
            demand: Demand { structure_bytes: demand.structure_bytes + read, ..demand },
            order: Order::AsStored,
            launches: 1 + staged.iter().filter(is_second_launch).count() as u32,
            longest_batches: 0,
        };
        Ok(match format {
            StorageFormat::Csr => csr,
            // On a CPU device an item is a loop, and rows come one after another.
            StorageFormat::CsrRowPerItem if is_cpu => csr,
            StorageFormat::CsrRowPerItem => Layout { order: Order::RowPerItem, ..csr },
            StorageFormat::EvcHyb => {
                let format = format_of(record);
                let pattern = for_pattern!(matrix.pattern(), pattern => {
                    EvcHybPattern::new(pattern, &format)
                })?;
                // Padding is not loaded. What a plan has besides elements are tasks and a few words a row.
                let elements = (pattern.elements() * (4 + shape.value_type.size_bytes())) as u64;
                let structure_bytes = record.plan_bytes.saturating_sub(elements) + read;
                Layout {
                    demand: Demand { structure_bytes, ..demand },
                    order: Order::Listed(listed(&pattern)),
                    longest_batches: longest_batches(&pattern, record),
                    ..csr
                }
            }
            StorageFormat::Copy => csr,
        })
    }
}

/// A hyper-parameter that a record tells.
fn parameter(record: &Record, name: &str) -> Option<usize> {
    let mut entries = record.params.split(',').filter_map(|entry| entry.split_once('='));
    entries.find(|(key, _)| *key == name).and_then(|(_, value)| value.parse().ok())
}

/// The split and alignment that a record's parameters tell.
fn format_of(record: &Record) -> EvcHybOptions {
    if record.variant == Variant::SortedCsr.name() {
        return EvcHybOptions { longest_short_row: None, alignment: 1 };
    }
    let default = EvcHybOptions::default();
    EvcHybOptions {
        longest_short_row: parameter(record, "longest_short_row").or(default.longest_short_row),
        alignment: parameter(record, "alignment").unwrap_or(default.alignment),
    }
}

/// Batches of the longest row, which a group has to itself, if it is a long one.
fn longest_batches(pattern: &EvcHybPattern, record: &Record) -> u64 {
    let of = |name| parameter(record, name).unwrap_or(1).max(1);
    let longest = pattern.row_lengths()[pattern.split_row()..].last();
    let longest = longest.map_or(0, |length| *length as usize);
    let items = longest.div_ceil(of("long_nnz_per_item")).next_power_of_two();
    longest.div_ceil(items.min(of("group_size")) * of("nnz_at_once")) as u64
}

/// Columns in the order in which loads of neighbouring items take them.
fn listed(pattern: &EvcHybPattern) -> Vec<u32> {
    let mut columns = Vec::with_capacity(pattern.elements());
    for strip in &pattern.shape().strips {
        for first in (0..strip.rows).step_by(NEIGHBOURS) {
            let rows = first..(first + NEIGHBOURS).min(strip.rows);
            for k in 0..strip.width {
                columns.extend(rows.clone().map(|row| {
                    let length = pattern.row_lengths()[strip.first + row] as usize;
                    let at = strip.start + k * strip.rows + row;
                    if k < length { pattern.columns()[at] } else { NO_COLUMN }
                }));
            }
        }
    }
    let long_rows =
        pattern.long_starts().windows(2).zip(&pattern.row_lengths()[pattern.split_row()..]);
    for (bounds, &length) in long_rows {
        let (start, end) = (bounds[0] as usize, bounds[1] as usize);
        let own = start + length as usize;
        columns.extend_from_slice(&pattern.columns()[start..own]);
        columns.extend((own..end).map(|_| NO_COLUMN));
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use csr_core::Csr;

    #[test]
    fn loads_of_a_strip_are_of_neighbouring_rows() {
        // 64 rows of two nonzeros, then one of three that is alone.
        let mut offsets: Vec<u32> = (0..=64).map(|row| 2 * row).collect();
        offsets.push(131);
        let columns = (0..64).flat_map(|row| [row, 100 + row]).chain([1, 2, 3]).collect();
        let matrix = Csr::<f32>::new(200, offsets, columns, vec![1.0; 131]);
        let pattern = matrix.and_then(|matrix| {
            EvcHybPattern::new(matrix.pattern().view(), &EvcHybOptions::default())
        });
        let columns = pattern.map(|pattern| listed(&pattern)).unwrap_or_default();
        assert_eq!(columns[..32], (0..32).collect::<Vec<_>>());
        assert_eq!(columns[32..64], (100..132).collect::<Vec<_>>());
        assert_eq!(columns[128..131], [1, 2, 3]);
        assert_eq!(columns[131..], [NO_COLUMN; 29]);
    }
}
