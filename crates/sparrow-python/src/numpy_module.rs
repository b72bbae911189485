//! numpy, as Python imports it.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::Result;

/// The module, imported with the first array and not with the package.
///
/// # Errors
/// It is not installed.
pub(crate) fn module(py: Python<'_>) -> Result<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let make = || PyModule::import(py, "numpy").map(Bound::unbind);
    Ok(MODULE.get_or_try_init(py, make)?.bind(py))
}
