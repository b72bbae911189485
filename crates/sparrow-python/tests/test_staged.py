"""Products of numpy's arrays on a device with memory of its own: by way of arrays there, which stay for the next."""

import numpy
import pytest
from conftest import assert_within_bound, random

import sparrow
from sparrow import _sparrow


@pytest.fixture(autouse=True)
def staged():
    _sparrow._stage_all(True)
    yield
    _sparrow._stage_all(False)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_vectors_go_there_and_come_back(rng, dtype):
    matrix = random(rng, dtype=dtype)
    a = sparrow.Matrix(matrix)
    for _ in range(3):
        x, before = rng.standard_normal(200).astype(dtype), rng.standard_normal(300).astype(dtype)
        assert_within_bound(a @ x, matrix, x)
        out = before.copy()
        a.dot(x, out=out, alpha=2.0, beta=-0.5)
        assert_within_bound(out, matrix, x, 2.0, -0.5, before)
        poisoned = numpy.full(300, numpy.nan, dtype=dtype)
        assert_within_bound(a.dot(x, out=poisoned), matrix, x)
        assert_within_bound(a.T @ before, matrix.T, before)


@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_matrices_go_there_and_come_back(rng, order):
    matrix = random(rng)
    a, wide = sparrow.Matrix(matrix), numpy.asarray(rng.standard_normal((200, 9)), order=order)
    assert_within_bound(a @ wide, matrix, wide)
    assert_within_bound(a @ wide[:, 2:6], matrix, wide[:, 2:6])
    before = numpy.asarray(rng.standard_normal((300, 9)))
    out = before.copy()
    a.dot(wide, out=out, alpha=3.0, beta=0.5)
    assert_within_bound(out, matrix, wide, 3.0, 0.5, before)
    compensated = a.plan(compensated=True)
    out = before.copy()
    compensated.dot(wide, out=out, alpha=3.0, beta=0.5)
    assert_within_bound(out, matrix, wide, 3.0, 0.5, before)


def test_a_result_with_gaps_is_refused_and_left_alone(rng):
    a, result = sparrow.Matrix(random(rng)), numpy.full((300, 7), 5.0)
    with pytest.raises(ValueError, match="out must have the elements of its rows side by side"):
        a.dot(numpy.ones((200, 4)), out=result[:, 1:5])
    assert (result == 5).all()


def test_batches_go_there_and_come_back(rng):
    matrices = [random(rng, (20, 30), density=0.2) for _ in range(10)]
    batch, x = sparrow.Batch(matrices), rng.standard_normal((10, 30))
    for y, matrix, of_x in zip(batch @ x, matrices, x, strict=True):
        assert_within_bound(y, matrix, of_x)


def test_matrices_without_elements_have_products():
    import scipy.sparse

    for shape in [(0, 0), (0, 5), (5, 0)]:
        y = sparrow.Matrix(scipy.sparse.csr_array(shape)) @ numpy.ones(shape[1])
        assert y.shape == (shape[0],) and not y.any()
