"""y = alpha A x + beta y, with x and y in the host's memory or on the device."""

import numpy
import pyopencl
import pyopencl.array
import pytest
from conftest import assert_within_bound, random

import sparrow

KINDS = ["float32", "float64"]


@pytest.mark.parametrize("dtype", KINDS)
def test_numpy_in_is_numpy_out(rng, dtype):
    matrix = random(rng, dtype=dtype)
    x = rng.standard_normal(200).astype(dtype)
    y = sparrow.Matrix(matrix) @ x
    assert type(y) is numpy.ndarray and y.dtype == dtype and y.shape == (300,)
    assert_within_bound(y, matrix, x)


@pytest.mark.parametrize("dtype", KINDS)
def test_pyopencl_in_stays_on_the_device_in_its_queue_with_an_event(rng, queue, dtype):
    matrix = random(rng, dtype=dtype)
    x = pyopencl.array.to_device(queue, rng.standard_normal(200).astype(dtype))
    y = sparrow.Matrix(matrix, queue=queue) @ x
    assert type(y) is pyopencl.array.Array and y.queue is queue and y.dtype == dtype
    assert len(y.events) == 1
    assert_within_bound(y.get(), matrix, x.get())


@pytest.mark.parametrize("dtype", KINDS)
def test_out_alpha_and_beta_are_those_of_blas(rng, queue, dtype):
    matrix = random(rng, dtype=dtype)
    x, before = rng.standard_normal(200).astype(dtype), rng.standard_normal(300).astype(dtype)
    out = before.copy()
    on_host = sparrow.Matrix(matrix)
    assert on_host.dot(x, out=out, alpha=2.0, beta=-0.5) is out
    assert_within_bound(out, matrix, x, 2.0, -0.5, before)
    on_device = sparrow.Matrix(matrix, queue=queue)
    of_x, of_y = pyopencl.array.to_device(queue, x), pyopencl.array.to_device(queue, before)
    assert on_device.dot(of_x, of_y, alpha=2.0, beta=-0.5) is of_y
    assert_within_bound(of_y.get(), matrix, x, 2.0, -0.5, before)


def test_beta_zero_never_reads_out(rng, queue):
    matrix = random(rng)
    x = rng.standard_normal(200)
    out = numpy.full(300, numpy.nan)
    sparrow.Matrix(matrix).dot(x, out=out)
    assert_within_bound(out, matrix, x)
    on_device = pyopencl.array.to_device(queue, numpy.full(300, numpy.nan))
    of_x = pyopencl.array.to_device(queue, x)
    sparrow.Matrix(matrix, queue=queue).dot(of_x, out=on_device)
    assert_within_bound(on_device.get(), matrix, x)


def test_a_part_of_an_array_is_multiplied_from_its_own_first_element(rng, queue):
    matrix = random(rng)
    whole = rng.standard_normal(1000)
    on_device = pyopencl.array.to_device(queue, whole)[3:203]
    assert on_device.offset == 24
    y = sparrow.Matrix(matrix, queue=queue) @ on_device
    assert_within_bound(y.get(), matrix, whole[3:203])
    out = numpy.full(700, 7.0)
    sparrow.Matrix(matrix).dot(whole[3:203], out=out[5:305])
    assert_within_bound(out[5:305], matrix, whole[3:203])
    assert (out[:5] == 7).all() and (out[305:] == 7).all()


@pytest.mark.parametrize(
    "x",
    [
        numpy.arange(200),
        numpy.arange(200, dtype="float32"),
        numpy.arange(400.0)[::2],
        numpy.arange(200.0)[::-1],
        list(range(200)),
        numpy.arange(200) % 2 == 0,
    ],
    ids=["int64", "float32", "strided", "reversed", "list", "bool"],
)
def test_what_loses_nothing_is_converted_on_the_host(rng, x):
    matrix = random(rng)
    y = sparrow.Matrix(matrix) @ x
    assert_within_bound(y, matrix, numpy.asarray(x, dtype="float64"))


