//! Products of two sparse matrices.

use std::sync::Arc;

use pyo3::prelude::*;
use sparrow::{AnyMatrix, AnySpgemmPlan, AnyTransposedMatrix, Op, Queue, SpgemmOptions};

use crate::errors::{Failure, Result, detached};
use crate::inner::Inner;
use crate::matrix::Matrix;

/// C = A B, with ascending columns and an entry for each place that a product falls on.
///
/// # Errors
/// Matrices of other shapes, types or contexts, or the driver's own failure.
pub(crate) fn multiply(py: Python<'_>, a: &Matrix, b: &Matrix) -> Result<Matrix> {
    let ((rows, inner), (of_b, cols)) = (a.inner.facts().shape(a.op), b.inner.facts().shape(b.op));
    if inner != of_b {
        let text =
            format!("A is {rows} x {inner} and B {of_b} x {cols}: A's columns must be B's rows");
        return Err(Failure::value(text));
    }
    let home = a.inner.home().clone();
    if a.inner.context_handle() != b.inner.context_handle() {
        let text = "A and B belong to different contexts: make both on one device or queue";
        return Err(Failure::value(text));
    }
    let made = detached(py, || {
        let queue = home.queue();
        let options = SpgemmOptions { tables: Some(home.tables()), ..SpgemmOptions::default() };
        with_op(queue, &a.inner, a.op, |a| {
            with_op(queue, &b.inner, b.op, |b| {
                let mut plan = AnySpgemmPlan::new_blocking(queue, a, b, &options)?;
                Ok(plan.multiply_blocking(queue, a, b)?)
            })
        })
    })?;
    Ok(Matrix { inner: Inner::new(home, made, Vec::new()), op: Op::Normal })
}

/// Runs `work` with the matrix, or with a transposed copy that is gone afterwards.
///
/// # Errors
/// Those of `work`, or the driver's own.
pub(crate) fn with_op<T>(
    queue: &Queue,
    inner: &Arc<Inner>,
    op: Op,
    work: impl FnOnce(&AnyMatrix) -> Result<T>,
) -> Result<T> {
    inner.look(|matrix| match op {
        Op::Normal => work(matrix),
        Op::Transpose => {
            let transposed = AnyTransposedMatrix::new_blocking(queue, matrix, None)?;
            work(transposed.matrix())
        }
    })
}
