//! Batches whose types the compiler knows.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use bytemuck::TransparentWrapper;
use cl_runtime::batched::{AnyBatch, BatchColumns, ColumnWidth};
use cl_runtime::{Context, DeviceArray, Error, Queue};
use csr_core::batch::{HostBatch, Problem};
use csr_core::{Accumulator, Offset, Value};

use crate::{AnyBatchCoefficient, AnyBatchOperands};

type Result<T> = std::result::Result<T, Error>;

/// Many small matrices in device memory.
///
/// Values can change; the patterns cannot. Plans belong to the patterns, which every batch made from another by
/// [`Batch::with_values`] shares.
#[derive(Debug, TransparentWrapper)]
#[repr(transparent)]
#[transparent(AnyBatch)]
pub struct Batch<V, O = u32> {
    any: AnyBatch,
    types: PhantomData<fn() -> (V, O)>,
}

impl<V, O> Deref for Batch<V, O> {
    type Target = AnyBatch;

    fn deref(&self) -> &AnyBatch {
        &self.any
    }
}

impl<V: Value> Batch<V> {
    /// Uploads a batch; returns when it is on the device.
    ///
    /// # Errors
    /// An array above the device's largest allocation, or the driver's own failure.
    pub fn upload_blocking(
        queue: &Queue,
        batch: &HostBatch<V>,
        width: ColumnWidth,
    ) -> Result<Self> {
        AnyBatch::upload_blocking(queue, batch.into(), width).map(Self::wrap)
    }
}

impl<V: Value, O: Offset> Batch<V, O> {
    /// Borrows a batch whose arrays the application already has on the device; nothing is copied. Where no problem
    /// needs one of the first two arrays, it may be empty.
    ///
    /// # Safety
    /// The arrays hold valid patterns at the offsets that `problems` name: row offsets that never fall and span
    /// `entries`, row indices below `rows` in order, columns below `cols` or padding.
    ///
    /// # Errors
    /// A problem that reaches beyond an array or into another's part, by its index; arrays of another context.
    #[expect(unsafe_code, reason = "trusts device memory")]
    pub unsafe fn from_arrays(
        context: &Context,
        problems: Arc<[Problem]>,
        offsets: DeviceArray<O>,
        indices: DeviceArray<u32>,
        columns: BatchColumns,
        values: DeviceArray<V>,
    ) -> Result<Self> {
        let (offsets, values) = (offsets.into_any(), values.into_any());
        // SAFETY: the caller's promise.
        let any =
            unsafe { AnyBatch::from_arrays(context, problems, offsets, indices, columns, values)? };
        Ok(Self::wrap(any))
    }

    /// A batch whose types are known at run time, as one of these types.
    ///
    /// # Errors
    /// Other types.
    pub fn from_any(any: AnyBatch) -> Result<Self> {
        check_types::<V, O>(&any)?;
        Ok(Self::wrap(any))
    }

    /// A batch whose types are known at run time, as one of these types.
    ///
    /// # Errors
    /// Other types.
    pub fn of(any: &AnyBatch) -> Result<&Self> {
        check_types::<V, O>(any)?;
        Ok(Self::wrap_ref(any))
    }

    /// The batch, with its types known at run time.
    pub fn as_any(&self) -> &AnyBatch {
        &self.any
    }

    /// The batch, with its types known at run time.
    pub fn into_any(self) -> AnyBatch {
        self.any
    }

    /// The same patterns with other values; every plan of this batch fits the new one.
    ///
    /// # Errors
    /// Not as many values, or values of another context.
    pub fn with_values(&self, values: DeviceArray<V>) -> Result<Self> {
        self.any.with_values(values.into_any()).map(Self::wrap)
    }

    /// Overwrites the values; returns when they are on the device.
    ///
    /// # Errors
    /// Not as many values, or the driver's own failure.
    pub fn write_values_blocking(&mut self, queue: &Queue, values: &[V]) -> Result<()> {
        self.any.write_values_blocking(queue, bytemuck::cast_slice(values))
    }

    /// Row offsets of problems in compressed rows.
    pub fn offsets(&self) -> &DeviceArray<O> {
        DeviceArray::wrap_ref(self.any.offsets())
    }

    /// Values.
    pub fn values(&self) -> &DeviceArray<V> {
        DeviceArray::wrap_ref(self.any.values())
    }
}

fn check_types<V: Value, O: Offset>(any: &AnyBatch) -> Result<()> {
    any.values().check_element("the array of values", V::TYPE)?;
    any.offsets().check_element("the array of row offsets", O::TYPE)
}

/// alpha or beta of a batch.
#[derive(Clone, Copy, Debug)]
pub enum BatchCoefficient<'a, T> {
    /// By value, for all problems.
    Value(T),
    /// The first element of an array on the device, for all problems.
    One(&'a DeviceArray<T>),
    /// An element for each problem, on the device.
    Each(&'a DeviceArray<T>),
}

impl<T> From<T> for BatchCoefficient<'_, T> {
    fn from(value: T) -> Self {
        BatchCoefficient::Value(value)
    }
}

impl<'a, T: Accumulator> From<BatchCoefficient<'a, T>> for AnyBatchCoefficient<'a> {
    fn from(coefficient: BatchCoefficient<'a, T>) -> Self {
        match coefficient {
            BatchCoefficient::Value(value) => AnyBatchCoefficient::Value(value.number()),
            BatchCoefficient::One(array) => AnyBatchCoefficient::One(array),
            BatchCoefficient::Each(array) => AnyBatchCoefficient::Each(array),
        }
    }
}

/// The operands of y = alpha A x + beta y, for every problem of a batch.
#[derive(Debug)]
pub struct BatchOperands<'a, V: Value, O> {
    /// Scales A x; 0 is not special, so NaN in A or x reaches y.
    pub alpha: BatchCoefficient<'a, V::Accum>,
    /// The batch: the plan's, or one that shares its patterns.
    pub a: &'a Batch<V, O>,
    /// The vectors x, each where its problem says.
    pub x: &'a DeviceArray<V::Accum>,
    /// Scales y; where it is 0, y is never read.
    pub beta: BatchCoefficient<'a, V::Accum>,
    /// The vectors y, each where its problem says; elements between them are left alone.
    pub y: &'a mut DeviceArray<V::Accum>,
}

impl<'a, V: Value, O> From<BatchOperands<'a, V, O>> for AnyBatchOperands<'a> {
    fn from(product: BatchOperands<'a, V, O>) -> Self {
        let BatchOperands { alpha, a, x, beta, y } = product;
        AnyBatchOperands { alpha: alpha.into(), a, x, beta: beta.into(), y: y.as_any_mut() }
    }
}
