"""Many small matrices at once."""

import numpy
import pyopencl.array
import pytest
import scipy.sparse
from conftest import assert_within_bound, random

import sparrow


def parts(flat, lengths):
    return numpy.split(flat, numpy.cumsum(lengths)[:-1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_list_of_matrices_of_any_shapes_is_multiplied(rng, queue, dtype):
    matrices = [
        random(rng, (int(rows), int(cols)), density=0.2, dtype=dtype)
        for rows, cols in rng.integers(1, 40, (50, 2))
    ]
    batch = sparrow.Batch(matrices, queue=queue)
    assert len(batch) == 50 and batch.shape is None and batch.dtype == dtype
    x = rng.standard_normal(sum(m.shape[1] for m in matrices)).astype(dtype)
    of_x = pyopencl.array.to_device(queue, x)
    for y in (batch @ x, (batch @ of_x).get()):
        assert y.dtype == dtype
        each = zip(
            parts(y, [m.shape[0] for m in matrices]),
            matrices,
            parts(x, [m.shape[1] for m in matrices]),
            strict=True,
        )
        for of_y, matrix, of_x_part in each:
            assert_within_bound(of_y, matrix, of_x_part)


def test_one_pattern_has_a_row_of_values_for_each_problem(rng, queue):
    pattern = random(rng, (20, 30), density=0.2)
    values = rng.standard_normal((40, pattern.nnz))
    triple = (values, pattern.indices, pattern.indptr)
    batch = sparrow.Batch(triple, shape=(20, 30), queue=queue)
    assert len(batch) == 40 and batch.shape == (20, 30)
    x, before = rng.standard_normal((40, 30)), rng.standard_normal((40, 20))
    out = before.copy()
    assert batch.dot(x, out=out, alpha=2.0, beta=0.5) is out
    of_y = batch @ pyopencl.array.to_device(queue, x)
    assert of_y.shape == (40, 20) and len(of_y.events) == 1
    for problem in range(40):
        matrix = scipy.sparse.csr_array((values[problem], *triple[1:]), shape=(20, 30))
        assert_within_bound(out[problem], matrix, x[problem], 2.0, 0.5, before[problem])
        assert_within_bound(of_y.get()[problem], matrix, x[problem])
    batch.update_values(-values)
    numpy.testing.assert_array_equal(batch @ x, -of_y.get())
    assert sum(problems for _, problems in batch.algorithms) == 40


def test_dense_problems_share_the_pattern_of_all(rng):
    dense = rng.standard_normal((5, 4, 3)) * (rng.random((5, 4, 3)) < 0.3)
    batch = sparrow.Batch(dense, dtype="float64")
    x = rng.standard_normal((5, 3))
    numpy.testing.assert_allclose(batch @ x, numpy.einsum("prc,pc->pr", dense, x), atol=1e-14)


def test_a_batch_of_no_problems_has_an_empty_product():
    batch = sparrow.Batch([])
    assert len(batch) == 0 and (batch @ numpy.ones(0)).shape == (0,)


def test_what_is_no_batch_is_named(rng, queue):
    good, wrong = random(rng, (4, 4)), random(rng, (4, 4), density=0.5)
    wrong.indices[0] = 9
    with pytest.raises(ValueError, match="matrix 1: column 9 of entry 0"):
        sparrow.Batch([good, wrong])
    with pytest.raises(TypeError, match="matrix 1: ndarray is no sparse matrix"):
        sparrow.Batch([good, numpy.eye(4)])
    with pytest.raises(TypeError):
        sparrow.Batch(7)
    with pytest.raises(ValueError, match=r"an array of the shape \[4, 4\] is no batch"):
        sparrow.Batch(numpy.eye(4))
    with pytest.raises(ValueError, match=r"data has the shape \[\d+\], and one pattern"):
        sparrow.Batch((good.data, good.indices, good.indptr), shape=(4, 4))
    batch = sparrow.Batch([good, good], queue=queue)
    with pytest.raises(ValueError, match=r"x has the shape \[3, 4\], and 2 problems of 4 columns"):
        batch @ numpy.ones((3, 4))
    with pytest.raises(ValueError, match="x has the shape"):
        batch @ pyopencl.array.to_device(queue, numpy.ones(9))
    with pytest.raises(ValueError, match="side by side"):
        batch @ pyopencl.array.to_device(queue, numpy.asfortranarray(numpy.ones((2, 4))))
