"""Sparse matrix products on every OpenCL device."""

from ._sparrow import DeviceError, Matrix

__all__ = ["DeviceError", "Matrix"]
