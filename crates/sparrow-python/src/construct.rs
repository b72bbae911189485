//! Matrices from what Python has: scipy's, triples of arrays, files.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sparrow::{AnyArray, AnyMatrix, ElementType, ValueType};

use crate::cl_array::{self, ClArray};
use crate::dtype::{self, Kind};
use crate::errors::{Failure, Result, detached};
use crate::home::Home;
use crate::inner::Inner;
use crate::rows::{Rows, Triple, check_offsets, dimensions};

/// What a matrix is made of, besides its arrays.
pub(crate) struct Wishes {
    pub(crate) shape: Option<(usize, usize)>,
    pub(crate) value_type: Option<ValueType>,
    /// Whether a pattern that lies on the device is checked.
    pub(crate) check: bool,
}

/// The device that `device` names, or the context of `queue`; not both.
///
/// # Errors
/// Both; no such device.
pub(crate) fn home(
    py: Python<'_>,
    device: Option<&str>,
    queue: Option<&Bound<'_, PyAny>>,
) -> Result<Arc<Home>> {
    match (device, queue) {
        (Some(_), Some(_)) => {
            Err(Failure::value("device and queue were both given: the queue's device is used"))
        }
        (device, None) => Home::of_device(py, device),
        (None, Some(queue)) => {
            let handle = cl_array::queue_handle(queue)?;
            // SAFETY: pyopencl says that it is a queue of its own, and the argument holds it.
            unsafe { Home::of_queue(py, handle) }
        }
    }
}

/// A matrix of any object that holds one.
///
/// # Errors
/// No matrix, a pattern that is none, values that the type does not hold, or the driver's own failure.
pub(crate) fn matrix(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    wishes: &Wishes,
    device: Option<&str>,
    queue: Option<&Bound<'_, PyAny>>,
) -> Result<Arc<Inner>> {
    if let Ok(triple) = object.cast::<PyTuple>() {
        if triple.len() != 3 {
            let text =
                format!("a tuple of {} is no matrix: (data, indices, indptr) is", triple.len());
            return Err(Failure::value(text));
        }
        let [data, indices, indptr] = [0, 1, 2].map(|index| triple.get_item(index));
        let (data, indices, indptr) = (data?, indices?, indptr?);
        if cl_array::is_array(&data)? {
            return on_device((&data, &indices, &indptr), wishes, device, queue);
        }
        let rows = Rows::of_arrays((&data, &indices, &indptr), wishes.shape, wishes.value_type)?;
        return on_host(py, home(py, device, queue)?, &rows);
    }
    let rows = Rows::of_sparse(object, wishes.value_type)?;
    if let Some(asked) = wishes.shape.filter(|asked| *asked != rows.shape) {
        return Err(Failure::value(format!(
            "shape is {asked:?}, and the matrix is {:?}",
            rows.shape
        )));
    }
    on_host(py, home(py, device, queue)?, &rows)
}

/// From arrays in the host's memory, which are checked and copied.
fn on_host(py: Python<'_>, home: Arc<Home>, rows: &Rows) -> Result<Arc<Inner>> {
    let made = detached(py, || {
        let queue = home.queue();
        rows.with_pattern(|pattern| {
            let values = AnyArray::upload_blocking(queue, rows.value_type, rows.value_bytes())?;
            Ok(AnyMatrix::from_pattern_blocking(queue, pattern, values)?)
        })
    })?;
    Ok(Inner::new(home, made, Vec::new()))
}

/// From pyopencl's arrays, which are kept and not copied.
fn on_device(
    (data, indices, indptr): Triple<'_, '_>,
    wishes: &Wishes,
    device: Option<&str>,
    queue: Option<&Bound<'_, PyAny>>,
) -> Result<Arc<Inner>> {
    let py = data.py();
    let arrays = [(data, "data"), (indices, "indices"), (indptr, "indptr")];
    for (array, what) in arrays {
        if !cl_array::is_array(array)? {
            let found = array.get_type().name()?;
            let text =
                format!("{what} is {found}, and data an array of pyopencl's: all three must be");
            return Err(Failure::type_of(text));
        }
    }
    let [data, indices, indptr] = arrays.map(|(array, what)| ClArray::of(array, what));
    let (data, indices, indptr) = (data?, indices?, indptr?);
    if device.is_some() {
        return Err(Failure::value(
            "device was given, and arrays of pyopencl's are on one already",
        ));
    }
    let Kind::Value(value_type) = data.kind() else {
        let kind = data.kind();
        return Err(Failure::type_of(format!(
            "data is {kind}, and values are floating-point numbers"
        )));
    };
    if let Some(asked) = wishes.value_type.filter(|asked| *asked != value_type) {
        return Err(Failure::type_of(format!(
            "dtype is {}, and data on the device is {}, which stays as it is",
            dtype::name(asked),
            dtype::name(value_type)
        )));
    }
    if indices.element()? != ElementType::U32 {
        let kind = indices.kind();
        return Err(Failure::type_of(format!(
            "indices is {kind}, and must be int32 or uint32 on the device"
        )));
    }
    if !matches!(indptr.element()?, ElementType::U32 | ElementType::U64) {
        return Err(Failure::type_of(format!(
            "indptr is {}, and must be an integer type",
            indptr.kind()
        )));
    }
    let (rows, cols) = dimensions(wishes.shape)?;
    let lengths = (data.vector_len()?, indices.vector_len()?, indptr.vector_len()?);
    check_offsets(lengths.2, rows)?;
    let queue = match queue {
        Some(queue) => queue.clone(),
        None => {
            data.queue()?.ok_or_else(|| Failure::value("data has no queue: name one by queue="))?
        }
    };
    let home = home(py, None, Some(&queue))?;
    let mut events = Vec::new();
    for array in [&data, &indices, &indptr] {
        array.check_alive(&home)?;
        cl_array::take_events(array.events()?.as_any(), "an array's events", &mut events)?;
    }
    // SAFETY: pyopencl says that it is a queue of its own, and `queue` holds it.
    let queue = unsafe { home.adopt_queue(cl_array::queue_handle(&queue)?)? };
    let values = data.kept(&home, lengths.0)?;
    let columns = indices.kept(&home, lengths.1)?;
    let offsets = indptr.kept(&home, lengths.2)?;
    let made = detached(py, || {
        for event in &events {
            event.wait()?;
        }
        // SAFETY: what the pattern must be is checked below, before anything else reads it, unless the caller of
        // Python's has said that it need not be.
        let matrix =
            unsafe { AnyMatrix::from_arrays_blocking(&queue, cols, offsets, columns, values)? };
        if wishes.check {
            matrix.check_blocking(&queue)?;
        }
        Ok(matrix)
    })?;
    let arrays = [data, indices, indptr].map(|array| array.object().clone().unbind());
    Ok(Inner::new(home, made, arrays.into()))
}

/// Reads a matrix from a Matrix Market file.
///
/// # Errors
/// A file that is none, values that the type does not hold, or the driver's own failure.
pub(crate) fn read(
    py: Python<'_>,
    path: &std::path::Path,
    value_type: ValueType,
    device: Option<&str>,
    queue: Option<&Bound<'_, PyAny>>,
) -> Result<Arc<Inner>> {
    let home = home(py, device, queue)?;
    let made = detached(py, || {
        let matrix = sparrow::host::io::read_matrix_market_csr::<f64, u64>(path)?;
        let matrix = sparrow::host::AnyCsr::compact(matrix);
        let queue = home.queue();
        Ok(matrix.with_value_type(value_type, |view| AnyMatrix::upload_blocking(queue, view))??)
    })?;
    Ok(Inner::new(home, made, Vec::new()))
}
