//! A copy of A's values in an order of the algorithm's own, and whose values they are.

use std::fmt::Debug;

use crate::{AnyArray, AnyMatrix, Queue, Result};

/// The order in which a copy has values: how those of compressed rows get there.
pub trait ValueOrder: Debug {
    /// Moves `source`, an element for each nonzero of `matrix`, to where `target` has them, bit for bit, and waits.
    ///
    /// # Errors
    /// The driver's own failure; what `target` holds is unknown then.
    fn move_blocking(
        &self,
        queue: &Queue,
        matrix: &AnyMatrix,
        source: &AnyArray,
        target: &AnyArray,
    ) -> Result<()>;
}

/// A copy of values in such an order.
#[derive(Debug)]
pub struct CopiedValues {
    array: AnyArray,
    values_id: u64,
}

/// [`AnyMatrix::values_id`] of no matrix.
const NO_VALUES: u64 = 0;

impl CopiedValues {
    /// In `array`, of `matrix`; `values_id` says whose values they are.
    ///
    /// # Errors
    /// The driver's own failure.
    pub(super) fn new_blocking(
        queue: &Queue,
        order: &dyn ValueOrder,
        array: AnyArray,
        matrix: &AnyMatrix,
        values_id: u64,
    ) -> Result<Self> {
        let mut copy = Self::of(array, NO_VALUES);
        copy.update_blocking(queue, order, matrix, values_id)?;
        Ok(copy)
    }

    /// Values that are in their order already.
    pub(super) fn of(array: AnyArray, values_id: u64) -> Self {
        CopiedValues { array, values_id }
    }

    /// Brings the copy up to date.
    ///
    /// # Errors
    /// The driver's own failure; the copy is nobody's then.
    pub(super) fn update_blocking(
        &mut self,
        queue: &Queue,
        order: &dyn ValueOrder,
        matrix: &AnyMatrix,
        values_id: u64,
    ) -> Result<()> {
        // Until the wait ends well, it is unknown which values the copy holds.
        self.values_id = NO_VALUES;
        order.move_blocking(queue, matrix, matrix.values(), &self.array)?;
        self.values_id = values_id;
        Ok(())
    }

    /// What the product reads.
    pub(super) fn array(&self) -> &AnyArray {
        &self.array
    }

    /// [`AnyMatrix::values_id`] of the values.
    pub fn values_id(&self) -> u64 {
        self.values_id
    }

    /// Bytes of the copy on the device.
    pub fn size_bytes(&self) -> usize {
        self.array.size_bytes()
    }
}
