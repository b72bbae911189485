//! A product with whatever x is: a vector or a matrix, dense or sparse, of numpy's or of pyopencl's.

use std::sync::Arc;

use pyo3::prelude::*;
use sparrow::{Accumulate, Op};

use crate::call::Call;
use crate::cl_array::{self, ClArray};
use crate::dtype::Kind;
use crate::errors::{Failure, Result};
use crate::host_array::HostArray;
use crate::inner::{Inner, VectorPlan};
use crate::matrix::Matrix;
use crate::{cl_product, columns, dense_product, host_product, sparse_product};

/// What multiplies.
pub(crate) struct Target<'a> {
    pub(crate) inner: &'a Arc<Inner>,
    pub(crate) op: Op,
    /// A plan of its own; `None` takes the matrix's, made when it is first needed.
    pub(crate) plan: Option<&'a Arc<VectorPlan>>,
}

/// alpha A x + beta out.
///
/// # Errors
/// Operands that do not fit, or the driver's own failure.
pub(crate) fn multiply<'py>(
    py: Python<'py>,
    target: &Target<'_>,
    x: &Bound<'py, PyAny>,
    call: &Call<'py>,
) -> Result<Bound<'py, PyAny>> {
    let Target { inner, op, plan } = *target;
    let plan = plan.map(AsRef::as_ref);
    // Of a plan with plain sums and an algorithm for vectors, dense matrices take the one that is made for them.
    let by_columns = plan.filter(|plan| plan.accumulate == Accumulate::Compensated);
    if cl_array::is_array(x)? {
        let x = ClArray::of(x, "x")?;
        return match (x.dimensions()?, by_columns) {
            (1, _) => cl_product::vector(py, inner, plan, op, &x, call),
            (_, None) => dense_product::on_device(py, inner, op, &x.named("B"), call),
            (_, Some(plan)) => columns::on_device(py, inner, plan, &x.named("B"), call),
        };
    }
    if let Ok(b) = x.cast::<Matrix>() {
        if call.is_plain() {
            let a = Matrix { inner: inner.clone(), op };
            let product = sparse_product::multiply(py, &a, b.get())?;
            return Ok(Bound::new(py, product)?.into_any());
        }
        return Err(Failure::type_of("a product of two sparse matrices takes no other argument"));
    }
    let found = HostArray::of(x, "x")?;
    match found.shape().len() {
        1 => {
            let accumulator = inner.facts().value_type.accumulator();
            let is_ready = found.kind() == Kind::Value(accumulator) && found.is_plain();
            let x = if is_ready { found } else { HostArray::converted(x, "x", accumulator)? };
            host_product::vector(py, inner, plan, op, &x, call)
        }
        2 => match by_columns {
            None => dense_product::on_host(py, inner, op, x, found, call),
            Some(plan) => columns::on_host(py, inner, plan, x, &found, call),
        },
        _ => Err(Failure::value(format!(
            "x has the shape {:?}, and a product takes one or two dimensions",
            found.shape()
        ))),
    }
}
