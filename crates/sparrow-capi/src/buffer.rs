//! Parts of the application's buffers, as arrays.

use opencl3::types::cl_mem;
use sparrow::host::check_narrowing;
use sparrow::{AnyArray, AnyCoefficient, Context, ElementType, Number, ValueType, are, counted};

use crate::failure::{Failure, Result};
use crate::pointer::size;

/// A part of a buffer of the application's: from a byte on, as far as its use needs. The byte must be a multiple of
/// the element's size. Sub-buffers are buffers too. Where no element is needed, `memory` may be NULL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_buffer {
    /// The buffer.
    pub memory: cl_mem,
    /// Where the first element lies.
    pub byte_offset: u64,
}

/// alpha or beta: a number, or, for plans with `scalars_on_device`, where it lies on the device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_scalar {
    /// The number; rounded to float where sums are made in float, which a finite one must not exceed. Not looked at where
    /// `device` has a buffer.
    pub value: f64,
    /// A float (a double for SPARROW_VALUE_TYPE_F64); without a buffer, `value` counts.
    pub device: sparrow_buffer,
}

/// `len` elements of a buffer.
///
/// # Safety
/// The buffer is NULL or valid, and holds what its use demands.
pub(crate) unsafe fn array(
    context: &Context,
    buffer: sparrow_buffer,
    element: impl Into<ElementType>,
    len: usize,
    name: &str,
) -> Result<AnyArray> {
    let element = element.into();
    if buffer.memory.is_null() {
        if len > 0 {
            let needed = counted(len, "element");
            let text = format!("{name}.memory is NULL, and {needed} {} needed", are(len));
            return Err(Failure::argument(text));
        }
        return Ok(AnyArray::allocate(context, element, 0)?);
    }
    let start = size(buffer.byte_offset, &format!("{name}.byte_offset"))?;
    // SAFETY: the caller's promise.
    let array = unsafe { AnyArray::from_raw(buffer.memory, element, start, len) };
    let array = array.map_err(|error| Failure::from(error).of(name))?;
    context.check_array(name, &array)?;
    Ok(array)
}

/// A number of the type that sums of `value_type` are made in. NaN and infinity are the application's to give, as on
/// the device; a finite number that would become infinite is refused.
pub(crate) fn number(value: f64, value_type: ValueType, name: &str) -> Result<Number> {
    let place = |_| format!("{name}.value");
    check_narrowing(&[value], value_type.accumulator(), place)
        .map_err(|error| Failure::argument(error.to_string()))?;
    Ok(Number::of(value_type, value))
}

/// alpha or beta before it is known whether the plan takes it so.
pub(crate) enum Scalar {
    Value(Number),
    Device(AnyArray),
}

impl Scalar {
    /// Of the type that sums of `value_type` are made in.
    ///
    /// # Safety
    /// As [`array`].
    pub(crate) unsafe fn new(
        context: &Context,
        scalar: sparrow_scalar,
        value_type: ValueType,
        name: &str,
    ) -> Result<Self> {
        if scalar.device.memory.is_null() {
            return Ok(Scalar::Value(number(scalar.value, value_type, name)?));
        }
        let name = format!("{name}.device");
        // SAFETY: the caller's promise.
        let array = unsafe { array(context, scalar.device, value_type.accumulator(), 1, &name)? };
        Ok(Scalar::Device(array))
    }

    pub(crate) fn coefficient(&self) -> AnyCoefficient<'_> {
        match self {
            Scalar::Value(number) => AnyCoefficient::Value(*number),
            Scalar::Device(array) => AnyCoefficient::Device(array),
        }
    }
}
