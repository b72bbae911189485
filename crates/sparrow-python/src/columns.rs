//! C = alpha A B + beta C by a plan for vectors, column by column: for what products with dense matrices do not have,
//! compensated sums and algorithms by name.

use pyo3::intern;
use pyo3::prelude::*;
use sparrow::{
    AnyArray, AnyMatrix, AnyOperands, AnyPlan, DenseShape, Event, Layout, Number, Queue, Workspace,
    check_apart,
};

use crate::call::Call;
use crate::cl_array::ClArray;
use crate::cl_empty::Order;
use crate::cl_product::{Ordered, check_kind, result};
use crate::dense_product::check_shapes;
use crate::errors::{Failure, Result, detached};
use crate::host_array::HostArray;
use crate::host_memory::{Span, through};
use crate::inner::{Inner, VectorPlan};
use crate::numpy;
use crate::numpy_module;

/// alpha, B's shape, beta, C's shape.
type Scaled = (Number, DenseShape, Number, DenseShape);

/// Launches a product for each column; each comes after the one before. The event is the last one's, where there is one.
fn launch_columns(
    (plan, queue, workspace): (&AnyPlan, &Queue, &mut Workspace),
    a: &AnyMatrix,
    (alpha, b_shape, beta, c_shape): Scaled,
    (b, c): (&AnyArray, &AnyArray),
    wait: Option<&[Event]>,
) -> Result<Option<Event>> {
    let mut last: Option<Event> = None;
    for column in 0..b_shape.cols() {
        let (of_b, of_c) = (column * b_shape.leading(), column * c_shape.leading());
        let x = b.slice(of_b..of_b + b_shape.rows())?;
        let mut y = c.slice(of_c..of_c + c_shape.rows())?;
        let (alpha, beta) = (alpha.into(), beta.into());
        let product = AnyOperands { alpha, a, x: &x, beta, y: &mut y };
        let wait = last.as_ref().map_or(wait, |last| wait.map(|_| std::slice::from_ref(last)));
        last = plan.launch(queue, workspace, product, wait)?;
    }
    Ok(last)
}

/// Where columns lie one after another.
fn column_major(shape: Option<DenseShape>) -> Option<DenseShape> {
    let shape = shape?;
    match shape.layout() {
        Layout::ColumnMajor => Some(shape),
        // One row, and one column whose elements lie side by side, are both.
        Layout::RowMajor if shape.rows() <= 1 || shape.cols() <= 1 && shape.leading() <= 1 => {
            DenseShape::packed(shape.rows(), shape.cols(), Layout::ColumnMajor).ok()
        }
        Layout::RowMajor => None,
    }
}

/// Computes C in the host's memory; what is not column-major is copied so.
///
/// # Errors
/// Operands that do not fit, or the driver's own failure.
pub(crate) fn on_host<'py>(
    py: Python<'py>,
    inner: &Inner,
    plan: &VectorPlan,
    object: &Bound<'py, PyAny>,
    b: &HostArray,
    call: &Call<'py>,
) -> Result<Bound<'py, PyAny>> {
    let facts = inner.facts();
    let accumulator = facts.value_type.accumulator();
    let (alpha, beta) = call.numbers(facts.value_type)?;
    let (rows, cols) = facts.shape(plan.op);
    check_shapes((rows, cols), b.shape(), None)?;
    // Checks the type, and converts what can be.
    HostArray::converted(object, "B", accumulator)?;
    let by_columns = |array: &Bound<'py, PyAny>| -> Result<Bound<'py, PyAny>> {
        let wanted = crate::dtype::numpy_type(py, accumulator)?;
        Ok(numpy_module::module(py)?
            .call_method1(intern!(py, "asfortranarray"), (array, wanted))?)
    };
    let b = HostArray::of(&by_columns(object)?, "B")?;
    let columns = b.shape()[1];
    let out = match &call.out {
        Some(out) => out.clone(),
        None => by_columns(&numpy::empty(py, &[rows, columns], accumulator)?)?,
    };
    check_shapes(
        (rows, cols),
        b.shape(),
        Some(HostArray::result(&out, "out", accumulator)?.shape()),
    )?;
    if rows == 0 || columns == 0 {
        return Ok(out);
    }
    let of_c = by_columns(&out)?;
    let c = HostArray::result(&of_c, "out", accumulator)?;
    let (Some(b_shape), Some(c_shape)) =
        (column_major(b.dense_shape()), column_major(c.dense_shape()))
    else {
        return Err(Failure::value("B and out must be matrices"));
    };
    let queue = call.named_queue(inner.home())?;
    let queue = queue.as_ref().unwrap_or_else(|| inner.home().queue());
    let events = call.events()?;
    detached(py, || {
        inner.look(|a| {
            plan.pool.with_slot(queue, a, |plan, slot| {
                let (workspace, staged) = (&mut slot.workspace, &mut slot.staged);
                let wait = (queue.in_order().is_none() || !events.is_empty()).then_some(&*events);
                let launch = |b: &_, c: &mut _| {
                    let scaled = (alpha, b_shape, beta, c_shape);
                    launch_columns((plan, queue, workspace), a, scaled, (b, c), wait)
                };
                let reads_c = beta.to_f64() != 0.0;
                let b = Span { array: &b, element: accumulator.into(), len: b_shape.span() };
                let c = Span { array: &c, element: accumulator.into(), len: c_shape.span() };
                // SAFETY: the buffers pin both arrays until this returns, and their columns leave no gaps.
                unsafe { through(queue, staged, &b, &c, reads_c, launch) }
            })
        })
    })?;
    if !of_c.is(&out) {
        numpy_module::module(py)?.call_method1(intern!(py, "copyto"), (&out, of_c))?;
    }
    Ok(out)
}

