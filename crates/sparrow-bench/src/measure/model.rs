//! What the bandwidth model says of a product, next to what was measured: `bench spmv --model`.
//!
//! What a product demands comes from its pattern (`csr_core::model`), what the device delivers was measured
//! ([`Model`]). An algorithm says in [`Layout`] what it stores and in which order it gathers; that is all the model
//! knows of it.

use csr_core::model::{CacheReuseQuestion, FirstLevel, SECTOR_BYTES, Sectors, reuse, sectors};
use csr_core::{AnyCsrView, AnyVector, Offset, PatternView, ValueType, for_pattern};
use sparrow::{
    Algorithm, DeviceTraits, DeviceType, Experiment, LevelRates, PlanOptions, Queue, RowRates,
    default_tables,
};

use super::device::{options_of, time};
use super::layout::Layout;
use super::operands::shape_of;
use super::{MeasureError, Origin, Subject};
use crate::Record;
use crate::record::{Details, ModelRecord};

/// Bytes of a line where a device does not say.
const DEFAULT_LINE: u64 = 64;

/// The least that x is taken for when a GPU's gathers are looked up: less would measure its first caches, which are
/// counted apart.
const LEAST_GATHERED: f64 = (1 << 20) as f64;

/// What a first cache has at most.
const LARGEST_FIRST_LEVEL: u64 = 1 << 20;

/// Where nothing is served faster than the last cache does, or that cannot be told.
const DEFAULT_FIRST_LEVEL: u64 = 16 << 10;

/// What a device delivers, measured once for each type of x.
#[derive(Clone, Debug)]
pub struct Model {
    cache_bytes: u64,
    rates: Vec<(ValueType, LevelRates)>,
}

impl Model {
    /// Measures for products with A of `value_types`.
    ///
    /// # Errors
    /// The driver's own failure, or a device table that cannot be read.
    pub fn measure_blocking(
        queue: &Queue,
        value_types: &[ValueType],
    ) -> Result<Self, MeasureError> {
        let traits = queue.context().device().traits();
        let cache_bytes = default_tables().cache_bytes(traits);
        let mut rates: Vec<(ValueType, LevelRates)> = Vec::new();
        for element in value_types.iter().map(|value_type| value_type.accumulator()) {
            let is_possible = element != ValueType::F64 || traits.has_f64;
            if is_possible && rates.iter().all(|(measured, _)| *measured != element) {
                rates.push((element, LevelRates::measure_blocking(queue, cache_bytes, element)?));
            }
        }
        Ok(Model { cache_bytes, rates })
    }

    /// Adds the model's part to `record`, which measured `subject` on `matrix`: prediction, and the three
    /// experiments where the result was right.
    ///
    /// # Errors
    /// The device or the library refuses.
    pub fn add(
        &self,
        queue: &Queue,
        matrix: AnyCsrView<'_>,
        origin: &Origin,
        subject: &Subject,
        record: &mut Record,
    ) -> Result<(), MeasureError> {
        let element = matrix.value_type().accumulator();
        let Some(rates) = self.rates_of(element) else { return Ok(()) };
        let Ok(algorithm) = record.algorithm.parse::<Algorithm>() else { return Ok(()) };
        let traits = queue.context().device().traits();
        let layout = Layout::new(algorithm, traits, matrix, record)?;
        let mut model = self.predict(traits, matrix, rates, &layout);
        if let Some(median) = record.median_us {
            model.predicted_over_measured = Some(model.predicted_us / median);
            let (seed, cols) = (origin.generator.seed, matrix.pattern().cols());
            let x = AnyVector::random(element, seed, cols)?;
            let median_of = |experiment| -> Result<Option<f64>, MeasureError> {
                let options = PlanOptions {
                    // What ran, should it have been chosen.
                    algorithm: Some(algorithm),
                    experiment,
                    ..options_of(subject)
                };
                let (_, samples) = time(queue, matrix, &x, subject, &options)?;
                Ok(Some(samples.median_us()))
            };
            model.x_constant_us = median_of(Experiment::XConstant)?;
            model.a_constant_us = median_of(Experiment::AConstant)?;
            model.both_constant_us = median_of(Experiment::BothConstant)?;
        }
        if let Details::Spmv(details) = &mut record.details {
            details.model = Some(model);
        }
        Ok(())
    }

    /// Microseconds that a product by CSR should take; `None` where nothing was measured for the type of its sums.
    pub(super) fn csr_us(&self, traits: &DeviceTraits, matrix: AnyCsrView<'_>) -> Option<f64> {
        let rates = self.rates_of(matrix.value_type())?;
        let layout = Layout::csr(traits, matrix);
        Some(self.predict(traits, matrix, rates, &layout).predicted_us)
    }

    /// Microseconds that it should take to bring `elements` of a vector into another order, in one launch.
    pub(super) fn move_us(&self, value_type: ValueType, elements: usize) -> Option<f64> {
        let rates = self.rates_of(value_type)?;
        let element_bytes = value_type.accumulator().size_bytes();
        let vector_bytes = (elements * element_bytes) as f64;
        let streamed = elements as f64 * (size_of::<u32>() + element_bytes) as f64;
        let seconds = rates.launch.as_secs_f64()
            + streamed * rates.streams.at(streamed)
            + elements as f64 * rates.gathers.at(vector_bytes);
        Some(seconds * 1e6)
    }

    fn rates_of(&self, value_type: ValueType) -> Option<&LevelRates> {
        let element = value_type.accumulator();
        self.rates.iter().find(|(measured, _)| *measured == element).map(|(_, rates)| rates)
    }

