//! Matrices from what Python has: scipy's, triples of arrays, files.

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sparrow::host::check_narrowing;
use sparrow::{AnyArray, AnyMatrix, AnyPatternView, ElementType, Offset, PatternView, ValueType};

use crate::cl_array::{self, ClArray};
use crate::dtype::{self, Kind};
use crate::errors::{Failure, Result, detached};
use crate::home::Home;
use crate::host_array::HostArray;
use crate::inner::Inner;
use crate::numpy;

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
            let text = format!("a tuple of {} is no matrix: (data, indices, indptr) is", triple.len());
            return Err(Failure::value(text));
        }
        let [data, indices, indptr] = [0, 1, 2].map(|index| triple.get_item(index));
        let (data, indices, indptr) = (data?, indices?, indptr?);
        if cl_array::is_array(&data)? {
            return on_device((&data, &indices, &indptr), wishes, device, queue);
        }
        let home = home(py, device, queue)?;
        return on_host(py, home, (&data, &indices, &indptr), wishes.shape, wishes.value_type);
    }
    let Some(to_rows) = object.getattr_opt(intern!(py, "tocsr"))? else {
        let found = object.get_type().name()?;
        return Err(Failure::type_of(format!(
            "{found} is no sparse matrix: give one of scipy's, or (data, indices, indptr) with shape="
        )));
    };
    let rows = to_rows.call0()?;
    let shape: (usize, usize) = rows.getattr(intern!(py, "shape"))?.extract()?;
    if let Some(asked) = wishes.shape.filter(|asked| *asked != shape) {
        return Err(Failure::value(format!("shape is {asked:?}, and the matrix is {shape:?}")));
    }
    let part = |name: &str| rows.getattr(name);
    let (data, indices, indptr) = (part("data")?, part("indices")?, part("indptr")?);
    let home = home(py, device, queue)?;
    on_host(py, home, (&data, &indices, &indptr), Some(shape), wishes.value_type)
}

type Triple<'a, 'py> = (&'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>);

/// The type that values of some kind are stored in where nobody has asked for one: their own, or float64.
fn stored(kind: Kind) -> ValueType {
    match kind {
        Kind::Value(value_type) => value_type,
        _ => ValueType::F64,
    }
}

/// From arrays in the host's memory, which are checked and copied.
fn on_host(
    py: Python<'_>,
    home: Arc<Home>,
    (data, indices, indptr): Triple<'_, '_>,
    shape: Option<(usize, usize)>,
    value_type: Option<ValueType>,
) -> Result<Arc<Inner>> {
    let (data, value_type) = values(data, value_type)?;
    let (indices, indptr) = (integers(indices, "indices")?, integers(indptr, "indptr")?);
    let (rows, cols) = dimensions(shape)?;
    if indptr.len() != rows + 1 {
        let text = format!("indptr has {} elements, and {rows} rows need {}", indptr.len(), rows + 1);
        return Err(Failure::value(text));
    }
    if data.len() != indices.len() {
        let (data, indices) = (data.len(), indices.len());
        return Err(Failure::value(format!("data has {data} elements, and indices {indices}")));
    }
    let made = detached(py, || {
        let columns = as_u32(&indices, "indices")?;
        let queue = home.queue();
        // SAFETY: they lie side by side, and nobody is to change what a matrix is made of meanwhile.
        let bytes = unsafe { data.bytes() };
        let upload = |pattern: AnyPatternView<'_>| {
            let values = AnyArray::upload_blocking(queue, value_type, bytes)?;
            Ok::<_, Failure>(AnyMatrix::from_pattern_blocking(queue, pattern, values)?)
        };
        if data.len() as u64 <= u32::MAX_NNZ {
            let offsets = as_u32(&indptr, "indptr")?;
            upload(PatternView::new(cols, &offsets, &columns)?.into())
        } else {
            let offsets = as_u64(&indptr, "indptr")?;
            upload(PatternView::new(cols, &offsets, &columns)?.into())
        }
    })?;
    Ok(Inner::new(home, made, Vec::new()))
}

/// Values of the type asked for, or their own, side by side.
///
/// # Errors
/// A finite value that the type does not hold.
pub(crate) fn values(
    data: &Bound<'_, PyAny>,
    value_type: Option<ValueType>,
) -> Result<(HostArray, ValueType)> {
    let found = HostArray::of(data, "data")?;
    let value_type = value_type.unwrap_or(stored(found.kind()));
    if found.kind() == Kind::Value(value_type) && found.is_plain() {
        return Ok((found, value_type));
    }
    if !found.kind().fits_in(value_type) {
        let wide = HostArray::of(&numpy::contiguous(data, ValueType::F64)?, "data")?;
        // SAFETY: the array is new.
        let wide: &[f64] = bytemuck::cast_slice(unsafe { wide.bytes() });
        check_narrowing(wide, value_type, |entry| format!("data[{entry}]"))?;
    }
    let made = numpy::contiguous(data, value_type)?;
    Ok((HostArray::of(&made, "data")?, value_type))
}

