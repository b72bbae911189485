"""What is refused: by an exception of its kind that names the object, the value and the limit, never by a crash."""

import array

import numpy
import pyopencl
import pyopencl.array
import pytest
import scipy.sparse
from conftest import random

import sparrow


@pytest.fixture
def a(rng):
    return sparrow.Matrix(random(rng))


@pytest.fixture
def on_queue(rng, queue):
    return sparrow.Matrix(random(rng), queue=queue)


@pytest.mark.parametrize(
    ("operands", "kind", "text"),
    [
        ((numpy.ones(5),), ValueError, "x has 5 elements, and A 200 columns"),
        ((numpy.ones((5, 2)),), ValueError, "B has 5 rows, and A 200 columns"),
        ((numpy.ones((2, 2, 2)),), ValueError, r"x has the shape \[2, 2, 2\]"),
        ((numpy.array(3.0),), TypeError, "x is no array of numbers, but ndarray"),
        ((3.0,), TypeError, "x is no array of numbers, but float"),
        ((None,), TypeError, "x is no array of numbers, but NoneType"),
        (("text",), TypeError, "x holds elements of <U4"),
        ((numpy.array([None] * 200),), TypeError, "x"),
        ((numpy.ones(200, dtype=complex),), TypeError, "x holds elements of complex128"),
        ((numpy.ones(200, dtype=">f8"),), TypeError, "x holds elements of >f8"),
        ((numpy.ones(200), numpy.ones(299)), ValueError, r"out has the shape \[299\]"),
        ((numpy.ones(200), numpy.ones((300, 1))), ValueError, r"out has the shape \[300, 1\]"),
        ((numpy.ones(200), numpy.ones(600)[::2]), ValueError, "300 elements side by side"),
        ((numpy.ones(200), numpy.ones(300, "float32")), TypeError, "out is float32, and the"),
        ((numpy.ones(200), bytes(2400)), TypeError, "out is uint8"),
        ((numpy.ones(200), [0.0] * 300), TypeError, "out is list, and no array to write to"),
        ((numpy.ones((200, 2)), numpy.ones((300, 3))), ValueError, r"out has the shape \[300, 3\]"),
    ],
)
def test_operands_that_do_not_fit_are_named(a, operands, kind, text):
    with pytest.raises(kind, match=text):
        a.dot(*operands)


def test_float64_is_not_rounded_for_a_float32_matrix(rng, queue):
    a = sparrow.Matrix(random(rng, dtype="float32"), queue=queue)
    with pytest.raises(TypeError, match=r'x is float64, and sums are made in float32: x.astype'):
        a @ numpy.ones(200)
    with pytest.raises(TypeError, match="x is float64, and must be float32"):
        a @ pyopencl.array.to_device(queue, numpy.ones(200))
    with pytest.raises(TypeError, match="B is float64, and must be float32"):
        a @ pyopencl.array.to_device(queue, numpy.ones((200, 2)))


def test_a_result_that_overlaps_what_is_read_is_refused_and_nothing_is_written(rng, queue):
    square = sparrow.Matrix(random(rng, (200, 200)), queue=queue)
    x = rng.standard_normal(300)
    before = x.copy()
    with pytest.raises(ValueError, match="y .*overlap|y .*share"):
        square.dot(x[:200], out=x[100:])
    assert (x == before).all()
    of_x = pyopencl.array.to_device(queue, x)
    with pytest.raises(ValueError, match="y .*overlap|y .*share"):
        square.dot(of_x[:200], out=of_x[100:])
    assert (of_x.get() == before).all()


def test_what_cannot_be_written_is_refused(a):
    out = numpy.ones(300)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out cannot be written: it is read-only"):
        a.dot(numpy.ones(200), out=out)


def test_beta_needs_what_it_scales(a):
    with pytest.raises(ValueError, match="beta is 2, and scales what is in out, which is None"):
        a.dot(numpy.ones(200), beta=2.0)
    a32 = sparrow.Matrix(scipy.sparse.eye_array(3, dtype="float32"))
    with pytest.raises(ValueError, match="alpha.*1e.?39|alpha.*beyond the largest f32"):
        a32.dot(numpy.ones(3, "float32"), alpha=1e39)


def test_other_buffers_than_numpys_are_taken():
    a = sparrow.Matrix(scipy.sparse.eye_array(3))
    assert (a @ array.array("d", [1, 2, 3]) == [1, 2, 3]).all()
    assert (a @ memoryview(numpy.arange(3.0)) == [0, 1, 2]).all()


