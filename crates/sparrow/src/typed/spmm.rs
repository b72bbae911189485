//! SpMM with types that the compiler knows.

use std::marker::PhantomData;
use std::ops::Deref;

use cl_runtime::spmm::DenseOperands;
use cl_runtime::spmv::Workspace;
use cl_runtime::{DeviceArray, Queue, Wait};
use csr_core::{DenseShape, Offset, Value};

use super::{Coefficient, Matrix};
use crate::{AnySpmmOperands, AnySpmmPlan, Result, SpmmOptions};

/// The operands of C = alpha A B + beta C. B stores `D`: the type sums are made in, or for sums in f32 16 bits.
#[derive(Debug)]
pub struct SpmmOperands<'a, V: Value, O, D: Value> {
    /// Scales A B; 0 is not special, so NaN in A or B reaches C.
    pub alpha: Coefficient<'a, V::Accum>,
    /// The matrix: the plan's, or one that shares its pattern.
    pub a: &'a Matrix<V, O>,
    /// B, at least as long as its shape spans.
    pub b: &'a DeviceArray<D>,
    /// Scales C; with 0, C is never read.
    pub beta: Coefficient<'a, V::Accum>,
    /// C, at least as long as its shape spans. What lies between its rows (columns) is left alone.
    pub c: &'a mut DeviceArray<V::Accum>,
}

impl<'a, V: Value, O, D: Value> From<SpmmOperands<'a, V, O, D>> for AnySpmmOperands<'a> {
    fn from(product: SpmmOperands<'a, V, O, D>) -> Self {
        let SpmmOperands { alpha, a, b, beta, c } = product;
        AnySpmmOperands { alpha: alpha.into(), a, b, beta: beta.into(), c: c.as_any_mut() }
    }
}

/// A way of multiplying bound to the pattern of a matrix and to the shapes of B and C. Immutable, `Send + Sync`, good
/// for any values.
///
/// What it is and costs, [`AnySpmmPlan`] says.
#[derive(Debug)]
pub struct SpmmPlan<V, O, D> {
    any: AnySpmmPlan,
    value: PhantomData<fn() -> V>,
    offset: PhantomData<fn() -> O>,
    dense: PhantomData<fn() -> D>,
}

impl<V, O, D> Deref for SpmmPlan<V, O, D> {
    type Target = AnySpmmPlan;

    fn deref(&self) -> &AnySpmmPlan {
        &self.any
    }
}

impl<V: Value, O: Offset, D: Value<Accum = V::Accum>> SpmmPlan<V, O, D> {
    /// Plans for a matrix on the device, and a B and C that lie as `b` and `c` say.
    ///
    /// # Errors
    /// Shapes that do not fit the matrix or each other, parameters that break a rule, a device that lacks the value
    /// type, a kernel that does not build.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        b: DenseShape,
        c: DenseShape,
        options: &SpmmOptions,
    ) -> Result<Self> {
        let dense = DenseOperands { b, b_type: D::TYPE, c };
        let any = AnySpmmPlan::new_blocking(queue, matrix, dense, options)?;
        Ok(SpmmPlan { any, value: PhantomData, offset: PhantomData, dense: PhantomData })
    }

    /// Enqueues C = alpha A B + beta C after the events in `wait`, as [`AnySpmmPlan::launch`].
    ///
    /// # Errors
    /// As there.
    pub fn launch<W: Wait>(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: SpmmOperands<'_, V, O, D>,
        wait: W,
    ) -> Result<W::Event> {
        self.any.launch(queue, workspace, product.into(), wait)
    }

    /// Brings the plan's transposed copy up to date, as [`AnySpmmPlan::update_values_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn update_values_blocking(&mut self, queue: &Queue, matrix: &Matrix<V, O>) -> Result<()> {
        self.any.update_values_blocking(queue, matrix)
    }
}
