//! Products of vectors in the host's memory: numpy's in, numpy's out.

use pyo3::prelude::*;
use sparrow::{AnyOperands, Op, counted};

use crate::call::Call;
use crate::errors::{Failure, Result, check_len, detached};
use crate::host_array::HostArray;
use crate::host_memory::{Span, through};
use crate::inner::{Inner, VectorPlan};
use crate::numpy;

/// Computes y = alpha A x + beta y on the device, and returns y when it is there.
///
/// # Errors
/// Operands that do not fit, or the driver's own failure.
pub(crate) fn vector<'py>(
    py: Python<'py>,
    inner: &Inner,
    plan: Option<&VectorPlan>,
    op: Op,
    x: &HostArray,
    call: &Call<'py>,
) -> Result<Bound<'py, PyAny>> {
    let facts = inner.facts();
    let accumulator = facts.value_type.accumulator();
    let (alpha, beta) = call.numbers(facts.value_type)?;
    let (rows, _) = facts.shape(op);
    let out = match &call.out {
        Some(out) => out.clone(),
        None => numpy::empty(py, &[rows], accumulator)?,
    };
    check_len("x", x.len(), facts.shape(op).1, "column")?;
    let y = HostArray::result(&out, "out", accumulator)?;
    if y.shape() != [rows] || !y.is_plain() {
        let text = format!(
            "out has the shape {:?}, and the result is {} side by side",
            y.shape(),
            counted(rows, "element")
        );
        return Err(Failure::value(text));
    }
    let queue = call.named_queue(inner.home())?;
    let queue = queue.as_ref().unwrap_or_else(|| inner.home().queue());
    let events = call.events()?;
    let span = |array, len| Span { array, element: accumulator.into(), len };
    detached(py, || {
        let own;
        let plan = match plan {
            Some(plan) => plan,
            None => {
                own = inner.vector_plan(queue, op)?;
                &own
            }
        };
        inner.look(|a| {
            plan.pool.with_slot(queue, a, |plan, slot| {
                let (workspace, staged) = (&mut slot.workspace, &mut slot.staged);
                let reads_y = beta.to_f64() != 0.0;
                // What follows waits for the queue, which is enough where that is in order.
                let wait = (queue.in_order().is_none() || !events.is_empty()).then_some(&*events);
                let launch = |x: &_, y: &mut _| {
                    let (alpha, beta) = (alpha.into(), beta.into());
                    Ok(plan.launch(queue, workspace, AnyOperands { alpha, a, x, beta, y }, wait)?)
                };
                let (x, y) = (span(x, x.len()), span(&y, y.len()));
                // SAFETY: the buffers pin both arrays until this returns, and both are plain.
                unsafe { through(queue, staged, &x, &y, reads_y, launch) }
            })
        })
    })?;
    Ok(out)
}