def test_mixtures_of_host_and_device_are_refused(on_queue, queue):
    x, of_x = numpy.ones(200), pyopencl.array.to_device(queue, numpy.ones(200))
    with pytest.raises(TypeError, match="out is ndarray, and the operand pyopencl's"):
        on_queue.dot(of_x, out=numpy.ones(300))
    with pytest.raises(TypeError, match="out"):
        on_queue.dot(x, out=pyopencl.array.zeros(queue, 300, "float64"))


def test_arrays_of_another_context_are_refused(on_queue, queue):
    other_context = pyopencl.Context(queue.context.devices)
    other = pyopencl.CommandQueue(other_context)
    x = pyopencl.array.to_device(other, numpy.ones(200))
    with pytest.raises(ValueError, match="the queue is one of another context or device"):
        on_queue @ x
    with pytest.raises(ValueError, match="another context"):
        on_queue.dot(x, queue=queue)
    with pytest.raises(ValueError, match="another context"):
        on_queue.dot(numpy.ones(200), queue=other)
    with pytest.raises(ValueError, match="another context"):
        on_queue.plan(queue=other)


def test_arrays_whose_elements_lie_apart_on_the_device_are_refused(on_queue, queue):
    x = pyopencl.array.to_device(queue, numpy.ones(400))
    with pytest.raises(ValueError, match="the elements of x begin every 16 bytes"):
        on_queue @ x[::2]
    with pytest.raises(ValueError, match="x has 100 elements, and A 200 columns"):
        on_queue @ x[:100]
    with pytest.raises(ValueError, match="out has 400 elements, and A 300 rows"):
        on_queue.dot(x[:200], out=pyopencl.array.zeros(queue, 400, "float64"))
    with pytest.raises(TypeError, match="x holds elements of complex64|x is complex64"):
        on_queue @ pyopencl.array.to_device(queue, numpy.ones(200, "complex64"))


def test_an_array_that_says_more_than_its_buffer_holds_is_refused(on_queue, queue):
    small = pyopencl.Buffer(queue.context, pyopencl.mem_flags.READ_WRITE, 80)
    x = pyopencl.array.Array(queue, (200,), "float64", data=small)
    with pytest.raises(ValueError, match="x: .*200 elements .* beyond the buffer's 80 bytes"):
        on_queue @ x


def test_queues_and_events_of_another_kind_are_refused(a, on_queue, queue):
    with pytest.raises(TypeError, match="queue is int, and no object of pyopencl's"):
        on_queue.dot(numpy.ones(200), queue=7)
    with pytest.raises(TypeError, match="an element of wait_for is NoneType"):
        a.dot(numpy.ones(200), wait_for=[None])
    with pytest.raises(TypeError):
        a.dot(numpy.ones(200), wait_for=7)


def test_an_event_that_failed_is_a_device_error_and_leaves_out_alone(on_queue, queue):
    gate = pyopencl.UserEvent(queue.context)
    gate.set_status(-5)
    out = numpy.full(300, 7.0)
    with pytest.raises(sparrow.DeviceError, match="CL_OUT_OF_RESOURCES") as raised:
        on_queue.dot(numpy.ones(200), out=out, wait_for=[gate])
    assert raised.value.status == "CL_OUT_OF_RESOURCES" and raised.value.code == -5
    assert isinstance(raised.value, RuntimeError)
    assert (out == 7).all()


TRIPLE = ([1.0, 2.0, 3.0], [0, 1, 1], [0, 1, 3])


