//! Products with dense matrices: C = alpha A B + beta C, in whatever layout B and C are.

use pyo3::prelude::*;
use sparrow::{AnySpmmOperands, DenseOperands, Op, ValueType, counted};

use crate::call::Call;
use crate::cl_array::ClArray;
use crate::cl_empty::Order;
use crate::cl_product::{Ordered, check_kind, result};
use crate::dtype::{Kind, name};
use crate::errors::{Failure, Result, detached};
use crate::host_array::HostArray;
use crate::host_memory::{Span, is_shared, through};
use crate::inner::Inner;
use crate::numpy;

/// The type of B that a product takes: that in which sums are made, or beside float32 16 bits.
///
/// # Errors
/// Another one.
fn type_of_b(kind: Kind, of_a: ValueType) -> Result<ValueType> {
    match kind {
        Kind::Value(of_b) if of_b.accumulator() == of_a.accumulator() => Ok(of_b),
        other => {
            let sums = name(of_a.accumulator());
            Err(Failure::type_of(format!(
                "B is {other}, and must be {sums}, in which sums are made"
            )))
        }
    }
}

/// Refuses shapes that do not belong together, before anything is made for them.
///
/// # Errors
/// The first that does not fit.
pub(crate) fn check_shapes(
    (rows, cols): (usize, usize),
    b: &[usize],
    c: Option<&[usize]>,
) -> Result<()> {
    let &[of_b, columns] = b else {
        let text = format!("B has the shape {b:?}, and a product takes one or two dimensions");
        return Err(Failure::value(text));
    };
    if of_b != cols {
        let (of_b, cols) = (counted(of_b, "row"), counted(cols, "column"));
        return Err(Failure::value(format!("B has {of_b}, and A {cols}")));
    }
    match c {
        Some(c) if c != [rows, columns] => Err(Failure::value(format!(
            "out has the shape {c:?}, and the result ({rows}, {columns})"
        ))),
        _ => Ok(()),
    }
}

/// Computes C in the host's memory.
///
/// # Errors
/// Operands that do not fit, or the driver's own failure.
pub(crate) fn on_host<'py>(
    py: Python<'py>,
    inner: &Inner,
    op: Op,
    object: &Bound<'py, PyAny>,
    b: HostArray,
    call: &Call<'py>,
) -> Result<Bound<'py, PyAny>> {
    let facts = inner.facts();
    let accumulator = facts.value_type.accumulator();
    let (alpha, beta) = call.numbers(facts.value_type)?;
    let queue = call.named_queue(inner.home())?;
    let queue = queue.as_ref().unwrap_or_else(|| inner.home().queue());
    let is_shared = is_shared(queue.context());
    // Integers and narrower numbers become what sums are made in; layouts that no kernel reads, rows side by side.
    let is_taken = type_of_b(b.kind(), facts.value_type).is_ok();
    let has_layout = if is_shared { b.dense_shape().is_some() } else { b.is_plain() };
    let (b, b_type) = match is_taken && has_layout {
        true => {
            let b_type = type_of_b(b.kind(), facts.value_type)?;
            (b, b_type)
        }
        false if is_taken => {
            let b_type = type_of_b(b.kind(), facts.value_type)?;
            (HostArray::of(&numpy::contiguous(object, b_type)?, "B")?, b_type)
        }
        false => (HostArray::converted(object, "B", accumulator)?, accumulator),
    };
    let (rows, cols) = facts.shape(op);
    check_shapes((rows, cols), b.shape(), None)?;
    let columns = b.shape().get(1).copied().unwrap_or_default();
    let out = match &call.out {
        Some(out) => out.clone(),
        None => numpy::empty(py, &[rows, columns], accumulator)?,
    };
    let c = HostArray::result(&out, "out", accumulator)?;
    check_shapes((rows, cols), b.shape(), Some(c.shape()))?;
    if rows == 0 || columns == 0 {
        return Ok(out);
    }
    let lies = |array: &HostArray, what: &str| {
        array.dense_shape().filter(|_| is_shared || array.is_plain()).ok_or_else(|| {
            Failure::value(format!("{what} must have the elements of its rows side by side"))
        })
    };
    let operands = DenseOperands { b: lies(&b, "B")?, b_type, c: lies(&c, "out")? };
    let events = call.events()?;
    detached(py, || {
        let plan = inner.dense_plan(queue, op, operands)?;
        inner.look(|a| {
            plan.with_slot(queue, a, |plan, slot| {
                let (workspace, staged) = (&mut slot.workspace, &mut slot.staged);
                let reads_c = beta.to_f64() != 0.0;
                let wait = (queue.in_order().is_none() || !events.is_empty()).then_some(&*events);
                let launch = |b: &_, c: &mut _| {
                    let product =
                        AnySpmmOperands { alpha: alpha.into(), a, b, beta: beta.into(), c };
                    Ok(plan.launch(queue, workspace, product, wait)?)
                };
                let b = Span { array: &b, element: b_type.into(), len: operands.b.span() };
                let c = Span { array: &c, element: accumulator.into(), len: operands.c.span() };
                // SAFETY: the buffers pin both arrays until this returns; they are plain where memory is not shared.
                unsafe { through(queue, staged, &b, &c, reads_c, launch) }
            })
        })
    })?;
    Ok(out)
}

/// Enqueues C = alpha A B + beta C, and returns C, which has the event. Without `out`, C is row-major.
///
/// # Errors
/// Operands that do not fit, or the driver's own failure; nothing was enqueued then.
pub(crate) fn on_device<'py>(
    py: Python<'py>,
    inner: &Inner,
    op: Op,
    b: &ClArray<'py>,
    call: &Call<'py>,
) -> Result<Bound<'py, PyAny>> {
    let facts = inner.facts();
    let accumulator = facts.value_type.accumulator();
    let (alpha, beta) = call.numbers(facts.value_type)?;
    let (rows, cols) = facts.shape(op);
    check_shapes((rows, cols), &b.shape()?, None)?;
    let (b_type, b_shape) = (type_of_b(b.kind(), facts.value_type)?, b.dense_shape()?);
    let out = call.out.as_ref().map(result).transpose()?;
    let ordered = match &out {
        Some(out) => Ordered::of(inner.home(), call, &[b, out])?,
        None => Ordered::of(inner.home(), call, &[b])?,
    };
    let c = match out {
        Some(out) => out,
        None => ordered.new_array(
            inner.home(),
            b,
            (&[rows, b_shape.cols()], Order::Rows),
            accumulator,
        )?,
    };
    check_kind(&c, accumulator)?;
    check_shapes((rows, cols), &b.shape()?, Some(&c.shape()?))?;
    if rows == 0 || b_shape.cols() == 0 {
        return Ok(c.object().clone());
    }
    let operands = DenseOperands { b: b_shape, b_type, c: c.dense_shape()? };
    let of_b = b.borrowed(inner.home(), operands.b.span())?;
    let mut of_c = c.borrowed(inner.home(), operands.c.span())?;
    let (queue, events) = (&ordered.queue, &ordered.events);
    let event = detached(py, || {
        let plan = inner.dense_plan(queue, op, operands)?;
        inner.look(|a| {
            plan.with_slot(queue, a, |plan, slot| {
                let (alpha, beta) = (alpha.into(), beta.into());
                let product = AnySpmmOperands { alpha, a, b: &of_b, beta, c: &mut of_c };
                Ok(plan.launch(queue, &mut slot.workspace, product, events)?)
            })
        })
    })?;
    c.wait_for(&event)?;
    Ok(c.object().clone())
}
