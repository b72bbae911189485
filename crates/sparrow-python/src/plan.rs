//! The class `sparrow.Plan`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sparrow::{Accumulate, Op, ValueCoding, counted};

use crate::call::Call;
use crate::errors::Result;
use crate::inner::{Inner, VectorPlan};
use crate::matrix::Matrix;
use crate::multiply::{Target, multiply};

/// An algorithm chosen for a matrix, with its hyper-parameters and whatever it has computed once.
///
/// Made by :meth:`Matrix.plan`. Good for any values of the matrix: what it has copied of them is brought up to date by
/// the next product. Any number of threads may use it at once.
#[pyclass(module = "sparrow", name = "Plan", frozen, weakref)]
pub(crate) struct Plan {
    pub(crate) inner: Arc<Inner>,
    pub(crate) plan: Arc<VectorPlan>,
}

impl Plan {
    fn target(&self) -> Target<'_> {
        Target { inner: &self.inner, op: self.plan.op, plan: Some(&self.plan) }
    }
}

#[pymethods]
impl Plan {
    /// alpha A x + beta out, by this plan.
    ///
    /// As :meth:`Matrix.dot`. A dense matrix is multiplied column by column where the plan has compensated sums, and
    /// copied on the device where it is row-major; else by the plan that the matrix has for its shape.
    #[pyo3(signature = (x, out=None, *, alpha=1.0, beta=0.0, queue=None, wait_for=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python's")]
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
        multiply(py, &self.target(), x, &Call { out, alpha, beta, queue, wait_for })
    }

    fn __matmul__<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        multiply(py, &self.target(), x, &Call::plain())
    }

    /// The matrix that the plan was made for.
    #[getter]
    fn matrix(&self) -> Matrix {
        Matrix { inner: self.inner.clone(), op: self.plan.op }
    }

    /// Rows and columns of the matrix that multiplies.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.inner.facts().shape(self.plan.op)
    }

    /// The algorithm's name.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.plan.pool.look(|plan| plan.algorithm().name())
    }

    /// What runs, with every hyper-parameter, as a text that `Matrix.plan(choice=...)` takes back.
    #[getter]
    fn choice(&self) -> String {
        self.plan.pool.look(|plan| plan.choice().to_string())
    }

    /// The hyper-parameters by name.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let pairs = self.plan.pool.look(|plan| plan.choice().parameters.clone());
        let dict = PyDict::new(py);
        for (name, value) in pairs {
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }

    /// Bytes of the plan on the device, beyond the matrix's arrays.
    #[getter]
    fn plan_bytes(&self) -> usize {
        self.plan.pool.look(sparrow::AnyPlan::plan_bytes)
    }

    /// How the plan's copy of the values stores them now: "as they are", "one value", "a dictionary" or "f32"; `None` where it
    /// has no copy in an order of its own. New values may change it.
    #[getter]
    fn value_coding(&self) -> Option<String> {
        self.plan.pool.look(|plan| plan.value_coding().map(|coding| coding.to_string()))
    }

    /// Whether the same product always gives the same bits.
    #[getter]
    fn repeatable(&self) -> bool {
        self.plan.pool.look(sparrow::AnyPlan::is_repeatable)
    }

    /// Whether sums keep what each addition rounds off.
    #[getter]
    fn compensated(&self) -> bool {
        self.plan.accumulate == Accumulate::Compensated
    }

    /// What runs, why, and what it takes, in a few lines.
    ///
    /// Returns
    /// -------
    /// str
    ///     The choice with every hyper-parameter, the reason, bytes on the device, and how values are stored where that
    ///     takes fewer.
    fn explain(&self) -> String {
        let transposed = match self.plan.op {
            Op::Normal => "",
            Op::Transpose => " of the transposed matrix",
        };
        self.plan.pool.look(|plan| {
            let measured = match plan.measured_products() {
                0 => String::new(),
                products => format!("\nmeasured by {}", counted(products, "product")),
            };
            let coding = match plan.value_coding() {
                None | Some(ValueCoding::AsTheyAre) => String::new(),
                Some(coding) => {
                    let saved = counted(plan.saved_bytes(), "byte");
                    format!("\nvalues stored as {coding}, which saves {saved}")
                }
            };
            format!(
                "{}{transposed}\nbecause {}{measured}\n{} on the device beyond the matrix, {} for a launch{coding}\n{}",
                plan.choice(),
                plan.choice().reason,
                counted(plan.plan_bytes(), "byte"),
                counted(plan.workspace_bytes(), "byte"),
                match plan.is_repeatable() {
                    true => "the same bits every time",
                    false => "sums in whatever order they come",
                }
            )
        })
    }

    fn __repr__(&self) -> String {
        let (rows, cols) = self.shape();
        format!("<sparrow.Plan of a {rows} x {cols} matrix: {}>", self.choice())
    }
}
