//! b and x in the order of a plan whose rows were reordered.

use cl_runtime::{AnyArray, AnyMatrix, AnyReorderedMatrix, Queue};

use crate::Result;

/// A solver's copies of b and x in the order of its plan.
#[derive(Debug)]
pub(super) struct InOrder {
    b: AnyArray,
    pub(super) x: AnyArray,
}

impl InOrder {
    /// Vectors with an element a row of `matrix`.
    pub(super) fn new_blocking(queue: &Queue, matrix: &AnyMatrix) -> Result<Self> {
        Ok(InOrder { b: vector_blocking(queue, matrix)?, x: vector_blocking(queue, matrix)? })
    }

    /// Brings b and the x that is there into the order, and shows both.
    pub(super) fn take(
        &mut self,
        queue: &Queue,
        copy: &AnyReorderedMatrix,
        b: &AnyArray,
        x: &AnyArray,
    ) -> Result<(&AnyArray, &AnyArray)> {
        copy.gather(queue, b, &mut self.b)?.wait()?;
        copy.gather(queue, x, &mut self.x)?.wait()?;
        Ok((&self.b, &self.x))
    }

    /// Brings x out of the order.
    pub(super) fn give(
        &self,
        queue: &Queue,
        copy: &AnyReorderedMatrix,
        x: &mut AnyArray,
    ) -> Result<()> {
        Ok(copy.scatter(queue, &self.x, x)?.wait()?)
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.b.size_bytes() + self.x.size_bytes()
    }
}

/// A vector of zeros with an element a row of `matrix`.
pub(super) fn vector_blocking(queue: &Queue, matrix: &AnyMatrix) -> Result<AnyArray> {
    let element = matrix.value_type().accumulator();
    Ok(AnyArray::upload_blocking(queue, element, &vec![0; matrix.rows() * element.size_bytes()])?)
}
