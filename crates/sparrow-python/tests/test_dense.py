"""C = alpha A B + beta C with dense matrices, and products of sparse ones."""

import numpy
import pyopencl.array
import pytest
import scipy.sparse
from conftest import assert_within_bound, random

import sparrow


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [0, 1, 3, 17])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_matrices_of_either_layout_are_multiplied(rng, queue, dtype, columns, order):
    matrix = random(rng, dtype=dtype)
    b = numpy.asarray(rng.standard_normal((200, columns)).astype(dtype), order=order)
    a = sparrow.Matrix(matrix, queue=queue)
    c = a @ b
    assert c.shape == (300, columns) and c.dtype == dtype
    assert_within_bound(c, matrix, b)
    if columns:
        on_device = a @ pyopencl.array.to_device(queue, b)
        assert on_device.shape == (300, columns) and len(on_device.events) == 1
        assert_within_bound(on_device.get(), matrix, b)


@pytest.mark.parametrize("order", ["C", "F"])
def test_out_of_either_layout_gets_the_scaled_sum(rng, queue, order):
    matrix = random(rng)
    b, before = rng.standard_normal((200, 5)), rng.standard_normal((300, 5))
    out = numpy.asarray(before, order=order).copy(order)
    a = sparrow.Matrix(matrix, queue=queue)
    assert a.dot(b, out=out, alpha=3.0, beta=0.5) is out
    assert_within_bound(out, matrix, b, 3.0, 0.5, before)
    of_b = pyopencl.array.to_device(queue, b)
    of_c = pyopencl.array.to_device(queue, numpy.asarray(before, order=order))
    assert a.dot(of_b, out=of_c, alpha=3.0, beta=0.5) is of_c
    assert_within_bound(of_c.get(), matrix, b, 3.0, 0.5, before)


def test_parts_of_larger_matrices_are_multiplied_and_what_lies_between_is_left_alone(rng, queue):
    matrix = random(rng)
    wide, result = rng.standard_normal((200, 9)), numpy.full((300, 7), 5.0)
    a = sparrow.Matrix(matrix, queue=queue)
    a.dot(wide[:, 2:6], out=result[:, 1:5])
    assert_within_bound(result[:, 1:5], matrix, wide[:, 2:6])
    assert (result[:, 0] == 5).all() and (result[:, 5:] == 5).all()
    # Rows of every second column are no layout that a kernel reads: they are copied.
    assert_within_bound(a @ wide[:, ::2], matrix, wide[:, ::2])
    on_device = pyopencl.array.to_device(queue, wide)
    assert_within_bound((a @ on_device[:, 2:6]).get(), matrix, wide[:, 2:6])
    with pytest.raises(ValueError, match="B has the shape .* strides"):
        a @ on_device[:, ::2]


def test_the_transpose_and_the_left_operand_take_dense_matrices(rng):
    matrix = random(rng)
    a, b = sparrow.Matrix(matrix), rng.standard_normal((300, 4))
    assert_within_bound(a.T @ b, matrix.T, b)
    left = b.T @ a
    assert left.shape == (4, 200)
    assert_within_bound(left.T, matrix.T, b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sparse_times_sparse_is_scipys(rng, dtype):
    first, second = random(rng, dtype=dtype), random(rng, (200, 150), dtype=dtype)
    a, b = sparrow.Matrix(first), sparrow.Matrix(second)
    for product, expected in (
        (a @ b, first @ second),
        (b.T @ a.T, second.T @ first.T),
        (a.dot(a.T), first @ first.T),
    ):
        assert isinstance(product, sparrow.Matrix) and product.shape == expected.shape
        difference = abs(product.to_scipy() - expected)
        assert difference.nnz == 0 or difference.max() < 1e-5
    with pytest.raises(ValueError, match="A is 300 x 200 and B 300 x 200"):
        a @ a
    with pytest.raises(TypeError, match="no other argument"):
        a.dot(b, alpha=2.0)


def test_sparse_products_of_two_contexts_are_refused(rng, queue):
    matrix = random(rng, (20, 20))
    with pytest.raises(ValueError, match="different contexts"):
        sparrow.Matrix(matrix) @ sparrow.Matrix(matrix, queue=queue)


def test_compensated_sums_keep_what_cancels(queue):
    row = numpy.array([[1.0, 1e8, -1e8] * 50], dtype="float32")
    a = sparrow.Matrix(scipy.sparse.csr_array(row), queue=queue)
    ones = numpy.ones(150, dtype="float32")
    plan = a.plan(compensated=True)
    assert plan.compensated and plan @ ones == [50.0]
    assert not a.plan().compensated
    b = numpy.stack([ones, 2 * ones, -ones], axis=1)
    assert (plan @ b == [[50.0, 100.0, -50.0]]).all()
    out = numpy.ones((1, 3), dtype="float32")
    plan.dot(b, out=out, alpha=2.0, beta=1.0)
    assert (out == [[101.0, 201.0, -99.0]]).all()
    of_b = pyopencl.array.to_device(queue, numpy.asfortranarray(b))
    of_c = plan @ of_b
    assert len(of_c.events) == 1 and (of_c.get() == [[50.0, 100.0, -50.0]]).all()
    by_rows = plan @ pyopencl.array.to_device(queue, b)
    assert by_rows.flags.c_contiguous and (by_rows.get() == [[50.0, 100.0, -50.0]]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("of_b", ["C", "F"])
@pytest.mark.parametrize("of_c", ["C", "F"])
def test_compensated_sums_of_any_layout_on_the_device_are_within_the_bound(
    rng, queue, dtype, of_b, of_c
):
    matrix = random(rng, dtype=dtype)
    b, before = (rng.standard_normal(shape).astype(dtype) for shape in ((200, 4), (300, 4)))
    plan = sparrow.Matrix(matrix, queue=queue).plan(compensated=True)
    of_b = pyopencl.array.to_device(queue, numpy.asarray(b, order=of_b))
    out = pyopencl.array.to_device(queue, numpy.asarray(before, order=of_c))
    assert plan.dot(of_b, out=out, alpha=2.0, beta=-1.5) is out and len(out.events) == 1
    assert_within_bound(out.get(), matrix, b, 2.0, -1.5, before)
    on_host = numpy.asarray(before, order="C").copy()
    assert plan.dot(b, out=on_host, alpha=2.0, beta=-1.5) is on_host
    assert_within_bound(on_host, matrix, b, 2.0, -1.5, before)


@pytest.mark.parametrize("order", ["C", "F"])
def test_compensated_sums_into_what_is_read_are_refused(rng, queue, order):
    square = sparrow.Matrix(random(rng, (200, 200)), queue=queue).plan(compensated=True)
    b = pyopencl.array.to_device(queue, numpy.ones((200, 4), order=order))
    with pytest.raises(ValueError, match="B and out overlap"):
        square.dot(b, out=b)
