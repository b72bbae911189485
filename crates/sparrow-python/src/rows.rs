//! Compressed rows in the host's memory, as Python hands them over: types converted, then checked.

use std::borrow::Cow;

use pyo3::intern;
use pyo3::prelude::*;
use sparrow::host::check_narrowing;
use sparrow::{AnyPatternView, Offset, PatternView, ValueType, counted};

use crate::dtype::Kind;
use crate::errors::{Failure, Result};
use crate::host_array::{HostArray, elements};
use crate::numpy;
use crate::options::counts;

/// data, indices, indptr.
pub(crate) type Triple<'a, 'py> =
    (&'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>);

/// A matrix of arrays that are pinned.
pub(crate) struct Rows {
    data: HostArray,
    indices: HostArray,
    indptr: HostArray,
    pub(crate) shape: (usize, usize),
    pub(crate) value_type: ValueType,
}

impl Rows {
    /// Of an object that scipy knows to turn into compressed rows.
    ///
    /// # Errors
    /// One that it does not, or as [`Rows::of_arrays`].
    pub(crate) fn of_sparse(
        object: &Bound<'_, PyAny>,
        value_type: Option<ValueType>,
    ) -> Result<Self> {
        let py = object.py();
        let Some(to_rows) = object.getattr_opt(intern!(py, "tocsr"))? else {
            let found = object.get_type().name()?;
            return Err(Failure::type_of(format!(
                "{found} is no sparse matrix: give one of scipy's, or (data, indices, indptr) with shape="
            )));
        };
        let rows = to_rows.call0()?;
        let shape = counts(Some(rows.getattr(intern!(py, "shape"))?.extract()?))?;
        let part = |name: &str| rows.getattr(name);
        let (data, indices, indptr) = (part("data")?, part("indices")?, part("indptr")?);
        Self::of_arrays((&data, &indices, &indptr), shape, value_type)
    }

    /// Of three arrays.
    ///
    /// # Errors
    /// Arrays whose lengths do not belong together, or whose elements cannot be converted.
    pub(crate) fn of_arrays(
        (data, indices, indptr): Triple<'_, '_>,
        shape: Option<(usize, usize)>,
        value_type: Option<ValueType>,
    ) -> Result<Self> {
        let (data, value_type) = values(data, value_type)?;
        let rows = Self::of_values(data, value_type, (indices, indptr), shape)?;
        if rows.data.len() != rows.indices.len() {
            let (data, indices) = (counted(rows.data.len(), "element"), rows.indices.len());
            return Err(Failure::value(format!("data has {data}, and indices {indices}")));
        }
        Ok(rows)
    }

    /// As [`Rows::of_arrays`], of values that are ready, as many as anybody likes.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn of_values(
        data: HostArray,
        value_type: ValueType,
        (indices, indptr): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
        shape: Option<(usize, usize)>,
    ) -> Result<Self> {
        let (indices, indptr) = (integers(indices, "indices")?, integers(indptr, "indptr")?);
        let shape = dimensions(shape)?;
        check_offsets(indptr.len(), shape.0)?;
        Ok(Rows { data, indices, indptr, shape, value_type })
    }

    /// Stored entries of the pattern.
    pub(crate) fn nnz(&self) -> usize {
        self.indices.len()
    }

    /// The values as they lie in memory.
    pub(crate) fn value_bytes(&self) -> &[u8] {
        // SAFETY: they lie side by side, and nobody is to change what a matrix is made of meanwhile.
        unsafe { self.data.bytes() }
    }

    /// What `work` makes of the pattern, checked: with 32-bit offsets where they count far enough.
    ///
    /// # Errors
    /// A pattern that breaks a rule, by its first entry; those of `work`.
    pub(crate) fn with_pattern<T>(
        &self,
        work: impl FnOnce(AnyPatternView<'_>) -> Result<T>,
    ) -> Result<T> {
        let columns = as_u32(&self.indices, "indices")?;
        let cols = self.shape.1;
        if self.nnz() as u64 <= u32::MAX_NNZ {
            let offsets = as_u32(&self.indptr, "indptr")?;
            work(PatternView::new(cols, &offsets, &columns)?.into())
        } else {
            let offsets = as_u64(&self.indptr, "indptr")?;
            work(PatternView::new(cols, &offsets, &columns)?.into())
        }
    }
}

/// The type that values of some kind are stored in where nobody has asked for one: their own, or float64.
fn stored(kind: Kind) -> ValueType {
    match kind {
        Kind::Value(value_type) => value_type,
        _ => ValueType::F64,
    }
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
        // SAFETY: it lies side by side, and is a copy, or nobody is to change it.
        let wide: &[f64] = unsafe { wide.elements() };
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

/// Refuses row offsets that are not one more than rows.
///
/// # Errors
/// Another length.
pub(crate) fn check_offsets(found: usize, rows: usize) -> Result<()> {
    if found == rows + 1 {
        return Ok(());
    }
    let (found, of) = (counted(found, "element"), counted(rows, "row"));
    Err(Failure::value(format!("indptr has {found}, and {of} need {}", rows + 1)))
}

/// Rows and columns, which three arrays alone do not tell.
///
/// # Errors
/// None were given.
pub(crate) fn dimensions(shape: Option<(usize, usize)>) -> Result<(usize, usize)> {
    shape.ok_or_else(|| {
        Failure::value("shape is None, and (data, indices, indptr) need one: shape=(rows, cols)")
    })
}

/// As 32-bit unsigned numbers: where they are so already, or are 32-bit signed and none negative, nothing is copied.
fn as_u32<'a>(array: &'a HostArray, what: &str) -> Result<Cow<'a, [u32]>> {
    // SAFETY: they lie side by side, and nobody is to change what a matrix is made of meanwhile.
    let bytes = unsafe { array.bytes() };
    let refuse = |(index, value): (usize, String)| {
        Failure::value(format!("{what}[{index}] is {value}, outside 0..={}", u32::MAX))
    };
    match array.kind() {
        Kind::Unsigned(4) => Ok(Cow::Borrowed(elements(bytes))),
        Kind::Signed(4) => {
            let signed: &[i32] = elements(bytes);
            match signed.iter().position(|value| *value < 0) {
                Some(index) => Err(refuse((index, signed[index].to_string()))),
                None => Ok(Cow::Borrowed(elements(bytes))),
            }
        }
        Kind::Signed(8) => narrowed(elements::<i64>(bytes)).map_err(refuse),
        _ => narrowed(elements::<u64>(bytes)).map_err(refuse),
    }
}

fn narrowed<T: Copy + ToString + TryInto<u32>>(
    wide: &[T],
) -> Result<Cow<'static, [u32]>, (usize, String)> {
    let one =
        |(index, value): (usize, &T)| (*value).try_into().map_err(|_| (index, value.to_string()));
    wide.iter().enumerate().map(one).collect::<Result<Vec<_>, _>>().map(Cow::Owned)
}

/// As 64-bit unsigned numbers.
fn as_u64<'a>(array: &'a HostArray, what: &str) -> Result<Cow<'a, [u64]>> {
    // SAFETY: as above.
    let bytes = unsafe { array.bytes() };
    match array.kind() {
        Kind::Unsigned(8) => Ok(Cow::Borrowed(elements(bytes))),
        Kind::Signed(8) => {
            let signed: &[i64] = elements(bytes);
            match signed.iter().position(|value| *value < 0) {
                Some(index) => {
                    Err(Failure::value(format!("{what}[{index}] is {}, below 0", signed[index])))
                }
                None => Ok(Cow::Borrowed(elements(bytes))),
            }
        }
        _ => Ok(Cow::Owned(as_u32(array, what)?.iter().map(|value| u64::from(*value)).collect())),
    }
}
