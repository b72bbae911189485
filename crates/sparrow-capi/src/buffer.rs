//! Parts of the application's buffers and of its shared virtual memory, as arrays.

use std::ffi::c_void;

use opencl3::types::cl_mem;
use sparrow::host::check_narrowing;
use sparrow::{AnyArray, AnyCoefficient, Context, ElementType, Number, ValueType, are, counted};

use crate::failure::{Failure, Result};
use crate::pointer::size;

/// A part of a buffer of the application's, or of its shared virtual memory: from a byte on, as far as its use needs. The
/// address must be a multiple of the element's size, in a buffer the byte. Sub-buffers are buffers too. One of `memory`
/// and `svm` is NULL; where no element is needed, both may be.
///
/// OpenCL does not count who uses shared virtual memory: it must live until every launch with it has ended, and as long
/// as a matrix or batch that was made of it. Whether the host may touch it between map and unmap alone, as coarse-grained
/// memory, or at any time, the application knows; the library maps it where it looks at it itself.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_buffer {
    /// The buffer.
    pub memory: cl_mem,
    /// Where the first element lies, in bytes from the beginning.
    pub byte_offset: u64,
    /// Shared virtual memory of the context (clSVMAlloc), or on a device that shares all of the host's memory
    /// (CL_DEVICE_SVM_FINE_GRAIN_SYSTEM) any; NULL for a buffer. No pointer may be given to a device without
    /// shared virtual memory.
    pub svm: *mut c_void,
}

impl sparrow_buffer {
    /// Whether it stands for no memory.
    pub(crate) fn is_nowhere(&self) -> bool {
        self.memory.is_null() && self.svm.is_null()
    }
}

/// alpha or beta: a number, or, for plans with `scalars_on_device`, where it lies on the device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sparrow_scalar {
    /// The number; rounded to float where sums are made in float, which a finite one must not exceed. Not looked at where
    /// `device` has a buffer, or shared virtual memory.
    pub value: f64,
    /// A float (a double for SPARROW_VALUE_TYPE_F64); without a buffer, `value` counts.
    pub device: sparrow_buffer,
}

/// `len` elements of a buffer, or of shared virtual memory.
///
/// # Safety
/// The memory is NULL or valid, and holds what its use demands.
pub(crate) unsafe fn array(
    context: &Context,
    buffer: sparrow_buffer,
    element: impl Into<ElementType>,
    len: usize,
    name: &str,
) -> Result<AnyArray> {
    let element = element.into();
    if !buffer.svm.is_null() {
        // SAFETY: the caller's promise.
        return unsafe { shared_array(context, buffer, element, len, name) };
    }
    if buffer.memory.is_null() {
        if len > 0 {
            let needed = counted(len, "element");
            let text = format!("{name}.memory and .svm are NULL, and {needed} {} needed", are(len));
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

/// `len` elements of shared virtual memory.
///
/// # Safety
/// The memory is valid, and holds what its use demands.
unsafe fn shared_array(
    context: &Context,
    buffer: sparrow_buffer,
    element: ElementType,
    len: usize,
    name: &str,
) -> Result<AnyArray> {
    if !buffer.memory.is_null() {
        let text = format!("{name} has both memory and svm, and one of them must be NULL");
        return Err(Failure::argument(text));
    }
    let traits = context.device().traits();
    if !traits.svm.coarse_grain_buffer {
        let text = format!("{name}.svm is given, and {} has no shared virtual memory", traits.name);
        return Err(Failure::argument(text));
    }
    let offset = size(buffer.byte_offset, &format!("{name}.byte_offset"))?;
    let address = buffer.svm.wrapping_byte_add(offset);
    let unit = element.size_bytes();
    if !address.addr().is_multiple_of(unit) {
        return Err(Failure::argument(format!(
            "{name}.svm and {name}.byte_offset make {address:p}, and must make a multiple of {unit}"
        )));
    }
    // What is mapped need not be, where the host has a share of all memory.
    let is_fine_grained = traits.svm.fine_grain_system;
    // SAFETY: the caller's promise.
    let array = unsafe { AnyArray::from_svm(address, element, len, is_fine_grained) };
    array.map_err(|error| Failure::from(error).of(name))
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
        if scalar.device.is_nowhere() {
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
