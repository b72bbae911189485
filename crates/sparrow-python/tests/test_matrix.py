"""Matrices from whatever Python has."""

import gc
import gzip

import numpy
import pyopencl
import pyopencl.array
import pytest
import scipy.io
import scipy.sparse
from conftest import assert_within_bound, random

import sparrow

CLASSES = [
    getattr(scipy.sparse, name + kind)
    for name in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
    for kind in ("_array", "_matrix")
]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_class_of_scipys_is_taken(rng, kind):
    matrix = random(rng, (60, 40), density=0.1)
    a = sparrow.Matrix(kind(matrix))
    x = rng.standard_normal(40)
    assert a.shape == (60, 40) and a.ndim == 2
    assert_within_bound(a @ x, matrix, x)


def test_entries_that_stand_twice_are_added():
    twice = scipy.sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    assert (sparrow.Matrix(twice) @ numpy.ones(2) == [3.0]).all()


@pytest.mark.parametrize("of_columns", ["int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("of_offsets", ["int32", "int64", "uint32", "uint64"])
def test_three_arrays_with_indices_of_any_integer_type_are_a_matrix(rng, of_columns, of_offsets):
    matrix = random(rng)
    triple = (matrix.data, matrix.indices.astype(of_columns), matrix.indptr.astype(of_offsets))
    x = rng.standard_normal(200)
    assert_within_bound(sparrow.Matrix(triple, shape=matrix.shape) @ x, matrix, x)


@pytest.mark.parametrize("of_columns", ["int32", "uint32"])
@pytest.mark.parametrize("of_offsets", ["int32", "uint32", "int64", "uint64"])
def test_arrays_on_the_device_are_kept_and_not_copied(rng, queue, of_columns, of_offsets):
    matrix = random(rng)
    data = pyopencl.array.to_device(queue, matrix.data)
    indices = pyopencl.array.to_device(queue, matrix.indices.astype(of_columns))
    indptr = pyopencl.array.to_device(queue, matrix.indptr.astype(of_offsets))
    a = sparrow.Matrix((data, indices, indptr), shape=matrix.shape)
    x = pyopencl.array.to_device(queue, rng.standard_normal(200))
    del indices, indptr
    assert_within_bound((a @ x).get(), matrix, x.get())
    data.set(2 * matrix.data)
    a.values_changed()
    assert_within_bound((a @ x).get(), 2 * matrix, x.get())
    # A plan with a copy of the values takes the new ones by itself.
    plan = a.plan(algorithm="sell")
    assert_within_bound((plan @ x).get(), 2 * matrix, x.get())
    data.set(4 * matrix.data)
    a.values_changed()
    assert_within_bound((plan @ x).get(), 4 * matrix, x.get())


def test_arrays_on_the_device_are_checked_unless_that_is_waived(rng, queue):
    matrix = random(rng)
    wrong = matrix.indices.copy()
    wrong[7] = 200
    data, indices, indptr = (
        pyopencl.array.to_device(queue, array) for array in (matrix.data, wrong, matrix.indptr)
    )
    with pytest.raises(ValueError, match=r"column 200 of entry 7 is outside 0\.\.200"):
        sparrow.Matrix((data, indices, indptr), shape=matrix.shape)
    sparrow.Matrix((data, indices, indptr), shape=matrix.shape, check=False)


def test_new_values_are_what_the_next_product_has(rng):
    matrix = random(rng)
    a = sparrow.Matrix(matrix)
    plan, x = a.plan(algorithm="sell"), rng.standard_normal(200)
    for factor in (1.0, 2.0, -3.0):
        a.update_values(matrix.data * factor)
        for found in (a @ x, plan @ x, plan @ x):
            assert_within_bound(found, factor * matrix, x)
        assert_within_bound(a.T @ numpy.ones(300), factor * matrix.T, numpy.ones(300))
    with pytest.raises(ValueError, match="values has .* one for each nonzero"):
        a.update_values(matrix.data[1:])


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_16_bits_are_stored_and_summed_in_float32(rng, queue, kind):
    if kind == "bfloat16":
        ml_dtypes = pytest.importorskip("ml_dtypes")
        dtype = numpy.dtype(ml_dtypes.bfloat16)
    else:
        dtype = numpy.dtype("float16")
    matrix = random(rng)
    matrix.data = matrix.data.astype(dtype).astype("float64")
    a = sparrow.Matrix(matrix, dtype=dtype, queue=queue)
    assert a.dtype == dtype and sparrow.Matrix(matrix, dtype=kind).dtype == dtype
    x = rng.standard_normal(200).astype("float32")
    y = a @ x
    assert y.dtype == "float32"
    assert_within_bound(y, matrix, x)
    # As they are stored already, in an array of three.
    triple = (matrix.data.astype(dtype), matrix.indices, matrix.indptr)
    assert sparrow.Matrix(triple, shape=matrix.shape).dtype == dtype
    assert_within_bound(sparrow.Matrix(triple, shape=matrix.shape) @ x, matrix, x)
    assert (a.to_scipy() != matrix).nnz == 0
    b = rng.standard_normal((200, 3)).astype(dtype)
    assert_within_bound(a @ b, matrix, b.astype("float64"))


def test_integers_and_truth_values_become_float64():
    for dtype in ("int8", "int64", "uint16", "bool"):
        matrix = scipy.sparse.csr_array(numpy.eye(3, dtype=dtype))
        assert sparrow.Matrix(matrix).dtype == "float64"
        assert sparrow.Matrix(matrix, dtype="float32").dtype == "float32"


def test_values_that_a_type_does_not_hold_are_named():
    matrix = scipy.sparse.csr_array(numpy.diag([1.0, 7e4]))
    with pytest.raises(ValueError, match=r"data\[1\]: 70000 is beyond the largest f16, 65504"):
        sparrow.Matrix(matrix, dtype="float16")
    infinite = scipy.sparse.csr_array(numpy.diag([1.0, numpy.inf]))
    assert (sparrow.Matrix(infinite, dtype="float16") @ numpy.ones(2, "float32"))[1] == numpy.inf


def test_what_was_written_by_scipy_is_read(rng, tmp_path):
    matrix = random(rng, (20, 30))
    path = tmp_path / "m.mtx"
    scipy.io.mmwrite(path, matrix)
    (tmp_path / "m.mtx.gz").write_bytes(gzip.compress(path.read_bytes()))
    for file in (path, str(path), tmp_path / "m.mtx.gz"):
        a = sparrow.read(file)
        assert a.shape == (20, 30) and a.nnz == matrix.nnz
        assert abs(a.to_scipy() - matrix).max() < 1e-15
    assert sparrow.read(path, dtype="float32").dtype == "float32"
    with pytest.raises(OSError):
        sparrow.read(tmp_path / "none.mtx")
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5.0\n")
    with pytest.raises(ValueError, match="line 3"):
        sparrow.read(path)


def test_the_transpose_comes_back_as_scipys(rng):
    matrix = random(rng)
    assert (sparrow.Matrix(matrix).to_scipy() != matrix).nnz == 0
    assert (sparrow.Matrix(matrix).T.to_scipy() != matrix.T).nnz == 0


def test_arrays_made_with_the_matrix_own_queue_can_be_multiplied(rng):
    matrix = random(rng)
    a = sparrow.Matrix(matrix)
    x = pyopencl.array.to_device(a.queue, rng.standard_normal(200))
    assert_within_bound((a @ x).get(), matrix, x.get())


def test_contexts_of_one_queue_are_shared_and_never_made_twice(rng, queue):
    matrix = random(rng)
    context = pyopencl.Context(queue.context.devices)
    own = pyopencl.CommandQueue(context)
    before = context.reference_count
    kept = [sparrow.Matrix(matrix, queue=own) for _ in range(3)]
    product = kept[0] @ kept[1].T
    assert product.queue == own
    assert kept[2].queue.context == context
    del kept, product
    gc.collect()
    assert context.reference_count <= before + 1
