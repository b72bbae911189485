//! What operations on dense vectors refuse before anything is enqueued.

use cl_kernels::Scalar;
use cl_runtime::raw::Memory;
use cl_runtime::{AnyArray, ElementType, Queue, check_apart, check_size};

use super::AnyVectors;
use crate::plan::{check_device, coefficient};
use crate::{AnyCoefficient, Result, RuntimeError};

/// alpha, beta and gamma as kernels take them.
pub(super) struct Scalars<'a> {
    pub(super) alpha: Scalar<&'a Memory>,
    pub(super) beta: Scalar<&'a Memory>,
    pub(super) gamma: Scalar<&'a Memory>,
}

impl<'a> Scalars<'a> {
    /// Of an operation that reads no other.
    pub(super) fn of_x(alpha: Scalar<&'a Memory>) -> Self {
        Scalars { alpha, beta: alpha, gamma: alpha }
    }
}

impl AnyVectors {
    /// Refuses vectors of another type than the kernels'; else as [`AnyVectors::check_elements`].
    pub(super) fn check(&self, queue: &Queue, vectors: &[(&str, &AnyArray)]) -> Result<()> {
        self.check_elements(queue, self.value_type().into(), vectors)
    }

    /// Refuses vectors of other elements or another context, and of another length than the first.
    pub(super) fn check_elements(
        &self,
        queue: &Queue,
        element: ElementType,
        vectors: &[(&str, &AnyArray)],
    ) -> Result<()> {
        check_device(queue, self.kernels.context(), "vector kernels")?;
        for (name, vector) in vectors {
            vector.check_element(name, element)?;
            self.kernels.context().check_array(name, vector)?;
            let (first, of_first) = (vectors[0].0, vectors[0].1.len());
            let rule = format_args!("as many as {first} has");
            check_size(name, (vector.len(), "element"), of_first, rule)?;
        }
        Ok(())
    }

    /// Refuses a result of other elements than `vectors` have, and one that lies in one of these.
    pub(super) fn check_result(
        &self,
        result: &AnyArray,
        vectors: &[(&str, &AnyArray)],
    ) -> Result<()> {
        result.check_element("the result", vectors[0].1.element())?;
        self.kernels.context().check_array("the result", result)?;
        if result.is_empty() {
            let rule = "it is written there";
            return Err(RuntimeError::size("the result", (0, "element"), 1, rule).into());
        }
        let first = result.slice(0..1)?;
        Ok(check_apart(("the result", &first), vectors.iter().copied())?)
    }

    /// alpha or beta as kernels take it; no part of r, which other groups may have written when one reads it.
    pub(super) fn scalar<'a>(
        &self,
        name: &str,
        scalar: &AnyCoefficient<'a>,
        r: &AnyArray,
    ) -> Result<Scalar<&'a Memory>> {
        let taken = (self.value_type(), self.kernels.form().scalars_on_device);
        let found = coefficient(self.kernels.context(), taken, name, scalar)?;
        if let AnyCoefficient::Device(array) = scalar {
            check_apart(("r", r), [(name, &array.slice(0..1)?)])?;
        }
        Ok(found)
    }
}
