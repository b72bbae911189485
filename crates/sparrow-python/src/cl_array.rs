//! pyopencl's arrays, queues and events: by their handles (`int_ptr`), shared, never made twice.
//!
//! pyopencl is never imported here. Somebody who hands over one of its objects has imported it.

use std::ptr::with_exposed_provenance_mut;

use opencl3::types::{cl_command_queue, cl_mem};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use sparrow::{AnyArray, DenseShape, ElementType, Event, counted};

use crate::dtype::{Kind, of_numpy};
use crate::errors::{Failure, Result};
use crate::home::Home;
use crate::host_array::dense_shape;
use crate::loader::imported;

/// An array of pyopencl's, looked at.
pub(crate) struct ClArray<'py> {
    object: Bound<'py, PyAny>,
    /// Where its elements lie; `None` for an array without memory, which has no elements.
    memory: Option<cl_mem>,
    byte_offset: usize,
    kind: Kind,
    what: &'static str,
}

/// Whether an object is an array of pyopencl's.
///
/// # Errors
/// Python's own.
pub(crate) fn is_array(object: &Bound<'_, PyAny>) -> Result<bool> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let known = match TYPE.get(py) {
        Some(known) => known.bind(py),
        None => match imported(py, "pyopencl.array")? {
            None => return Ok(false),
            Some(module) => {
                let class = module.getattr("Array")?.unbind();
                TYPE.get_or_init(py, || class).bind(py)
            }
        },
    };
    Ok(object.get_type().is(known) || object.is_instance(known)?)
}

/// The handle of an object of pyopencl's.
fn handle<T>(object: &Bound<'_, PyAny>, what: &str) -> Result<*mut T> {
    match object.getattr(intern!(object.py(), "int_ptr")) {
        Ok(number) => match number.extract::<usize>()? {
            0 => Err(Failure::value(format!("{what} has no handle: it was released"))),
            address => Ok(with_exposed_provenance_mut(address)),
        },
        Err(_) => {
            let found = object.get_type().name()?;
            Err(Failure::type_of(format!("{what} is {found}, and no object of pyopencl's")))
        }
    }
}

impl<'py> ClArray<'py> {
    /// Looks at an array; `what` names it in errors.
    ///
    /// # Errors
    /// Elements that no product takes, or memory that is no buffer.
    pub(crate) fn of(object: &Bound<'py, PyAny>, what: &'static str) -> Result<Self> {
        let py = object.py();
        let dtype = object.getattr(intern!(py, "dtype"))?;
        let Some(kind) = of_numpy(&dtype)? else {
            return Err(Failure::type_of(format!("{what} holds elements of {}", dtype.str()?)));
        };
        let base = object.getattr(intern!(py, "base_data"))?;
        let memory = match base.is_none() {
            true => None,
            false => Some(handle::<std::ffi::c_void>(&base, what).map_err(|failure| {
                // Asked afterwards: what is not there takes Python long to say.
                match base.hasattr(intern!(py, "svm_ptr")) {
                    Ok(true) => Failure::type_of(format!(
                        "{what} lies in shared virtual memory, and arrays are taken in buffers alone: leave the \
                         array's allocator out"
                    )),
                    _ => failure,
                }
            })?),
        };
        let byte_offset = object.getattr(intern!(py, "offset"))?.extract()?;
        Ok(ClArray { object: object.clone(), memory, byte_offset, kind, what })
    }

    pub(crate) fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The same under another name.
    pub(crate) fn named(self, what: &'static str) -> Self {
        ClArray { what, ..self }
    }

    /// How many there are.
    ///
    /// # Errors
    /// Python's own.
    pub(crate) fn dimensions(&self) -> Result<usize> {
        Ok(self.object.getattr(intern!(self.object.py(), "shape"))?.len()?)
    }

