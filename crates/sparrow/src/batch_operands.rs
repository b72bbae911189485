//! The operands of one product of every problem of a batch.

use cl_runtime::AnyArray;
use cl_runtime::batched::AnyBatch;
use csr_core::Number;

/// alpha or beta of a batch, of the type that sums are made in.
#[derive(Clone, Copy, Debug)]
pub enum AnyBatchCoefficient<'a> {
    /// By value, for all problems.
    Value(Number),
    /// The first element of an array on the device, for all problems.
    One(&'a AnyArray),
    /// An element for each problem, on the device.
    Each(&'a AnyArray),
}

impl From<Number> for AnyBatchCoefficient<'_> {
    fn from(number: Number) -> Self {
        AnyBatchCoefficient::Value(number)
    }
}

/// The operands of y = alpha A x + beta y, for every problem of a batch.
#[derive(Debug)]
pub struct AnyBatchOperands<'a> {
    /// Scales A x; 0 is not special, so NaN in A or x reaches y.
    pub alpha: AnyBatchCoefficient<'a>,
    /// The batch: the plan's, or one that shares its patterns and types.
    pub a: &'a AnyBatch,
    /// The vectors x, each where its problem says, of the type that sums are made in.
    pub x: &'a AnyArray,
    /// Scales y; where it is 0, y is never read.
    pub beta: AnyBatchCoefficient<'a>,
    /// The vectors y, each where its problem says, of the type that sums are made in; elements between them are left
    /// alone. None may overlap an x, alpha, beta or the batch's own arrays.
    pub y: &'a mut AnyArray,
}