/// Integers side by side.
fn integers(object: &Bound<'_, PyAny>, what: &str) -> Result<HostArray> {
    let found = HostArray::of(object, what)?;
    match found.kind() {
        Kind::Signed(4 | 8) | Kind::Unsigned(4 | 8) if found.is_plain() => Ok(found),
        Kind::Signed(4 | 8) | Kind::Unsigned(4 | 8) => {
            HostArray::of(&numpy::side_by_side(object)?, what)
        }
        other => Err(Failure::type_of(format!(
            "{what} is {other}, and must be int32, int64, uint32 or uint64"
        ))),
    }
}

/// Rows and columns, which three arrays alone do not tell.
fn dimensions(shape: Option<(usize, usize)>) -> Result<(usize, usize)> {
    shape.ok_or_else(|| Failure::value("shape is None, and (data, indices, indptr) need one: shape=(rows, cols)"))
}

/// As 32-bit unsigned numbers: where they are so already, or are 32-bit signed and none negative, nothing is copied.
fn as_u32<'a>(array: &'a HostArray, what: &str) -> Result<Cow<'a, [u32]>> {
    // SAFETY: they lie side by side, and nobody is to change what a matrix is made of meanwhile.
    let bytes = unsafe { array.bytes() };
    let refuse = |(index, value): (usize, String)| {
        Failure::value(format!("{what}[{index}] is {value}, outside 0..={}", u32::MAX))
    };
    match array.kind() {
        Kind::Unsigned(4) => Ok(Cow::Borrowed(bytemuck::cast_slice(bytes))),
        Kind::Signed(4) => {
            let signed: &[i32] = bytemuck::cast_slice(bytes);
            match signed.iter().position(|value| *value < 0) {
                Some(index) => Err(refuse((index, signed[index].to_string()))),
                None => Ok(Cow::Borrowed(bytemuck::cast_slice(bytes))),
            }
        }
        Kind::Signed(8) => narrowed(bytemuck::cast_slice::<u8, i64>(bytes)).map_err(refuse),
        _ => narrowed(bytemuck::cast_slice::<u8, u64>(bytes)).map_err(refuse),
    }
}

fn narrowed<T: Copy + ToString + TryInto<u32>>(
    wide: &[T],
) -> Result<Cow<'static, [u32]>, (usize, String)> {
    let one = |(index, value): (usize, &T)| (*value).try_into().map_err(|_| (index, value.to_string()));
    wide.iter().enumerate().map(one).collect::<Result<Vec<_>, _>>().map(Cow::Owned)
}

/// As 64-bit unsigned numbers.
fn as_u64<'a>(array: &'a HostArray, what: &str) -> Result<Cow<'a, [u64]>> {
    // SAFETY: as above.
    let bytes = unsafe { array.bytes() };
    match array.kind() {
        Kind::Unsigned(8) => Ok(Cow::Borrowed(bytemuck::cast_slice(bytes))),
        Kind::Signed(8) => {
            let signed: &[i64] = bytemuck::cast_slice(bytes);
            match signed.iter().position(|value| *value < 0) {
                Some(index) => {
                    Err(Failure::value(format!("{what}[{index}] is {}, below 0", signed[index])))
                }
                None => Ok(Cow::Borrowed(bytemuck::cast_slice(bytes))),
            }
        }
        _ => Ok(Cow::Owned(as_u32(array, what)?.iter().map(|value| u64::from(*value)).collect())),
    }
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
            let text = format!("{what} is {found}, and data an array of pyopencl's: all three must be");
            return Err(Failure::type_of(text));
        }
    }
    let [data, indices, indptr] = arrays.map(|(array, what)| ClArray::of(array, what));
    let (data, indices, indptr) = (data?, indices?, indptr?);
    if device.is_some() {
        return Err(Failure::value("device was given, and arrays of pyopencl's are on one already"));
    }
    let Kind::Value(value_type) = data.kind() else {
        let kind = data.kind();
        return Err(Failure::type_of(format!("data is {kind}, and values are floating-point numbers")));
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
        return Err(Failure::type_of(format!("indices is {kind}, and must be int32 or uint32 on the device")));
    }
    if !matches!(indptr.element()?, ElementType::U32 | ElementType::U64) {
        return Err(Failure::type_of(format!("indptr is {}, and must be an integer type", indptr.kind())));
    }
    let (rows, cols) = dimensions(wishes.shape)?;
    let lengths = (data.vector_len()?, indices.vector_len()?, indptr.vector_len()?);
    if lengths.2 != rows + 1 {
        let text = format!("indptr has {} elements, and {rows} rows need {}", lengths.2, rows + 1);
        return Err(Failure::value(text));
    }
    let queue = match queue {
        Some(queue) => queue.clone(),
        None => data.queue()?.ok_or_else(|| Failure::value("data has no queue: name one by queue="))?,
    };
    let home = home(py, None, Some(&queue))?;
    let mut events = Vec::new();
    for array in [&data, &indices, &indptr] {
        cl_array::take_events(array.events()?.as_any(), "an array's events", &mut events)?;
    }
    // SAFETY: pyopencl says that it is a queue of its own, and `queue` holds it.
    let queue = unsafe { home.adopt_queue(cl_array::queue_handle(&queue)?)? };
    let context = queue.context();
    let kept = |array: &ClArray<'_>, len: usize| {
        let element = array.element()?;
        array.kept(len, || Ok(AnyArray::allocate(context, element, 0)?))
    };
    let (values, columns, offsets) =
        (kept(&data, lengths.0)?, kept(&indices, lengths.1)?, kept(&indptr, lengths.2)?);
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