/// Enqueues the products of all columns, and returns C, which has the event. What is row-major is copied on the device,
/// there and back.
///
/// # Errors
/// Operands that do not fit, or the driver's own failure.
pub(crate) fn on_device<'py>(
    py: Python<'py>,
    inner: &Inner,
    plan: &VectorPlan,
    b: &ClArray<'py>,
    call: &Call<'py>,
) -> Result<Bound<'py, PyAny>> {
    let (facts, home) = (inner.facts(), inner.home());
    let accumulator = facts.value_type.accumulator();
    let (alpha, beta) = call.numbers(facts.value_type)?;
    let (rows, cols) = facts.shape(plan.op);
    check_kind(b, accumulator)?;
    check_shapes((rows, cols), &b.shape()?, None)?;
    let b_shape = b.dense_shape()?;
    let out = call.out.as_ref().map(result).transpose()?;
    let ordered = match &out {
        Some(out) => Ordered::of(home, call, &[b, out])?,
        None => Ordered::of(home, call, &[b])?,
    };
    let c = match out {
        Some(out) => out,
        None => {
            let is_by_columns = column_major(Some(b_shape)).is_some();
            let order = if is_by_columns { Order::Columns } else { Order::Rows };
            ordered.new_array(home, b, (&[rows, b_shape.cols()], order), accumulator)?
        }
    };
    check_kind(&c, accumulator)?;
    check_shapes((rows, cols), &b.shape()?, Some(&c.shape()?))?;
    if rows == 0 || b_shape.cols() == 0 {
        return Ok(c.object().clone());
    }
    let c_shape = c.dense_shape()?;
    let of_b = b.borrowed(home, b_shape.span())?;
    let mut of_c = c.borrowed(home, c_shape.span())?;
    // Copies would hide it.
    check_apart(("out", &of_c), [("B", &of_b)])?;
    let queue = &ordered.queue;
    let event = detached(py, || {
        let relay =
            |from: (DenseShape, &AnyArray), to: (DenseShape, &mut AnyArray), wait: &[Event]| {
                plan.relayouts.launch((queue, home), accumulator, from, to, wait)
            };
        let empty = |shape: DenseShape| -> Result<(DenseShape, AnyArray)> {
            let packed = DenseShape::packed(shape.rows(), shape.cols(), Layout::ColumnMajor)?;
            Ok((packed, AnyArray::allocate(queue.context(), accumulator, packed.span())?))
        };
        let mut events = ordered.events.clone();
        let (from_b, from) = match column_major(Some(b_shape)) {
            Some(shape) => (shape, of_b),
            None => {
                let (shape, mut copy) = empty(b_shape)?;
                events = vec![relay((b_shape, &of_b), (shape, &mut copy), &events)?];
                (shape, copy)
            }
        };
        let launch = |to_c: DenseShape, to: &AnyArray, events: &[Event]| {
            inner.look(|a| {
                plan.pool.with_slot(queue, a, |plan, slot| {
                    let scaled = (alpha, from_b, beta, to_c);
                    let parts = (plan, queue, &mut slot.workspace);
                    launch_columns(parts, a, scaled, (&from, to), Some(events))
                })
            })
        };
        if let Some(shape) = column_major(Some(c_shape)) {
            return launch(shape, &of_c, &events);
        }
        let (shape, mut copy) = empty(c_shape)?;
        if beta.to_f64() != 0.0 {
            events = vec![relay((c_shape, &of_c), (shape, &mut copy), &events)?];
        }
        let done: Vec<Event> = launch(shape, &copy, &events)?.into_iter().collect();
        Ok(Some(relay((shape, &copy), (c_shape, &mut of_c), &done)?))
    })?;
    if let Some(event) = event {
        c.wait_for(&event)?;
    }
    Ok(c.object().clone())
}