@pytest.mark.parametrize(
    ("matrix", "shape", "kind", "text"),
    [
        (TRIPLE, None, ValueError, "shape is None"),
        (TRIPLE, (2, -2), ValueError, r"shape is \(2, -2\), and rows and columns are in 0\.\."),
        (TRIPLE, (2, 2**32), ValueError, r"shape is \(2, 4294967296\), and rows and columns"),
        (TRIPLE, (3, 2), ValueError, "indptr has 3 elements, and 3 rows need 4"),
        (TRIPLE, (2, 1), ValueError, r"column 1 of entry 1 is outside 0\.\.1"),
        (([1.0], [0, 1, 1], [0, 1, 3]), (2, 2), ValueError, "data has 1 element, and indices 3"),
        (([1.0, 2, 3], [0, -1, 1], [0, 1, 3]), (2, 2), ValueError, r"indices\[1\] is -1"),
        (([1.0, 2, 3], [0, 2**40, 1], [0, 1, 3]), (2, 2), ValueError, r"indices\[1\] is 1099511"),
        (([1.0, 2, 3], [0, 1, 1], [0, 4, 3]), (2, 2), ValueError, "row offset|offset"),
        (([1.0, 2, 3], [0, 1, 1], [1, 1, 3]), (2, 2), ValueError, "row offset|offset"),
        (([1.0, 2, 3], [0.0, 1.0, 1.0], [0, 1, 3]), (2, 2), TypeError, "indices is float64"),
        (([1j, 2, 3], [0, 1, 1], [0, 1, 3]), (2, 2), TypeError, "data holds elements of"),
        (TRIPLE[:2], (2, 2), ValueError, "a tuple of 2 is no matrix"),
        (numpy.eye(3), None, TypeError, "ndarray is no sparse matrix: give one of scipy's"),
        (None, None, TypeError, "NoneType is no sparse matrix"),
        (scipy.sparse.eye_array(3), (4, 4), ValueError, r"shape is \(4, 4\), and the matrix"),
    ],
)
def test_matrices_that_are_none_are_refused(matrix, shape, kind, text):
    if isinstance(matrix, tuple):
        matrix = tuple(numpy.array(part) for part in matrix)
    with pytest.raises(kind, match=text):
        sparrow.Matrix(matrix, shape=shape)


def test_devices_and_types_that_are_not_there_are_named(queue):
    eye = scipy.sparse.eye_array(3)
    with pytest.raises(ValueError, match='device "no such" matches none of: '):
        sparrow.Matrix(eye, device="no such")
    with pytest.raises(ValueError, match="matches none of"):
        sparrow.set_default_device("no such")
    with pytest.raises(ValueError, match="device and queue were both given"):
        sparrow.Matrix(eye, device="0:0", queue=queue)
    with pytest.raises(TypeError, match="dtype is int32"):
        sparrow.Matrix(eye, dtype="int32")
    with pytest.raises(TypeError):
        sparrow.Matrix(eye, dtype="no such")


def test_words_of_a_plan_that_stand_for_nothing_are_named(a):
    for keywords, text in (
        ({"reuse": "often"}, 'reuse: .*"?often"?'),
        ({"algorithm": "fastest"}, 'algorithm: .*"?fastest"?'),
        ({"algorithm": "csr_scalar", "variant": "spin"}, 'variant is "spin", and csr_scalar'),
        ({"variant": "spin"}, "needs an algorithm"),
        ({"choice": "csr_flat"}, "choice"),
        ({"algorithm": "csr_vector", "parameters": {"no_such": 1}}, "no_such"),
    ):
        with pytest.raises(ValueError, match=text):
            a.plan(**keywords)


def test_a_buffer_that_was_released_is_refused(rng, queue):
    # No command has them: a driver may hold the buffers of one for a moment after `finish()`.
    def empty(*shape):
        return pyopencl.array.empty(queue, shape, "float64")

    on_queue = sparrow.Matrix(random(rng), queue=queue)
    kept = pyopencl.array.to_device(queue, numpy.ones(200))
    queue.finish()
    for lost in range(3):
        x, b, out = empty(200), empty(200, 2), empty(300)
        for array in (x, b, out)[lost:]:
            array.base_data.release()
        if lost == 0:
            with pytest.raises(ValueError, match="the buffer of x was released"):
                on_queue @ x
        if lost <= 1:
            with pytest.raises(ValueError, match="the buffer of B was released"):
                on_queue @ b
        with pytest.raises(ValueError, match="the buffer of out was released"):
            on_queue.dot(kept, out=out)
    data = empty(1)
    index = pyopencl.array.empty(queue, 1, "int32")
    indptr = pyopencl.array.empty(queue, 2, "int32")
    indptr.base_data.release()
    with pytest.raises(ValueError, match="the buffer of indptr was released"):
        sparrow.Matrix((data, index, indptr), shape=(1, 1))


def test_arrays_in_shared_virtual_memory_are_refused(on_queue, queue):
    from pyopencl.tools import SVMAllocator

    try:
        allocator = SVMAllocator(queue.context, queue=queue)
        x = pyopencl.array.to_device(queue, numpy.ones(200), allocator=allocator)
    except pyopencl.Error:
        pytest.skip("the device has no shared virtual memory")
    with pytest.raises(TypeError, match="x lies in shared virtual memory"):
        on_queue @ x
