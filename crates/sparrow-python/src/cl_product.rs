//! Products of vectors on the device: pyopencl's arrays in and out, in their queue, without a wait.

use pyo3::prelude::*;
use sparrow::{AnyOperands, Event, Op, Queue, ValueType};

use crate::call::Call;
use crate::cl_array::{self, ClArray, queue_handle, take_events};
use crate::cl_empty::Order;
use crate::dtype::{self, Kind};
use crate::errors::{Failure, Result, check_len, detached};
use crate::home::Home;
use crate::inner::{Inner, VectorPlan};

/// What a product with arrays on the device takes from its operands: the queue, and what to wait for.
pub(crate) struct Ordered<'py> {
    /// The queue as pyopencl has it.
    object: Bound<'py, PyAny>,
    pub(crate) queue: Queue,
    pub(crate) events: Vec<Event>,
}

impl<'py> Ordered<'py> {
    /// The queue that was named, or that of the first array that has one; and the events of all.
    ///
    /// # Errors
    /// A buffer that was released; no queue, or one of another context than the matrix.
    pub(crate) fn of(home: &Home, call: &Call<'py>, arrays: &[&ClArray<'py>]) -> Result<Self> {
        for array in arrays {
            array.check_alive(home)?;
        }
        let mut object = call.queue.clone();
        let mut events = call.events()?;
        for array in arrays {
            if object.is_none() {
                object = array.queue()?;
            }
            let list = array.events()?;
            if !list.is_empty() {
                take_events(list.as_any(), "an array's events", &mut events)?;
            }
        }
        let Some(object) = object else {
            let name = arrays.first().map_or("x", |array| array.what());
            return Err(Failure::value(format!("{name} has no queue: name one by queue=")));
        };
        // SAFETY: pyopencl says that it is a queue of its own, and `object` holds it.
        let queue = unsafe { home.adopt_queue(queue_handle(&object)?)? };
        if queue.in_order().is_some() {
            // Those of the same queue come before whatever is enqueued now.
            events.retain(|event| !is_of(event, &queue));
        }
        Ok(Ordered { object, queue, events })
    }

    /// A new array in that queue.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn new_array(
        &self,
        home: &Home,
        like: &ClArray<'py>,
        layout: (&[usize], Order),
        value_type: ValueType,
    ) -> Result<ClArray<'py>> {
        let made = home.templates().empty(like.object(), &self.object, layout, value_type)?;
        ClArray::of(&made, "out")
    }
}

/// Whether an event is one of a queue's commands.
fn is_of(event: &Event, queue: &Queue) -> bool {
    let parameter = opencl3::event::CL_EVENT_COMMAND_QUEUE;
    let its = opencl3::event::get_event_info(event.as_raw(), parameter);
    its.is_ok_and(|its| isize::from(its).cast_unsigned() == queue.as_raw().addr())
}

/// Refuses an array of another type than it must be of, by its name.
///
/// # Errors
/// Another type.
pub(crate) fn check_kind(array: &ClArray<'_>, wanted: ValueType) -> Result<()> {
    if array.kind() == Kind::Value(wanted) {
        return Ok(());
    }
    let (what, kind, wanted) = (array.what(), array.kind(), dtype::name(wanted));
    Err(Failure::type_of(format!("{what} is {kind}, and must be {wanted}, in which sums are made")))
}

/// Enqueues y = alpha A x + beta y, and returns y, which has the event.
///
/// # Errors
/// Operands that do not fit, or the driver's own failure; nothing was enqueued then.
pub(crate) fn vector<'py>(
    py: Python<'py>,
    inner: &Inner,
    plan: Option<&VectorPlan>,
    op: Op,
    x: &ClArray<'py>,
    call: &Call<'py>,
) -> Result<Bound<'py, PyAny>> {
    let facts = inner.facts();
    let accumulator = facts.value_type.accumulator();
    let (alpha, beta) = call.numbers(facts.value_type)?;
    check_kind(x, accumulator)?;
    let of_x = x.vector_len()?;
    let out = call.out.as_ref().map(result).transpose()?;
    let ordered = match &out {
        Some(out) => Ordered::of(inner.home(), call, &[x, out])?,
        None => Ordered::of(inner.home(), call, &[x])?,
    };
    let y = match out {
        Some(out) => out,
        None => {
            ordered.new_array(inner.home(), x, (&[facts.shape(op).0], Order::Rows), accumulator)?
        }
    };
    check_kind(&y, accumulator)?;
    let of_y = y.vector_len()?;
    let (rows, cols) = facts.shape(op);
    check_len("x", of_x, cols, "column")?;
    check_len("out", of_y, rows, "row")?;
    let home = inner.home();
    let (of_x, mut of_y) = (x.borrowed(home, of_x)?, y.borrowed(home, of_y)?);
    let (queue, events) = (&ordered.queue, &ordered.events);
    let event = detached(py, || {
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
                let (alpha, beta) = (alpha.into(), beta.into());
                let product = AnyOperands { alpha, a, x: &of_x, beta, y: &mut of_y };
                Ok(plan.launch(queue, &mut slot.workspace, product, events)?)
            })
        })
    })?;
    y.wait_for(&event)?;
    Ok(y.object().clone())
}

/// `out` as an array of pyopencl's.
///
/// # Errors
/// Another object.
pub(crate) fn result<'py>(out: &Bound<'py, PyAny>) -> Result<ClArray<'py>> {
    if !cl_array::is_array(out)? {
        let found = out.get_type().name()?;
        return Err(Failure::type_of(format!(
            "out is {found}, and the operand pyopencl's: both must be"
        )));
    }
    ClArray::of(out, "out")
}
