//! Products of sparse matrices whose types the compiler knows.

use std::marker::PhantomData;
use std::ops::Deref;

use bytemuck::TransparentWrapper as _;
use cl_runtime::{DeviceArray, Queue};
use csr_core::{Accumulator, Offset};

use super::Matrix;
use crate::{AnySpgemmPlan, Result, SpgemmOptions};

/// C = A B counted: how many entries each row of C has. It belongs to the patterns of A and B, and multiplies them as
/// often as there are new values.
///
/// What it is and costs, [`AnySpgemmPlan`] says.
///
/// ```no_run
/// # fn main() -> Result<(), sparrow::Error> {
/// use sparrow::{Context, Csr, Device, Matrix, Queue, SpgemmOptions, SpgemmPlan};
///
/// let queue = Queue::new(&Context::new(&Device::best()?)?)?;
/// // | 1 2 |   | 1 2 |   | 1 2 |
/// // | . . | x | . . | = | . . |
/// let a: Csr<f64> = Csr::new(2, vec![0, 2, 2], vec![0, 1], vec![1.0, 2.0])?;
/// let a = Matrix::upload_blocking(&queue, a.view())?;
/// let mut plan = SpgemmPlan::new_blocking(&queue, &a, &a, &SpgemmOptions::default())?;
/// let c = plan.multiply_blocking(&queue, &a, &a)?;
/// assert_eq!(c.values().read_blocking(&queue)?, [1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SpgemmPlan<V, O = u32> {
    any: AnySpgemmPlan,
    types: PhantomData<fn() -> (V, O)>,
}

impl<V, O> Deref for SpgemmPlan<V, O> {
    type Target = AnySpgemmPlan;

    fn deref(&self) -> &AnySpgemmPlan {
        &self.any
    }
}

impl<V: Accumulator, O: Offset> SpgemmPlan<V, O> {
    /// Counts the entries of C = A B, as [`AnySpgemmPlan::new_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn new_blocking(
        queue: &Queue,
        a: &Matrix<V, O>,
        b: &Matrix<V, O>,
        options: &SpgemmOptions,
    ) -> Result<Self> {
        let any = AnySpgemmPlan::new_blocking(queue, a, b, options)?;
        Ok(SpgemmPlan { any, types: PhantomData })
    }

    /// C = A B, with ascending columns, as [`AnySpgemmPlan::multiply_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn multiply_blocking(
        &mut self,
        queue: &Queue,
        a: &Matrix<V, O>,
        b: &Matrix<V, O>,
    ) -> Result<Matrix<V, O>> {
        self.any.multiply_blocking(queue, a, b).map(Matrix::wrap)
    }

    /// The row offsets of C on the device: rows + 1.
    pub fn offsets(&self) -> &DeviceArray<O> {
        DeviceArray::wrap_ref(self.any.offsets())
    }
}
