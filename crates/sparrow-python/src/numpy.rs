//! The few functions of numpy that are called, by their names: its C interface is not the stable one.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use sparrow::ValueType;

use crate::dtype::numpy_type;
use crate::errors::Result;
use crate::numpy_module::module;

/// A new array with undefined content.
///
/// # Errors
/// No memory.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[usize],
    value_type: ValueType,
) -> Result<Bound<'py, PyAny>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || -> Result<Py<PyAny>> { Ok(module(py)?.getattr("empty")?.unbind()) };
    let function = EMPTY.get_or_try_init(py, make)?.bind(py);
    let dtype = numpy_type(py, value_type)?;
    Ok(match shape {
        [rows] => function.call1((*rows, dtype))?,
        [rows, cols] => function.call1(((*rows, *cols), dtype))?,
        more => function.call1((more.to_vec(), dtype))?,
    })
}

/// The same elements side by side, row by row, as numbers of a type: a copy where they are not so already.
///
/// # Errors
/// What numpy does not take for an array.
pub(crate) fn contiguous<'py>(
    array: &Bound<'py, PyAny>,
    value_type: ValueType,
) -> Result<Bound<'py, PyAny>> {
    let py = array.py();
    let function = module(py)?.getattr(intern!(py, "ascontiguousarray"))?;
    Ok(function.call1((array, numpy_type(py, value_type)?))?)
}

/// The same elements side by side and each at a multiple of its size, of their own type.
///
/// # Errors
/// As [`contiguous`].
pub(crate) fn side_by_side<'py>(array: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    let py = array.py();
    Ok(module(py)?.call_method1(intern!(py, "require"), (array, py.None(), ["C", "A"]))?)
}
