//! Kernels for dense vectors whose type is known at run time only.

use std::fmt::Debug;

use sparrow::host::Accumulator;
use sparrow::{Combination, Event, Queue, Reduction, Vectors};

use crate::buffer::{Scalar, array};
use crate::failure::Result;
use crate::pointer::size;
use crate::types::choice;
use crate::vectors::*;

/// Kernels for vectors of some type.
pub(crate) trait AnyVectors: Debug + Send {
    /// Enqueues an operation element by element; the event, if there is one.
    ///
    /// # Safety
    /// Buffers are NULL or valid.
    unsafe fn elementwise(&mut self, launch: ElementwiseLaunch<'_>) -> Result<Option<Event>>;

    /// Enqueues a reduction, likewise.
    ///
    /// # Safety
    /// As there.
    unsafe fn reduce(&mut self, launch: ReductionLaunch<'_>) -> Result<Option<Event>>;
}

/// An operation element by element, as the application asks for it.
#[derive(Debug)]
pub(crate) struct ElementwiseLaunch<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) operands: sparrow_elementwise,
    /// None where nobody will hear of it.
    pub(crate) wait: Option<&'a [Event]>,
}

/// A reduction, as the application asks for it.
#[derive(Debug)]
pub(crate) struct ReductionLaunch<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) operands: sparrow_reduction,
    /// None where nobody will hear of it.
    pub(crate) wait: Option<&'a [Event]>,
}

/// What numbers of `sparrow_elementary` stand for.
#[derive(Clone, Copy)]
enum Operation {
    Scale,
    Axpy,
    Axpby,
    Combine(Combination),
}

const OPERATIONS: [(sparrow_elementary, &str, Operation); 7] = [
    (SPARROW_ELEMENTARY_SCALE, "SPARROW_ELEMENTARY_SCALE", Operation::Scale),
    (SPARROW_ELEMENTARY_AXPY, "SPARROW_ELEMENTARY_AXPY", Operation::Axpy),
    (SPARROW_ELEMENTARY_AXPBY, "SPARROW_ELEMENTARY_AXPBY", Operation::Axpby),
    (SPARROW_ELEMENTARY_ADD, "SPARROW_ELEMENTARY_ADD", Operation::Combine(Combination::Add)),
    (
        SPARROW_ELEMENTARY_SUBTRACT,
        "SPARROW_ELEMENTARY_SUBTRACT",
        Operation::Combine(Combination::Subtract),
    ),
    (
        SPARROW_ELEMENTARY_MULTIPLY,
        "SPARROW_ELEMENTARY_MULTIPLY",
        Operation::Combine(Combination::Multiply),
    ),
    (
        SPARROW_ELEMENTARY_DIVIDE,
        "SPARROW_ELEMENTARY_DIVIDE",
        Operation::Combine(Combination::Divide),
    ),
];

/// What numbers of `sparrow_reduction_kind` stand for.
#[derive(Clone, Copy)]
enum Kind {
    Reduce(Reduction),
    Dot,
    SumIntegers,
}

const KINDS: [(sparrow_reduction_kind, &str, Kind); 5] = [
    (SPARROW_REDUCTION_SUM, "SPARROW_REDUCTION_SUM", Kind::Reduce(Reduction::Sum)),
    (SPARROW_REDUCTION_DOT, "SPARROW_REDUCTION_DOT", Kind::Dot),
    (SPARROW_REDUCTION_NORM1, "SPARROW_REDUCTION_NORM1", Kind::Reduce(Reduction::Norm1)),
    (SPARROW_REDUCTION_NORM2, "SPARROW_REDUCTION_NORM2", Kind::Reduce(Reduction::Norm2)),
    (SPARROW_REDUCTION_SUM_INTEGERS, "SPARROW_REDUCTION_SUM_INTEGERS", Kind::SumIntegers),
];

impl<T: Accumulator> AnyVectors for Vectors<T> {
    unsafe fn elementwise(&mut self, launch: ElementwiseLaunch<'_>) -> Result<Option<Event>> {
        let ElementwiseLaunch { queue, operands, wait } = launch;
        let operation = choice(operands.operation, "elementwise->operation", &OPERATIONS)?;
        let elements = size(operands.elements, "elementwise->elements")?;
        let context = queue.context();
        let part = |buffer, name: &str| {
            // SAFETY: the caller's promise.
            unsafe { array::<T>(context, buffer, elements, &format!("elementwise->{name}")) }
        };
        let number = |scalar, name: &str| {
            // SAFETY: the caller's promise.
            unsafe { Scalar::<T>::new(context, scalar, &format!("elementwise->{name}")) }
        };
        let (x, mut r) = (part(operands.x, "x")?, part(operands.r, "r")?);
        Ok(match operation {
            Operation::Scale => {
                let alpha = number(operands.alpha, "alpha")?;
                self.scale(queue, (alpha.coefficient(), &x), &mut r, wait)?
            }
            Operation::Axpy => {
                let (alpha, y) = (number(operands.alpha, "alpha")?, part(operands.y, "y")?);
                self.axpy(queue, (alpha.coefficient(), &x), &y, &mut r, wait)?
            }
            Operation::Axpby => {
                let (alpha, y) = (number(operands.alpha, "alpha")?, part(operands.y, "y")?);
                let beta = number(operands.beta, "beta")?;
                let (of_x, of_y) = ((alpha.coefficient(), &x), (beta.coefficient(), &y));
                self.axpby(queue, of_x, of_y, &mut r, wait)?
            }
            Operation::Combine(combination) => {
                let y = part(operands.y, "y")?;
                self.combine(queue, combination, (&x, &y), &mut r, wait)?
            }
        })
    }

    unsafe fn reduce(&mut self, launch: ReductionLaunch<'_>) -> Result<Option<Event>> {
        let ReductionLaunch { queue, operands, wait } = launch;
        let kind = choice(operands.kind, "reduction->kind", &KINDS)?;
        let elements = size(operands.elements, "reduction->elements")?;
        let context = queue.context();
        let numbers = |buffer, len: usize, name: &str| {
            // SAFETY: the caller's promise.
            unsafe { array::<T>(context, buffer, len, &format!("reduction->{name}")) }
        };
        let integers = |buffer, len: usize, name: &str| {
            // SAFETY: the caller's promise.
            unsafe { array::<i32>(context, buffer, len, &format!("reduction->{name}")) }
        };
        let sparrow_reduction { x, y, result, .. } = operands;
        Ok(match kind {
            Kind::Reduce(reduction) => {
                let (x, mut result) = (numbers(x, elements, "x")?, numbers(result, 1, "result")?);
                Vectors::reduce(self, queue, reduction, &x, &mut result, wait)?
            }
            Kind::Dot => {
                let (x, y) = (numbers(x, elements, "x")?, numbers(y, elements, "y")?);
                self.dot(queue, &x, &y, &mut numbers(result, 1, "result")?, wait)?
            }
            Kind::SumIntegers => {
                let (x, mut result) = (integers(x, elements, "x")?, integers(result, 1, "result")?);
                self.sum_integers(queue, &x, &mut result, wait)?
            }
        })
    }
}
