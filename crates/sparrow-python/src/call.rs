//! What comes with every product beside its operands: alpha, beta, out, queue, wait_for.

use pyo3::prelude::*;
use sparrow::host::check_narrowing;
use sparrow::{Event, Number, Queue, ValueType};

use crate::cl_array::{queue_handle, take_events};
use crate::errors::{Failure, Result};
use crate::home::Home;

/// The keyword arguments of a product.
#[derive(Clone)]
pub(crate) struct Call<'py> {
    pub(crate) out: Option<Bound<'py, PyAny>>,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) queue: Option<Bound<'py, PyAny>>,
    pub(crate) wait_for: Option<Bound<'py, PyAny>>,
}

impl<'py> Call<'py> {
    /// Of an operator, which has none.
    pub(crate) fn plain() -> Self {
        Call { out: None, alpha: 1.0, beta: 0.0, queue: None, wait_for: None }
    }

    /// Whether it says nothing that an operator does not.
    pub(crate) fn is_plain(&self) -> bool {
        let is_scaled = self.alpha != 1.0 || self.beta != 0.0;
        !is_scaled && self.out.is_none() && self.queue.is_none() && self.wait_for.is_none()
    }

    /// alpha and beta in the type that sums of `value_type` are made in.
    ///
    /// # Errors
    /// A finite number beyond the type; a beta without the result that it scales.
    pub(crate) fn numbers(&self, value_type: ValueType) -> Result<(Number, Number)> {
        if self.beta != 0.0 && self.out.is_none() {
            let text = format!("beta is {}, and scales what is in out, which is None", self.beta);
            return Err(Failure::value(text));
        }
        let number = |value: f64, name: &str| {
            check_narrowing(&[value], value_type.accumulator(), |_| name.to_owned())?;
            Ok::<_, Failure>(Number::of(value_type, value))
        };
        Ok((number(self.alpha, "alpha")?, number(self.beta, "beta")?))
    }

    /// The queue that was named, as one of the context of `home`.
    ///
    /// # Errors
    /// A queue of another context or device.
    pub(crate) fn named_queue(&self, home: &Home) -> Result<Option<Queue>> {
        let Some(queue) = &self.queue else { return Ok(None) };
        let handle = queue_handle(queue)?;
        // SAFETY: pyopencl says that it is a queue of its own, and the argument holds it.
        Ok(Some(unsafe { home.adopt_queue(handle)? }))
    }

    /// The events that were named.
    ///
    /// # Errors
    /// Something else in the list.
    pub(crate) fn events(&self) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        if let Some(list) = &self.wait_for {
            take_events(list, "wait_for", &mut events)?;
        }
        Ok(events)
    }
}