def test_an_address_that_is_no_multiple_of_the_element_is_copied(rng):
    matrix = random(rng)
    room = numpy.zeros(200 * 8 + 1, dtype="uint8")
    x = room[1:].view("float64")
    x[:] = rng.standard_normal(200)
    assert not x.flags.aligned
    assert_within_bound(sparrow.Matrix(matrix) @ x, matrix, x)


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (7, 3)])
def test_matrices_without_rows_columns_or_entries_have_products(shape, queue):
    import scipy.sparse

    empty = scipy.sparse.csr_array(shape, dtype="float64")
    y = sparrow.Matrix(empty) @ numpy.ones(shape[1])
    assert y.shape == (shape[0],) and not y.any()
    y = sparrow.Matrix(empty).T @ numpy.ones(shape[0])
    assert y.shape == (shape[1],) and not y.any()
    if shape[1]:
        x = pyopencl.array.to_device(queue, numpy.ones(shape[1]))
        y = sparrow.Matrix(empty, queue=queue) @ x
        assert y.shape == (shape[0],)


@pytest.mark.parametrize("dtype", KINDS)
def test_the_transpose_multiplies_and_the_left_operand_too(rng, queue, dtype):
    matrix = random(rng, dtype=dtype)
    x = rng.standard_normal(300).astype(dtype)
    a = sparrow.Matrix(matrix, queue=queue)
    assert a.T.shape == (200, 300) and a.T.T.shape == a.shape
    assert_within_bound(a.T @ x, matrix.T, x)
    assert_within_bound(x @ a, matrix.T, x)
    assert_within_bound((a.T @ pyopencl.array.to_device(queue, x)).get(), matrix.T, x)


def test_a_named_queue_and_a_wait_list_are_kept(rng, queue):
    matrix = random(rng)
    other = pyopencl.CommandQueue(queue.context)
    a = sparrow.Matrix(matrix, queue=queue)
    x = pyopencl.array.to_device(queue, rng.standard_normal(200))
    gate = pyopencl.UserEvent(queue.context)
    out = pyopencl.array.zeros(queue, 300, "float64")
    out.finish()
    a.dot(x, out=out, queue=other, wait_for=[gate])
    (event,) = out.events
    assert event.command_queue == other
    status = pyopencl.command_execution_status
    assert event.command_execution_status != status.COMPLETE
    gate.set_status(status.COMPLETE)
    event.wait()
    assert_within_bound(out.get(), matrix, x.get())


@pytest.mark.parametrize("whose", ["x", "out"])
def test_a_product_waits_for_the_events_of_its_arrays(rng, queue, whose):
    matrix = random(rng)
    a = sparrow.Matrix(matrix, queue=queue)
    arrays = {
        "x": pyopencl.array.to_device(queue, rng.standard_normal(200)),
        "out": pyopencl.array.zeros(queue, 300, "float64"),
    }
    other = pyopencl.CommandQueue(queue.context)
    gate = pyopencl.UserEvent(queue.context)
    arrays[whose].add_event(pyopencl.enqueue_marker(other, wait_for=[gate]))
    (event,) = a.dot(**arrays).events
    other.flush()
    queue.flush()
    status = pyopencl.command_execution_status
    assert event.command_execution_status != status.COMPLETE
    gate.set_status(status.COMPLETE)
    assert_within_bound(arrays["out"].get(), matrix, arrays["x"].get())


def test_a_queue_out_of_order_gets_every_product_after_what_it_reads(rng, queue):
    properties = pyopencl.command_queue_properties
    try:
        loose = pyopencl.CommandQueue(
            queue.context, properties=properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        )
    except pyopencl.Error:
        pytest.skip("the device has no queues out of order")
    matrix = random(rng, (200, 200))
    a = sparrow.Matrix(matrix, queue=queue)
    x = pyopencl.array.to_device(loose, rng.standard_normal(200))
    expected, found = x.get(), x
    for _ in range(8):
        found, expected = a @ found, matrix @ expected
    numpy.testing.assert_allclose(found.get(queue=loose), expected, rtol=1e-9)


def test_an_array_without_a_queue_needs_one_by_name(rng, queue):
    matrix = random(rng)
    a = sparrow.Matrix(matrix, queue=queue)
    x = pyopencl.array.to_device(queue, rng.standard_normal(200)).with_queue(None)
    with pytest.raises(ValueError, match="x has no queue: name one by queue="):
        a @ x
    assert_within_bound(a.dot(x, queue=queue).get(), matrix, x.get(queue=queue))
