//! Parts of the application's buffers, as arrays.

use opencl3::types::cl_mem;
use sparrow::{Coefficient, Context, DeviceArray, Value};

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
    /// The number; rounded to float where sums are made in float. Not looked at where `device` has a buffer.
    pub value: f64,
    /// A float (a double for SPARROW_VALUE_TYPE_F64); without a buffer, `value` counts.
    pub device: sparrow_buffer,
}

/// `len` elements of a buffer.
///
/// # Safety
/// The buffer is NULL or valid, and holds what its use demands.
pub(crate) unsafe fn array<T: bytemuck::Pod>(
    context: &Context,
    buffer: sparrow_buffer,
    len: usize,
    name: &str,
) -> Result<DeviceArray<T>> {
    if buffer.memory.is_null() {
        if len > 0 {
            let text = format!("{name}.memory is NULL, and {len} elements are needed");
            return Err(Failure::argument(text));
        }
        return Ok(DeviceArray::allocate(context, 0)?);
    }
    let start = size(buffer.byte_offset, &format!("{name}.byte_offset"))?;
    // SAFETY: the caller's promise.
    let array = unsafe { DeviceArray::from_raw(buffer.memory, start, len) };
    let array = array.map_err(|error| Failure::from(error).of(name))?;
    context.check_array(name, &array)?;
    Ok(array)
}

/// alpha or beta before it is known whether the plan takes it so.
pub(crate) enum Scalar<T> {
    Value(T),
    Device(DeviceArray<T>),
}

impl<T: Value> Scalar<T> {
    /// # Safety
    /// As [`array`].
    pub(crate) unsafe fn new(
        context: &Context,
        scalar: sparrow_scalar,
        name: &str,
    ) -> Result<Self> {
        if scalar.device.memory.is_null() {
            return Ok(Scalar::Value(T::from_f64(scalar.value)));
        }
        // SAFETY: the caller's promise.
        let array = unsafe { array(context, scalar.device, 1, &format!("{name}.device"))? };
        Ok(Scalar::Device(array))
    }

    pub(crate) fn coefficient(&self) -> Coefficient<'_, T> {
        match self {
            Scalar::Value(value) => Coefficient::Value(*value),
            Scalar::Device(array) => Coefficient::Device(array),
        }
    }
}
