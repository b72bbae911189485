//! The class `sparrow.Matrix`.

use std::sync::Arc;

use pyo3::prelude::*;
use sparrow::Op;

use crate::call::Call;
use crate::cl_array;
use crate::construct::{self, Wishes};
use crate::dtype;
use crate::errors::{Failure, Result};
use crate::inner::{Inner, VectorPlan};
use crate::{cl_product, host_product};

/// A sparse matrix on an OpenCL device.
#[pyclass(module = "sparrow", name = "Matrix", frozen, weakref)]
pub(crate) struct Matrix {
    pub(crate) inner: Arc<Inner>,
    pub(crate) op: Op,
}

#[pymethods]
impl Matrix {
    #[new]
    #[pyo3(signature = (matrix, *, shape=None, dtype=None, device=None, queue=None, check=true))]
    fn new(
        py: Python<'_>,
        matrix: &Bound<'_, PyAny>,
        shape: Option<(usize, usize)>,
        dtype: Option<&Bound<'_, PyAny>>,
        device: Option<&str>,
        queue: Option<&Bound<'_, PyAny>>,
        check: bool,
    ) -> Result<Self> {
        let value_type = dtype.map(dtype::asked).transpose()?;
        let wishes = Wishes { shape, value_type, check };
        let inner = construct::matrix(py, matrix, &wishes, device, queue)?;
        Ok(Matrix { inner, op: Op::Normal })
    }

    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        let facts = self.inner.facts();
        match self.op {
            Op::Normal => (facts.rows, facts.cols),
            Op::Transpose => (facts.cols, facts.rows),
        }
    }

    #[pyo3(signature = (x, out=None, *, alpha=1.0, beta=0.0, queue=None, wait_for=None))]
    fn dot<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        out: Option<Bound<'py, PyAny>>,
        alpha: f64,
        beta: f64,
        queue: Option<Bound<'py, PyAny>>,
        wait_for: Option<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        let call = Call { out, alpha, beta, queue, wait_for };
        multiply(py, &self.inner, None, self.op, x, &call)
    }

    fn __matmul__<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        multiply(py, &self.inner, None, self.op, x, &Call::plain())
    }
}

/// A product with whatever x is, by a plan of its own or by the matrix's.
///
/// # Errors
/// Operands that do not fit, or the driver's own failure.
pub(crate) fn multiply<'py>(
    py: Python<'py>,
    inner: &Inner,
    plan: Option<&Arc<VectorPlan>>,
    op: Op,
    x: &Bound<'py, PyAny>,
    call: &Call<'py>,
) -> Result<Bound<'py, PyAny>> {
    let mut plan_for = |queue: &sparrow::Queue| match plan {
        Some(plan) => Ok(plan.clone()),
        None => inner.vector_plan(queue, op),
    };
    if cl_array::is_array(x)? {
        return cl_product::vector(py, inner, &mut plan_for, op, x, call);
    }
    let plan = plan_for(inner.home().queue())?;
    host_product::vector(py, inner, &plan, x, call)
}

#[expect(dead_code, reason = "for the next step")]
fn nothing() -> Failure {
    Failure::value("")
}
