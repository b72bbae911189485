//! Arrays in the host's memory, by the buffer protocol: numpy's, and any other object that has one.
//!
//! A buffer pins its memory while it is held, so the interpreter may go on meanwhile. Of the ways to numpy's arrays this
//! is the one that needs no second binding: it is in the stable ABI from Python 3.11 on, and numpy's own C interface is
//! not. What it cannot show (bfloat16) comes as the 16-bit integers of the same bytes.

use bytemuck::Pod;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::intern;
use pyo3::prelude::*;
use sparrow::{DenseShape, Layout, ValueType};

use crate::dtype::{Kind, name};
use crate::errors::{Failure, Result};
use crate::numpy;
use crate::numpy_module;

/// An array's memory, held.
pub(crate) struct HostArray {
    buffer: PyUntypedBuffer,
    kind: Kind,
}

impl HostArray {
    /// The memory of an object; `what` names it in errors.
    ///
    /// # Errors
    /// No array, or one of elements that no product takes.
    pub(crate) fn of(object: &Bound<'_, PyAny>, what: &str) -> Result<Self> {
        let py = object.py();
        let refuse = |found: &str| {
            Failure::type_of(format!(
                "{what} holds elements of {found}, and products take float16, bfloat16, float32, float64 and integers"
            ))
        };
        match PyUntypedBuffer::get(object) {
            Ok(buffer) => match Kind::of_format(buffer.format(), buffer.item_size()) {
                Some(kind) => Ok(HostArray { buffer, kind }),
                None => {
                    let format = buffer.format().to_string_lossy().into_owned();
                    let dtype = object.getattr(intern!(py, "dtype"));
                    let found = dtype.and_then(|one| one.str()).map(|one| one.to_string());
                    Err(refuse(found.as_deref().unwrap_or(&format)))
                }
            },
            Err(no_buffer) => {
                let is_bfloat16 = match object.getattr_opt(intern!(py, "dtype"))? {
                    Some(dtype) => dtype.str()? == name(ValueType::Bf16),
                    None => false,
                };
                if is_bfloat16 {
                    let bits = object.call_method1(intern!(py, "view"), ("uint16",))?;
                    let buffer = PyUntypedBuffer::get(&bits)?;
                    return Ok(HostArray { buffer, kind: Kind::Value(ValueType::Bf16) });
                }
                let is_sequence = object.hasattr(intern!(py, "__len__"))?
                    || object.hasattr(intern!(py, "__array__"))?;
                if !is_sequence || object.hasattr(intern!(py, "dtype"))? {
                    let found = object.get_type().name()?;
                    let text = format!("{what} is no array of numbers, but {found}: {no_buffer}");
                    return Err(Failure::type_of(text));
                }
                let made = numpy_module::module(py)?.call_method1("asarray", (object,))?;
                let Ok(buffer) = PyUntypedBuffer::get(&made) else {
                    return Err(refuse(&made.getattr(intern!(py, "dtype"))?.str()?.to_string()));
                };
                match Kind::of_format(buffer.format(), buffer.item_size()) {
                    Some(kind) => Ok(HostArray { buffer, kind }),
                    None => Err(refuse(&buffer.format().to_string_lossy())),
                }
            }
        }
    }

    /// As [`HostArray::of`], with elements of a type: they are converted where nothing is lost by it, and laid side by
    /// side where they are not.
    ///
    /// # Errors
    /// Elements that the type cannot hold all of.
    pub(crate) fn converted(
        object: &Bound<'_, PyAny>,
        what: &str,
        value_type: ValueType,
    ) -> Result<Self> {
        let found = Self::of(object, what)?;
        if found.kind == Kind::Value(value_type) && found.is_plain() {
            return Ok(found);
        }
        if !found.kind.fits_in(value_type) {
            let (kind, wanted) = (found.kind, name(value_type));
            return Err(Failure::type_of(format!(
                "{what} is {kind}, and sums are made in {wanted}: {what}.astype(\"{wanted}\") rounds it"
            )));
        }
        Self::of(&numpy::contiguous(object, value_type)?, what)
    }

