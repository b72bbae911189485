//! The functions of the package that make no class of their own.

use std::path::PathBuf;

use pyo3::prelude::*;
use sparrow::{Op, ValueType};

use crate::construct;
use crate::devices::Device;
use crate::dtype;
use crate::errors::{Result, detached};
use crate::home;
use crate::matrix::Matrix;

/// Reads a matrix from a Matrix Market file.
///
/// Parameters
/// ----------
/// path : path-like
///     ``.mtx`` or ``.mtx.gz``; symmetric matrices are expanded, entries that stand twice are added.
/// dtype : dtype, default float64
///     What is stored.
/// device, queue : optional
///     As in :class:`Matrix`.
///
/// Returns
/// -------
/// Matrix
///
/// Raises
/// ------
/// ValueError
///     A file that breaks a rule, by line; values that the dtype does not hold.
/// OSError
///     A file that cannot be read.
#[pyfunction]
#[pyo3(signature = (path, *, dtype=None, device=None, queue=None))]
pub(crate) fn read(
    py: Python<'_>,
    path: PathBuf,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&str>,
    queue: Option<&Bound<'_, PyAny>>,
) -> Result<Matrix> {
    let value_type = dtype.map_or(Ok(ValueType::F64), dtype::asked)?;
    let inner = construct::read(py, &path, value_type, device, queue)?;
    Ok(Matrix { inner, op: Op::Normal })
}

/// Every OpenCL device there is.
///
/// Returns
/// -------
/// list of Device
///     In the order in which OpenCL lists them; empty where OpenCL lists none.
///
/// Raises
/// ------
/// DeviceError
///     There is no OpenCL library.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> Result<Vec<Device>> {
    home::open(py)?;
    let found = detached(py, || Ok(sparrow::devices()?))?;
    Ok(found.iter().map(Device::of).collect())
}

/// Names the device of whatever is made from here on without one.
///
/// Parameters
/// ----------
/// device : str or None
///     As in :class:`Matrix`; None goes back to ``SPARROW_DEVICE``, else the best there is.
///
/// Raises
/// ------
/// ValueError
///     No device or more than one of that name, with the devices there are.
#[pyfunction]
#[pyo3(signature = (device))]
pub(crate) fn set_default_device(py: Python<'_>, device: Option<String>) -> Result<()> {
    home::set_default(py, device)
}