    pub(crate) fn what(&self) -> &'static str {
        self.what
    }

    pub(crate) fn shape(&self) -> Result<Vec<usize>> {
        Ok(self.object.getattr(intern!(self.object.py(), "shape"))?.extract()?)
    }

    fn strides(&self) -> Result<Vec<isize>> {
        Ok(self.object.getattr(intern!(self.object.py(), "strides"))?.extract()?)
    }

    /// The length of a vector whose elements lie side by side.
    ///
    /// # Errors
    /// Another number of dimensions, or elements that lie apart.
    pub(crate) fn vector_len(&self) -> Result<usize> {
        let shape = self.object.getattr(intern!(self.object.py(), "shape"))?;
        let Ok((len,)) = shape.extract::<(usize,)>() else {
            return Err(Failure::value(format!(
                "{} has the shape {shape}, and a vector has one dimension",
                self.what
            )));
        };
        let strides = self.object.getattr(intern!(self.object.py(), "strides"))?;
        let (stride,) = strides.extract::<(isize,)>()?;
        let bytes = self.element()?.size_bytes();
        if len > 1 && stride != bytes as isize {
            return Err(Failure::value(format!(
                "the elements of {} begin every {}, and must lie side by side ({bytes})",
                self.what,
                counted(stride, "byte")
            )));
        }
        Ok(len)
    }

    /// Refuses elements that do not lie side by side, row by row.
    ///
    /// # Errors
    /// Another layout.
    pub(crate) fn check_side_by_side(&self) -> Result<()> {
        let (shape, strides) = (self.shape()?, self.strides()?);
        let mut expected = self.element()?.size_bytes() as isize;
        for (&length, &stride) in shape.iter().zip(&strides).rev() {
            if length > 1 && stride != expected {
                return Err(Failure::value(format!(
                    "{} has strides of {strides:?} bytes, and its elements must lie side by side, row by row",
                    self.what
                )));
            }
            expected *= length as isize;
        }
        Ok(())
    }

    /// Where a matrix's elements lie.
    ///
    /// # Errors
    /// Another number of dimensions, or a layout that is neither row-major nor column-major.
    pub(crate) fn dense_shape(&self) -> Result<DenseShape> {
        let (shape, strides) = (self.shape()?, self.strides()?);
        dense_shape(&shape, &strides, self.element()?.size_bytes()).ok_or_else(|| {
            Failure::value(format!(
                "{} has the shape {shape:?} and strides of {strides:?} bytes, and a matrix has two dimensions, with the \
                 elements of a row or of a column side by side",
                self.what
            ))
        })
    }

    /// What the elements are.
    ///
    /// # Errors
    /// Elements that no product takes.
    pub(crate) fn element(&self) -> Result<ElementType> {
        match self.kind {
            Kind::Value(value_type) => Ok(value_type.into()),
            Kind::Signed(4) | Kind::Unsigned(4) => Ok(ElementType::U32),
            Kind::Signed(8) | Kind::Unsigned(8) => Ok(ElementType::U64),
            other => Err(Failure::type_of(format!("{} holds elements of {other}", self.what))),
        }
    }

    /// Refuses a buffer that was released: before anything is made that may take its place.
    ///
    /// # Errors
    /// It was.
    pub(crate) fn check_alive(&self, home: &Home) -> Result<()> {
        // SAFETY: pyopencl says that it is, or was, a buffer of its own.
        self.memory.map_or(Ok(()), |memory| unsafe { home.beginning().check(memory, self.what) })
    }

    /// `len` elements from the array's first on, for the length of a call; the object holds its memory meanwhile.
    ///
    /// # Errors
    /// Fewer elements, or a part of one.
    pub(crate) fn borrowed(&self, home: &Home, len: usize) -> Result<AnyArray> {
        let element = self.element()?;
        let Some(memory) = self.memory else {
            return Ok(AnyArray::allocate(home.context(), element, 0)?);
        };
        // SAFETY: pyopencl says that it is a buffer of its own, and the caller holds the object.
        let array = unsafe { AnyArray::borrow_raw(memory, element, self.byte_offset, len) };
        array.map_err(|error| Failure::value(format!("{}: {error}", self.what)))
    }

    /// As [`ClArray::borrowed`], with a reference of its own.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn kept(&self, home: &Home, len: usize) -> Result<AnyArray> {
        let element = self.element()?;
        let Some(memory) = self.memory else {
            return Ok(AnyArray::allocate(home.context(), element, 0)?);
        };
        // SAFETY: pyopencl says that it is a buffer of its own.
        let array = unsafe { AnyArray::from_raw(memory, element, self.byte_offset, len) };
        array.map_err(|error| Failure::value(format!("{}: {error}", self.what)))
    }

    /// The queue that the array goes by, if it has one.
    ///
    /// # Errors
    /// Python's own.
    pub(crate) fn queue(&self) -> Result<Option<Bound<'py, PyAny>>> {
        let queue = self.object.getattr(intern!(self.object.py(), "queue"))?;
        Ok((!queue.is_none()).then_some(queue))
    }

    /// The events that whoever uses the array has to wait for.
    ///
    /// # Errors
    /// Python's own.
    pub(crate) fn events(&self) -> Result<Bound<'py, PyList>> {
        let events = self.object.getattr(intern!(self.object.py(), "events"))?;
        Ok(events.cast_into::<PyList>().map_err(PyErr::from)?)
    }

    /// Has the array wait for `event` alone, which comes after all that it waited for before.
    ///
    /// # Errors
    /// Python's own.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<()> {
        let event = to_python(self.object.py(), event)?;
        let events = self.events()?;
        let one = PyList::new(self.object.py(), [event])?;
        Ok(events.set_slice(0, events.len(), one.as_any())?)
    }
}

/// The handle of a queue of pyopencl's.
///
/// # Errors
/// Another object, or a queue that was released.
pub(crate) fn queue_handle(queue: &Bound<'_, PyAny>) -> Result<cl_command_queue> {
    handle(queue, "queue")
}

/// The events of a list, as references of our own; `what` names the list.
///
/// # Errors
/// Something else in it.
pub(crate) fn take_events(
    list: &Bound<'_, PyAny>,
    what: &str,
    events: &mut Vec<Event>,
) -> Result<()> {
    for event in list.try_iter()? {
        let event = handle(&event?, &format!("an element of {what}"))?;
        // SAFETY: pyopencl says that it is an event of its own, and the list holds it.
        events.push(unsafe { Event::retain(event)? });
    }
    Ok(())
}

/// An event as pyopencl's, with a reference of its own.
///
/// # Errors
/// Python's own.
pub(crate) fn to_python<'py>(py: Python<'py>, event: &Event) -> Result<Bound<'py, PyAny>> {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || -> Result<Py<PyAny>> {
        let class = py.import("pyopencl")?.getattr("Event")?;
        Ok(class.getattr("from_int_ptr")?.unbind())
    };
    let function = MAKE.get_or_try_init(py, make)?.bind(py);
    Ok(function.call1((event.as_raw().expose_provenance(),))?)
}
