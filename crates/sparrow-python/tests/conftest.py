"""What the tests share: a queue of pyopencl's, matrices, and the error bound of every row."""

import numpy
import pyopencl
import pytest
import scipy.sparse


@pytest.fixture(scope="session")
def queue():
    """A queue on the first device of the one implementation that the tests are pointed at."""
    device = pyopencl.get_platforms()[0].get_devices()[0]
    # Intel's runtime has no context any more for a queue whose context nobody holds.
    context = pyopencl.Context([device])
    yield pyopencl.CommandQueue(context)


@pytest.fixture
def rng():
    return numpy.random.default_rng(52)


def random(rng, shape=(300, 200), density=0.03, dtype="float64"):
    """A matrix of scipy's in compressed rows, with some rows that are empty."""
    drawn = scipy.sparse.random_array(shape, density=density, format="csr", rng=rng)
    return drawn.astype(dtype)


def assert_within_bound(y, matrix, x, alpha=1.0, beta=0.0, before=None):
    """Holds every element of y = alpha A x + beta y to the bound of its row, whatever its size."""
    y, wide = numpy.asarray(y), matrix.astype("float64")
    x = numpy.asarray(x, dtype="float64")
    old = numpy.zeros(y.shape) if before is None else numpy.asarray(before, dtype="float64")
    exact = alpha * (wide @ x) + beta * old
    entries = numpy.diff(wide.tocsr().indptr)
    magnitude = abs(alpha) * (abs(wide) @ abs(x)) + abs(beta * old)
    entries = entries.reshape(entries.shape + (1,) * (y.ndim - 1))
    bound = 2 * (entries + 2) * numpy.finfo(y.dtype).eps * magnitude
    # The product by numpy has a bound of its own, of the same form.
    bound = bound + 2 * (entries + 2) * numpy.finfo("float64").eps * magnitude
    assert (abs(y - exact) <= bound).all(), float((abs(y - exact) - bound).max())
