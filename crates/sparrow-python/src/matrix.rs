//! The class `sparrow.Matrix`; its methods stand above the products, which make matrices too.

use std::sync::Arc;

use pyo3::prelude::*;
use sparrow::Op;

use crate::inner::Inner;

/// A sparse matrix in compressed rows on an OpenCL device.
///
/// Parameters
/// ----------
/// matrix : scipy sparse matrix or array, or tuple of three arrays
///     Any object with a ``tocsr`` method; or ``(data, indices, indptr)``, of numpy's, which are copied, or of pyopencl's,
///     which are kept and not copied. Entries that a COO matrix has twice are added, as scipy does.
/// shape : tuple of int, optional
///     Rows and columns; needed with three arrays.
/// dtype : dtype, optional
///     What is stored: float16, bfloat16 (of ml_dtypes), float32 or float64. Left out, the matrix's own; integers and
///     truth values become float64. Sums of 16-bit values are made in float32.
/// device : str, optional
///     Part of a device's or platform's name, or "PLATFORM:INDEX" as :func:`devices` lists them. Left out, the one of
///     :func:`set_default_device`, of the variable ``SPARROW_DEVICE``, or the best there is.
/// queue : pyopencl.CommandQueue, optional
///     Instead of a device: its context and device are shared.
/// check : bool, default True
///     Whether the pattern of three arrays of pyopencl's is read back and checked. An unchecked pattern that is wrong
///     has kernels read beyond the arrays.
///
/// Raises
/// ------
/// ValueError
///     A pattern that is none, by its first broken entry; values that the dtype does not hold.
/// TypeError
///     An object that is no matrix, or elements that are no numbers.
/// DeviceError
///     No OpenCL device, or what the driver answered.
///
/// Examples
/// --------
/// >>> import numpy, scipy.sparse, sparrow
/// >>> A = sparrow.Matrix(scipy.sparse.csr_array([[5.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 7.0, 3.0]]))
/// >>> A @ numpy.array([1.0, 2.0, 3.0])
/// array([ 8.,  0., 23.])
/// >>> A.T @ numpy.ones(3)
/// array([5., 7., 4.])
#[pyclass(module = "sparrow", name = "Matrix", frozen, weakref)]
pub(crate) struct Matrix {
    pub(crate) inner: Arc<Inner>,
    pub(crate) op: Op,
}
