"""What scipy's solvers take."""

import numpy
import scipy.sparse.linalg


def linear_operator(matrix):
    """``matrix`` as a LinearOperator, by plans for many products."""
    double = matrix.dtype == numpy.float64
    dtype = numpy.dtype(numpy.float64 if double else numpy.float32)
    forward = matrix.plan("many")
    # Few solvers ask for it, and it takes a transposed copy.
    backward = None

    def transposed(x):
        nonlocal backward
        if backward is None:
            backward = matrix.T.plan("many")
        return backward @ numpy.asarray(x, dtype).reshape(-1)

    return scipy.sparse.linalg.LinearOperator(
        matrix.shape,
        dtype=dtype,
        matvec=lambda x: forward @ numpy.asarray(x, dtype).reshape(-1),
        rmatvec=transposed,
        matmat=lambda x: matrix @ numpy.asarray(x, dtype),
        rmatmat=lambda x: matrix.T @ numpy.asarray(x, dtype),
    )
