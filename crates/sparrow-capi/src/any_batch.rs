//! A batch whose types are known at run time only.

use std::fmt::Debug;
use std::sync::Arc;

use sparrow::{
    Batch, BatchCoefficient, BatchColumns, BatchOptions, BatchPlan, BatchProduct, Context,
    DeviceArray, Event, Offset, Problem, Queue, Value, Workspace,
};

use crate::buffer::array;
use crate::failure::Result;
use crate::types::ForTypes;
use crate::{sparrow_batch_scalar, sparrow_buffer};

/// A batch of some type.
pub(crate) trait AnyBatch: Debug + Send + Sync {
    /// The same patterns with the values of another buffer.
    ///
    /// # Safety
    /// The buffer is NULL or valid.
    unsafe fn with_values(&self, values: sparrow_buffer) -> Result<Box<dyn AnyBatch>>;

    /// A plan for it.
    fn plan_blocking(&self, queue: &Queue, options: &BatchOptions) -> Result<BatchPlan>;

    /// Enqueues the products.
    ///
    /// # Safety
    /// Buffers are NULL or valid.
    unsafe fn launch(&self, plan: &BatchPlan, launch: BatchLaunch<'_>) -> Result<Event>;

    /// As [`AnyBatch::launch`], after nothing (the list is empty) and without an event.
    ///
    /// # Safety
    /// As there.
    unsafe fn launch_unobserved(&self, plan: &BatchPlan, launch: BatchLaunch<'_>) -> Result<()>;
}

/// The products of one launch, as the application asks for them.
#[derive(Debug)]
pub(crate) struct BatchLaunch<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) workspace: &'a mut Workspace,
    pub(crate) alpha: sparrow_batch_scalar,
    pub(crate) x: sparrow_buffer,
    pub(crate) beta: sparrow_batch_scalar,
    pub(crate) y: sparrow_buffer,
    pub(crate) wait: &'a [Event],
}

/// alpha or beta before it is known whether the plan takes it so.
enum Scalar<T> {
    Value(T),
    One(DeviceArray<T>),
    Each(DeviceArray<T>),
}

impl<T: Value> Scalar<T> {
    /// # Safety
    /// The buffer is NULL or valid.
    unsafe fn new(
        context: &Context,
        scalar: sparrow_batch_scalar,
        problems: usize,
        name: &str,
    ) -> Result<Self> {
        let is_each = crate::pointer::flag(scalar.each, &format!("{name}.each"))?;
        if scalar.device.memory.is_null() && !is_each {
            return Ok(Scalar::Value(T::from_f64(scalar.value)));
        }
        let len = if is_each { problems } else { 1 };
        // SAFETY: the caller's promise.
        let array = unsafe { array(context, scalar.device, len, &format!("{name}.device"))? };
        Ok(if is_each { Scalar::Each(array) } else { Scalar::One(array) })
    }

    fn coefficient(&self) -> BatchCoefficient<'_, T> {
        match self {
            Scalar::Value(value) => BatchCoefficient::Value(*value),
            Scalar::One(array) => BatchCoefficient::One(array),
            Scalar::Each(array) => BatchCoefficient::Each(array),
        }
    }
}

impl<V: Value, O: Offset> AnyBatch for Batch<V, O> {
    unsafe fn with_values(&self, values: sparrow_buffer) -> Result<Box<dyn AnyBatch>> {
        let len = self.values().len();
        // SAFETY: the caller's promise.
        let values = unsafe { array::<V>(self.context(), values, len, "values")? };
        Ok(Box::new(Batch::with_values(self, values)?))
    }

    fn plan_blocking(&self, queue: &Queue, options: &BatchOptions) -> Result<BatchPlan> {
        Ok(BatchPlan::new_blocking(queue, self, options)?)
    }

    unsafe fn launch(&self, plan: &BatchPlan, launch: BatchLaunch<'_>) -> Result<Event> {
        // SAFETY: the caller's promise.
        unsafe {
            with_operands(self, launch, |queue, workspace, product, wait| {
                plan.launch(queue, workspace, product, wait)
            })
        }
    }

    unsafe fn launch_unobserved(&self, plan: &BatchPlan, launch: BatchLaunch<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            with_operands(self, launch, |queue, workspace, product, _wait| {
                plan.launch_unobserved(queue, workspace, product)
            })
        }
    }
}

/// Has `work` launch the products: the operands as arrays of the batch's types.
///
/// # Safety
/// Buffers are NULL or valid.
unsafe fn with_operands<V: Value, O: Offset, T>(
    batch: &Batch<V, O>,
    launch: BatchLaunch<'_>,
    work: impl FnOnce(&Queue, &mut Workspace, BatchProduct<'_, V, O>, &[Event]) -> sparrow::Result<T>,
) -> Result<T> {
    let BatchLaunch { queue, workspace, alpha, x, beta, y, wait } = launch;
    let (context, problems) = (queue.context(), batch.problems().len());
    // SAFETY: the caller's promise.
    let (x, mut y, alpha, beta) = unsafe {
        (
            array(context, x, batch.x_len(), "product->x")?,
            array(context, y, batch.y_len(), "product->y")?,
            Scalar::new(context, alpha, problems, "product->alpha")?,
            Scalar::new(context, beta, problems, "product->beta")?,
        )
    };
    let (alpha, beta) = (alpha.coefficient(), beta.coefficient());
    let product = BatchProduct { alpha, a: batch, x: &x, beta, y: &mut y };
    Ok(work(queue, workspace, product, wait)?)
}

/// A buffer, and how many elements of it there are.
pub(crate) type Part = (sparrow_buffer, usize);

/// Makes a batch over buffers of the application's, whose content is trusted.
pub(crate) struct OverBuffers<'a> {
    pub(crate) context: &'a Context,
    pub(crate) problems: Arc<[Problem]>,
    pub(crate) offsets: Part,
    pub(crate) indices: Part,
    pub(crate) columns: Part,
    pub(crate) has_short_columns: bool,
    pub(crate) values: Part,
}

impl ForTypes for OverBuffers<'_> {
    type Output = Result<Box<dyn AnyBatch>>;

    fn run<V: Value, O: Offset>(self) -> Self::Output {
        let OverBuffers { context, problems, offsets, indices, columns, values, .. } = self;
        // SAFETY: the buffers are valid, as whoever called promised, and so are the patterns.
        let batch = unsafe {
            let offsets = array::<O>(context, offsets.0, offsets.1, "buffers->offsets")?;
            let indices = array::<u32>(context, indices.0, indices.1, "buffers->indices")?;
            let (columns, len) = columns;
            let columns = if self.has_short_columns {
                BatchColumns::U16(array(context, columns, len, "buffers->columns")?)
            } else {
                BatchColumns::U32(array(context, columns, len, "buffers->columns")?)
            };
            let values = array::<V>(context, values.0, values.1, "buffers->values")?;
            Batch::from_arrays(context, problems, offsets, indices, columns, values)?
        };
        Ok(Box::new(batch))
    }
}
