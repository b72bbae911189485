//! Products of vectors in the host's memory: numpy's in, numpy's out.

use pyo3::prelude::*;
use sparrow::{AnyArray, AnyPlan, AnyProduct, Event, Number, Op, Queue};

use crate::call::Call;
use crate::errors::{Failure, Result, detached};
use crate::host_array::HostArray;
use crate::host_memory::{Access, is_shared, lend, see_blocking};
use crate::inner::{Inner, VectorPlan};
use crate::numpy;
use crate::pool::Slot;

/// Computes y = alpha A x + beta y on the device, and returns y when it is there.
///
/// # Errors
/// Operands that do not fit, or the driver's own failure.
pub(crate) fn vector<'py>(
    py: Python<'py>,
    inner: &Inner,
    plan: &VectorPlan,
    x: &Bound<'py, PyAny>,
    call: &Call<'py>,
) -> Result<Bound<'py, PyAny>> {
    let facts = inner.facts();
    let accumulator = facts.value_type.accumulator();
    let (alpha, beta) = call.numbers(facts.value_type)?;
    let x = HostArray::converted(x, "x", accumulator)?;
    let rows = match plan.op {
        Op::Normal => facts.rows,
        Op::Transpose => facts.cols,
    };
    let out = match &call.out {
        Some(out) => out.clone(),
        None => numpy::empty(py, &[rows], accumulator)?,
    };
    let y = HostArray::result(&out, "out", accumulator)?;
    if y.shape().len() != 1 {
        return Err(Failure::value(format!("out has the shape {:?}, and x one dimension", y.shape())));
    }
    if !y.is_plain() {
        return Err(Failure::value("the elements of out must lie side by side"));
    }
    let queue = call.named_queue(inner.home())?.unwrap_or_else(|| inner.home().queue().clone());
    let events = call.events()?;
    detached(py, || {
        inner.look(|matrix| {
            plan.pool.with_slot(&queue, matrix, |plan, slot| {
                let product = Product { queue: &queue, x: &x, y: &y, alpha, beta, events: &events };
                // SAFETY: the buffers pin both arrays until this returns, and x is plain as y is.
                unsafe { product.run_blocking(plan, slot, matrix) }
            })
        })
    })?;
    Ok(out)
}

struct Product<'a> {
    queue: &'a Queue,
    x: &'a HostArray,
    y: &'a HostArray,
    alpha: Number,
    beta: Number,
    events: &'a [Event],
}

impl Product<'_> {
    /// # Safety
    /// Both arrays are plain and stay where they are.
    unsafe fn run_blocking(
        &self,
        plan: &AnyPlan,
        slot: &mut Slot,
        matrix: &sparrow::AnyMatrix,
    ) -> Result<()> {
        let context = self.queue.context();
        let element = self.alpha.value_type().into();
        let (of_x, of_y) = (self.x.len(), self.y.len());
        if is_shared(context) {
            // SAFETY: the caller's promise, and all commands have ended when this returns.
            let (x, mut y) = unsafe {
                (
                    lend(context, self.x.address(), element, of_x, Access::Read)?,
                    lend(context, self.y.address(), element, of_y, Access::Write)?,
                )
            };
            self.launch_blocking(plan, slot, matrix, (&x, &mut y))?;
            // SAFETY: the array is this call's own.
            return unsafe { see_blocking(self.queue, &y) };
        }
        let fits = |(x, y): &(AnyArray, AnyArray)| x.len() == of_x && y.len() == of_y;
        let (mut x, mut y) = match slot.staged.take().filter(fits) {
            Some(staged) => staged,
            None => {
                let make = |len| AnyArray::allocate(context, element, len);
                (make(of_x)?, make(of_y)?)
            }
        };
        // SAFETY: the caller's promise.
        x.write_bytes_blocking(self.queue, unsafe { self.x.bytes() })?;
        if self.beta.to_f64() != 0.0 {
            // SAFETY: as above.
            y.write_bytes_blocking(self.queue, unsafe { self.y.bytes() })?;
        }
        self.launch_blocking(plan, slot, matrix, (&x, &mut y))?;
        // SAFETY: as above, and y is a result.
        y.read_bytes_blocking(self.queue, unsafe { self.y.bytes_mut() })?;
        slot.staged = Some((x, y));
        Ok(())
    }

    fn launch_blocking(
        &self,
        plan: &AnyPlan,
        slot: &mut Slot,
        a: &sparrow::AnyMatrix,
        (x, y): (&AnyArray, &mut AnyArray),
    ) -> Result<()> {
        let (alpha, beta) = (self.alpha.into(), self.beta.into());
        let product = AnyProduct { alpha, a, x, beta, y };
        // What follows waits for the queue, which is enough where that is in order.
        let without_event = self.queue.in_order().is_some() && self.events.is_empty();
        let wait = (!without_event).then_some(self.events);
        if let Some(event) = plan.launch(self.queue, &mut slot.workspace, product, wait)? {
            event.wait()?;
        }
        Ok(())
    }
}
