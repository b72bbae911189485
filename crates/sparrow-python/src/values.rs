//! A matrix's values, written and read back.

use std::sync::Arc;

use pyo3::prelude::*;
use sparrow::{AnyArray, ElementType};

use crate::dtype;
use crate::errors::{Result, detached};
use crate::inner::Inner;
use crate::numpy_module;
use crate::rows::values;

/// Overwrites the values by those of an array of numpy's.
///
/// # Errors
/// Another number of them, values that the type does not hold, or the driver's own failure.
pub(crate) fn update(py: Python<'_>, inner: &Arc<Inner>, data: &Bound<'_, PyAny>) -> Result<()> {
    let (data, _) = values(data, Some(inner.facts().value_type))?;
    detached(py, || {
        inner.change(|matrix| {
            let queue = inner.home().queue();
            // SAFETY: they lie side by side, and nobody is to change what is being read.
            Ok(matrix.write_values_blocking(queue, unsafe { data.bytes() })?)
        })
    })
}

/// The matrix as scipy's.
///
/// # Errors
/// No scipy, or the driver's own failure.
pub(crate) fn to_scipy<'py>(py: Python<'py>, inner: &Arc<Inner>) -> Result<Bound<'py, PyAny>> {
    let facts = inner.facts();
    let bytes = detached(py, || {
        inner.look(|matrix| {
            let read = |array: &AnyArray| {
                let mut bytes = vec![0; array.size_bytes()];
                array.read_bytes_blocking(inner.home().queue(), &mut bytes)?;
                Ok::<_, crate::errors::Failure>((array.element(), bytes))
            };
            Ok([read(matrix.values())?, read(matrix.columns())?, read(matrix.offsets())?])
        })
    })?;
    let [data, indices, indptr] = bytes.map(|(element, bytes)| array(py, element, &bytes));
    let (data, indices, indptr) = (data?, indices?, indptr?);
    let data = match facts.value_type.size_bytes() {
        2 => data.call_method1("astype", ("float32",))?,
        _ => data,
    };
    let class = py.import("scipy.sparse")?.getattr("csr_array")?;
    let keywords = pyo3::types::PyDict::new(py);
    keywords.set_item("shape", (facts.rows, facts.cols))?;
    Ok(class.call(((data, indices, indptr),), Some(&keywords))?)
}

/// Elements as an array of numpy's; indices as signed ones, as scipy has them.
fn array<'py>(py: Python<'py>, element: ElementType, bytes: &[u8]) -> Result<Bound<'py, PyAny>> {
    let numpy = numpy_module::module(py)?;
    let dtype = match element {
        ElementType::Value(value_type) => dtype::numpy_type(py, value_type)?.clone(),
        ElementType::U64 => numpy.getattr("int64")?,
        _ => numpy.getattr("int32")?,
    };
    let bytes = pyo3::types::PyByteArray::new(py, bytes);
    Ok(numpy.call_method1("frombuffer", (bytes, dtype))?)
}
