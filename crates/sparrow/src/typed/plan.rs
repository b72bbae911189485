//! Plans and products whose types the compiler knows.

use std::marker::PhantomData;
use std::ops::Deref;

use cl_runtime::spmv::{Stages, Workspace};
use cl_runtime::{DeviceArray, Event, Queue, Wait};
use csr_core::{Accumulator, Offset, PatternView, Value};

use super::Matrix;
use crate::{AnyCoefficient, AnyOperands, AnyPlan, PlanOptions, Result};

/// alpha or beta.
#[derive(Clone, Copy, Debug)]
pub enum Coefficient<'a, T> {
    /// By value.
    Value(T),
    /// The first element of an array on the device.
    Device(&'a DeviceArray<T>),
}

impl<T> From<T> for Coefficient<'_, T> {
    fn from(value: T) -> Self {
        Coefficient::Value(value)
    }
}

impl<'a, T> From<&'a DeviceArray<T>> for Coefficient<'a, T> {
    fn from(array: &'a DeviceArray<T>) -> Self {
        Coefficient::Device(array)
    }
}

impl<'a, T: Accumulator> From<Coefficient<'a, T>> for AnyCoefficient<'a> {
    fn from(coefficient: Coefficient<'a, T>) -> Self {
        match coefficient {
            Coefficient::Value(value) => AnyCoefficient::Value(value.number()),
            Coefficient::Device(array) => AnyCoefficient::Device(array),
        }
    }
}

/// The operands of y = alpha A x + beta y.
#[derive(Debug)]
pub struct Operands<'a, V: Value, O> {
    /// Scales A x; 0 is not special, so NaN in A or x reaches y.
    pub alpha: Coefficient<'a, V::Accum>,
    /// The matrix: the plan's, or one that shares its pattern.
    pub a: &'a Matrix<V, O>,
    /// The vector x: cols.
    pub x: &'a DeviceArray<V::Accum>,
    /// Scales y; with 0, y is never read.
    pub beta: Coefficient<'a, V::Accum>,
    /// The vector y: rows.
    pub y: &'a mut DeviceArray<V::Accum>,
}

impl<'a, V: Value, O> From<Operands<'a, V, O>> for AnyOperands<'a> {
    fn from(product: Operands<'a, V, O>) -> Self {
        let Operands { alpha, a, x, beta, y } = product;
        AnyOperands { alpha: alpha.into(), a, x, beta: beta.into(), y: y.as_any_mut() }
    }
}

/// An algorithm bound to the pattern of a matrix. Immutable, `Send + Sync`, good for any values.
///
/// What it is and costs, [`AnyPlan`] says.
#[derive(Debug)]
pub struct Plan<V, O = u32> {
    any: AnyPlan,
    types: PhantomData<fn() -> (V, O)>,
}

impl<V, O> Deref for Plan<V, O> {
    type Target = AnyPlan;

    fn deref(&self) -> &AnyPlan {
        &self.any
    }
}

impl<V: Value, O: Offset> Plan<V, O> {
    fn wrap(any: AnyPlan) -> Self {
        Plan { any, types: PhantomData }
    }

    /// As [`AnyPlan::new_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn new_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        options: &PlanOptions,
    ) -> Result<Self> {
        AnyPlan::new_blocking(queue, matrix, options).map(Self::wrap)
    }

    /// As [`AnyPlan::with_pattern_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn with_pattern_blocking(
        queue: &Queue,
        matrix: &Matrix<V, O>,
        pattern: PatternView<'_, O>,
        options: &PlanOptions,
    ) -> Result<Self> {
        AnyPlan::with_pattern_blocking(queue, matrix, pattern.into(), options).map(Self::wrap)
    }

    /// As [`AnyPlan::for_any_pattern`].
    ///
    /// # Errors
    /// As there.
    pub fn for_any_pattern(
        queue: &Queue,
        like: &Matrix<V, O>,
        options: &PlanOptions,
    ) -> Result<Self> {
        AnyPlan::for_any_pattern(queue, like, options).map(Self::wrap)
    }

    /// Enqueues y = alpha A x + beta y, as [`AnyPlan::launch`].
    ///
    /// # Errors
    /// As there.
    pub fn launch<W: Wait>(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: Operands<'_, V, O>,
        wait: W,
    ) -> Result<W::Event> {
        self.any.launch(queue, workspace, product.into(), wait)
    }

    /// Computes y = alpha A x + beta y and returns when it is there, as [`AnyPlan::launch_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn launch_blocking(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: Operands<'_, V, O>,
        wait: &[Event],
    ) -> Result<Stages> {
        self.any.launch_blocking(queue, workspace, product.into(), wait)
    }

    /// As [`Plan::launch_blocking`], and for [`Variant::Cpu`](crate::Variant::Cpu) too, as
    /// [`AnyPlan::launch_in_place_blocking`].
    ///
    /// # Safety
    /// As there.
    ///
    /// # Errors
    /// As there.
    #[expect(unsafe_code, reason = "commands in flight are not seen from here")]
    pub unsafe fn launch_in_place_blocking(
        &self,
        queue: &Queue,
        workspace: &mut Workspace,
        product: Operands<'_, V, O>,
        wait: &[Event],
    ) -> Result<Stages> {
        // SAFETY: the caller's promise.
        unsafe { self.any.launch_in_place_blocking(queue, workspace, product.into(), wait) }
    }

    /// Brings the plan's copy of the values up to date, as [`AnyPlan::update_values_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn update_values_blocking(&mut self, queue: &Queue, matrix: &Matrix<V, O>) -> Result<()> {
        self.any.update_values_blocking(queue, matrix)
    }
}
