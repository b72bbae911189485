//! New arrays of pyopencl's, for results.
//!
//! pyopencl takes ten microseconds to check what a new array is asked for, which is longer than a product takes to
//! enqueue, and one to make an array like another. So the first of each kind stays, without memory of its own.

use std::sync::{Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use sparrow::ValueType;

use crate::dtype::numpy_type;
use crate::errors::Result;

/// Kinds that are kept, at most.
const KEPT: usize = 16;

/// How the elements of an array lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row by row.
    Rows,
    /// Column by column.
    Columns,
}

/// What arrays are made like, of one context.
#[derive(Debug, Default)]
pub(crate) struct Templates(Mutex<Vec<Template>>);

#[derive(Debug)]
struct Template {
    shape: Vec<usize>,
    value_type: ValueType,
    order: Order,
    array: Py<PyAny>,
}

impl Templates {
    /// A new array in `queue`, with undefined content, of the allocator that `like` has.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn empty<'py>(
        &self,
        like: &Bound<'py, PyAny>,
        queue: &Bound<'py, PyAny>,
        (shape, order): (&[usize], Order),
        value_type: ValueType,
    ) -> Result<Bound<'py, PyAny>> {
        static EMPTY_LIKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = queue.py();
        let make = || -> Result<Py<PyAny>> {
            Ok(py.import("pyopencl.array")?.getattr("empty_like")?.unbind())
        };
        let function = EMPTY_LIKE.get_or_try_init(py, make)?.bind(py);
        let known = self.find(py, (shape, order), value_type);
        let template = match known {
            Some(known) => known,
            None => self.keep(queue, (shape, order), value_type)?,
        };
        let allocator = like.getattr(intern!(py, "allocator"))?;
        Ok(function.call1((template, queue, allocator))?)
    }

    fn find<'py>(
        &self,
        py: Python<'py>,
        (shape, order): (&[usize], Order),
        value_type: ValueType,
    ) -> Option<Bound<'py, PyAny>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |one: &&Template| {
            one.shape == shape && one.order == order && one.value_type == value_type
        };
        kept.iter().rev().find(is_it).map(|one| one.array.bind(py).clone())
    }

    fn keep<'py>(
        &self,
        queue: &Bound<'py, PyAny>,
        (shape, order): (&[usize], Order),
        value_type: ValueType,
    ) -> Result<Bound<'py, PyAny>> {
        let py = queue.py();
        let pyopencl = py.import("pyopencl")?;
        let context = queue.getattr(intern!(py, "context"))?;
        let flags = pyopencl.getattr("mem_flags")?.getattr("READ_WRITE")?;
        // Nobody looks at it.
        let memory = pyopencl.getattr("Buffer")?.call1((&context, flags, 1))?;
        let class = py.import("pyopencl.array")?.getattr("Array")?;
        let order_of = if order == Order::Rows { "C" } else { "F" };
        let of_shape = PyTuple::new(py, shape)?;
        let dtype = numpy_type(py, value_type)?;
        let array = class.call1((context, of_shape, dtype, order_of, py.None(), memory))?;
        let (shape, kept) = (shape.to_vec(), array.clone().unbind());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = (all.len() >= KEPT).then(|| all.remove(0));
        all.push(Template { shape, value_type, order, array: kept });
        drop(all);
        // What Python does with it is no business of whoever waits for the lock.
        drop(oldest);
        Ok(array)
    }
}
