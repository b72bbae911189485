//! Whether another order of rows and columns would pay, by the bandwidth model.

use std::time::Instant;

use csr_core::{Csr, CsrView, Offset, Reordered, Reordering, Value};
use sparrow::Queue;

use super::{MeasureError, Model};

/// What products should take with a matrix as it is, and in other orders.
#[derive(Clone, Debug, PartialEq)]
pub struct ReorderingForecast {
    /// Microseconds of a product with the matrix as it is.
    pub as_it_is_us: f64,
    /// Microseconds that bringing x into the order and y out of it adds to a product.
    pub moves_us: f64,
    /// Each order that the matrix can have.
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

impl ReorderingForecast {
    /// Finds every order of `matrix`, and measures what the device delivers.
    ///
    /// # Errors
    /// The driver's own failure, or a device that lacks the value type.
    pub fn new_blocking<V: Value, O: Offset>(
        queue: &Queue,
        matrix: CsrView<'_, V, O>,
    ) -> Result<Option<Self>, MeasureError> {
        let traits = queue.context().device().traits();
        let model = Model::measure_blocking(queue, &[V::TYPE])?;
        let product_us = |matrix: CsrView<'_, V, O>| model.csr_us(traits, matrix.into());
        let moves_us = [matrix.cols(), matrix.rows()].map(|len| model.move_us(V::TYPE, len));
        let (Some(as_it_is_us), [Some(of_x), Some(of_y)]) = (product_us(matrix), moves_us) else {
            return Ok(None);
        };
        let mut orders = Vec::new();
        for reordering in Reordering::CHANGING {
            let start = Instant::now();
            // A matrix that has no such order is none to forecast for.
            let Ok(Some(order)) = reordering.order(matrix.pattern()) else { continue };
            let Reordered { pattern, .. } = Reordered::new(matrix.pattern(), &order);
            let setup_ms = start.elapsed().as_secs_f64() * 1e3;
            // What they are worth does not count.
            let copy = Csr::from_pattern(pattern, matrix.values().to_vec())?;
            if let Some(product_us) = product_us(copy.view()) {
                orders.push(ReorderedForecast { reordering, product_us, setup_ms });
            }
        }
        Ok(Some(ReorderingForecast { as_it_is_us, moves_us: of_x + of_y, orders }))
    }
}
