//! The operands of a product whose types are known at run time.

use cl_kernels::Scalar;
use cl_runtime::raw::Memory;
use cl_runtime::{AnyArray, AnyMatrix, Context, check_apart};
use csr_core::{Number, ValueType};

use crate::{Result, RuntimeError};

/// alpha or beta.
#[derive(Clone, Copy, Debug)]
pub enum AnyCoefficient<'a> {
    /// By value, of the type that sums are made in.
    Value(Number),
    /// The first element of an array on the device.
    Device(&'a AnyArray),
}

impl From<Number> for AnyCoefficient<'_> {
    fn from(number: Number) -> Self {
        AnyCoefficient::Value(number)
    }
}

impl<'a> From<&'a AnyArray> for AnyCoefficient<'a> {
    fn from(array: &'a AnyArray) -> Self {
        AnyCoefficient::Device(array)
    }
}

/// The operands of y = alpha A x + beta y.
#[derive(Debug)]
pub struct AnyOperands<'a> {
    /// Scales A x; 0 is not special, so NaN in A or x reaches y.
    pub alpha: AnyCoefficient<'a>,
    /// The matrix: the plan's, or one that shares its pattern and types.
    pub a: &'a AnyMatrix,
    /// The vector x: cols, of the type that sums are made in.
    pub x: &'a AnyArray,
    /// Scales y; with 0, y is never read.
    pub beta: AnyCoefficient<'a>,
    /// The vector y: rows, of the type that sums are made in. It may not overlap x, alpha, beta or the matrix's arrays.
    pub y: &'a mut AnyArray,
}

/// Refuses a result that shares memory with an operand, with alpha or beta or with the matrix's own arrays: groups
/// would read what others have written.
///
/// # Errors
/// The first of them.
pub(crate) fn check_result(
    result: (&str, &AnyArray),
    operand: (&str, &AnyArray),
    a: &AnyMatrix,
    (alpha, beta): (&AnyCoefficient<'_>, &AnyCoefficient<'_>),
) -> Result<()> {
    check_apart(result, [operand])?;
    for (name, coefficient) in [("alpha", alpha), ("beta", beta)] {
        if let AnyCoefficient::Device(array) = coefficient {
            check_apart(result, [(name, &array.slice(0..array.len().min(1))?)])?;
        }
    }
    Ok(check_apart(result, a.named_arrays())?)
}

/// alpha or beta as a launch takes it, of the type that sums are made in: by value, or from the device.
///
/// # Errors
/// A number of another type, or one that comes another way than the plan takes it.
pub(crate) fn coefficient<'a>(
    context: &Context,
    (accumulator, on_device): (ValueType, bool),
    name: &str,
    coefficient: &AnyCoefficient<'a>,
) -> Result<Scalar<&'a Memory>> {
    match (coefficient, on_device) {
        (AnyCoefficient::Value(number), false) => by_value(name, *number, accumulator),
        (AnyCoefficient::Device(array), true) => {
            array.check_element(name, accumulator)?;
            if array.is_empty() {
                let rule = "the first is read";
                return Err(RuntimeError::size(name, (0, "element"), 1, rule).into());
            }
            context.check_array(name, array)?;
            Ok(Scalar::Device(array.argument()))
        }
        (AnyCoefficient::Value(_), true) | (AnyCoefficient::Device(_), false) => {
            Err(RuntimeError::Coefficient { name: name.to_owned(), on_device: !on_device }.into())
        }
    }
}

/// A number as a launch takes it.
///
/// # Errors
/// One of another type than sums are made in.
pub(crate) fn by_value<'a>(
    name: &str,
    number: Number,
    accumulator: ValueType,
) -> Result<Scalar<&'a Memory>> {
    let found = number.value_type();
    if found != accumulator {
        return Err(RuntimeError::element_type(name, found, accumulator).into());
    }
    Ok(Scalar::from(number))
}