    /// For a result: nothing is converted or copied.
    ///
    /// # Errors
    /// Elements of another type, memory that cannot be written, elements that do not lie side by side.
    pub(crate) fn result(
        object: &Bound<'_, PyAny>,
        what: &str,
        value_type: ValueType,
    ) -> Result<Self> {
        if object.getattr_opt(intern!(object.py(), "dtype"))?.is_none()
            && PyUntypedBuffer::get(object).is_err()
        {
            let found = object.get_type().name()?;
            return Err(Failure::type_of(format!("{what} is {found}, and no array to write to")));
        }
        let found = Self::of(object, what)?;
        if found.kind != Kind::Value(value_type) {
            let (kind, wanted) = (found.kind, name(value_type));
            return Err(Failure::type_of(format!("{what} is {kind}, and the result is {wanted}")));
        }
        if found.buffer.readonly() {
            return Err(Failure::value(format!("{what} cannot be written: it is read-only")));
        }
        if !found.is_aligned() {
            return Err(Failure::value(format!(
                "{what} begins at an address that is no multiple of its elements"
            )));
        }
        Ok(found)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The type of its values.
    ///
    /// # Errors
    /// Integers.
    pub(crate) fn value_type(&self) -> Result<ValueType> {
        match self.kind {
            Kind::Value(value_type) => Ok(value_type),
            other => Err(Failure::type_of(format!("an operand is {other}, and must hold values"))),
        }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        self.buffer.shape()
    }

    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.buffer.item_count()
    }

    /// Whether elements lie side by side, row by row, where the processor can load them.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_aligned() && self.buffer.is_c_contiguous()
    }

    fn is_aligned(&self) -> bool {
        self.buffer.buf_ptr().addr().is_multiple_of(self.buffer.item_size())
    }

    /// Where a matrix's elements lie, and how many there are from the first to the last; `None` where neither rows nor
    /// columns have their elements side by side, or one runs into the next.
    pub(crate) fn dense_shape(&self) -> Option<DenseShape> {
        if !self.is_aligned() {
            return None;
        }
        dense_shape(self.shape(), self.buffer.strides(), self.buffer.item_size())
    }

    /// The address of the first element. What lies there is pinned while this lives, and may be changed by other threads
    /// of the interpreter: it is read as memory that a device reads, never as a slice, unless by [`HostArray::bytes`].
    pub(crate) fn address(&self) -> *mut std::ffi::c_void {
        self.buffer.buf_ptr()
    }

    /// Bytes of all elements.
    pub(crate) fn size_bytes(&self) -> usize {
        self.buffer.len_bytes()
    }

    /// The elements as they lie in memory.
    ///
    /// # Safety
    /// They lie side by side ([`HostArray::is_plain`]), and nobody writes them while the slice lives.
    pub(crate) unsafe fn bytes(&self) -> &[u8] {
        if self.size_bytes() == 0 {
            return &[];
        }
        // SAFETY: the buffer holds so many bytes from there on, pinned; the rest is the caller's promise.
        unsafe { std::slice::from_raw_parts(self.address().cast(), self.size_bytes()) }
    }

    /// The elements as numbers of `T`, whose size they have.
    ///
    /// # Safety
    /// As [`HostArray::bytes`].
    pub(crate) unsafe fn elements<T: Pod>(&self) -> &[T] {
        // SAFETY: the caller's promise.
        elements(unsafe { self.bytes() })
    }

    /// As [`HostArray::bytes`], to be written.
    ///
    /// # Safety
    /// As there; it is a [`HostArray::result`], and nobody reads it meanwhile.
    #[expect(
        clippy::mut_from_ref,
        reason = "the memory is Python's, and not behind this reference"
    )]
    pub(crate) unsafe fn bytes_mut(&self) -> &mut [u8] {
        if self.size_bytes() == 0 {
            return &mut [];
        }
        // SAFETY: as above, and the memory is writable.
        unsafe { std::slice::from_raw_parts_mut(self.address().cast(), self.size_bytes()) }
    }
}

/// Bytes as numbers; no bytes are at any address.
pub(crate) fn elements<T: Pod>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { bytemuck::cast_slice(bytes) }
}

/// Where the elements of a matrix lie by its strides in bytes; `None` as [`HostArray::dense_shape`].
pub(crate) fn dense_shape(
    shape: &[usize],
    strides: &[isize],
    item_bytes: usize,
) -> Option<DenseShape> {
    let (&[rows, cols], &[of_row, of_col]) = (shape, strides) else { return None };
    if rows == 0 || cols == 0 {
        return DenseShape::packed(rows, cols, Layout::RowMajor).ok();
    }
    let elements = |stride: isize| {
        let bytes = usize::try_from(stride).ok()?;
        bytes.is_multiple_of(item_bytes).then_some(bytes / item_bytes)
    };
    // Where there is one row or column alone, nobody asks how far the next one is.
    let (of_row, of_col) = (elements(of_row), elements(of_col));
    if (cols == 1 || of_col == Some(1)) && (rows == 1 || of_row.is_some_and(|one| one >= cols)) {
        let leading = if rows == 1 { cols } else { of_row? };
        return DenseShape::new(rows, cols, Layout::RowMajor, leading).ok();
    }
    if (rows == 1 || of_row == Some(1)) && (cols == 1 || of_col.is_some_and(|one| one >= rows)) {
        let leading = if cols == 1 { rows } else { of_col? };
        return DenseShape::new(rows, cols, Layout::ColumnMajor, leading).ok();
    }
    None
}