    fn predict(
        &self,
        traits: &DeviceTraits,
        matrix: AnyCsrView<'_>,
        rates: &LevelRates,
        layout: &Layout,
    ) -> ModelRecord {
        let shape = shape_of(matrix);
        let walk = layout.order.walk();
        let element_bytes = shape.value_type.accumulator().size_bytes();
        let demand = layout.demand;
        let is_cpu = traits.device_type == DeviceType::Cpu;
        // Where gathers are told apart by distance, each size that they were measured at is a cache.
        let mut capacities = if is_cpu { rates.gathers.sizes() } else { Vec::new() };
        capacities.push(self.cache_bytes);
        capacities.sort_unstable();
        capacities.dedup();
        let question = CacheReuseQuestion {
            element_bytes,
            granule_bytes: granule_bytes(traits),
            capacities: &capacities,
            stream_bytes: demand.stream_bytes_per_gather(),
        };
        let found = for_pattern!(matrix.pattern(), pattern => reuse(walk, pattern, &question));
        let last = capacities.partition_point(|&bytes| bytes < self.cache_bytes);
        let alpha = found.alpha(last, shape.nnz, element_bytes);

        // Launch after launch, what is touched again is everything.
        let x_bytes = (shape.cols * element_bytes) as f64;
        let footprint = demand.bytes(0.0) + x_bytes;
        let memory = demand.bytes(alpha) * rates.streams.at(footprint);
        let (loads, gathers) = if is_cpu {
            let costs = rates.gathers.by_distance();
            let cost_of = |bytes: f64| {
                let sizes = rates.gathers.sizes();
                let at = sizes.partition_point(|&size| (size as f64) < bytes);
                costs.get(at).or(costs.last()).copied().unwrap_or(0.0)
            };
            let within = capacities.iter().map(|&bytes| cost_of(bytes as f64));
            // What was not used before in this launch was in the one before.
            let costs = within.chain([cost_of(footprint)]);
            // By rows of a typical length; what the rows of this matrix take instead comes on top.
            let total: f64 = found.found.iter().zip(costs).map(|(count, cost)| count * cost).sum();
            let typical = shape.nnz as f64 * cost_of(0.0);
            let rows = rates.rows.as_ref();
            let rows = rows
                .map(|rows| for_pattern!(matrix.pattern(), pattern => row_seconds(pattern, rows)));
            (shape.nnz as f64, total - typical + rows.unwrap_or(typical))
        } else {
            let in_last = self.cache_bytes as f64 / 2.0;
            let level = FirstLevel {
                lanes: traits.simd_width.max(1) as usize,
                compute_units: traits.compute_units.max(1) as usize,
                bytes: rates
                    .gathers
                    .first_level_bytes(rates.gathers.at(in_last), LARGEST_FIRST_LEVEL)
                    .unwrap_or(DEFAULT_FIRST_LEVEL),
            };
            let stream_bytes = demand.stream_bytes_per_gather();
            let Sectors { touched, fetched } = for_pattern!(matrix.pattern(), pattern => {
                sectors(walk, pattern, &level, element_bytes, stream_bytes)
            });
            let most = in_last.max(LEAST_GATHERED);
            let from_last = rates.gathers.at(x_bytes.clamp(LEAST_GATHERED, most));
            // What the first cache holds is served at its own rate.
            let from_first = rates.gathers.at(0.0);
            (fetched, fetched * from_last + (touched - fetched) * from_first)
        };
        let launch = rates.launch.as_secs_f64() * f64::from(layout.launches);
        // A group waits for columns, and then for what they say of x, batch after batch. Memory that others keep
        // busy answers later than the latency that was measured: so the rest comes on top.
        let row = match layout.longest_batches {
            0 => 0.0,
            _ if is_cpu => 0.0,
            batches => {
                let wait = rates.latencies.at(footprint) + rates.latencies.at(x_bytes);
                batches as f64 * wait
            }
        };
        let parts = [("memory", memory), ("gathers", gathers), ("row", row), ("launch", launch)];
        let (by, _) = parts
            .into_iter()
            .fold(("memory", 0.0), |most, part| if part.1 > most.1 { part } else { most });
        ModelRecord {
            alpha,
            code_balance: demand.code_balance(alpha),
            dram_bytes: demand.bytes(alpha),
            l2_sectors: loads,
            sector_rate: if gathers > 0.0 { loads / gathers / 1e9 } else { 0.0 },
            launch_us: rates.launch.as_secs_f64() * 1e6,
            predicted_us: (memory.max(gathers) + row + launch) * 1e6,
            predicted_by: by.to_owned(),
            predicted_over_measured: None,
            x_constant_us: None,
            a_constant_us: None,
            both_constant_us: None,
        }
    }
}

/// Bytes that memory hands out at once: a CPU's line; of a GPU's line, the sector that is asked for.
pub(super) fn granule_bytes(device: &DeviceTraits) -> usize {
    let line = Some(device.cache_line_bytes).filter(|bytes| bytes.is_power_of_two());
    let line = line.unwrap_or(DEFAULT_LINE).max(8) as usize;
    match device.device_type {
        DeviceType::Cpu => line,
        _ => line.min(SECTOR_BYTES),
    }
}

/// Seconds of all gathers out of the first cache by an item a row, on a CPU: where a row's length is that of the row
/// before, its end is foreseen.
fn row_seconds<O: Offset>(pattern: PatternView<'_, O>, rates: &RowRates) -> f64 {
    let mut before = usize::MAX;
    let seconds = |row: usize| {
        let length = pattern.row_len(row);
        let curve = if length == before { &rates.foreseen } else { &rates.unforeseen };
        before = length;
        // An empty row takes about as long as one of one.
        let gathers = length.max(1) as f64;
        gathers * curve.at(gathers)
    };
    (0..pattern.rows()).map(seconds).sum()
}
