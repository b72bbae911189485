//! Whether another order of rows and columns would pay, by the bandwidth model.

use std::time::Instant;

use csr_core::model::{CacheReuseQuestion, GatherOrder, reuse};
use csr_core::{Csr, CsrView, Offset, Reordered, Reordering, Value};
use sparrow::{DeviceTraits, Queue};

use super::layout::Layout;
use super::model::granule_bytes;
use super::{MeasureError, Model};

/// What products should take with a matrix as it is, and in other orders.
#[derive(Clone, Debug, PartialEq)]
pub struct ReorderingForecast {
    /// Microseconds of a product with the matrix as it is.
    pub as_it_is_us: f64,
    /// Microseconds that bringing x into the order and y out of it adds to a product.
    pub moves_us: f64,
    /// Each order in which gathers find x nearer.
    pub orders: Vec<ReorderedForecast>,
}

/// What products should take in one order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderedForecast {
    /// How the order is found.
    pub reordering: Reordering,
    /// Microseconds of a product with x and y in the order.
    pub product_us: f64,
    /// Milliseconds that the host took to find the order and to bring the pattern into it.
    pub setup_ms: f64,
}

/// Caches that gathers may find x in, in bytes: what one core or compute unit has.
const NEAR: [u64; 3] = [32 << 10, 256 << 10, 1 << 20];

/// Gathers that an order spares a cache, as a part of those that miss it, to be worth a forecast.
const LEAST_SPARED: f64 = 0.1;

impl ReorderingForecast {
    /// Finds every order of `matrix`, and where gathers of x find it nearer in one of them, measures what the device
    /// delivers, which takes some seconds on a CPU. `None` where no order has that.
    ///
    /// # Errors
    /// The driver's own failure, a device that lacks the value type, or no memory for an order.
    pub fn new_blocking<V: Value, O: Offset>(
        queue: &Queue,
        matrix: CsrView<'_, V, O>,
    ) -> Result<Option<Self>, MeasureError> {
        let traits = queue.context().device().traits();
        let mut found = Vec::new();
        let before = misses(traits, matrix);
        for reordering in Reordering::CHANGING {
            let start = Instant::now();
            let order = match reordering.order(matrix.pattern()) {
                Ok(Some(order)) => order,
                Err(error @ csr_core::Error::Memory { .. }) => return Err(error.into()),
                // A matrix that has no such order is none to forecast for.
                Ok(None) | Err(_) => continue,
            };
            let Reordered { pattern, .. } = Reordered::new(matrix.pattern(), &order);
            let setup_ms = start.elapsed().as_secs_f64() * 1e3;
            // What they are worth does not count.
            let copy = Csr::from_pattern(pattern, matrix.values().to_vec())?;
            let after = misses(traits, copy.view());
            let mut levels = before.iter().zip(after);
            if levels.any(|(before, after)| after < before * (1.0 - LEAST_SPARED)) {
                found.push((reordering, setup_ms, copy));
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        let model = Model::measure_blocking(queue, &[V::TYPE])?;
        let product_us = |matrix: CsrView<'_, V, O>| model.csr_us(traits, matrix.into());
        let moves_us = [matrix.cols(), matrix.rows()].map(|len| model.move_us(V::TYPE, len));
        let (Some(as_it_is_us), [Some(of_x), Some(of_y)]) = (product_us(matrix), moves_us) else {
            let what = format!("arithmetic in {}", V::TYPE.accumulator());
            let device = traits.name.clone();
            return Err(sparrow::RuntimeError::Unsupported { device, what }.into());
        };
        let forecast = |(reordering, setup_ms, copy): &(Reordering, f64, Csr<V, O>)| {
            let (reordering, setup_ms) = (*reordering, *setup_ms);
            let product_us = product_us(copy.view())?;
            Some(ReorderedForecast { reordering, product_us, setup_ms })
        };
        let orders = found.iter().filter_map(forecast).collect();
        Ok(Some(ReorderingForecast { as_it_is_us, moves_us: of_x + of_y, orders }))
    }
}

/// Gathers that find x in none of [`NEAR`], for each of them.
fn misses<V: Value, O: Offset>(traits: &DeviceTraits, matrix: CsrView<'_, V, O>) -> Vec<f64> {
    let question = CacheReuseQuestion {
        element_bytes: V::TYPE.accumulator().size_bytes(),
        granule_bytes: granule_bytes(traits),
        capacities: &NEAR,
        stream_bytes: Layout::csr(traits, matrix.into()).demand.stream_bytes_per_gather(),
    };
    reuse(GatherOrder::InOrder, matrix.pattern(), &question).misses
}
