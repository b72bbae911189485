"""Sparse matrix products on every OpenCL device.

>>> import numpy, scipy.sparse, sparrow
>>> A = sparrow.Matrix(scipy.sparse.csr_array([[2.0, 1.0], [0.0, 3.0]]))
>>> A @ numpy.array([1.0, 10.0])
array([12., 30.])

Importing it opens no device and imports neither scipy nor pyopencl.
"""

from ._sparrow import (
    Batch,
    Device,
    DeviceError,
    Matrix,
    Plan,
    Solution,
    Solver,
    __version__,
    devices,
    read,
    set_default_device,
    solve,
)
from ._tune import tune

__all__ = [
    "Batch",
    "Device",
    "DeviceError",
    "Matrix",
    "Plan",
    "Solution",
    "Solver",
    "devices",
    "read",
    "set_default_device",
    "solve",
    "tune",
]
