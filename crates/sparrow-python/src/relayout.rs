//! Dense matrices on the device copied into another layout: as products with the identity, C = I B, whose B and C may lie
//! in any two ways. NaN and infinities are copied as they are; of -0 becomes 0.

use std::sync::{Arc, Mutex, PoisonError};

use sparrow::{
    AnyArray, AnyMatrix, AnySpmmOperands, AnySpmmPlan, DenseOperands, DenseShape, Event, Number,
    PatternView, Queue, SpmmOptions, ValueType, counted,
};

use crate::errors::{Failure, Result};
use crate::home::Home;
use crate::pool::Pool;

/// The copies that a plan has needed, each of one shape.
#[derive(Debug, Default)]
pub(crate) struct Relayouts(Mutex<Vec<Arc<Relayout>>>);

/// Copies that are kept, at most.
const KEPT: usize = 4;

#[derive(Debug)]
struct Relayout {
    operands: DenseOperands,
    identity: AnyMatrix,
    pool: Pool<AnySpmmPlan>,
}

impl Relayouts {
    /// Enqueues a copy after the events in `wait`.
    ///
    /// # Errors
    /// No memory for the identity (12 or 16 bytes a row), or the driver's own failure.
    pub(crate) fn launch(
        &self,
        (queue, home): (&Queue, &Home),
        value_type: ValueType,
        (from, source): (DenseShape, &AnyArray),
        (to, target): (DenseShape, &mut AnyArray),
        wait: &[Event],
    ) -> Result<Event> {
        let operands = DenseOperands { b: from, b_type: value_type, c: to };
        let copy = self.find_or_make(queue, home, operands)?;
        copy.pool.with_slot(queue, &copy.identity, |plan, slot| {
            let number = |value| Number::of(value_type, value).into();
            let (alpha, beta) = (number(1.0), number(0.0));
            let product = AnySpmmOperands { alpha, a: &copy.identity, b: source, beta, c: target };
            Ok(plan.launch(queue, &mut slot.workspace, product, wait)?)
        })
    }

    fn find_or_make(
        &self,
        queue: &Queue,
        home: &Home,
        operands: DenseOperands,
    ) -> Result<Arc<Relayout>> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().iter().find(|one| one.operands == operands) {
            return Ok(known.clone());
        }
        let (rows, value_type) = (operands.b.rows(), operands.b_type);
        let count = u32::try_from(rows).map_err(|_| {
            let rows = counted(rows, "row");
            Failure::value(format!("a matrix has {rows}, above the limit of {}", u32::MAX))
        })?;
        let offsets: Vec<u32> = (0..=count).collect();
        let ones = match value_type {
            ValueType::F64 => bytemuck::cast_slice(&vec![1f64; rows]).to_vec(),
            _ => bytemuck::cast_slice(&vec![1f32; rows]).to_vec(),
        };
        let values = AnyArray::upload_blocking(queue, value_type, &ones)?;
        let pattern = PatternView::new(rows, &offsets, &offsets[..rows])?;
        let identity = AnyMatrix::from_pattern_blocking(queue, pattern.into(), values)?;
        let options = SpmmOptions { tables: Some(home.tables()), ..SpmmOptions::default() };
        let plan = AnySpmmPlan::new_blocking(queue, &identity, operands, &options)?;
        let pool = Pool::new(plan, &identity);
        let made = Arc::new(Relayout { operands, identity, pool });
        let mut all = lock();
        if all.len() >= KEPT {
            all.remove(0);
        }
        all.push(made.clone());
        Ok(made)
    }
}
