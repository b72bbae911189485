//! The class `sparrow.Solution`.

use pyo3::prelude::*;
use sparrow::{Outcome, Solution as Solved, counted};

use crate::errors::Result;
use crate::numpy_module;

/// What came of a solve.
///
/// Attributes
/// ----------
/// x : array
///     The solution, of the kind that b was; where it did not converge, that of the least residual.
/// converged : bool
/// outcome : str
///     "converged", "max-iterations", "stopped", "stagnated", "diverged" or "breakdown".
/// reason : str
///     The same as a sentence.
/// iterations : int
/// residual : float
///     The norm of b - A x, computed from x.
/// relative_residual : float
///     The same as a multiple of the norm of b.
/// seconds : float
#[pyclass(module = "sparrow", name = "Solution", frozen)]
pub(crate) struct Solution {
    #[pyo3(get)]
    x: Py<PyAny>,
    #[pyo3(get)]
    converged: bool,
    #[pyo3(get)]
    outcome: &'static str,
    #[pyo3(get)]
    reason: String,
    #[pyo3(get)]
    iterations: u32,
    #[pyo3(get)]
    residual: f64,
    #[pyo3(get)]
    relative_residual: f64,
    #[pyo3(get)]
    seconds: f64,
    history: Vec<f64>,
}

impl Solution {
    pub(crate) fn new(x: Py<PyAny>, solved: &Solved) -> Self {
        Solution {
            x,
            converged: solved.outcome == Outcome::Converged,
            outcome: solved.outcome.name(),
            reason: solved.outcome.to_string(),
            iterations: solved.iterations,
            residual: solved.true_residual,
            relative_residual: solved.true_relative_residual(),
            seconds: solved.elapsed.as_secs_f64(),
            history: solved.history.clone(),
        }
    }
}

#[pymethods]
impl Solution {
    /// The residual's norm as the recurrence has it, before the first iteration and after each.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     ``iterations + 1`` elements of float64.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        Ok(numpy_module::module(py)?.call_method1("array", (self.history.clone(), "float64"))?)
    }

    fn __repr__(&self) -> String {
        format!(
            "<sparrow.Solution: {} after {}, relative residual {:.2e}>",
            self.reason,
            counted(self.iterations, "iteration"),
            self.relative_residual
        )
    }
}
